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

PoolOptions PoolOf(const NodeContext& node, const Window& window) {
  return {.pool_size = window.kernel,
          .strides = window.strides,
          .dilation = window.dilations,
          .padding = window.pads,
          .ceil_mode = node.Flag("ceil_mode", false)};
}

/// Of padding alone there is neither a greatest element nor a mean.
void CheckThatWindowsHoldElements(const NodeContext& node, const Window& window) {
  const size_t axes = window.axes();
  for (size_t i = 0; i < 2 * axes; ++i) {
    const int64_t reach = (window.kernel[i % axes] - 1) * window.dilations[i % axes] + 1;
    if (window.pads[i] < reach) continue;
    node.Fail("a window lies in the padding alone: axis " + std::to_string(i % axes + 2) + " has " +
              std::to_string(window.pads[i]) + " elements of it at one end, and a window reaches over " +
              std::to_string(reach) + "; give less, or a Pad of its own");
  }
}

/// The least value of a dtype, as a constant.
Expr Lowest(DataType dtype) { return relax::Constant(TensorFromSymbolic({dtype, {}, {MinValue(dtype)}})); }

Expr MaxPool(const Expr& x, const PoolOptions& options) {
  const auto pool = options.pool_size.size() == 1   ? relax::nn::MaxPool1D
                    : options.pool_size.size() == 2 ? relax::nn::MaxPool2D
                                                    : relax::nn::MaxPool3D;
  return pool(x, options);
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

/// Windows of so many elements are read an axis at a time: the trip through memory in between takes less.
constexpr int64_t kLargeWindow = 25;

/// Pools that follow each other, of which the greatest elements are those of one: of a large window one for each axis,
/// the innermost first.
std::vector<PoolOptions> PartsOf(const PoolOptions& whole) {
  const size_t axes = whole.pool_size.size();
  int64_t elements = 1;
  for (const int64_t size : whole.pool_size) elements *= size;
  if (axes == 1 || elements < kLargeWindow) return {whole};
  std::vector<PoolOptions> parts;
  for (size_t axis = axes; axis-- > 0;) {
    PoolOptions part = whole;
    const auto keep = [&](std::vector<int64_t> PoolOptions::*field, int64_t none) {
      std::vector<int64_t>& values = part.*field;
      for (size_t i = 0; i < values.size(); ++i) {
        if (i % axes != axis) values[i] = none;
      }
    };
    keep(&PoolOptions::pool_size, 1);
    keep(&PoolOptions::strides, 1);
    keep(&PoolOptions::dilation, 1);
    keep(&PoolOptions::padding, 0);
    parts.push_back(part);
  }
  std::erase_if(parts, [&](const PoolOptions& part) {
    const auto is_one = [](int64_t value) { return value == 1; };
    const auto is_zero = [](int64_t value) { return value == 0; };
    return std::all_of(part.pool_size.begin(), part.pool_size.end(), is_one) &&
           std::all_of(part.strides.begin(), part.strides.end(), is_one) &&
           std::all_of(part.padding.begin(), part.padding.end(), is_zero);
  });
  return parts;
}

}  // namespace

Expr GreatestOfWindows(const NodeContext& node, const Expr& x) {
  const WindowOver over = ReadWindowOver(node, x, {}, Lowest(node.DType(x)));
  CheckThatWindowsHoldElements(node, over.window);
  Expr greatest = over.x;
  for (const PoolOptions& part : PartsOf(PoolOf(node, over.window))) greatest = node.Emit(MaxPool(greatest, part));
  return greatest;
}

Expr AverageOfWindows(const NodeContext& node, const Expr& x) {
  const Expr zero = node.Scalar(node.DType(x), 0);
  const WindowOver over = ReadWindowOver(node, x, {}, zero);
  PoolOptions options = PoolOf(node, over.window);
  const bool counts_padding = node.Flag("count_include_pad", false);
  options.count_include_pad = counts_padding;
  if (!counts_padding) CheckThatWindowsHoldElements(node, over.window);
  const Expr mean = node.Emit(AveragePool(over.x, options));
  if (!over.is_padded || counts_padding) return mean;
  // By the share of each window that is not padding.
  Array<PrimExpr> plane = node.Shape(x);
  plane.Set(0, I64(1));
  plane.Set(1, I64(1));
  const Expr ones = node.Emit(relax::Full(plane, node.Scalar(node.DType(x), 1), node.DType(x)));
  const Expr share = node.Emit(AveragePool(ReadWindowOver(node, ones, {}, zero).x, options));
  return node.Emit(relax::Divide(mean, share));
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

/// Positions of windows: in the plane and, as storage_order says, as they are counted.
struct Positions {
  Expr place;
  Expr counted;
};

/// Of planes and windows whose sizes are numbers: constants.
Positions ConstantPositions(const NodeContext& node, const Window& window, const std::vector<int64_t>& plane,
                            const std::vector<int64_t>& windows, int64_t size) {
  std::vector<int64_t> positions = WindowPositions(window, plane, windows, size);
  const Expr place = node.ConstantInts(positions);
  if (!node.Flag("storage_order", false)) return {place, place};
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
  return {place, node.ConstantInts(positions)};
}

/// Of others: computed by axis.
Positions ComputedPositions(const NodeContext& node, const Window& window, const Array<PrimExpr>& plane,
                            const Array<PrimExpr>& windows, const PrimExpr& size) {
  const DataType index = DataType::Int(64);
  const auto axes = static_cast<int64_t>(plane.size());
  Array<PrimExpr> grid = windows;
  for (const int64_t extent : window.kernel) grid.push_back(I64(extent));
  const auto along = [&](int64_t axis, int64_t step) {
    Array<PrimExpr> column(2 * axes, I64(1));
    column.Set(axis, grid[axis]);
    const Expr count = node.Emit(relax::Arange(I64(0), grid[axis], I64(1), index));
    return relax::Multiply(node.Reshaped(count, column), node.Scalar(index, static_cast<double>(step)));
  };
  const auto number = [&](const PrimExpr& value) { return Expr(relax::PrimValue(node.Simplify(value))); };
  Expr outside = node.Scalar(DataType::Bool(), 0);
  Expr place = node.Scalar(index, 0);
  Expr turned = node.Scalar(index, 0);
  PrimExpr stride = I64(1);
  for (int64_t i = 0; i < axes; ++i) {
    const Expr seen = relax::Add(along(i, window.strides[i]), along(axes + i, window.dilations[i]));
    const Expr at = node.Emit(relax::Subtract(seen, number(I64(window.pads[i]))));
    const Expr is_out =
        relax::LogicalOr(relax::Less(at, node.Scalar(index, 0)), relax::GreaterEqual(at, number(plane[i])));
    outside = node.Emit(relax::LogicalOr(outside, is_out));
    place = node.Emit(relax::Add(relax::Multiply(place, number(plane[i])), at));
    turned = node.Emit(relax::Add(turned, relax::Multiply(at, number(stride))));
    stride = stride * plane[i];
  }
  const PrimExpr all = node.Product(grid, 0, 2 * axes);
  const auto flat = [&](const Expr& position) {
    return node.Reshaped(node.Emit(relax::Where(outside, node.ScalarOf(index, size), position)), {all});
  };
  const Expr in_plane = flat(place);
  return {in_plane, !node.Flag("storage_order", false) ? in_plane : flat(turned)};
}

/// The index in the whole tensor of the first greatest element of each window.
Expr GreatestPositions(const NodeContext& node, const Expr& x, const Array<PrimExpr>& result) {
  const Window window = ReadWindow(node, x, {});
  const Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const Array<PrimExpr> plane(shape.begin() + 2, shape.end());
  const Array<PrimExpr> windows(result.begin() + 2, result.end());
  const PrimExpr size = node.Product(shape, 2, rank);
  const PrimExpr count = node.Product(result, 2, rank);
  const PrimExpr planes = node.Product(shape, 0, 2);
  const int64_t elements = ElementCount(window.kernel);
  const auto plane_numbers = AsConstInts(plane);
  const auto window_numbers = AsConstInts(windows);
  constexpr int64_t kMost = int64_t{1} << 24;
  if (elements < 1 || elements > kMost) node.Unsupported("the output Indices of windows of this size");
  const bool is_constant = plane_numbers && window_numbers && ElementCount(*plane_numbers) >= 0 &&
                           ElementCount(*window_numbers) >= 0 && ElementCount(*window_numbers) <= kMost / elements;
  const Positions positions =
      is_constant ? ConstantPositions(node, window, *plane_numbers, *window_numbers, ElementCount(*plane_numbers))
                  : ComputedPositions(node, window, plane, windows, size);
  const Expr flat = node.Reshaped(x, {planes, size});
  const Expr lowest = node.Emit(relax::Full({planes, I64(1)}, Lowest(node.DType(x)), node.DType(x)));
  const Expr padded = node.Emit(relax::Concat(Array<Expr>{flat, lowest}, 1));
  const Expr taken = node.Emit(relax::Take(padded, positions.place, 1));
  const Expr by_window = node.Reshaped(taken, {planes, count, I64(elements)});
  const Expr which = node.Emit(relax::Argmax(by_window, 2));
  const auto counted = [&](const PrimExpr& until, const PrimExpr& step, const Array<PrimExpr>& as) {
    const Expr count = node.Emit(relax::Arange(I64(0), until, I64(1), DataType::Int(64)));
    return node.Reshaped(node.Emit(relax::Multiply(count, relax::PrimValue(step))), as);
  };
  const Expr within = node.Emit(relax::Add(which, counted(count, I64(elements), {I64(1), count})));
  const Expr position = node.Emit(relax::Take(positions.counted, within, 0));
  return node.Reshaped(node.Emit(relax::Add(position, counted(planes, size, {planes, I64(1)}))), result);
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
  const DataType given = node.DType(node.X(0));
  const Expr x = node.Widened(node.X(0));
  const Expr zero = node.Scalar(node.DType(x), 0);
  WindowOver over = ReadWindowOver(node, x, {}, zero);
  PoolOptions options = PoolOf(node, over.window);
  options.count_include_pad = true;
  const auto axes = static_cast<int64_t>(options.pool_size.size());
  Array<PrimExpr> result_shape;
  if (options.ceil_mode) {
    // Windows that reach over the end see zeros there.
    result_shape = node.Shape(node.Emit(AveragePool(over.x, options)));
    for (int64_t axis = 0; axis < axes; ++axis) {
      over.x = FillAxis(node, over.x, axis + 2, I64(0), I64(options.strides[axis] - 1), zero);
    }
    options.ceil_mode = false;
  }
  const auto p = static_cast<double>(node.Int("p", 2));
  double count = 1;
  for (const int64_t size : options.pool_size) count *= static_cast<double>(size);
  const DataType dtype = node.DType(x);
  const Expr mean = node.Emit(AveragePool(node.Emit(AbsPower(node, over.x, p)), options));
  Expr sum = node.Emit(relax::Multiply(mean, node.Scalar(dtype, count)));
  for (int64_t axis = 2; axis < static_cast<int64_t>(result_shape.size()); ++axis) {
    sum = node.Emit(relax::StridedSlice(sum, {axis}, {I64(0)}, {result_shape[axis]}));
  }
  return {node.CastTo(p == 1.0 ? sum : Expr(node.Emit(Root(node, sum, dtype, p))), given)};
}

Results ConvertGlobalPool(const NodeContext& node) {
  const Expr x = node.X(0);
  const std::string_view op = node.node().op_type;
  const auto axes = SpatialAxes(node, x);
  if (axes.empty()) return {x};
  if (op == "GlobalAveragePool") return {node.Emit(relax::Mean(x, axes, /*keepdims=*/true))};
  if (op == "GlobalMaxPool") return {node.Emit(relax::Max(x, axes, /*keepdims=*/true))};
  const auto p = static_cast<double>(node.Int("p", 2));
  const Expr wide = node.Widened(x);
  const Expr sum = node.Emit(relax::Sum(AbsPower(node, wide, p), axes, /*keepdims=*/true));
  return {node.CastTo(p == 1.0 ? sum : Expr(node.Emit(Root(node, sum, node.DType(wide), p))), node.DType(x))};
}

}  // namespace deuteron::onnx
