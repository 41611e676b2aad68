/// \file
/// Resize where the run tells what to resize to.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The greatest scale of an axis.
constexpr int64_t kMostScale = 1'000'000;

/// What errors call the length of an axis.
constexpr const char* kResizedLength = "the length of an axis that is resized";

/// Resize or Upsample of `x`, in any form, whose scales, sizes or region are values of the run, or whose axes are
/// symbolic: each axis by indices or by a matrix of weights that are computed when the model runs.
relax::Expr ResizeAtRunTime(const NodeContext& node, const relax::Expr& x);

}  // namespace deuteron::onnx
