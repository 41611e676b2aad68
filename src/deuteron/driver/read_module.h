/// \file
/// A module from a file of either kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deuteron/ir/module.h"

namespace deuteron {

/// What the .onnx model or the .py module in `path` holds. `shapes` are those of ImportOptions
/// (frontend/onnx/import.h); a UsageError if there are any for a .py module, which states its own. A ModelError that
/// says why if it cannot be read.
IRModule ReadModule(const std::string& path, const std::map<std::string, std::vector<int64_t>>& shapes = {});

}  // namespace deuteron
