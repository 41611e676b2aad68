/// \file
/// Errors of the IR in the words of a model.
#pragma once

#include <string>

namespace deuteron::onnx {

/// A message about the node of that name (NodeSpanName): without the operator of the IR ahead of it (`matmul (at /fc):
/// …`), and with types as a run names them, `float32[2, n]` for `Tensor((2, n), "float32")`.
std::string InModelWords(const std::string& message, const std::string& node);

}  // namespace deuteron::onnx
