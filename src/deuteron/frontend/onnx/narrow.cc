#include "deuteron/frontend/onnx/narrow.h"

#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/support/element.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kSingle = DataType::Float(32);

/// `x` between the least and the greatest number of `format`; NaN stays.
Expr Clamped(const NodeContext& node, const Expr& x, const FloatFormat& format) {
  const DataType dtype = node.DType(x);
  const double greatest = format.Decode(format.greatest());
  const double least = format.special == FloatFormat::Special::kExponent ? format.Decode(0) : -greatest;
  return node.Emit(relax::Minimum(relax::Maximum(x, node.Scalar(dtype, least)), node.Scalar(dtype, greatest)));
}

/// `x` times what makes IR's rounding, to the nearest power of two and from 1.5 times a power up, another one: down if
/// 1.99… times a power stays below 1.5, up if the next number after it reaches 1.5. A float32 times either is exact
/// enough in float64.
Expr RoundedByScale(const NodeContext& node, const Expr& x, const std::string& mode) {
  if (mode == "nearest") return x;
  const DataType wide = DataType::Float(64);
  const double factor = mode == "down" ? 0.75 : 1.5 - 0x1p-30;
  return node.Emit(relax::Multiply(node.CastTo(x, wide), node.Scalar(wide, factor)));
}

}  // namespace

Narrowing NarrowingOf(const NodeContext& node) {
  Narrowing narrowing{.saturate = node.Flag("saturate", true), .round_mode = node.Str("round_mode", "up")};
  if (narrowing.round_mode != "up" && narrowing.round_mode != "down" && narrowing.round_mode != "nearest") {
    node.Fail("a round_mode '" + narrowing.round_mode + "', which is none of up, down and nearest");
  }
  return narrowing;
}

Expr Converted(const NodeContext& node, const Expr& x, DataType to, const Narrowing& narrowing) {
  const DataType from = node.DType(x);
  if (from == to) return x;
  if (to.is_integer() && to.bits() < 8 && from.is_float()) return node.CastTo(node.CastTo(x, DataType::Int(32)), to);
  const FloatFormat* format = FindFloatFormat(to);
  if (format == nullptr || format->bits > 8 || format->special == FloatFormat::Special::kNone) {
    return node.CastTo(x, to);
  }
  const bool power = format->special == FloatFormat::Special::kExponent;
  Expr value = !power && from.is_float() && from.bits() >= 16 ? x : node.CastTo(x, kSingle);
  if (narrowing.saturate) value = Clamped(node, value, *format);
  if (power) value = RoundedByScale(node, value, narrowing.round_mode);
  return node.CastTo(value, to);
}

}  // namespace deuteron::onnx
