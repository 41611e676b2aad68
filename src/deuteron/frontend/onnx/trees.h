/// \file
/// What the operators of ai.onnx.ml have in common.
#pragma once

#include <string>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// Scores (rows, targets) as attribute post_transform says: "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" (softmax of
/// what is not 0) or "PROBIT" (the inverse of the normal distribution).
relax::Expr PostTransformed(const NodeContext& node, const relax::Expr& scores, const std::string& transform);

}  // namespace deuteron::onnx
