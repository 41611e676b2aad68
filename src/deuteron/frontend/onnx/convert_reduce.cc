#include <functional>
#include <numeric>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;
using relax::ReduceAxes;

namespace {

/// log(Σ exp(x)), by the greatest element so that nothing overflows; infinities stay exact.
Expr LogSumExp(const NodeContext& node, const Expr& x, const ReduceAxes& axes, bool keepdims) {
  const DataType dtype = node.DType(x);
  const Expr zero = node.Scalar(dtype, 0);
  const Expr greatest = node.Emit(relax::Max(x, axes, /*keepdims=*/true));
  const Expr shift = node.Emit(relax::Where(relax::IsFinite(greatest), greatest, zero));
  const Expr log = node.Emit(relax::Log(relax::Sum(relax::Exp(relax::Subtract(x, shift)), axes, /*keepdims=*/true)));
  Expr result = node.Emit(relax::Add(log, shift));
  if (keepdims) return result;
  std::vector<int64_t> all;
  for (int64_t axis = 0; axis < node.Rank(x); ++axis) all.push_back(axis);
  return node.Emit(relax::Squeeze(result, axes ? *axes : all));
}

Expr ReduceOf(const NodeContext& node, std::string_view op, const Expr& x, const ReduceAxes& axes, bool keepdims) {
  if (op == "ReduceSum") return relax::Sum(x, axes, keepdims);
  if (op == "ReduceMean") return relax::Mean(x, axes, keepdims);
  if (op == "ReduceProd") return relax::Prod(x, axes, keepdims);
  if (op == "ReduceL1") return relax::Sum(relax::Abs(x), axes, keepdims);
  if (op == "ReduceL2") return relax::Sqrt(relax::Sum(relax::Multiply(x, x), axes, keepdims));
  if (op == "ReduceSumSquare") return relax::Sum(relax::Multiply(x, x), axes, keepdims);
  if (op == "ReduceLogSum") return relax::Log(relax::Sum(x, axes, keepdims));
  if (op == "ReduceLogSumExp") return LogSumExp(node, x, axes, keepdims);
  const auto extreme = op == "ReduceMax" ? relax::Max : relax::Min;
  if (!node.DType(x).is_bool()) return extreme(x, axes, keepdims);
  return relax::Astype(extreme(relax::Astype(x, DataType::Int(8)), axes, keepdims), DataType::Bool());
}

/// Whether `op` takes roots or logarithms, which of integers are computed in float64 and rounded towards zero.
bool IsComputedInFloats(std::string_view op) {
  return op == "ReduceL2" || op == "ReduceLogSum" || op == "ReduceLogSumExp";
}

/// A reduction over as many axes as the run tells: those that stay, and those that do not, as one axis each.
Expr ReduceOverAnyNumber(const NodeContext& node, std::string_view op, const Expr& x) {
  const int64_t rank = node.Rank(x);
  Expr given = node.CastTo(node.X(1), DataType::Int(64));
  if (!node.Flag("noop_with_empty_axes", false)) {
    // None are all.
    const PrimExpr count = node.Shape(given)[0];
    std::vector<int64_t> all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    const Expr either = node.Emit(relax::Concat({given, node.ConstantInts(all)}, 0));
    const PrimExpr end = node.Simplify(count + Max(1 - count, I64(0)) * I64(rank));
    given = node.Emit(relax::StridedSlice(either, {0}, {I64(0)}, {end}, {I64(1)}));
  }
  const RunTimeAxes axes(node, given, rank);
  const Expr extents = axes.ExtentsMovedLast(x);
  const PrimExpr middle = node.Simplify(I64(rank) - axes.extent());
  const auto product = [&](const PrimExpr& begin, const PrimExpr& end) {
    const Expr part = node.Emit(relax::StridedSlice(extents, {0}, {begin}, {end}, {I64(1)}));
    return Expr(node.Emit(relax::Prod(part, std::vector<int64_t>{0}, /*keepdims=*/true)));
  };
  const Expr both = node.Emit(relax::Concat({product(I64(0), middle), product(middle, I64(rank))}, 0));
  const Expr matrix = node.Reshaped(axes.MovedLast(x), node.BoundDims(both, "the elements that are reduced"));
  Expr result = ReduceOf(node, op, matrix, std::vector<int64_t>{1}, /*keepdims=*/false);
  if (result.as<relax::VarNode>() == nullptr) result = node.Emit(result);
  const Expr ones = node.Emit(relax::Full({axes.extent()}, node.Scalar(DataType::Int(64), 1), DataType::Int(64)));
  return node.Reshaped(result, node.BoundDims(axes.Spread(ones, ShapeVector(node, x)), "the shape of the result"));
}

}  // namespace

Results ConvertReduce(const NodeContext& node) {
  const std::string_view op = node.node().op_type;
  Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  // A sum that a root or a logarithm is taken of may be greater than the greatest float16.
  const bool through_floats = IsComputedInFloats(op) && (!dtype.is_float() || dtype.bits() < 32);
  if (through_floats) x = node.CastTo(x, DataType::Float(dtype.is_float() ? 32 : 64));
  const auto rounded = [&](const Expr& result) { return through_floats ? node.CastTo(result, dtype) : result; };
  const int64_t rank = node.Rank(x);
  const int64_t since = op == "ReduceSum" ? 13 : 18;
  const bool keepdims = node.Flag("keepdims", true);
  if (node.AxesAtRunTime(1, since)) {
    if (keepdims && !AsConstInt(node.Shape(node.X(1))[0])) return {rounded(ReduceOverAnyNumber(node, op, x))};
    const RunTimeAxes axes(node, node.X(1), rank);
    Expr result = ReduceOf(node, op, axes.MovedLast(x), axes.Last(), /*keepdims=*/false);
    if (result.as<relax::VarNode>() == nullptr) result = node.Emit(result);
    if (keepdims) {
      const Expr ones = node.ConstantInts(std::vector<int64_t>(static_cast<size_t>(axes.count()), 1));
      const Expr shape = axes.Spread(ones, ShapeVector(node, x));
      result = node.Reshaped(result, node.BoundDims(shape, "the shape of the result"));
    }
    return {rounded(result)};
  }
  auto axes = node.AxesArgument(1, since);
  if (!axes || axes->empty()) {
    if (node.Flag("noop_with_empty_axes", false)) {
      // No axes are reduced; what is applied to each element remains.
      if (op == "ReduceL1" || op == "ReduceL2") return {rounded(node.Emit(relax::Abs(x)))};
      if (op == "ReduceSumSquare") return {node.Emit(relax::Multiply(x, x))};
      if (op == "ReduceLogSum") return {rounded(node.Emit(relax::Log(x)))};
      return {rounded(x)};
    }
    axes.reset();
  } else {
    axes = node.Axes(*axes, rank);
  }
  const Expr result = ReduceOf(node, op, x, axes, keepdims);
  return {rounded(result.as<relax::VarNode>() != nullptr ? result : Expr(node.Emit(result)))};
}

Results ConvertArgReduce(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  const bool keepdims = node.Flag("keepdims", true);
  RequireElements(node, x, {axis}, "the length of the axis that is searched");
  const auto find = node.node().op_type == "ArgMax" ? relax::Argmax : relax::Argmin;
  if (!node.Flag("select_last_index", false)) return {node.Emit(find(x, axis, keepdims))};
  // The last of equals is the first from behind.
  const Expr index = node.Emit(find(relax::Flip(x, axis), axis, keepdims));
  const PrimExpr last = node.Simplify(node.Shape(x)[axis] - 1);
  return {node.Emit(relax::Subtract(node.ScalarOf(DataType::Int(64), last), index))};
}

Results ConvertCumSum(const NodeContext& node) {
  const bool reverse = node.Flag("reverse", false);
  const auto scan_along = [&](Expr x, int64_t axis) {
    if (reverse) x = node.Emit(relax::Flip(x, axis));
    const auto scan = node.node().op_type == "CumProd" ? relax::Cumprod : relax::Cumsum;
    const Expr result = node.Emit(scan(x, axis, DataType::Void(), node.Flag("exclusive", false)));
    return reverse ? Expr(node.Emit(relax::Flip(result, axis))) : result;
  };
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const auto given = node.ConstInts(1);
  if (!given) {
    const RunTimeAxes axis(node, node.X(1), rank);
    if (axis.count() != 1) node.Fail("the axis must be a scalar");
    return {axis.MovedBack(scan_along(axis.MovedLast(x), rank - 1))};
  }
  if (given->size() != 1) node.Fail("the axis must be a scalar");
  return {scan_along(x, node.Axis(given->front(), rank))};
}

Results ConvertTopK(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", -1), node.Rank(x));
  const bool largest = node.Flag("largest", true);
  int64_t k = 0;
  if (node.opset() < 10) {
    k = node.RequiredInt("k");
  } else {
    const PrimExpr count = node.Dim(1, "k", 0, node.Shape(x)[axis]);
    const auto number = AsConstInt(count);
    if (!number) {
      const auto pair = node.Emit(relax::DynamicTopK(x, count, axis, "both", largest, DataType::Int(64)));
      Array<PrimExpr> shape = node.Shape(x);
      shape.Set(axis, count);
      // That there are so many is for the run to tell.
      return {node.WithShape(node.Field(pair, 0), shape), node.WithShape(node.Field(pair, 1), shape)};
    }
    k = *number;
  }
  if (k < 0) node.Fail("k = " + std::to_string(k));
  if (k == 0) {
    Array<PrimExpr> none = node.Shape(x);
    none.Set(axis, I64(0));
    return {node.Emit(relax::Zeros(none, node.DType(x))), node.Emit(relax::Zeros(none, DataType::Int(64)))};
  }
  if (const auto length = AsConstInt(node.Shape(x)[axis]); length && k > *length) {
    node.Fail("k = " + std::to_string(k) + " of an axis of length " + std::to_string(*length));
  }
  const auto pair = node.Emit(relax::TopK(x, k, axis, "both", largest, DataType::Int(64)));
  return {node.Field(pair, 0), node.Field(pair, 1)};
}

}  // namespace deuteron::onnx
