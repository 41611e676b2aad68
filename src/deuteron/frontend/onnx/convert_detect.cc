/// \file
/// NonMaxSuppression: the best boxes of each class that do not overlap.
#include <limits>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/vision.h"

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

}  // namespace

Results ConvertNonMaxSuppression(const NodeContext& node) {
  const Array<PrimExpr> shape = node.Shape(1);
  if (shape.size() != 3 || node.Rank(0) != 3) node.Fail("boxes and scores must be of rank 3");
  const PrimExpr batches = shape[0], classes = shape[1], count = shape[2];
  const Expr boxes = node.WithShape(node.X(0), {batches, count, I64(4)});
  const PrimExpr most = node.Has(2) ? node.Count(2, "the number of boxes of a class") : I64(0);
  const PrimExpr limit = node.Simplify(Min(most, count));
  if (IsZero(limit)) return {node.Emit(relax::Zeros({I64(0), I64(3)}, kBoxIndex))};
  const BoxSides sides = SidesOf(node, boxes);
  const Expr all_sides = node.Emit(relax::Stack({sides.top, sides.left, sides.bottom, sides.right}, 1));
  const DataType dtype = node.DType(1);
  const auto scalar = [&](size_t input, double otherwise) -> Expr {
    return node.Has(input) ? node.CastTo(node.Reshaped(node.X(input), {}), dtype) : node.Scalar(dtype, otherwise);
  };
  const auto overlap = [&]() -> Expr {
    constexpr const char* kWhat = "the overlap from which boxes are left out";
    const auto known = node.Has(3) ? node.ConstFloat(3) : std::optional<double>(0);
    if (known && !(*known >= 0 && *known <= 1)) {
      node.Fail(std::string(kWhat) + " is " + std::to_string(*known) + " and has to be from 0 to 1");
    }
    if (known) return scalar(3, 0);
    const Expr given = node.CastTo(node.Reshaped(node.X(3), {}), DataType::Float(64));
    return node.CastTo(node.CheckedWithin(given, I64(0), I64(1), kWhat), dtype);
  };
  const Expr chosen = node.Emit(relax::vision::BestBoxes(all_sides, node.X(1), overlap(),
                                                         scalar(4, -std::numeric_limits<double>::infinity()), limit));
  // Rows of batch, class and box, of which those remain that were chosen.
  const Array<PrimExpr> all = {batches, classes, limit};
  const auto counted = [&](int64_t axis) -> Expr {
    Array<PrimExpr> column = {I64(1), I64(1), I64(1)};
    column.Set(axis, all[axis]);
    const Expr numbers = node.Emit(relax::Arange(I64(0), all[axis], I64(1), kBoxIndex));
    return node.Emit(relax::BroadcastTo(node.Reshaped(numbers, column), all));
  };
  const PrimExpr total = node.Product(all, 0, 3);
  const Expr rows = node.Reshaped(node.Emit(relax::Stack({counted(0), counted(1), chosen}, 3)), {total, I64(3)});
  const Expr is_chosen = node.Emit(relax::GreaterEqual(chosen, node.Scalar(kBoxIndex, 0)));
  const Expr kept = node.Reshaped(is_chosen, {total});
  return {node.Emit(relax::Take(rows, PositionsOfTrue(node, kept), 0))};
}

}  // namespace deuteron::onnx
