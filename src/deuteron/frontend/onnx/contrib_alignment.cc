/// \file
/// DynamicTimeWarping of com.microsoft: the cheapest path through a matrix of costs.
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// How a place of the matrix is best come to.
constexpr int64_t kDiagonally = 0, kFromAbove = 1, kFromTheLeft = 2;

class Alignment {
 public:
  explicit Alignment(const NodeContext& node) : node_(node) {
    const Array<PrimExpr> shape = node.Shape(0);
    if (shape.size() != 2 && shape.size() != 3) {
      node.Fail("its costs must be a matrix and are of rank " + std::to_string(shape.size()));
    }
    rows_ = I64(node.StaticDim(node.X(0), -2, "the number of rows of the costs"));
    columns_ = I64(node.StaticDim(node.X(0), -1, "the number of columns of the costs"));
    RequireAtLeast(node, {rows_, columns_}, 1, "the length of an axis of costs");
    steps_ = node.Simplify(rows_ + columns_ - 1);
    costs_ = node.Reshaped(node.X(0), {node.Simplify(rows_ * columns_)});
    dtype_ = node.DType(0);
  }

  Results Convert() { return {PathBack(Moves())}; }

 private:
  Expr Number(int64_t value) const { return node_.Scalar(kPosition, static_cast<double>(value)); }
  Expr Dim(const PrimExpr& value) const { return node_.ScalarOf(kPosition, value); }
  Expr Far() const { return node_.Scalar(dtype_, std::numeric_limits<double>::infinity()); }

  /// `x` (rows) from one row further up, `first` in the first row.
  Expr FromAbove(const Expr& x, const Expr& first) const {
    const Expr part = node_.Emit(relax::StridedSlice(x, {0}, {I64(0)}, {node_.Simplify(rows_ - 1)}, {I64(1)}));
    return node_.WithShape(node_.Emit(relax::Concat({node_.Reshaped(first, {I64(1)}), part}, 0)), {rows_});
  }

  /// The moves to the places of each diagonal, (diagonals, rows): those of one diagonal follow from the two before it.
  Expr Moves() const {
    const Expr nothing = node_.Emit(relax::Full({rows_}, Far()));
    const auto step = [&](const PrimExpr& number, const Results& states) {
      const auto state = [&](size_t i) { return node_.importer()->ExprOf(states[i], Span()); };
      const Expr row = Positions(node_, rows_), at = Dim(number), zero = Number(0);
      const Expr column = node_.Emit(relax::Subtract(at, row));
      const Expr inside =
          node_.Emit(relax::LogicalAnd(relax::GreaterEqual(column, zero), relax::Less(column, Dim(columns_))));
      const Expr place =
          node_.Emit(relax::Where(inside, relax::Add(relax::Multiply(row, Dim(columns_)), column), zero));
      const Expr cost = node_.Emit(relax::Take(costs_, place, 0));
      // The path begins before the first place.
      const Expr begin = node_.Emit(relax::Where(relax::Equal(at, zero), node_.Scalar(dtype_, 0), Far()));
      const Expr diagonal = FromAbove(state(0), begin), above = FromAbove(state(1), Far()), left = state(1);
      const auto is_less = [&](const Expr& a, const Expr& b, const Expr& c) {
        return Expr(node_.Emit(relax::LogicalAnd(relax::Less(a, b), relax::Less(a, c))));
      };
      const Expr is_diagonal = is_less(diagonal, above, left), is_above = is_less(above, diagonal, left);
      const Expr best = relax::Where(is_diagonal, diagonal, relax::Where(is_above, above, left));
      const Expr sum = node_.Emit(relax::Where(inside, relax::Add(cost, best), Far()));
      const Expr move = node_.Emit(relax::Where(is_diagonal, Number(kDiagonally),
                                                relax::Where(is_above, Number(kFromAbove), Number(kFromTheLeft))));
      return LoopStep{.condition = {}, .states = {state(1), sum}, .outputs = {Value(move)}};
    };
    return node_.importer()->ExprOf(EmitLoop(node_, steps_, Value(), {nothing, nothing}, step)[2], Span());
  }

  /// The places from the first to the last, (2, places).
  Expr PathBack(const Expr& moves) const {
    const Expr flat = node_.Reshaped(moves, {node_.Simplify(steps_ * rows_)});
    const auto begin = [&](const PrimExpr& last) { return node_.Reshaped(Dim(node_.Simplify(last - 1)), {I64(1)}); };
    const auto step = [&](const PrimExpr&, const Results& states) {
      const Expr row = node_.importer()->ExprOf(states[0], Span()),
                 column = node_.importer()->ExprOf(states[1], Span());
      const Expr diagonal = relax::Add(row, column);
      const Expr at = node_.Emit(relax::Add(relax::Multiply(diagonal, Dim(rows_)), row));
      const Expr move = node_.Emit(relax::Take(flat, at, 0));
      const auto next = [&](const Expr& place, int64_t stays) {
        const Expr step_back = node_.CastTo(node_.Emit(relax::NotEqual(move, Number(stays))), kPosition);
        return Expr(node_.Emit(relax::Subtract(place, step_back)));
      };
      const Expr up = next(row, kFromTheLeft), left = next(column, kFromAbove);
      const Expr goes_on = node_.Emit(relax::GreaterEqual(relax::Minimum(up, left), Number(0)));
      return LoopStep{.condition = Value(node_.Reshaped(goes_on, {})),
                      .states = {up, left},
                      .outputs = {Value(node_.Emit(relax::Concat({row, column}, 0)))}};
    };
    const Results results = EmitLoop(node_, steps_, Value(), {begin(rows_), begin(columns_)}, step);
    const Expr places = node_.importer()->ExprOf(results[2], Span());
    return node_.Emit(relax::PermuteDims(node_.Emit(relax::Flip(places, 0)), {1, 0}));
  }

  const NodeContext& node_;
  PrimExpr rows_, columns_, steps_;
  Expr costs_;
  DataType dtype_;
};

}  // namespace

Results ConvertDynamicTimeWarping(const NodeContext& node) { return Alignment(node).Convert(); }

}  // namespace deuteron::onnx
