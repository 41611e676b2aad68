/// \file
/// A module from a file of either kind.
#pragma once

#include <string>

#include "deuteron/frontend/onnx/import.h"

namespace deuteron {

/// What the .onnx model or the .py module in `path` holds. `options` are for models; a UsageError if they have shapes
/// for a .py module, which states its own. A ModelError that says why if it cannot be read.
IRModule ReadModule(const std::string& path, const onnx::ImportOptions& options = {});

}  // namespace deuteron
