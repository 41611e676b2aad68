#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Element (row, column) of the matrices in the last two axes.
Expr MatrixElement(const NodeContext& node, const Expr& x, int64_t row, int64_t column) {
  const int64_t rank = node.Rank(x);
  const std::vector<int64_t> axes = {rank - 2, rank - 1};
  const Expr slice =
      relax::StridedSlice(x, axes, {I64(row), I64(column)}, {I64(row + 1), I64(column + 1)}, {I64(1), I64(1)});
  return node.Emit(relax::Squeeze(node.Emit(slice), axes));
}

/// The determinant of the rows from `row` on and the columns given, by the first of the rows.
Expr Determinant(const NodeContext& node, const Expr& x, const std::vector<int64_t>& rows,
                 const std::vector<int64_t>& columns) {
  if (rows.size() == 1) return MatrixElement(node, x, rows[0], columns[0]);
  const std::vector<int64_t> below(rows.begin() + 1, rows.end());
  Expr total;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<int64_t> others = columns;
    others.erase(others.begin() + static_cast<int64_t>(i));
    const Expr term = relax::Multiply(MatrixElement(node, x, rows[0], columns[i]), Determinant(node, x, below, others));
    total = node.Emit(i == 0 ? term : i % 2 == 0 ? relax::Add(total, term) : relax::Subtract(total, term));
  }
  return total;
}

std::vector<int64_t> Without(int64_t size, int64_t left_out) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < size; ++i) {
    if (i != left_out) all.push_back(i);
  }
  return all;
}

/// Cofactors of matrices of more rows are too many.
constexpr int64_t kMostByCofactors = 4;

/// Input 0, whose last two axes are square matrices.
struct Matrices {
  /// At least in float32.
  Expr x;
  Array<PrimExpr> shape;
  int64_t rank;
  PrimExpr order;
  /// Where it is a number from 1 to kMostByCofactors.
  std::optional<int64_t> small_order;
};

Matrices ReadMatrices(const NodeContext& node) {
  Expr x = node.X(0);
  Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank < 2) node.Fail("its input must be matrices and is " + relax::Describe(x.ty()));
  const PrimExpr order = AsConstInt(shape[rank - 1]) ? shape[rank - 1] : shape[rank - 2];
  const auto known = AsConstInt(order);
  for (const int64_t axis : {rank - 2, rank - 1}) {
    if (known && AsConstInt(shape[axis]).value_or(*known) != *known) {
      node.Fail("its input is not square and is " + relax::Describe(x.ty()));
    }
    shape.Set(axis, order);
  }
  const bool is_small = known && *known >= 1 && *known <= kMostByCofactors;
  return {node.WithShape(node.Widened(x), shape), shape, rank, order, is_small ? known : std::nullopt};
}

/// Gaussian elimination with the greatest element of a column as its pivot (Golub and Van Loan, Matrix Computations,
/// 3.4), a column a step.
class Elimination {
 public:
  /// `rows`: (batch, order, columns).
  Elimination(const NodeContext& node, const PrimExpr& order, const Expr& rows, const PrimExpr& step)
      : node_(node), step_(step), rows_(rows) {
    const Array<PrimExpr> shape = node.Shape(rows);
    number_ =
        node.Reshaped(node.Emit(relax::Arange(I64(0), order, I64(1), DataType::Int(64))), {I64(1), order, I64(1)});
    const Expr at = relax::PrimValue(step);
    const Expr open = node.Emit(relax::GreaterEqual(number_, at));
    const Expr size = relax::Where(open, relax::Abs(Slice(rows, 2)), node.Scalar(node.DType(rows), -1));
    const Expr place = node.Emit(relax::Argmax(node.Emit(size), 1, /*keepdims=*/true));
    is_in_place_ = node.Emit(relax::Equal(place, at));
    is_pivot_ = node.Emit(relax::Equal(number_, at));
    const Expr index = node.Emit(relax::BroadcastTo(place, {shape[0], I64(1), shape[2]}));
    pivot_row_ = node.Emit(relax::GatherElements(rows, index, 1));
    const Expr other = node.Emit(relax::Where(relax::Equal(number_, place), Slice(rows, 1), rows));
    rows_ = node.Emit(relax::Where(is_pivot_, pivot_row_, other));
  }

  /// Those of this step, where the row of the pivot was exchanged with that of the step.
  const Expr& rows() const { return rows_; }
  const Expr& pivot_row() const { return pivot_row_; }
  /// (batch, 1, 1).
  Expr pivot() const { return Slice(pivot_row_, 2); }
  Expr column() const { return Slice(rows_, 2); }
  /// Of each row, whether it is the pivot's; whether it is behind that.
  const Expr& is_pivot() const { return is_pivot_; }
  Expr is_behind() const { return relax::Greater(number_, relax::PrimValue(step_)); }
  /// Whether no rows were exchanged, (batch, 1, 1).
  const Expr& is_in_place() const { return is_in_place_; }

 private:
  Expr Slice(const Expr& x, int64_t axis) const {
    return node_.Emit(relax::StridedSlice(x, {axis}, {step_}, {step_ + I64(1)}, {I64(1)}, /*assume_inbound=*/true));
  }

  const NodeContext& node_;
  PrimExpr step_;
  Expr rows_, number_, pivot_row_, is_pivot_, is_in_place_;
};

/// The matrices one after another, (batch, order, order).
Expr InARow(const NodeContext& node, const Matrices& matrices) {
  return node.Reshaped(matrices.x,
                       {node.Product(matrices.shape, 0, matrices.rank - 2), matrices.order, matrices.order});
}

Expr DeterminantByElimination(const NodeContext& node, const Matrices& matrices) {
  const Expr rows = InARow(node, matrices);
  const DataType dtype = node.DType(rows);
  const Expr one = node.Scalar(dtype, 1);
  const Expr zero = node.Scalar(dtype, 0);
  const Results initial = {rows, node.Emit(relax::Ones({node.Shape(rows)[0], I64(1), I64(1)}, dtype))};
  const Results last =
      EmitLoop(node, matrices.order, Value(), initial, [&](const PrimExpr& step, const Results& states) {
        const Elimination at(node, matrices.order, states[0]->expr, step);
        const Expr pivot = at.pivot();
        const Expr sign = relax::Where(at.is_in_place(), one, node.Scalar(dtype, -1));
        const Expr product = node.Emit(relax::Multiply(states[1]->expr, relax::Multiply(pivot, sign)));
        // Below a pivot of zero there is nothing to eliminate.
        const Expr divisor = relax::Where(relax::Equal(pivot, zero), one, pivot);
        const Expr factor = node.Emit(relax::Where(at.is_behind(), relax::Divide(at.column(), divisor), zero));
        const Expr next = node.Emit(relax::Subtract(at.rows(), relax::Multiply(factor, at.pivot_row())));
        return LoopStep{Value(), {next, product}, {}};
      });
  return node.Reshaped(last[1]->expr, Array<PrimExpr>(matrices.shape.begin(), matrices.shape.end() - 2));
}

/// Of [A | 1], reduced to [1 | A⁻¹].
Expr InverseByElimination(const NodeContext& node, const Matrices& matrices) {
  const Expr rows = InARow(node, matrices);
  const DataType dtype = node.DType(rows);
  const PrimExpr& order = matrices.order;
  const Expr unit = node.Reshaped(node.Emit(relax::Eye(order, order, I64(0), dtype)), {I64(1), order, order});
  const Expr units = node.Emit(relax::BroadcastTo(unit, node.Shape(rows)));
  const Results initial = {node.Emit(relax::Concat(Array<Expr>{rows, units}, 2))};
  const Results last = EmitLoop(node, order, Value(), initial, [&](const PrimExpr& step, const Results& states) {
    const Elimination at(node, order, states[0]->expr, step);
    const Expr scaled = node.Emit(relax::Divide(at.pivot_row(), at.pivot()));
    const Expr reduced = relax::Subtract(at.rows(), relax::Multiply(at.column(), scaled));
    return LoopStep{Value(), {node.Emit(relax::Where(at.is_pivot(), scaled, reduced))}, {}};
  });
  const PrimExpr end = node.Simplify(order * I64(2));
  return node.Reshaped(node.Emit(relax::StridedSlice(last[0]->expr, {2}, {order}, {end})), matrices.shape);
}

}  // namespace

Results ConvertDet(const NodeContext& node) {
  const Matrices matrices = ReadMatrices(node);
  if (!matrices.small_order) return {node.CastTo(DeterminantByElimination(node, matrices), node.DType(0))};
  const std::vector<int64_t> all = Without(*matrices.small_order, -1);
  return {node.CastTo(Determinant(node, matrices.x, all, all), node.DType(0))};
}

namespace {

Expr Inverse(const NodeContext& node, const Matrices& matrices) {
  if (!matrices.small_order) return InverseByElimination(node, matrices);
  const int64_t order = *matrices.small_order;
  const Expr& x = matrices.x;
  const Array<PrimExpr>& shape = matrices.shape;
  const int64_t rank = matrices.rank;
  if (order == 1) return node.Emit(relax::Divide(node.Scalar(node.DType(x), 1), x));
  // Cofactors, transposed, by the determinant.
  Array<Expr> cofactors;
  for (int64_t i = 0; i < order; ++i) {
    for (int64_t j = 0; j < order; ++j) {
      const Expr minor = Determinant(node, x, Without(order, j), Without(order, i));
      cofactors.push_back((i + j) % 2 == 0 ? minor : node.Emit(relax::Multiply(minor, node.Scalar(node.DType(x), -1))));
    }
  }
  const Expr adjugate = node.Reshaped(node.Emit(relax::Stack(cofactors, rank - 2)), shape);
  const std::vector<int64_t> all = Without(order, -1);
  Array<PrimExpr> scalar = shape;
  scalar.Set(rank - 1, I64(1));
  scalar.Set(rank - 2, I64(1));
  return node.Emit(relax::Divide(adjugate, node.Reshaped(Determinant(node, x, all, all), scalar)));
}

}  // namespace

Results ConvertInverse(const NodeContext& node) {
  return {node.CastTo(Inverse(node, ReadMatrices(node)), node.DType(0))};
}

}  // namespace deuteron::onnx
