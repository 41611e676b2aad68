/// \file
/// Weights in a file of their own, beside the artefacts that share it: safetensors, each tensor named by what it holds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/runtime/executable.h"

namespace deuteron::runtime {

/// Adds the constants of `program`, which knows their checksums, that it lacks to the file `path`, which is made if
/// there is none; `weight(i)` is the data of constant i. Their names in the file, by the order of the program's table:
/// dtype, shape and checksum. One process writes into a folder at a time, others wait; the file is replaced in one
/// step, what is mapped of it stays. A UsageError if it cannot be written, a ModelError if it is there and no such
/// file.
std::vector<std::string> AddSharedWeights(const std::string& path, const Program& program,
                                          const std::function<const void*(size_t)>& weight);

/// The constants of `program` in the file `path`, which is mapped: aligned, kept alive by what is added to
/// `keep_alive`. A ModelError that names the file and the tensor if one is missing or of other bytes.
std::vector<const void*> ReadSharedWeights(const std::string& path, const Program& program,
                                           const std::vector<std::string>& names,
                                           std::vector<std::shared_ptr<const void>>* keep_alive);

}  // namespace deuteron::runtime
