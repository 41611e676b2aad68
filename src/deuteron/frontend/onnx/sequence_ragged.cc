#include "deuteron/frontend/onnx/sequence_ragged.h"

#include <numeric>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kIndex = DataType::Int(64);

Expr Flat(const NodeContext& node, const Expr& x) {
  const Array<PrimExpr> shape = node.Shape(x);
  return node.Reshaped(x, {node.Product(shape, 0, static_cast<int64_t>(shape.size()))});
}

Expr Vector(const NodeContext& node, const Array<PrimExpr>& dims) {
  return node.importer()->ExprOf(Value(SymbolicVector(dims)), Span());
}

/// Bounds lie within.
Expr Slice(const NodeContext& node, const Expr& x, const PrimExpr& begin, const PrimExpr& end, int64_t axis = 0) {
  return node.Emit(relax::StridedSlice(x, {axis}, {begin}, {end}, {I64(1)}, /*assume_inbound=*/true));
}

/// A scalar of int64 as a dimension.
PrimExpr AsDim(const NodeContext& node, const Expr& scalar, const char* what) {
  return node.BoundDims(node.Reshaped(scalar, {I64(1)}), what)[0];
}

Value Ragged(Expr elements, const Expr& extents, int64_t rank) {
  Value value = Value::Rows(std::move(elements));
  value->extents = extents;
  value->row_rank = rank;
  return value;
}

/// The shapes, (count, rank): what branches give has lost the rank.
Expr ShapesOf(const NodeContext& node, const Value& ragged) {
  return node.WithShape(ragged->extents, {node.Shape(ragged->extents)[0], I64(ragged->row_rank)});
}

/// Where the elements of a sequence begin in its vector, and its end: one more than there are.
Expr Begins(const NodeContext& node, const Value& ragged) {
  const Expr ends = node.Emit(relax::Cumsum(node.Emit(relax::Prod(ShapesOf(node, ragged), {{1}})), 0));
  return node.Emit(relax::Concat(Array<Expr>{node.ConstantInts({0}), ends}, 0));
}

/// Of each element how long it is along `axis`.
Expr Lengths(const NodeContext& node, const Value& ragged, int64_t axis) {
  const Expr column = Slice(node, ShapesOf(node, ragged), I64(axis), I64(axis + 1), 1);
  return node.Reshaped(column, {RaggedCount(node, ragged)});
}

/// The shape of the first element, but for `ignored` (-1: none) that of each, which is checked.
Array<PrimExpr> CommonShape(const NodeContext& node, const Value& ragged, int64_t ignored) {
  const PrimExpr count = RaggedCount(node, ragged);
  const Expr shapes = ShapesOf(node, ragged);
  const Expr first = node.Emit(relax::Take(shapes, node.Checked(node.ConstantInts({0}), {count}), 0));
  Expr differences = node.Emit(relax::Subtract(shapes, first));
  if (ignored >= 0) {
    std::vector<int64_t> counts(static_cast<size_t>(ragged->row_rank), 1);
    counts[ignored] = 0;
    differences = node.Emit(relax::Multiply(differences, node.ConstantInts(counts)));
  }
  // All that is less than 1 and no less than 0.
  const Expr none = node.Emit(relax::Max(node.CheckedPositions(differences, {I64(1)}), {{0}}, /*keepdims=*/true));
  return node.BoundDims(node.Reshaped(node.Emit(relax::Add(first, none)), {I64(ragged->row_rank)}),
                        "the shape of the elements");
}

/// Of a tensor (outer, total, inner) whose middle axis is made of parts of these `lengths`, where each element stands
/// if the parts follow one another: int64 of that shape.
Expr PlacesInParts(const NodeContext& node, const Expr& lengths, const PrimExpr& outer, const PrimExpr& total,
                   const PrimExpr& inner) {
  const auto numbers = [&](const PrimExpr& count, const Array<PrimExpr>& shape) {
    return node.Reshaped(node.Emit(relax::Arange(I64(0), count, I64(1), kIndex)), shape);
  };
  const Expr ends = node.Emit(relax::Cumsum(lengths, 0));
  const Expr along = numbers(total, {total});
  const Expr part = node.CastTo(node.Emit(relax::Bucketize(along, ends, /*out_int32=*/false, /*right=*/true)), kIndex);
  const Expr begin = node.Emit(relax::Take(node.Emit(relax::Subtract(ends, lengths)), part, 0));
  const Expr length = node.Emit(relax::Take(lengths, part, 0));
  const auto middle = [&](const Expr& x) { return node.Reshaped(x, {I64(1), total, I64(1)}); };
  const Expr rows = relax::Multiply(numbers(outer, {outer, I64(1), I64(1)}), middle(length));
  // Before this part lie all of the parts before it, of which `begin` is the length along the axis.
  const PrimExpr across = node.Simplify(outer * inner);
  const Expr before = node.Emit(relax::Multiply(middle(begin), relax::PrimValue(across)));
  const Expr line = relax::Add(rows, middle(node.Emit(relax::Subtract(along, begin))));
  const Expr within = relax::Add(relax::Multiply(node.Emit(line), relax::PrimValue(node.Simplify(inner))),
                                 numbers(inner, {I64(1), I64(1), inner}));
  return node.Emit(relax::Add(before, node.Emit(within)));
}

}  // namespace

Value AsRagged(const NodeContext& node, const Value& sequence, const TensorType& row) {
  if (sequence->extents.defined()) return sequence;
  const auto rank = static_cast<int64_t>(row->ndim);
  if (sequence->is_rows) {
    const Array<PrimExpr> shape = node.Shape(sequence->expr);
    const Expr dims = Vector(node, {shape.begin() + 1, shape.end()});
    return Ragged(Flat(node, sequence->expr), node.Emit(relax::BroadcastTo(dims, {shape[0], I64(rank)})), rank);
  }
  Array<Expr> parts;
  Array<PrimExpr> dims;
  for (const Value& element : *sequence->elements) {
    const Expr tensor = node.importer()->ExprOf(element, Span());
    parts.push_back(Flat(node, tensor));
    const Array<PrimExpr> shape = node.Shape(tensor);
    dims.insert(dims.end(), shape.begin(), shape.end());
  }
  const auto count = static_cast<int64_t>(parts.size());
  if (count == 0) {
    return Ragged(node.Emit(relax::Zeros({I64(0)}, row->dtype)), node.Emit(relax::Zeros({I64(0), I64(rank)}, kIndex)),
                  rank);
  }
  return Ragged(count == 1 ? parts[0] : Expr(node.Emit(relax::Concat(parts, 0))),
                node.Reshaped(Vector(node, dims), {I64(count), I64(rank)}), rank);
}

PrimExpr RaggedCount(const NodeContext& node, const Value& ragged) { return node.Shape(ragged->extents)[0]; }

Expr RaggedAt(const NodeContext& node, const Value& ragged, const Expr& at) {
  const Array<PrimExpr> shape =
      node.BoundDims(node.Emit(relax::Take(ShapesOf(node, ragged), at, 0)), "the shape of an element");
  const PrimExpr begin = AsDim(node, node.Emit(relax::Take(Begins(node, ragged), at, 0)), "where an element begins");
  const PrimExpr size = node.Product(shape, 0, static_cast<int64_t>(shape.size()));
  const Expr elements = Slice(node, ragged->expr, begin, node.Simplify(begin + size));
  return node.Reshaped(node.WithShape(elements, {size}), shape);
}

Value WithRagged(const NodeContext& node, const Value& ragged, const Expr& x, const Expr& at) {
  const PrimExpr place = AsDim(node, at, "a position");
  const PrimExpr begin = AsDim(node, node.Emit(relax::Take(Begins(node, ragged), at, 0)), "where an element begins");
  const Expr shape = node.Reshaped(Vector(node, node.Shape(x)), {I64(1), I64(node.Rank(x))});
  const auto with = [&](const Expr& all, const PrimExpr& from, const Expr& part) -> Expr {
    return node.Emit(relax::Concat(
        Array<Expr>{Slice(node, all, I64(0), from), part, Slice(node, all, from, node.Shape(all)[0])}, 0));
  };
  return Ragged(with(ragged->expr, begin, Flat(node, x)), with(ShapesOf(node, ragged), place, shape), ragged->row_rank);
}

Value WithoutRagged(const NodeContext& node, const Value& ragged, const Expr& at) {
  const Expr begins = Begins(node, ragged);
  const Expr next = node.Emit(relax::Add(at, node.Scalar(kIndex, 1)));
  const PrimExpr place = AsDim(node, at, "a position");
  const PrimExpr begin = AsDim(node, node.Emit(relax::Take(begins, at, 0)), "where an element begins");
  const PrimExpr end = AsDim(node, node.Emit(relax::Take(begins, next, 0)), "where an element ends");
  const auto without = [&](const Expr& all, const PrimExpr& from, const PrimExpr& to) -> Expr {
    return node.Emit(
        relax::Concat(Array<Expr>{Slice(node, all, I64(0), from), Slice(node, all, to, node.Shape(all)[0])}, 0));
  };
  return Ragged(without(ragged->expr, begin, end), without(ShapesOf(node, ragged), place, node.Simplify(place + 1)),
                ragged->row_rank);
}

Expr JoinedRagged(const NodeContext& node, const Value& ragged, int64_t axis, bool is_new) {
  Array<PrimExpr> shape = CommonShape(node, ragged, is_new ? -1 : axis);
  const auto rank = static_cast<int64_t>(shape.size());
  if (is_new) {
    Array<PrimExpr> stacked = shape;
    stacked.insert(stacked.begin(), RaggedCount(node, ragged));
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 1);
    order.insert(order.begin() + axis, 0);
    const Expr rows = node.Reshaped(ragged->expr, stacked);
    return axis == 0 ? rows : Expr(node.Emit(relax::PermuteDims(rows, order)));
  }
  const Expr lengths = Lengths(node, ragged, axis);
  const PrimExpr total = AsDim(node, node.Emit(relax::Sum(lengths, {{0}}, /*keepdims=*/true)), "the joined length");
  shape.Set(axis, total);
  if (axis == 0) return node.Reshaped(ragged->expr, shape);
  const Expr places =
      PlacesInParts(node, lengths, node.Product(shape, 0, axis), total, node.Product(shape, axis + 1, rank));
  return node.Reshaped(node.Emit(relax::Take(ragged->expr, places, 0)), shape);
}

Value RaggedParts(const NodeContext& node, const Expr& x, int64_t axis, const Expr& lengths) {
  const PrimExpr count = node.Shape(lengths)[0];
  const PrimExpr total = AsDim(node, node.Emit(relax::Sum(lengths, {{0}}, /*keepdims=*/true)), "the sum of the parts");
  Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  Array<Expr> columns;
  for (int64_t i = 0; i < rank; ++i) {
    columns.push_back(i == axis ? lengths : Expr(node.Emit(relax::BroadcastTo(Vector(node, {shape[i]}), {count}))));
  }
  shape.Set(axis, total);
  const Expr whole = node.WithShape(x, shape);
  const Expr extents = node.Emit(relax::Stack(columns, 1));
  if (axis == 0) return Ragged(Flat(node, whole), extents, rank);
  const Expr places = Flat(
      node, PlacesInParts(node, lengths, node.Product(shape, 0, axis), total, node.Product(shape, axis + 1, rank)));
  const Expr flat = Flat(node, whole);
  return Ragged(
      node.Emit(relax::ScatterElements(node.Emit(relax::Zeros(node.Shape(flat), node.DType(x))), places, flat)),
      extents, rank);
}

}  // namespace deuteron::onnx
