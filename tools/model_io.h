/// \file
/// What a model that is run reads and writes: all that the command needs of it is the runtime library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::tools {

/// "NAME=VALUE" split at the first '='; a UsageError that says that `flag` takes `form`, otherwise.
std::pair<std::string, std::string> SplitPair(const std::string& text, const char* flag, const char* form);

/// "NAME=1,3,224,224" → {NAME, dims}; a UsageError otherwise.
std::map<std::string, std::vector<int64_t>> ParseShapes(const std::vector<std::string>& shapes);

/// Inputs from `files` ("NAME=FILE.npy"), the rest random from `seed` (runtime/random_tensor.h); symbolic
/// dimensions from `shapes`, else 1.
std::map<std::string, Tensor> MakeInputs(const runtime::Executable& executable, const std::vector<std::string>& files,
                                         const std::vector<std::string>& shapes, uint64_t seed);

/// NAME.npy for each output; for an element of a sequence, NAME[0], NAME/0.npy. The first of several that are then the
/// same keeps its name, others get "_1", "_2".
std::vector<std::filesystem::path> OutputPaths(const std::vector<std::string>& names);

/// "NAME: float32 (1, 3, 224, 224)\n".
std::string LineOf(const std::string& name, const Tensor& tensor);

/// Makes the folder. A UsageError if that, or to write the file, fails.
void WriteTensor(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace deuteron::tools
