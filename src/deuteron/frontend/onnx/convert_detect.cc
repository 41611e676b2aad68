/// \file
/// NonMaxSuppression: the best box of each class, again and again, less those that overlap it.
#include <algorithm>
#include <limits>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/loop.h"
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
  if (!node.Flag("center_point_box", false)) {
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

/// Whether boxes overlap one of each class by more than the threshold (input 3; 0 if it is left out): (b, classes, n).
/// `best` is the index of that one, (b, classes, 1).
Expr Overlapping(const NodeContext& node, const BoxSides& sides, const Expr& best, const Array<PrimExpr>& shape) {
  const DataType dtype = node.DType(sides.top);
  const Expr of_class = node.Reshaped(best, {shape[0], shape[1]});
  const auto all = [&](const Expr& side) { return node.Reshaped(side, {shape[0], I64(1), shape[2]}); };
  const auto one = [&](const Expr& side) {
    return node.Reshaped(node.Emit(relax::GatherElements(side, of_class, 1)), {shape[0], shape[1], I64(1)});
  };
  const BoxSides others{all(sides.top), all(sides.left), all(sides.bottom), all(sides.right)};
  const BoxSides chosen{one(sides.top), one(sides.left), one(sides.bottom), one(sides.right)};
  const auto area = [&](const BoxSides& of) -> Expr {
    return node.Emit(relax::Multiply(relax::Subtract(of.bottom, of.top), relax::Subtract(of.right, of.left)));
  };
  const Expr zero = node.Scalar(dtype, 0);
  const auto common = [&](const Expr& low, const Expr& high, const Expr& other_low, const Expr& other_high) {
    return relax::Maximum(relax::Subtract(relax::Minimum(high, other_high), relax::Maximum(low, other_low)), zero);
  };
  const Expr both = node.Emit(relax::Multiply(common(others.top, others.bottom, chosen.top, chosen.bottom),
                                              common(others.left, others.right, chosen.left, chosen.right)));
  const Expr either = relax::Subtract(relax::Add(area(others), area(chosen)), both);
  const Expr threshold = node.Has(3) ? node.CastTo(node.Reshaped(node.X(3), {}), dtype) : zero;
  return node.Emit(relax::Greater(both, relax::Multiply(threshold, either)));
}

}  // namespace

Results ConvertNonMaxSuppression(const NodeContext& node) {
  // More boxes of a class are found by a loop.
  constexpr int64_t kMostUnrolled = 16;
  const Expr boxes = node.X(0);
  const Array<PrimExpr> shape = node.Shape(1);
  if (shape.size() != 3 || node.Rank(boxes) != 3) node.Fail("boxes and scores must be of rank 3");
  const PrimExpr batches = shape[0], classes = shape[1], count = shape[2];
  const PrimExpr most = node.Has(2) ? Max(node.Dim(2, "the number of boxes of a class"), I64(0)) : I64(0);
  const PrimExpr limit = node.Simplify(Min(most, count));
  if (IsZero(limit)) return {node.Emit(relax::Zeros({I64(0), I64(3)}, kBoxIndex))};
  const BoxSides sides = SidesOf(node, boxes);
  const Expr given = node.X(1);
  const DataType dtype = node.DType(given);
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  const Expr threshold = node.Has(4) ? node.CastTo(node.Reshaped(node.X(4), {}), dtype) : lowest;
  const Expr positions = node.Emit(relax::Arange(I64(0), count, I64(1), kBoxIndex));
  // The best box of each class, and whether it counts; then the scores of what it does not overlap.
  const auto choose = [&](const Expr& scores) -> std::pair<Expr, Expr> {
    const Expr best = node.Emit(relax::Argmax(scores, 2, /*keepdims=*/true));
    return {best, node.Emit(relax::Greater(relax::Max(scores, std::vector<int64_t>{2}, /*keepdims=*/true), threshold))};
  };
  const auto remove = [&](const Expr& scores, const Expr& best) -> Expr {
    const Expr overlapping = Overlapping(node, sides, best, shape);
    return node.Emit(relax::Where(relax::LogicalOr(overlapping, relax::Equal(positions, best)), lowest, scores));
  };
  Expr box;
  Expr counts;
  PrimExpr steps = limit;
  if (const auto number = AsConstInt(limit); number && *number <= kMostUnrolled) {
    Array<Expr> chosen;
    Array<Expr> valid;
    Expr scores = given;
    for (int64_t step = 0; step < *number; ++step) {
      const auto [best, is_valid] = choose(scores);
      chosen.push_back(best);
      valid.push_back(is_valid);
      if (step + 1 < *number) scores = remove(scores, best);
    }
    box = node.Emit(relax::Concat(chosen, 2));
    counts = node.Emit(relax::Concat(valid, 2));
  } else {
    // It goes on while there is a box that counts.
    const auto run = [&](const PrimExpr&, const Results& states) {
      const auto [best, is_valid] = choose(states[0]->expr);
      const Expr any = relax::Max(relax::Astype(is_valid, DataType::Int(8)), std::nullopt, /*keepdims=*/false);
      const Expr proceeds = node.Emit(relax::Astype(node.Emit(any), DataType::Bool()));
      return LoopStep{proceeds, {remove(states[0]->expr, best)}, {best, is_valid}};
    };
    const Results found = EmitLoop(node, limit, Value(), {Value(given)}, run);
    steps = node.Shape(found[1]->expr)[0];
    const Array<PrimExpr> flat = {steps, batches, classes};
    const auto last = [&](const Expr& x) -> Expr {
      return node.Emit(relax::PermuteDims(node.Reshaped(x, flat), {1, 2, 0}));
    };
    box = last(found[1]->expr);
    counts = last(node.WithShape(found[2]->expr, {steps, batches, classes, I64(1)}));
  }
  // Rows of batch, class and box, of which those remain that were chosen.
  const Array<PrimExpr> all = {batches, classes, steps};
  const auto counted = [&](int64_t axis) -> Expr {
    Array<PrimExpr> column = {I64(1), I64(1), I64(1)};
    column.Set(axis, all[axis]);
    const Expr numbers = node.Emit(relax::Arange(I64(0), all[axis], I64(1), kBoxIndex));
    return node.Emit(relax::BroadcastTo(node.Reshaped(numbers, column), all));
  };
  const PrimExpr total = node.Product(all, 0, 3);
  const Expr rows = node.Reshaped(node.Emit(relax::Stack({counted(0), counted(1), box}, 3)), {total, I64(3)});
  const Expr kept = node.Reshaped(counts, {total});
  return {node.Emit(relax::Take(rows, PositionsOfTrue(node, kept), 0))};
}

}  // namespace deuteron::onnx
