/// \file
/// NonMaxSuppression: the best box of each class, again and again, less those that overlap it.
#include <algorithm>
#include <limits>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kBoxIndex = DataType::Int(64);

/// The four sides of boxes (b, n, 4), each (b, n).
struct BoxSides {
  Expr top, left, bottom, right;
};

BoxSides SidesOf(const NodeContext& node, const Expr& boxes) {
  const auto column = [&](int64_t i) -> Expr {
    const Expr slice = relax::StridedSlice(boxes, {2}, {I64(i)}, {I64(i + 1)}, {I64(1)});
    return node.Emit(relax::Squeeze(node.Emit(slice), {2}));
  };
  const Expr a = column(0), b = column(1), c = column(2), d = column(3);
  const auto bound = [&](const Expr& x) -> Expr { return node.Emit(x); };
  if (node.Int("center_point_box", 0) == 0) {
    // Two corners, whichever they are.
    return {bound(relax::Minimum(a, c)), bound(relax::Minimum(b, d)), bound(relax::Maximum(a, c)),
            bound(relax::Maximum(b, d))};
  }
  // The centre (x, y), the width and the height.
  const Expr half = node.Scalar(node.DType(boxes), 0.5);
  const Expr width = bound(relax::Multiply(c, half));
  const Expr height = bound(relax::Multiply(d, half));
  return {bound(relax::Subtract(b, height)), bound(relax::Subtract(a, width)), bound(relax::Add(b, height)),
          bound(relax::Add(a, width))};
}

/// Whether two boxes of a batch overlap by more than the threshold (input 3; 0 if it is left out): (b, n, n).
Expr Overlaps(const NodeContext& node, const BoxSides& sides, const Array<PrimExpr>& shape) {
  const DataType dtype = node.DType(sides.top);
  const Array<PrimExpr> as_row = {shape[0], I64(1), shape[1]};
  const Array<PrimExpr> as_column = {shape[0], shape[1], I64(1)};
  const auto row = [&](const Expr& x) { return node.Reshaped(x, as_row); };
  const auto column = [&](const Expr& x) { return node.Reshaped(x, as_column); };
  const Expr zero = node.Scalar(dtype, 0);
  const auto common = [&](const Expr& low, const Expr& high) {
    const Expr extent = relax::Subtract(relax::Minimum(row(high), column(high)), relax::Maximum(row(low), column(low)));
    return relax::Maximum(extent, zero);
  };
  const Expr both = node.Emit(relax::Multiply(common(sides.top, sides.bottom), common(sides.left, sides.right)));
  const Expr area =
      node.Emit(relax::Multiply(relax::Subtract(sides.bottom, sides.top), relax::Subtract(sides.right, sides.left)));
  const Expr either = relax::Subtract(relax::Add(row(area), column(area)), both);
  const Expr threshold = node.Has(3) ? node.CastTo(node.Reshaped(node.X(3), {}), dtype) : zero;
  return node.Emit(relax::Greater(both, relax::Multiply(threshold, either)));
}

}  // namespace

Results ConvertNonMaxSuppression(const NodeContext& node) {
  constexpr int64_t kMostSteps = 1024;
  const Expr boxes = node.X(0);
  const Array<PrimExpr> shape = node.Shape(1);
  if (shape.size() != 3 || node.Rank(boxes) != 3) node.Fail("boxes and scores must be of rank 3");
  const PrimExpr batches = shape[0], classes = shape[1], count = shape[2];
  int64_t steps = 0;
  if (node.Has(2)) {
    const auto most = node.RequireInts(2, "the number of boxes of a class");
    if (most.size() != 1) node.Fail("max_output_boxes_per_class must be one number");
    steps = std::max<int64_t>(0, most[0]);
  }
  if (const auto number = AsConstInt(count)) steps = std::min(steps, *number);
  if (steps > kMostSteps) node.Unsupported("more than " + std::to_string(kMostSteps) + " boxes of a class");
  if (steps == 0) return {node.Emit(relax::Zeros({I64(0), I64(3)}, kBoxIndex))};
  const Expr overlaps = Overlaps(node, SidesOf(node, boxes), {batches, count});
  Expr scores = node.X(1);
  const DataType dtype = node.DType(scores);
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  const Expr threshold = node.Has(4) ? node.CastTo(node.Reshaped(node.X(4), {}), dtype) : lowest;
  const Expr positions = node.Emit(relax::Arange(I64(0), count, I64(1), kBoxIndex));
  Array<Expr> chosen;
  Array<Expr> valid;
  for (int64_t step = 0; step < steps; ++step) {
    const Expr best = node.Emit(relax::Argmax(scores, 2, /*keepdims=*/true));
    chosen.push_back(best);
    valid.push_back(
        node.Emit(relax::Greater(relax::Max(scores, std::vector<int64_t>{2}, /*keepdims=*/true), threshold)));
    if (step + 1 == steps) break;
    const Expr rows = node.Emit(relax::BroadcastTo(best, shape));
    const Expr overlapping = relax::GatherElements(overlaps, rows, 1);
    scores = node.Emit(relax::Where(relax::LogicalOr(overlapping, relax::Equal(positions, best)), lowest, scores));
  }
  // Rows of batch, class and box, of which those remain that were chosen.
  const Array<PrimExpr> all = {batches, classes, I64(steps)};
  const auto counted = [&](int64_t axis) -> Expr {
    Array<PrimExpr> column = {I64(1), I64(1), I64(1)};
    column.Set(axis, all[axis]);
    const Expr numbers = node.Emit(relax::Arange(I64(0), all[axis], I64(1), kBoxIndex));
    return node.Emit(relax::BroadcastTo(node.Reshaped(numbers, column), all));
  };
  const PrimExpr total = node.Product(all, 0, 3);
  const Expr box = node.Emit(relax::Concat(chosen, 2));
  const Expr rows = node.Reshaped(node.Emit(relax::Stack({counted(0), counted(1), box}, 3)), {total, I64(3)});
  const Expr kept = node.Reshaped(node.Emit(relax::Concat(valid, 2)), {total});
  return {node.Emit(relax::Take(rows, PositionsOfTrue(node, kept), 0))};
}

}  // namespace deuteron::onnx
