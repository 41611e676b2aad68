/// \file
/// Conversions to the element types below float16 and int8, as ONNX has them.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// What becomes of values that the type does not hold: attributes `saturate` and `round_mode` of Cast, CastLike and
/// QuantizeLinear.
struct Narrowing {
  /// What is too large becomes the greatest number of a float of 8 bits; else what IR's cast makes of it (infinity or
  /// NaN).
  bool saturate = true;
  /// To powers of two (float8_e8m0fnu): "up", "down" or "nearest".
  std::string round_mode = "up";
};
/// The node's own. A ModelError for an unknown `round_mode`.
Narrowing NarrowingOf(const NodeContext& node);

/// `x` in `to`, which may be of any width. A float becomes an integer of fewer than 8 bits as it becomes an int32, of
/// which the lowest bits are taken.
relax::Expr Converted(const NodeContext& node, const relax::Expr& x, DataType to, const Narrowing& narrowing);

}  // namespace deuteron::onnx
