/// \file
/// Operators of com.microsoft on quantised tensors: most are one on dequantised tensors, whose result is quantised.
#include <algorithm>
#include <functional>

#include "deuteron/frontend/onnx/conv.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kReal = DataType::Float(32);

}  // namespace

Results ConvertQLinearAdd(const NodeContext& node) {
  return Quantized(node, SumOf(node, Dequantized(node, 0), Dequantized(node, 3)), 6, node.DType(0));
}

Results ConvertQLinearMul(const NodeContext& node) {
  return Quantized(node, ProductOf(node, Dequantized(node, 0), Dequantized(node, 3)), 6, node.DType(0));
}

Results ConvertQLinearGlobalAveragePool(const NodeContext& node) {
  const int64_t rank = node.Rank(0);
  const int64_t first = node.Flag("channels_last", false) ? 1 : 2;
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < rank - (first == 1 ? 1 : 0); ++axis) axes.push_back(axis);
  return Quantized(node, node.Emit(relax::Mean(Dequantized(node, 0), axes, /*keepdims=*/true)), 3, node.DType(0));
}

Results ConvertQLinearConcat(const NodeContext& node) {
  Array<Expr> parts;
  for (size_t i = 2; i + 1 < node.NumInputs(); i += 3) parts.push_back(Dequantized(node, i));
  if (parts.empty()) node.Fail("nothing to concatenate");
  const int64_t axis = node.Axis(node.RequiredInt("axis"), node.Rank(2));
  return Quantized(node, node.Emit(relax::Concat(parts, axis)), 0, node.DType(2));
}

Results ConvertQLinearSigmoid(const NodeContext& node) {
  return Quantized(node, node.Emit(relax::Sigmoid(Dequantized(node, 0))), 3, node.DType(0));
}

Results ConvertQLinearLeakyRelu(const NodeContext& node) {
  return Quantized(node, node.Emit(relax::nn::LeakyRelu(Dequantized(node, 0), node.Float("alpha", 0.01))), 3,
                   node.DType(0));
}

Results ConvertQLinearSoftmax(const NodeContext& node) {
  const Expr x = Dequantized(node, 0);
  const Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.Axis(node.Int("axis", -1), rank);
  // As Softmax before operator set 13: of all axes from this one on.
  const bool flat = node.RequiredInt("opset") < 13 && axis != rank - 1;
  if (!flat) return Quantized(node, node.Emit(relax::nn::Softmax(x, axis)), 3, node.DType(0));
  const Expr matrix = node.Reshaped(x, {node.Product(shape, 0, axis), node.Product(shape, axis, rank)});
  return Quantized(node, node.Reshaped(node.Emit(relax::nn::Softmax(matrix, 1)), shape), 3, node.DType(0));
}

Results ConvertQLinearWhere(const NodeContext& node) {
  const std::vector<Expr> operands = BroadcastOperands(node, {node.X(0), Dequantized(node, 1), Dequantized(node, 4)});
  const Expr chosen = node.Emit(relax::Where(operands[0], operands[1], operands[2]));
  return Quantized(node, chosen, 7, node.DType(1));
}

Results ConvertQLinearReduceMean(const NodeContext& node) {
  const auto given = node.Ints("axes");
  relax::ReduceAxes axes;
  if (given && !given->empty()) axes = node.Axes(*given, node.Rank(0));
  const Expr mean = node.Emit(relax::Mean(Dequantized(node, 0), axes, node.RequiredInt("keepdims") != 0));
  return Quantized(node, mean, 3, node.DType(0));
}

Results ConvertQLinearAveragePool(const NodeContext& node) {
  const Expr x = Dequantized(node, 0);
  const auto pool = [&](const Expr& data) { return AverageOfWindows(node, data); };
  const Expr mean = node.Flag("channels_last", false) ? ChannelsSecond(node, x, pool) : pool(x);
  return Quantized(node, mean, 3, node.DType(0));
}

Results ConvertNhwcMaxPool(const NodeContext& node) {
  return {ChannelsSecond(node, node.X(0), [&](const Expr& data) { return GreatestOfWindows(node, data); })};
}

Results ConvertContribQLinearConv(const NodeContext& node) {
  const auto convolve = [&](const Expr& data) { return QLinearConvolved(node, data); };
  return {node.Flag("channels_last", false) ? ChannelsSecond(node, node.X(0), convolve) : convolve(node.X(0))};
}

Results ConvertMatMulIntegerToFloat(const NodeContext& node) {
  const Expr scale = ProductOf(node, MatrixParameter(node, 2, true), MatrixParameter(node, 3, false));
  const Expr product = IntegerProduct(node, node.X(0), node.X(1), MatrixParameter(node, 4, true),
                                      MatrixParameter(node, 5, false), scale);
  return {node.Has(6) ? SumOf(node, product, node.X(6)) : product};
}

Results ConvertDynamicQuantizeMatMul(const NodeContext& node) {
  const DynamicallyQuantized a = QuantizeDynamically(node, node.X(0));
  const Expr scale = node.Emit(relax::Multiply(a.scale, MatrixParameter(node, 2, false)));
  const Expr product = IntegerProduct(node, a.numbers, node.X(1), a.zero_point, MatrixParameter(node, 3, false), scale);
  return {node.Has(4) ? SumOf(node, product, node.X(4)) : product};
}

Results ConvertQGemm(const NodeContext& node) {
  if (node.Rank(0) != 2 || node.Rank(3) != 2) node.Fail("A and B must be matrices");
  const bool transposed = node.Flag("transB", false);
  Expr a = Dequantized(node, 0), b = Dequantized(node, 3, transposed ? 0 : 1);
  if (node.Flag("transA", false)) a = node.Emit(relax::PermuteDims(a, {1, 0}));
  if (transposed) b = node.Emit(relax::PermuteDims(b, {1, 0}));
  Expr result = node.Emit(relax::Matmul(a, b));
  if (node.Has(6)) {
    // int32, of the scale that the sums of products have.
    const auto scale = [&](size_t input) { return node.CastTo(Parameter(node, node.X(input)), kReal); };
    const Expr of_sums = node.Emit(relax::Multiply(scale(1), scale(4)));
    result = SumOf(node, result, ProductOf(node, node.CastTo(node.X(6), kReal), of_sums));
  }
  if (const double alpha = node.Float("alpha", 1); alpha != 1)
    result = node.Emit(relax::Multiply(result, node.Scalar(kReal, alpha)));
  if (!node.Has(7)) return {result};
  return Quantized(node, result, 7, node.DType(0));
}

}  // namespace deuteron::onnx
