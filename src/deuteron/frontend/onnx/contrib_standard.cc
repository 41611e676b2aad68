/// \file
/// Operators of com.microsoft that move elements, or that ONNX has too in other versions of its operator sets.
#include <algorithm>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertContribPad(const NodeContext& node) {
  // Its pads are an input, and there are no axes.
  constexpr int64_t kPadsAreAnInput = 13;
  return ConvertPad(node.AtOpset(kPadsAreAnInput));
}

Results ConvertContribRange(const NodeContext& node) {
  if (node.Has(2)) return ConvertRange(node);
  return ConvertRange(node.WithInput(2, Value(node.Scalar(node.KnownDType(0), 1))));
}

Results ConvertContribExpandDims(const NodeContext& node) {
  // As Unsqueeze since its axes are an input, of which this is one.
  constexpr int64_t kAxesAreAnInput = 13;
  const auto known = node.ConstInts(1);
  if (known && known->size() != 1) node.Fail("the axis must be one number");
  const Expr axes =
      known ? node.ConstantInts(*known) : node.Reshaped(node.CastTo(node.X(1), DataType::Int(64)), {I64(1)});
  return ConvertUnsqueeze(node.AtOpset(kAxesAreAnInput).WithInput(1, Value(axes)));
}

Results ConvertUnfoldTensor(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const int64_t axis = node.Axis(node.Int("dim", -1), rank);
  const int64_t size = node.RequiredInt("size"), step = node.Int("step", 1);
  if (size < 1 || step < 1) node.Fail("size and step must be positive");
  const PrimExpr length = node.Shape(x)[axis];
  if (const auto known = AsConstInt(length); known && *known < size) {
    node.Fail("slices of " + std::to_string(size) + " of an axis of " + std::to_string(*known));
  }
  const PrimExpr count = node.Simplify(FloorDiv(length - size, I64(step)) + 1);
  const Expr begin = node.Reshaped(Positions(node, count), {count, I64(1)});
  const Expr offset = node.Reshaped(Positions(node, I64(size)), {I64(1), I64(size)});
  const Expr strides = node.Scalar(kPosition, static_cast<double>(step));
  const Expr at = node.Emit(relax::Add(relax::Multiply(begin, strides), offset));
  const Expr slices = node.Emit(relax::Take(x, at, axis));
  std::vector<int64_t> order;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i != axis + 1) order.push_back(i);
  }
  order.push_back(axis + 1);
  return {node.Emit(relax::PermuteDims(slices, order))};
}

Results ConvertCDist(const NodeContext& node) {
  const std::string metric = node.Str("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") {
    node.Unsupported("distances '" + metric + "': there are sqeuclidean and euclidean");
  }
  const Array<PrimExpr> a = node.Shape(0), b = node.Shape(1);
  if (a.size() != 2 || b.size() != 2) node.Fail("its inputs must be matrices");
  const std::vector<Expr> rows = BroadcastOperands(
      node, {node.Reshaped(node.X(0), {a[0], I64(1), a[1]}), node.Reshaped(node.X(1), {I64(1), b[0], b[1]})});
  const Expr difference = node.Emit(relax::Subtract(rows[0], rows[1]));
  const Expr square = node.Emit(relax::Sum(relax::Multiply(difference, difference), std::vector<int64_t>{2}));
  return {metric == "euclidean" ? Expr(node.Emit(relax::Sqrt(square))) : square};
}

namespace {

/// Where the places of crops lie along an axis of an image of `extent`, (crops, places): from `first` to `last`, shares
/// of the image's.
Expr PlacesOfCrops(const NodeContext& node, const Expr& first, const Expr& last, const PrimExpr& extent,
                   const PrimExpr& places) {
  const DataType dtype = node.DType(first);
  const Expr end = node.ScalarOf(dtype, node.Simplify(extent - 1));
  if (IsOne(places)) {
    return node.Emit(relax::Multiply(relax::Multiply(node.Scalar(dtype, 0.5), relax::Add(first, last)), end));
  }
  const Expr step = node.Emit(relax::Divide(relax::Multiply(relax::Subtract(last, first), end),
                                            node.ScalarOf(dtype, node.Simplify(places - 1))));
  const Expr place = node.Reshaped(node.CastTo(Positions(node, places), dtype), {I64(1), places});
  return node.Emit(relax::Add(relax::Multiply(first, end), relax::Multiply(place, step)));
}

}  // namespace

Results ConvertCropAndResize(const NodeContext& node) {
  const Array<PrimExpr> image = node.Shape(0);
  if (image.size() != 4) node.Fail("its input must be of rank 4");
  const std::string mode = node.Str("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") node.Fail("mode '" + mode + "' is unknown");
  const Array<PrimExpr> size = node.Sizes(3, "the size of crops", 2);
  const Expr boxes = node.WithSizes(node.X(1), 1, {4}, "the boxes");
  const PrimExpr count = node.Shape(boxes)[0];
  RequireElements(node, node.X(0), {2, 3}, "the length of an axis of the image");
  const DataType dtype = node.DType(0), index = DataType::Int(64);
  const auto places = [&](int64_t axis) {
    return PlacesOfCrops(node, Columns(node, boxes, I64(axis), I64(axis + 1)),
                         Columns(node, boxes, I64(axis + 2), I64(axis + 3)), image[2 + axis], size[axis]);
  };
  const auto by_place = [&](const Expr& x, int64_t axis) {
    return node.Reshaped(x, {count, axis == 0 ? size[0] : I64(1), axis == 0 ? I64(1) : size[1]});
  };
  const Expr y = places(0), x = places(1);
  const Array<PrimExpr> grid = {count, size[0], size[1]};
  const Expr batch = node.Emit(relax::BroadcastTo(
      node.Reshaped(node.CastTo(node.Indices(2, {image[0]}), index), {count, I64(1), I64(1)}), grid));
  const auto inside = [&](const Expr& at, int64_t axis) -> Expr {
    const Expr last = node.ScalarOf(dtype, node.Simplify(image[2 + axis] - 1));
    const Expr both = relax::LogicalAnd(relax::GreaterEqual(at, node.Scalar(dtype, 0)), relax::LessEqual(at, last));
    return by_place(node.Emit(both), axis);
  };
  const Expr channels_last = node.Emit(relax::PermuteDims(node.X(0), {0, 2, 3, 1}));
  // What lies outside is not taken: its place is brought into the image.
  const auto taken = [&](const Expr& row, const Expr& column) -> Expr {
    const auto spread = [&](const Expr& at, int64_t axis) {
      const Expr last = node.ScalarOf(dtype, node.Simplify(image[2 + axis] - 1));
      const Expr clipped = relax::Minimum(relax::Maximum(at, node.Scalar(dtype, 0)), last);
      const Expr whole = by_place(node.CastTo(node.Emit(clipped), index), axis);
      return node.Emit(relax::BroadcastTo(whole, grid));
    };
    const Expr at = node.Emit(relax::Stack({batch, spread(row, 0), spread(column, 1)}, 3));
    return node.Emit(relax::GatherND(channels_last, at));
  };
  Expr crops;
  if (mode == "nearest") {
    const auto nearest = [&](const Expr& at) -> Expr {
      return node.Emit(relax::Floor(relax::Add(at, node.Scalar(dtype, 0.5))));
    };
    crops = taken(nearest(y), nearest(x));
  } else {
    const Expr top = node.Emit(relax::Floor(y)), bottom = node.Emit(relax::Ceil(y));
    const Expr left = node.Emit(relax::Floor(x)), right = node.Emit(relax::Ceil(x));
    const auto share = [&](const Expr& at, const Expr& from, int64_t axis) {
      const Expr column = by_place(node.Emit(relax::Subtract(at, from)), axis);
      Array<PrimExpr> shape = node.Shape(column);
      shape.push_back(I64(1));
      return node.Reshaped(column, shape);
    };
    const auto between = [&](const Expr& a, const Expr& b, const Expr& part) -> Expr {
      return node.Emit(relax::Add(a, relax::Multiply(relax::Subtract(b, a), part)));
    };
    const Expr across = share(x, left, 1);
    crops = between(between(taken(top, left), taken(top, right), across),
                    between(taken(bottom, left), taken(bottom, right), across), share(y, top, 0));
  }
  const Expr seen = node.Emit(relax::LogicalAnd(inside(y, 0), inside(x, 1)));
  const Expr mask = node.Reshaped(seen, {count, size[0], size[1], I64(1)});
  const Expr outside = node.Scalar(dtype, node.Float("extrapolation_value", 0));
  return {node.Emit(relax::PermuteDims(relax::Where(mask, crops, outside), {0, 3, 1, 2}))};
}

}  // namespace deuteron::onnx
