#include "deuteron/frontend/onnx/sequence_rows.h"

#include <numeric>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/sequence_ragged.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

Expr Number(const NodeContext& node, double value) { return node.Scalar(DataType::Int(64), value); }

/// A dimension as a scalar.
Expr ScalarOf(const NodeContext& node, const PrimExpr& value) {
  return node.Reshaped(node.Emit(relax::ShapeToTensor(relax::ShapeExpr({value}))), {});
}

Expr Counted(const NodeContext& node, const PrimExpr& count) {
  return node.Emit(relax::Arange(I64(0), count, I64(1), DataType::Int(64)));
}

Expr FromBeginning(const NodeContext& node, const Expr& position, const PrimExpr& count) {
  return node.Emit(
      relax::Where(relax::Less(position, Number(node, 0)), relax::Add(position, ScalarOf(node, count)), position));
}

/// Input `index`, the position of one of `count` rows, as a scalar from 0 on.
Expr Place(const NodeContext& node, size_t index, const PrimExpr& count) {
  const Expr given = node.CastTo(node.Reshaped(node.Indices(index, {count}), {}), DataType::Int(64));
  return FromBeginning(node, given, count);
}

/// A symbol or number for each dimension of an element of `rows`.
Array<PrimExpr> RowShape(const NodeContext& node, const Value& rows) {
  const Array<PrimExpr> shape = node.Shape(rows->expr);
  return {shape.begin() + 1, shape.end()};
}

}  // namespace

TensorType RowType(const NodeContext& node, const std::vector<Type>& types) {
  if (types.empty())
    node.Unsupported(
        "a sequence whose length the run tells, of elements of which nothing is known; put an element into it before "
        "the loop");
  const auto* first = types[0].as<TensorTypeNode>();
  bool is_one = true;
  for (const Type& type : types) {
    const auto* tensor = type.as<TensorTypeNode>();
    const bool fits = first != nullptr && tensor != nullptr && tensor->ndim == first->ndim &&
                      tensor->ndim != kUnknownNDim && tensor->dtype == first->dtype;
    if (!fits) {
      node.Unsupported(
          "a sequence whose length the run tells, of elements that are not of one rank and dtype (bring them to "
          "one by Reshape or Cast): " +
          relax::Describe(types[0]) + " and " + relax::Describe(type));
    }
    is_one = is_one && tensor->has_shape() && relax::TypesEqual(type, types[0], &node.analyzer());
  }
  return is_one ? TensorType(first->shape.value(), first->dtype) : TensorType::WithNDim(first->ndim, first->dtype);
}

std::vector<Type> ElementTypes(const NodeContext& node, const Value& sequence) {
  if (sequence->extents.defined()) {
    return {TensorType::WithNDim(RowRank(node, sequence), node.DType(sequence->expr))};
  }
  if (sequence->is_rows) return {TensorType(RowShape(node, sequence), node.DType(sequence->expr))};
  std::vector<Type> types;
  for (const Value& element : *sequence->elements) {
    types.push_back(node.importer()->ExprOf(element, Span()).ty());
  }
  return types;
}

Value AsRows(const NodeContext& node, const Value& sequence, const TensorType& row) {
  if (!row->has_shape()) return AsRagged(node, sequence, row);
  if (sequence->is_rows) return sequence;
  Array<PrimExpr> shape = row->shape.value();
  Array<Expr> tensors;
  for (const Value& element : *sequence->elements) tensors.push_back(node.importer()->ExprOf(element, Span()));
  if (!tensors.empty()) return Value::Rows(node.Emit(relax::Stack(tensors, 0)));
  shape.insert(shape.begin(), I64(0));
  return Value::Rows(node.Emit(relax::Zeros(shape, row->dtype)));
}

Value AsRows(const NodeContext& node, const Value& sequence) {
  if (sequence->is_rows) return sequence;
  if (sequence->elements->empty()) node.Fail("a position in a sequence without elements");
  return AsRows(node, sequence, RowType(node, ElementTypes(node, sequence)));
}

PrimExpr RowCount(const NodeContext& node, const Value& rows) {
  return rows->extents.defined() ? RaggedCount(node, rows) : node.Shape(rows->expr)[0];
}

int64_t RowRank(const NodeContext& node, const Value& rows) {
  return rows->extents.defined() ? rows->row_rank : node.Rank(rows->expr) - 1;
}

Expr RowAt(const NodeContext& node, const Value& rows, const PrimExpr& at) {
  if (rows->extents.defined()) return RaggedAt(node, rows, ScalarOf(node, at));
  const Expr row =
      node.Emit(relax::StridedSlice(rows->expr, {0}, {at}, {node.Simplify(at + 1)}, {I64(1)}, /*assume_inbound=*/true));
  return node.Reshaped(row, RowShape(node, rows));
}

Expr RowAtInput(const NodeContext& node, const Value& rows, size_t index) {
  const Expr place = Place(node, index, RowCount(node, rows));
  return rows->extents.defined() ? RaggedAt(node, rows, place) : Expr(node.Emit(relax::Take(rows->expr, place, 0)));
}

namespace {

/// Input `index`, a position from -`count` to `count`, as a scalar from 0 on.
Expr PlaceBetween(const NodeContext& node, size_t index, const PrimExpr& count) {
  const PrimExpr after = node.Simplify(count + 1);
  const Expr given = node.CastTo(node.Reshaped(node.X(index), {}), DataType::Int(64));
  const Expr opposite = node.Emit(relax::Subtract(Number(node, 0), node.Checked(given, {after})));
  const Expr checked = node.Emit(relax::Subtract(Number(node, 0), node.Checked(opposite, {after})));
  return FromBeginning(node, checked, count);
}

}  // namespace

Value WithRow(const NodeContext& node, const Value& sequence, const Value& x, size_t index) {
  const Expr tensor = node.importer()->ExprOf(x, Span());
  std::vector<Type> types = ElementTypes(node, sequence);
  types.push_back(tensor.ty());
  const Value rows = AsRows(node, sequence, RowType(node, types));
  const PrimExpr count = RowCount(node, rows);
  const Expr at = node.Has(index) ? PlaceBetween(node, index, count) : ScalarOf(node, count);
  if (rows->extents.defined()) return WithRagged(node, rows, tensor, at);
  const Expr row = node.Emit(relax::ExpandDims(node.WithShape(tensor, RowShape(node, rows)), {0}));
  const Expr all = node.Emit(relax::Concat(Array<Expr>{rows->expr, row}, 0));
  if (!node.Has(index)) return Value::Rows(all);
  const Expr i = Counted(node, node.Simplify(count + 1));
  const Expr moved =
      node.Emit(relax::Where(relax::Equal(i, at), ScalarOf(node, count), relax::Subtract(i, Number(node, 1))));
  const Expr order = node.Emit(relax::Where(relax::Less(i, at), i, moved));
  return Value::Rows(node.Emit(relax::Take(all, order, 0)));
}

Value WithoutRow(const NodeContext& node, const Value& rows, size_t index) {
  const PrimExpr count = RowCount(node, rows);
  const PrimExpr fewer = node.Simplify(count - 1);
  if (rows->extents.defined()) {
    const Expr last = node.Checked(Number(node, -1), {count});
    return WithoutRagged(node, rows, node.Has(index) ? Place(node, index, count) : FromBeginning(node, last, count));
  }
  if (!node.Has(index)) {
    return Value::Rows(node.Emit(relax::StridedSlice(rows->expr, {0}, {I64(0)}, {fewer}, {I64(1)})));
  }
  const Expr at = Place(node, index, count);
  const Expr i = Counted(node, fewer);
  const Expr order = node.Emit(relax::Where(relax::Less(i, at), i, relax::Add(i, Number(node, 1))));
  return Value::Rows(node.Emit(relax::Take(rows->expr, order, 0)));
}

Expr JoinedRows(const NodeContext& node, const Value& rows, int64_t axis, bool is_new) {
  if (rows->extents.defined()) return JoinedRagged(node, rows, axis, is_new);
  const Array<PrimExpr> shape = node.Shape(rows->expr);
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin());
  order.insert(order.begin() + axis, 0);
  Expr moved = axis == 0 ? rows->expr : Expr(node.Emit(relax::PermuteDims(rows->expr, order)));
  if (is_new) return moved;
  Array<PrimExpr> joined = RowShape(node, rows);
  joined.Set(axis, node.Simplify(joined[axis] * shape[0]));
  return node.Reshaped(moved, joined);
}

Value RowsAlong(const NodeContext& node, const Expr& x, int64_t axis, bool squeezed) {
  const Array<PrimExpr> shape = node.Shape(x);
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.insert(order.begin(), axis);
  const Expr moved = axis == 0 ? x : Expr(node.Emit(relax::PermuteDims(x, order)));
  return Value::Rows(squeezed ? moved : Expr(node.Emit(relax::ExpandDims(moved, {axis + 1}))));
}

std::vector<std::optional<TensorType>> RaggedThen(const NodeContext& node, const std::vector<Value>& first,
                                                  const std::vector<Value>& then) {
  std::vector<std::optional<TensorType>> types(first.size());
  bool is_any = false;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!first[i].defined() || first[i]->extents.defined() || !(first[i]->elements || first[i]->is_rows)) continue;
    if (!then[i].defined() || !then[i]->extents.defined()) continue;
    types[i] = TensorType::WithNDim(RowRank(node, then[i]), node.DType(then[i]->expr));
    is_any = true;
  }
  if (!is_any) types.clear();
  return types;
}

std::vector<Value> WithRowsWhereLengthsDiffer(const NodeContext& node, const std::vector<Value>& first,
                                              const std::vector<Value>& then,
                                              const std::function<Type(const Type&)>& outside) {
  std::vector<Value> values = first;
  for (size_t i = 0; i < first.size(); ++i) {
    const auto is_sequence = [](const Value& value) {
      return value.defined() && (value->elements || value->is_rows) && !value->is_none;
    };
    if (!is_sequence(first[i]) || !is_sequence(then[i]) || AreAlike({first[i]}, {then[i]})) continue;
    std::vector<Type> rows;
    for (const Value& sequence : {first[i], then[i]}) {
      for (const Type& type : ElementTypes(node, sequence)) rows.push_back(outside(type));
    }
    values[i] = AsRows(node, first[i], RowType(node, rows));
  }
  return values;
}

}  // namespace deuteron::onnx
