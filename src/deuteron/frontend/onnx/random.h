/// \file
/// Random numbers (convert_random.cc).
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// `count` numbers in [0, 1), float32, from number `first` of the stream of `seed`, a scalar of integers; null: of the
/// node's.
relax::Expr UniformFrom(const NodeContext& node, const relax::Expr& seed, const PrimExpr& first, const PrimExpr& count);

}  // namespace deuteron::onnx
