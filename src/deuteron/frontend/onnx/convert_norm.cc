#include <algorithm>
#include <numeric>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

std::vector<int64_t> AxesFrom(int64_t begin, int64_t end) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(0, end - begin)));
  std::iota(axes.begin(), axes.end(), begin);
  return axes;
}

/// `x` broadcast to `shape`, in `dtype`.
Expr Broadcast(const NodeContext& node, const Expr& x, const Array<PrimExpr>& shape, DataType dtype) {
  const Expr value = node.CastTo(x, dtype);
  const Array<PrimExpr> own = node.Shape(value);
  bool same = own.size() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) same = node.analyzer().CanProveEqual(own[i], shape[i]);
  return same ? value : Expr(node.Emit(relax::BroadcastTo(value, shape)));
}

}  // namespace

Results ConvertBatchNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool training = node.Flag("training_mode", false);
  for (size_t output = 1; output < node.NumOutputs(); ++output) {
    if (node.Wants(output) && !training)
      node.Unsupported("outputs of training mode; export the model in evaluation mode");
  }
  const DataType dtype = node.DType(x);
  if (!node.Flag("spatial", true) && node.opset() < 9) {
    // A mean, a variance, … of its own for each element.
    const auto of_element = [&](size_t input) { return node.CastTo(node.X(input), dtype); };
    const Expr centred = relax::Subtract(x, of_element(3));
    const Expr deviation = relax::Sqrt(relax::Add(of_element(4), node.Scalar(dtype, node.Float("epsilon", 1e-5))));
    const Expr scaled = relax::Multiply(relax::Divide(centred, deviation), of_element(1));
    return {node.Emit(relax::Add(scaled, of_element(2)))};
  }
  Array<Expr> statistics;
  for (size_t input = 1; input <= 4; ++input) {
    const Expr value = node.X(input);
    if (node.Rank(value) != 1) node.Fail("input " + std::to_string(input) + " must be a vector over the channels");
    statistics.push_back(node.CastTo(value, dtype));
  }
  Results moving;
  if (training) {
    // Moments of the batch; what they make of the moving ones is returned.
    std::vector<int64_t> axes = AxesFrom(2, node.Rank(x));
    axes.insert(axes.begin(), 0);
    const double momentum = node.Float("momentum", 0.9);
    for (const int64_t index : {2, 3}) {
      const Expr old = statistics[index];
      const Expr now = node.Emit(index == 2 ? relax::Mean(x, axes) : relax::Variance(x, axes));
      const Expr kept = relax::Multiply(old, node.Scalar(dtype, momentum));
      moving.emplace_back(node.Emit(relax::Add(kept, relax::Multiply(now, node.Scalar(dtype, 1 - momentum)))));
      statistics.Set(index, now);
    }
  }
  const auto result =
      node.Emit(relax::nn::BatchNorm(x, statistics[0], statistics[1], statistics[2], statistics[3], /*axis=*/1,
                                     node.Float("epsilon", 1e-5), /*center=*/true, /*scale=*/true,
                                     /*momentum=*/0.1, /*training=*/false));
  Results results = {node.Field(result, 0)};
  results.insert(results.end(), moving.begin(), moving.end());
  return results;
}

Results ConvertInstanceNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  return {node.Emit(relax::nn::InstanceNorm(x, node.X(1), node.X(2), /*channel_axis=*/1, AxesFrom(2, node.Rank(x)),
                                            node.Float("epsilon", 1e-5)))};
}

Results ConvertGroupNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t groups = node.RequiredInt("num_groups");
  // Scale and bias are given by group before operator set 21, by channel from it on.
  const bool is_by_group = node.opset() < 21;
  const auto channels = is_by_group ? node.StaticDim(x, 1, "the number of channels") : AsConstInt(node.Shape(x)[1]);
  if (groups <= 0 || channels.value_or(groups) % groups != 0) {
    node.Fail(std::to_string(*channels) + " channels cannot be divided into " + std::to_string(groups) + " groups");
  }
  const auto by_channel = [&](size_t input) -> Expr {
    const Expr value = node.X(input);
    if (!is_by_group || groups == *channels) return value;
    return node.Emit(relax::Repeat(value, *channels / groups, 0));
  };
  return {node.Emit(relax::nn::GroupNorm(x, by_channel(1), by_channel(2), groups, /*channel_axis=*/1,
                                         AxesFrom(2, node.Rank(x)), node.Float("epsilon", 1e-5)))};
}

Results ConvertLayerNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const int64_t axis = node.Axis(node.Int("axis", -1), rank);
  const double epsilon = node.Float("epsilon", 1e-5);
  const std::vector<int64_t> axes = AxesFrom(axis, rank);
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> normalized;
  for (int64_t i = axis; i < rank; ++i) normalized.push_back(shape[i]);
  const DataType dtype = node.DType(x);
  const Expr scale = Broadcast(node, node.X(1), normalized, dtype);
  const Expr bias =
      node.Has(2) ? Broadcast(node, node.X(2), normalized, dtype) : Expr(node.Emit(relax::Zeros(normalized, dtype)));
  Results results{node.Emit(relax::nn::LayerNorm(x, scale, bias, axes, epsilon, node.Has(2)))};
  if (node.Wants(1) || node.Wants(2)) {
    const Expr wide = node.CastTo(x, DataType::Float(32));
    results.emplace_back(node.Emit(relax::Mean(wide, axes, /*keepdims=*/true)));
    const Expr variance = node.Emit(relax::Variance(wide, axes, /*keepdims=*/true));
    results.emplace_back(node.Emit(relax::Rsqrt(relax::Add(variance, node.Scalar(DataType::Float(32), epsilon)))));
  }
  return results;
}

Results ConvertRMSNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const int64_t axis = node.Axis(node.Int("axis", -1), rank);
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> normalized;
  for (int64_t i = axis; i < rank; ++i) normalized.push_back(shape[i]);
  const Expr scale = Broadcast(node, node.X(1), normalized, node.DType(x));
  const double epsilon = node.Float("epsilon", 1e-5);
  Results results{node.Emit(relax::nn::RMSNorm(x, scale, AxesFrom(axis, rank), epsilon))};
  if (node.Wants(1)) {
    const DataType wide = DataType::Float(32);
    const Expr value = node.CastTo(x, wide);
    const Expr square = node.Emit(relax::Mean(relax::Multiply(value, value), AxesFrom(axis, rank), /*keepdims=*/true));
    results.emplace_back(node.Emit(relax::Rsqrt(relax::Add(square, node.Scalar(wide, epsilon)))));
  }
  return results;
}

Results ConvertLRN(const NodeContext& node) {
  const Expr x = node.X(0);
  int64_t size = node.RequiredInt("size");
  if (size < 1) node.Fail("size must be positive");
  const int64_t rank = node.Rank(x);
  if (rank < 2) node.Fail("its input has no channels");
  const DataType dtype = node.DType(x);
  const Array<PrimExpr> shape = node.Shape(x);
  // Of nothing there are no windows.
  if (std::any_of(shape.begin(), shape.end(), [](const PrimExpr& dim) { return IsZero(dim); })) return {x};
  double alpha = node.Float("alpha", 1e-4);
  // Beyond all channels there is nothing to add.
  if (const auto channels = AsConstInt(shape[1]); channels && (size - 1) / 2 > *channels) {
    alpha *= static_cast<double>(2 * *channels + 1) / static_cast<double>(size);
    size = 2 * *channels + 1;
  }
  if (size > kLargestWindow) node.Fail("size is " + std::to_string(size));
  // The sum over neighbouring channels is an average pool over the plane of channels and positions.
  const Expr square = node.Emit(relax::Multiply(x, x));
  const Expr plane = node.Reshaped(square, {shape[0], I64(1), shape[1], node.Product(shape, 2, rank)});
  const relax::nn::PoolOptions options{
      .pool_size = {size, 1}, .padding = {(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0}, .count_include_pad = true};
  const Expr mean = node.Reshaped(node.Emit(relax::nn::AvgPool2D(plane, options)), shape);
  // alpha is divided by the size, as the mean is.
  const Expr scaled = relax::Multiply(mean, node.Scalar(dtype, alpha));
  const Expr base = relax::Add(scaled, node.Scalar(dtype, node.Float("bias", 1.0)));
  return {node.Emit(relax::Divide(x, relax::Power(base, node.Scalar(dtype, node.Float("beta", 0.75)))))};
}

Results ConvertLpNormalization(const NodeContext& node) {
  const DataType dtype = node.DType(node.X(0));
  const Expr x = node.Widened(node.X(0));
  const std::vector<int64_t> axes = {node.Axis(node.Int("axis", -1), node.Rank(x))};
  const int64_t p = node.Int("p", 2);
  if (p != 1 && p != 2) node.Fail("p must be 1 or 2");
  const Expr norm =
      p == 1 ? relax::Sum(relax::Abs(x), axes, true) : relax::Sqrt(relax::Sum(relax::Multiply(x, x), axes, true));
  const Expr bound = node.Emit(norm);
  const Expr zero = node.Scalar(node.DType(x), 0);
  // A norm of zero divides nothing: the result is zero.
  const Expr is_zero = node.Emit(relax::Equal(bound, zero));
  const Expr scaled = node.Emit(
      relax::Where(is_zero, zero, relax::Divide(x, relax::Where(is_zero, node.Scalar(node.DType(x), 1), bound))));
  return {node.CastTo(scaled, dtype)};
}

Results ConvertMeanVarianceNormalization(const NodeContext& node) {
  const Expr x = node.X(0);
  const auto axes = node.Axes(node.Ints("axes").value_or(std::vector<int64_t>{0, 2, 3}), node.Rank(x));
  const DataType dtype = node.DType(x);
  const Expr centred = node.Emit(relax::Subtract(x, relax::Mean(x, axes, /*keepdims=*/true)));
  const Expr variance = relax::Mean(relax::Multiply(centred, centred), axes, /*keepdims=*/true);
  return {node.Emit(relax::Divide(centred, relax::Add(relax::Sqrt(variance), node.Scalar(dtype, 1e-9))))};
}

}  // namespace deuteron::onnx
