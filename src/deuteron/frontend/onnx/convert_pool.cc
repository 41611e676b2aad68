#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;
using relax::nn::PoolOptions;

namespace {

PoolOptions ReadPool(const NodeContext& node, const Expr& x) {
  const Window window = ReadWindow(node, x, {});
  return {.pool_size = window.kernel,
          .strides = window.strides,
          .dilation = window.dilations,
          .padding = window.pads,
          .ceil_mode = node.Int("ceil_mode", 0) != 0};
}

Expr AveragePool(const Expr& x, const PoolOptions& options) {
  const auto pool = options.pool_size.size() == 1   ? relax::nn::AvgPool1D
                    : options.pool_size.size() == 2 ? relax::nn::AvgPool2D
                                                    : relax::nn::AvgPool3D;
  return pool(x, options);
}

std::vector<int64_t> SpatialAxes(const NodeContext& node, const Expr& x) {
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < node.Rank(x); ++axis) axes.push_back(axis);
  return axes;
}

/// |x|^p
Expr AbsPower(const NodeContext& node, const Expr& x, double p) {
  if (p == 2.0) return relax::Multiply(x, x);
  const Expr magnitude = relax::Abs(x);
  return p == 1.0 ? magnitude : relax::Power(magnitude, node.Scalar(node.DType(x), p));
}

Expr Root(const NodeContext& node, const Expr& x, DataType dtype, double p) {
  if (p == 2.0) return relax::Sqrt(x);
  return p == 1.0 ? x : relax::Power(x, node.Scalar(dtype, 1.0 / p));
}

}  // namespace

Results ConvertMaxPool(const NodeContext& node) {
  if (node.Wants(1)) node.Unsupported("the output Indices");
  const Expr x = node.X(0);
  const PoolOptions options = ReadPool(node, x);
  const auto pool = options.pool_size.size() == 1   ? relax::nn::MaxPool1D
                    : options.pool_size.size() == 2 ? relax::nn::MaxPool2D
                                                    : relax::nn::MaxPool3D;
  return {node.Emit(pool(x, options))};
}

Results ConvertAveragePool(const NodeContext& node) {
  const Expr x = node.X(0);
  PoolOptions options = ReadPool(node, x);
  options.count_include_pad = node.Int("count_include_pad", 0) != 0;
  return {node.Emit(AveragePool(x, options))};
}

Results ConvertLpPool(const NodeContext& node) {
  const Expr x = node.X(0);
  PoolOptions options = ReadPool(node, x);
  if (options.ceil_mode) node.Unsupported("ceil_mode");
  options.count_include_pad = true;
  const auto p = static_cast<double>(node.Int("p", 2));
  double count = 1;
  for (const int64_t size : options.pool_size) count *= static_cast<double>(size);
  const DataType dtype = node.DType(x);
  const Expr mean = node.Emit(AveragePool(node.Emit(AbsPower(node, x, p)), options));
  const Expr sum = node.Emit(relax::Multiply(mean, node.Scalar(dtype, count)));
  return {p == 1.0 ? sum : Expr(node.Emit(Root(node, sum, dtype, p)))};
}

Results ConvertGlobalPool(const NodeContext& node) {
  const Expr x = node.X(0);
  const std::string_view op = node.node().op_type;
  const auto axes = SpatialAxes(node, x);
  if (axes.empty()) return {x};
  if (op == "GlobalAveragePool") return {node.Emit(relax::Mean(x, axes, /*keepdims=*/true))};
  if (op == "GlobalMaxPool") return {node.Emit(relax::Max(x, axes, /*keepdims=*/true))};
  const auto p = static_cast<double>(node.Int("p", 2));
  const Expr sum = node.Emit(relax::Sum(AbsPower(node, x, p), axes, /*keepdims=*/true));
  return {p == 1.0 ? sum : Expr(node.Emit(Root(node, sum, node.DType(x), p)))};
}

}  // namespace deuteron::onnx
