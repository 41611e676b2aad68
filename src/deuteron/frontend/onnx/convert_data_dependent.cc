/// \file
/// Operators whose results are as large as the data says. What is not known before becomes a symbolic dimension that is
/// bound when the model runs; what follows is compiled for any size.
#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/sorting.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

PrimExpr NewDim(const NodeContext& node, const std::string& what) {
  return tir::Var(String(std::string(node.node().op_type) + "_" + what));
}

Expr NonZeroOf(const NodeContext& node, const Expr& x) {
  return node.WithShape(node.Emit(relax::Nonzero(x)), {I64(node.Rank(x)), NewDim(node, "count")});
}

/// One vector of int64 over all axes from one over some: `otherwise` elsewhere.
Expr OverAllAxes(const NodeContext& node, size_t input, const std::vector<int64_t>& axes, int64_t rank,
                 int64_t otherwise) {
  const Expr given = node.CastTo(node.X(input), DataType::Int(64));
  const Expr padded = node.Emit(relax::Concat({given, node.ConstantInts({otherwise})}, 0));
  std::vector<int64_t> from(rank, static_cast<int64_t>(axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) from[axes[i]] = static_cast<int64_t>(i);
  return node.Emit(relax::Take(padded, node.ConstantInts(from), 0));
}

}  // namespace

Expr PositionsOfTrue(const NodeContext& node, const Expr& condition) {
  const Expr found = NonZeroOf(node, condition);
  return node.Reshaped(found, {node.Shape(found)[1]});
}

Results ConvertNonZero(const NodeContext& node) { return {NonZeroOf(node, node.X(0))}; }

Results ConvertUnique(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool flat = !node.HasAttr("axis");
  Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  std::optional<int64_t> axis;
  if (!flat) axis = node.Axis(node.RequiredInt("axis"), rank);
  const PrimExpr length = flat ? node.Product(shape, 0, rank) : shape[*axis];
  const PrimExpr count = NewDim(node, "count");
  // Index, inverse and counts are cheap beside the sort.
  const relax::Var all = node.Emit(relax::Unique(x, node.Int("sorted", 1) != 0, true, true, true, axis));
  if (flat) {
    shape = {count};
  } else {
    shape.Set(*axis, count);
  }
  Results results = {node.WithShape(node.Field(all, 0), shape)};
  for (int64_t i = 1; i < 4; ++i) results.emplace_back(node.WithShape(node.Field(all, i), {i == 2 ? length : count}));
  return results;
}

Expr SliceAtRunTime(const NodeContext& node, const std::vector<int64_t>& axes, const std::vector<int64_t>& steps) {
  const Expr x = node.X(0);
  Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> strides(rank, 1);
  // Backwards, ONNX begins no further than at the first element, where Python begins before it.
  Array<PrimExpr> least(rank, I64(INT64_MIN));
  for (size_t i = 0; i < axes.size(); ++i) {
    strides[axes[i]] = steps[i];
    if (steps[i] < 0) least.Set(axes[i], node.Simplify(0 - shape[axes[i]]));
    shape.Set(axes[i], NewDim(node, "d" + std::to_string(axes[i])));
  }
  Expr begin = OverAllAxes(node, 1, axes, rank, 0);
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step < 0; })) {
    begin = node.Emit(relax::Maximum(begin, node.importer()->ExprOf(Value(SymbolicVector(least)), Span())));
  }
  const Expr end = OverAllAxes(node, 2, axes, rank, INT64_MAX);
  return node.WithShape(node.Emit(relax::DynamicStridedSlice(x, begin, end, node.ConstantInts(strides))), shape);
}

/// Of constant conditions a selection at compile time.
Results ConvertCompress(const NodeContext& node) {
  Expr x = node.X(0);
  int64_t axis = 0;
  if (node.HasAttr("axis")) {
    axis = node.Axis(node.RequiredInt("axis"), node.Rank(x));
  } else {
    const Array<PrimExpr> shape = node.Shape(x);
    x = node.Reshaped(x, {node.Product(shape, 0, static_cast<int64_t>(shape.size()))});
  }
  if (const auto condition = node.ConstInts(1)) {
    std::vector<int64_t> indices;
    for (size_t i = 0; i < condition->size(); ++i) {
      if ((*condition)[i] != 0) indices.push_back(static_cast<int64_t>(i));
    }
    return {node.Emit(relax::Take(x, node.ConstantInts(indices), axis))};
  }
  // The condition may be longer than the axis, but not true there.
  const Expr indices = node.Checked(PositionsOfTrue(node, node.X(1)), {node.Shape(x)[axis]});
  return {node.Emit(relax::Take(x, indices, axis))};
}

}  // namespace deuteron::onnx
