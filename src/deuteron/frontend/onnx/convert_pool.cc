#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/evaluate.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
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

Expr GreatestOfWindows(const NodeContext& node, const Expr& x) {
  const PoolOptions options = ReadPool(node, x);
  const auto pool = options.pool_size.size() == 1   ? relax::nn::MaxPool1D
                    : options.pool_size.size() == 2 ? relax::nn::MaxPool2D
                                                    : relax::nn::MaxPool3D;
  return node.Emit(pool(x, options));
}

Expr AverageOfWindows(const NodeContext& node, const Expr& x) {
  PoolOptions options = ReadPool(node, x);
  options.count_include_pad = node.Int("count_include_pad", 0) != 0;
  return node.Emit(AveragePool(x, options));
}

namespace {

/// For each window of a plane the positions of its elements in the plane, which has `outside` of them; that where a
/// window sticks out.
std::vector<int64_t> WindowPositions(const Window& window, const std::vector<int64_t>& plane,
                                     const std::vector<int64_t>& windows, int64_t outside) {
  std::vector<int64_t> shape = windows;
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  std::vector<int64_t> positions;
  const size_t axes = plane.size();
  ForEachIndex(shape, [&](const std::vector<int64_t>& at) {
    int64_t position = 0;
    bool inside = true;
    for (size_t i = 0; i < axes; ++i) {
      const int64_t element = at[i] * window.strides[i] - window.pads[i] + at[axes + i] * window.dilations[i];
      inside &= element >= 0 && element < plane[i];
      position = position * plane[i] + element;
    }
    positions.push_back(inside ? position : outside);
  });
  return positions;
}

/// The index in the whole tensor of the first greatest element of each window.
Expr GreatestPositions(const NodeContext& node, const Expr& x, const Array<PrimExpr>& result) {
  const Window window = ReadWindow(node, x, {});
  const Array<PrimExpr> shape = node.Shape(x);
  const auto dims = AsConstInts(shape);
  const auto out = AsConstInts(result);
  if (!dims || !out) node.Unsupported("the output Indices of a symbolic shape");
  const std::vector<int64_t> plane(dims->begin() + 2, dims->end());
  const std::vector<int64_t> windows(out->begin() + 2, out->end());
  const int64_t size = ElementCount(plane);
  const int64_t count = ElementCount(windows);
  const int64_t elements = ElementCount(window.kernel);
  constexpr int64_t kMost = int64_t{1} << 24;
  if (size < 0 || count < 0 || elements < 1 || count > kMost / elements) node.Unsupported("the output Indices here");
  std::vector<int64_t> positions = WindowPositions(window, plane, windows, size);
  const int64_t planes = (*dims)[0] * (*dims)[1];
  const Expr flat = node.Reshaped(x, {I64(planes), I64(size)});
  const Expr lowest = node.Emit(
      relax::Full({I64(planes), I64(1)},
                  relax::Constant(TensorFromSymbolic({node.DType(x), {}, {MinValue(node.DType(x))}})), node.DType(x)));
  const Expr padded = node.Emit(relax::Concat(Array<Expr>{flat, lowest}, 1));
  const Expr taken = node.Emit(relax::Take(padded, node.ConstantInts(positions), 1));
  const Expr by_window = node.Reshaped(taken, {I64(planes), I64(count), I64(elements)});
  const Expr which = node.Emit(relax::Argmax(by_window, 2));
  if (node.Int("storage_order", 0) != 0) {
    // Counted along columns first.
    for (int64_t& position : positions) {
      int64_t rest = position;
      int64_t turned = 0;
      int64_t stride = size;
      for (size_t axis = plane.size(); axis-- > 0;) {
        stride /= plane[axis];
        turned += rest % plane[axis] * stride;
        rest /= plane[axis];
      }
      if (position < size) position = turned;
    }
  }
  const DataType index = DataType::Int(64);
  const auto counted = [&](int64_t until, int64_t step, const Array<PrimExpr>& as) {
    return node.Reshaped(node.Emit(relax::Arange(I64(0), I64(until * step), I64(step), index)), as);
  };
  const Expr within = node.Emit(relax::Add(which, counted(count, elements, {I64(1), I64(count)})));
  const Expr position = node.Emit(relax::Take(node.ConstantInts(positions), within, 0));
  return node.Reshaped(node.Emit(relax::Add(position, counted(planes, size, {I64(planes), I64(1)}))), result);
}

}  // namespace

Results ConvertMaxPool(const NodeContext& node) {
  const Expr x = node.X(0);
  const Expr greatest = GreatestOfWindows(node, x);
  if (!node.Wants(1)) return {greatest};
  return {greatest, GreatestPositions(node, x, node.Shape(greatest))};
}

Results ConvertAveragePool(const NodeContext& node) { return {AverageOfWindows(node, node.X(0))}; }

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
