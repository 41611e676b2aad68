#include <algorithm>

#include "deuteron/frontend/onnx/conv.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/narrow.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kFloat = DataType::Float(32);
const DataType kInt32 = DataType::Int(32);

}  // namespace

namespace {

/// Whether scales are given by block: in a tensor of the rank of the input.
bool HasBlocks(const NodeContext& node) { return node.Rank(1) > 1; }

/// Input `input`, a scale or zero point in `dtype`, so that it broadcasts with `x`: those of blocks one for each
/// element.
Expr ByElement(const NodeContext& node, size_t input, const Expr& x, DataType dtype) {
  const int64_t axis = node.Int("axis", 1);
  if (!HasBlocks(node)) return Along(node, node.CastTo(node.X(input), dtype), axis, node.Rank(x));
  const int64_t at = node.Axis(axis, node.Rank(x));
  if (node.Rank(input) != node.Rank(x)) node.Fail("scales by block must be of the rank of what they scale");
  const PrimExpr length = node.Shape(x)[at];
  const int64_t block = node.Int("block_size", 0);
  if (block == 0)
    node.Fail("scales of rank " + std::to_string(node.Rank(input)) +
              " are by block, and it has no block_size; give that");
  if (block < 1) node.Fail("a block_size of " + std::to_string(block));
  const auto blocks = AsConstInt(node.Shape(input)[at]), extent = AsConstInt(length);
  if (blocks && extent && *extent > 0 && (*extent - 1) / block + 1 != *blocks) {
    node.Fail(std::to_string(*blocks) + " blocks of " + std::to_string(block) + " along an axis of " +
              std::to_string(*extent));
  }
  const Expr wide = node.Emit(relax::Repeat(node.CastTo(node.X(input), dtype), block, at));
  if (node.analyzer().CanProveEqual(node.Shape(wide)[at], length)) return wide;
  // Where the last block is of symbolic length, that there is one for each element is checked when the model runs.
  const Expr cut = node.Emit(relax::StridedSlice(wide, {at}, {I64(0)}, {length}, {I64(1)}));
  return node.WithShape(cut, node.Shape(x));
}

/// An element type that attribute `name` gives, or `otherwise`.
DataType TypeAttribute(const NodeContext& node, const char* name, DataType otherwise) {
  const int64_t type = node.Int(name, 0);
  return type == 0 ? otherwise : ToDataType(type, name);
}

/// The axis of the scales in the words of relax: 0 for a scalar.
int64_t ScaleAxis(const NodeContext& node, const Expr& scale, const Expr& x) {
  return node.Rank(scale) == 0 ? 0 : node.Axis(node.Int("axis", 1), node.Rank(x));
}

}  // namespace

Results ConvertQuantizeLinear(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType to = TypeAttribute(node, "output_dtype", node.Has(2) ? node.KnownDType(2) : DataType::UInt(8));
  const DataType precision = TypeAttribute(node, "precision", kFloat);
  const Narrowing narrowing = NarrowingOf(node);
  if (!HasBlocks(node) && precision == kFloat && narrowing.saturate) {
    const Expr scale = node.CastTo(Parameter(node, node.X(1)), kFloat);
    const Expr zero = ZeroPointOr0(node, node.Has(2) ? Parameter(node, node.X(2)) : Expr(), to);
    return {node.Emit(relax::Quantize(node.CastTo(x, kFloat), scale, zero, ScaleAxis(node, scale, x), to))};
  }
  if (!precision.is_float()) node.Fail("a precision of " + precision.ToString());
  Expr value = node.Emit(relax::Divide(node.CastTo(x, precision), ByElement(node, 1, x, precision)));
  if (!to.is_float()) value = node.Emit(relax::Round(value));
  value = node.CastTo(value, kFloat);
  if (node.Has(2)) value = node.Emit(relax::Add(value, ByElement(node, 2, x, kFloat)));
  if (narrowing.saturate || !to.is_float()) return {Saturate(node, value, Expr(), to)};
  return {Converted(node, value, to, narrowing)};
}

Results ConvertDequantizeLinear(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType from = node.DType(x);
  if (from.is_float() && from.bits() >= 16) node.Fail("its input is of floats, and has to be quantised");
  const DataType to = TypeAttribute(node, "output_dtype", node.KnownDType(1));
  if (HasBlocks(node)) {
    Expr value = node.CastTo(x, kFloat);
    if (node.Has(2)) value = node.Emit(relax::Subtract(value, ByElement(node, 2, x, kFloat)));
    return {node.CastTo(node.Emit(relax::Multiply(value, ByElement(node, 1, x, kFloat))), to)};
  }
  const Expr scale = node.CastTo(Parameter(node, node.X(1)), kFloat);
  const Expr zero = ZeroPointOr0(node, node.Has(2) ? Parameter(node, node.X(2)) : Expr(), node.DType(x));
  return {node.Emit(relax::Dequantize(x, scale, zero, ScaleAxis(node, scale, x), to))};
}

Results ConvertDynamicQuantizeLinear(const NodeContext& node) {
  const DynamicallyQuantized x = QuantizeDynamically(node, node.X(0));
  return {x.numbers, x.scale, x.zero_point};
}

Results ConvertMatMulInteger(const NodeContext& node) {
  const Expr a = Centred(node, node.X(0), MatrixParameter(node, 2, /*by_row=*/true));
  const Expr b = Centred(node, node.X(1), MatrixParameter(node, 3, /*by_row=*/false));
  return {MatrixProduct(node, a, b)};
}

Results ConvertQLinearMatMul(const NodeContext& node) {
  const Expr a = Centred(node, node.X(0), MatrixParameter(node, 2, /*by_row=*/true));
  const Expr b = Centred(node, node.X(3), MatrixParameter(node, 5, /*by_row=*/false));
  const Expr product = node.CastTo(MatrixProduct(node, a, b), kFloat);
  const auto scale = [&](size_t input) { return node.CastTo(MatrixParameter(node, input, input == 1), kFloat); };
  const Expr factor =
      node.Emit(relax::Divide(relax::Multiply(scale(1), scale(4)), node.CastTo(node.Reshaped(node.X(6), {}), kFloat)));
  const Expr zero = node.Reshaped(node.X(7), {});
  return {Saturate(node, node.Emit(relax::Multiply(product, factor)), zero, node.KnownDType(7))};
}

namespace {

Expr ZeroPoint(const NodeContext& node, size_t input, int64_t axis, int64_t rank) {
  return node.Has(input) ? Along(node, node.X(input), axis, rank) : Expr();
}

}  // namespace

Results ConvertConvInteger(const NodeContext& node) {
  const int64_t rank = node.Rank(0);
  const Expr x = Centred(node, node.X(0), ZeroPoint(node, 2, 1, rank));
  const Expr weight = Centred(node, node.X(1), ZeroPoint(node, 3, 0, rank));
  return {Convolved(node, x, WithKernel(node, weight))};
}

Expr QLinearConvolved(const NodeContext& node, const Expr& data) {
  const int64_t rank = node.Rank(data);
  const Expr x = Centred(node, data, ZeroPoint(node, 2, 1, rank));
  const Expr weight = Centred(node, node.X(3), ZeroPoint(node, 5, 0, rank));
  Expr sum = Convolved(node, x, WithKernel(node, weight));
  if (node.Has(8)) sum = node.Emit(relax::Add(sum, Along(node, node.X(8), 1, rank)));
  const auto scale = [&](size_t input, int64_t axis) {
    return node.CastTo(Along(node, node.X(input), axis, rank), kFloat);
  };
  const Expr factor = node.Emit(relax::Divide(relax::Multiply(scale(1, 1), scale(4, 1)), scale(6, 1)));
  const Expr value = node.Emit(relax::Multiply(node.CastTo(sum, kFloat), factor));
  return Saturate(node, value, ZeroPoint(node, 7, 1, rank), node.KnownDType(7));
}

Results ConvertQLinearConv(const NodeContext& node) { return {QLinearConvolved(node, node.X(0))}; }

}  // namespace deuteron::onnx
