#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kFloat = DataType::Float(32);
const DataType kInt32 = DataType::Int(32);

/// A scale or zero point, a scalar or a vector along `axis`, shaped to broadcast with a tensor of `rank`.
Expr Along(const NodeContext& node, const Expr& parameter, int64_t axis, int64_t rank) {
  const Array<PrimExpr> shape = node.Shape(parameter);
  if (shape.size() == 1 && IsOne(shape[0])) return node.Reshaped(parameter, {});
  if (shape.empty()) return parameter;
  if (shape.size() != 1) node.Unsupported("scales by block");
  Array<PrimExpr> column;
  const int64_t at = node.Axis(axis, rank);
  for (int64_t i = 0; i < rank; ++i) column.push_back(i == at ? shape[0] : I64(1));
  return node.Reshaped(parameter, column);
}

/// A scale or zero point as relax takes it: a scalar or a vector.
Expr Parameter(const NodeContext& node, const Expr& parameter) {
  const Array<PrimExpr> shape = node.Shape(parameter);
  if (shape.size() > 1) node.Unsupported("scales by block");
  return shape.size() == 1 && IsOne(shape[0]) ? node.Reshaped(parameter, {}) : parameter;
}

/// Zero points of `dtype`: `zero`, or 0 if there are none.
Expr ZeroPointOr0(const NodeContext& node, const Expr& zero, DataType dtype) {
  if (!dtype.is_int() && !dtype.is_uint()) node.Unsupported("quantisation to " + dtype.ToString());
  return zero.defined() ? zero : node.Scalar(dtype, 0);
}

/// round(value) + zero_point, saturated to `to`.
Expr Saturate(const NodeContext& node, const Expr& value, const Expr& zero_point, DataType to) {
  return node.Emit(relax::Quantize(value, node.Scalar(kFloat, 1), ZeroPointOr0(node, zero_point, to), 0, to));
}

/// (x - zero_point) as int32.
Expr Centred(const NodeContext& node, const Expr& x, const Expr& zero_point) {
  Expr wide = node.CastTo(x, kInt32);
  if (!zero_point.defined()) return wide;
  return node.Emit(relax::Subtract(wide, node.CastTo(zero_point, kInt32)));
}

/// A zero point of one element or one a row (`last` axis dropped) or column of a matrix.
Expr MatrixZeroPoint(const NodeContext& node, size_t input, bool by_row) {
  if (!node.Has(input)) return Expr();
  const Expr zero = node.X(input);
  const Array<PrimExpr> shape = node.Shape(zero);
  if (shape.size() != 1 || IsOne(shape[0])) return shape.size() == 1 ? node.Reshaped(zero, {}) : zero;
  return by_row ? node.Reshaped(zero, {shape[0], I64(1)}) : zero;
}

}  // namespace

Results ConvertQuantizeLinear(const NodeContext& node) {
  if (node.Int("block_size", 0) != 0) node.Unsupported("scales by block");
  const Expr x = node.X(0);
  const int64_t axis =
      Parameter(node, node.X(1))->ty.as<TensorTypeNode>()->ndim == 0 ? 0 : node.Axis(node.Int("axis", 1), node.Rank(x));
  DataType to = node.Has(2) ? node.KnownDType(2) : DataType::UInt(8);
  if (node.Int("output_dtype", 0) != 0)
    to = ToDataType(static_cast<int32_t>(node.Int("output_dtype", 0)), "the result");
  const Expr scale = node.CastTo(Parameter(node, node.X(1)), kFloat);
  const Expr zero = ZeroPointOr0(node, node.Has(2) ? Parameter(node, node.X(2)) : Expr(), to);
  return {node.Emit(relax::Quantize(node.CastTo(x, kFloat), scale, zero, axis, to))};
}

Results ConvertDequantizeLinear(const NodeContext& node) {
  if (node.Int("block_size", 0) != 0) node.Unsupported("scales by block");
  const Expr x = node.X(0);
  const Expr scale = node.CastTo(Parameter(node, node.X(1)), kFloat);
  const int64_t axis = scale->ty.as<TensorTypeNode>()->ndim == 0 ? 0 : node.Axis(node.Int("axis", 1), node.Rank(x));
  DataType to = node.KnownDType(1);
  if (node.Int("output_dtype", 0) != 0)
    to = ToDataType(static_cast<int32_t>(node.Int("output_dtype", 0)), "the result");
  const Expr zero = ZeroPointOr0(node, node.Has(2) ? Parameter(node, node.X(2)) : Expr(), node.DType(x));
  return {node.Emit(relax::Dequantize(x, scale, zero, axis, to))};
}

Results ConvertDynamicQuantizeLinear(const NodeContext& node) {
  const Expr x = node.X(0);
  const Expr zero = node.Scalar(kFloat, 0);
  const Expr greatest = node.Emit(relax::Maximum(relax::Max(x), zero));
  const Expr least = node.Emit(relax::Minimum(relax::Min(x), zero));
  const Expr scale = node.Emit(relax::Divide(relax::Subtract(greatest, least), node.Scalar(kFloat, 255)));
  const Expr zero_point =
      Saturate(node, node.Emit(relax::Divide(relax::Subtract(zero, least), scale)), Expr(), DataType::UInt(8));
  const Expr y = Saturate(node, node.Emit(relax::Divide(x, scale)), zero_point, DataType::UInt(8));
  return {y, scale, zero_point};
}

Results ConvertMatMulInteger(const NodeContext& node) {
  const Expr a = Centred(node, node.X(0), MatrixZeroPoint(node, 2, /*by_row=*/true));
  const Expr b = Centred(node, node.X(1), MatrixZeroPoint(node, 3, /*by_row=*/false));
  return {node.Emit(relax::Matmul(a, b))};
}

Results ConvertQLinearMatMul(const NodeContext& node) {
  const Expr a = Centred(node, node.X(0), MatrixZeroPoint(node, 2, /*by_row=*/true));
  const Expr b = Centred(node, node.X(3), MatrixZeroPoint(node, 5, /*by_row=*/false));
  const Expr product = node.CastTo(node.Emit(relax::Matmul(a, b)), kFloat);
  const auto scale = [&](size_t input) { return node.CastTo(MatrixZeroPoint(node, input, input == 1), kFloat); };
  const Expr factor =
      node.Emit(relax::Divide(relax::Multiply(scale(1), scale(4)), node.CastTo(node.Reshaped(node.X(6), {}), kFloat)));
  const Expr zero = node.Reshaped(node.X(7), {});
  return {Saturate(node, node.Emit(relax::Multiply(product, factor)), zero, node.KnownDType(7))};
}

namespace {

/// The convolution of integers of which zero points have been taken.
Expr IntegerConv(const NodeContext& node, const Expr& x, const Expr& weight) {
  std::vector<int64_t> kernel;
  for (int64_t axis = 2; axis < node.Rank(weight); ++axis)
    kernel.push_back(node.StaticDim(weight, axis, "a kernel's size"));
  const Window window = ReadWindow(node, x, kernel);
  const relax::nn::ConvOptions options{
      .strides = window.strides, .padding = window.pads, .dilation = window.dilations, .groups = node.Int("group", 1)};
  const auto conv = window.axes() == 1 ? relax::nn::Conv1D : window.axes() == 2 ? relax::nn::Conv2D : relax::nn::Conv3D;
  return node.Emit(conv(x, weight, options));
}

Expr ZeroPoint(const NodeContext& node, size_t input, int64_t axis, int64_t rank) {
  return node.Has(input) ? Along(node, node.X(input), axis, rank) : Expr();
}

}  // namespace

Results ConvertConvInteger(const NodeContext& node) {
  const int64_t rank = node.Rank(0);
  const Expr x = Centred(node, node.X(0), ZeroPoint(node, 2, 1, rank));
  const Expr weight = Centred(node, node.X(1), ZeroPoint(node, 3, 0, rank));
  return {IntegerConv(node, x, weight)};
}

Results ConvertQLinearConv(const NodeContext& node) {
  const int64_t rank = node.Rank(0);
  const Expr x = Centred(node, node.X(0), ZeroPoint(node, 2, 1, rank));
  const Expr weight = Centred(node, node.X(3), ZeroPoint(node, 5, 0, rank));
  Expr sum = IntegerConv(node, x, weight);
  if (node.Has(8)) sum = node.Emit(relax::Add(sum, Along(node, node.X(8), 1, rank)));
  const auto scale = [&](size_t input, int64_t axis) {
    return node.CastTo(Along(node, node.X(input), axis, rank), kFloat);
  };
  const Expr factor = node.Emit(relax::Divide(relax::Multiply(scale(1, 1), scale(4, 1)), scale(6, 1)));
  const Expr value = node.Emit(relax::Multiply(node.CastTo(sum, kFloat), factor));
  return {Saturate(node, value, ZeroPoint(node, 7, 1, rank), node.KnownDType(7))};
}

// ----- Operators of com.microsoft: one on dequantised tensors, whose result is quantised.

namespace {

/// The tensor that inputs `first` … are: integers, scale, zero point (may be left out).
Expr Dequantized(const NodeContext& node, size_t first, int64_t axis = 0) {
  const Expr x = node.X(first);
  const Expr zero =
      ZeroPointOr0(node, node.Has(first + 2) ? Parameter(node, node.X(first + 2)) : Expr(), node.DType(x));
  return node.Emit(relax::Dequantize(x, node.CastTo(Parameter(node, node.X(first + 1)), kFloat), zero, axis, kFloat));
}

/// `value` quantised by inputs `first` (the scale) and the next (the zero point, of the dtype of the result).
Results Quantized(const NodeContext& node, const Expr& value, size_t first, DataType otherwise) {
  const DataType to = node.Has(first + 1) ? node.KnownDType(first + 1) : otherwise;
  const Expr zero = ZeroPointOr0(node, node.Has(first + 1) ? Parameter(node, node.X(first + 1)) : Expr(), to);
  return {node.Emit(relax::Quantize(value, node.CastTo(Parameter(node, node.X(first)), kFloat), zero, 0, to))};
}

}  // namespace

Results ConvertQLinearAdd(const NodeContext& node) {
  return Quantized(node, node.Emit(relax::Add(Dequantized(node, 0), Dequantized(node, 3))), 6, node.DType(0));
}

Results ConvertQLinearMul(const NodeContext& node) {
  return Quantized(node, node.Emit(relax::Multiply(Dequantized(node, 0), Dequantized(node, 3))), 6, node.DType(0));
}

Results ConvertQLinearGlobalAveragePool(const NodeContext& node) {
  if (node.Int("channels_last", 0) != 0) node.Unsupported("channels in the last axis");
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < node.Rank(0); ++axis) axes.push_back(axis);
  return Quantized(node, node.Emit(relax::Mean(Dequantized(node, 0), axes, /*keepdims=*/true)), 3, node.DType(0));
}

Results ConvertQLinearConcat(const NodeContext& node) {
  Array<Expr> parts;
  for (size_t i = 2; i + 1 < node.NumInputs(); i += 3) parts.push_back(Dequantized(node, i));
  if (parts.empty()) node.Fail("nothing to concatenate");
  const int64_t axis = node.Axis(node.RequiredInt("axis"), node.Rank(2));
  return Quantized(node, node.Emit(relax::Concat(parts, axis)), 0, node.DType(2));
}

Results ConvertQGemm(const NodeContext& node) {
  if (node.Rank(0) != 2 || node.Rank(3) != 2) node.Fail("A and B must be matrices");
  const bool transposed = node.Int("transB", 0) != 0;
  Expr a = Dequantized(node, 0), b = Dequantized(node, 3, transposed ? 0 : 1);
  if (node.Int("transA", 0) != 0) a = node.Emit(relax::PermuteDims(a, {1, 0}));
  if (transposed) b = node.Emit(relax::PermuteDims(b, {1, 0}));
  Expr result = node.Emit(relax::Matmul(a, b));
  if (node.Has(6)) {
    // int32, of the scale that the sums of products have.
    const auto scale = [&](size_t input) { return node.CastTo(Parameter(node, node.X(input)), kFloat); };
    const Expr c = node.X(6);
    const Expr of_sums = node.Emit(relax::Multiply(scale(1), scale(4)));
    result = node.Emit(relax::Add(
        result, relax::Dequantize(c, of_sums, node.Scalar(kInt32, 0), std::max<int64_t>(node.Rank(c), 1) - 1, kFloat)));
  }
  if (const double alpha = node.Float("alpha", 1); alpha != 1)
    result = node.Emit(relax::Multiply(result, node.Scalar(kFloat, alpha)));
  if (!node.Has(7)) return {result};
  return Quantized(node, result, 7, node.DType(0));
}

}  // namespace deuteron::onnx
