#include "deuteron/frontend/onnx/axes.h"

#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

Expr ShapeVector(const NodeContext& node, const Expr& x) {
  return node.importer()->ExprOf(Value(SymbolicVector(node.Shape(x))), Span());
}

RunTimeAxes::RunTimeAxes(const NodeContext& node, Expr axes, int64_t rank) : node_(node), rank_(rank) {
  axes = node.CastTo(axes, DataType::Int(64));
  if (node.Rank(axes) == 0) axes = node.Reshaped(axes, {I64(1)});
  extent_ = node.Shape(axes)[0];
  const auto number = AsConstInt(extent_);
  if (number && *number > rank) {
    node.Fail(std::to_string(*number) + " axes of a tensor of rank " + std::to_string(rank));
  }
  orders_ = node.Emit(relax::CallPurePacked(
      relax::ExternFunc("deuteron.vm.move_axes"),
      {axes, relax::PrimValue(I64(rank)), relax::StringImm("the axes of " + NodeSpanName(node.node()))},
      {TensorType({I64(2 * rank)}, DataType::Int(64))}));
}

int64_t RunTimeAxes::count() const {
  const auto number = AsConstInt(extent_);
  if (!number) {
    node_.Unsupported("the rank of its result depends on the number of axes, which is " + relax::Describe(extent_) +
                      "; fix it with --shape");
  }
  return *number;
}

std::vector<int64_t> RunTimeAxes::Last() const {
  std::vector<int64_t> axes;
  for (int64_t axis = rank_ - count(); axis < rank_; ++axis) axes.push_back(axis);
  return axes;
}

Expr RunTimeAxes::Part(const PrimExpr& begin, const PrimExpr& end) const {
  return node_.Emit(relax::StridedSlice(orders_, {0}, {node_.Simplify(begin)}, {node_.Simplify(end)}, {I64(1)}));
}

Expr RunTimeAxes::Others() const { return Part(I64(0), I64(rank_ - count())); }
Expr RunTimeAxes::Places() const { return Part(I64(rank_), I64(2 * rank_)); }

Expr RunTimeAxes::ExtentsMovedLast(const Expr& x) const {
  return node_.Emit(relax::Take(ShapeVector(node_, x), Part(I64(0), I64(rank_)), 0));
}

Expr RunTimeAxes::Permuted(const Expr& x, const Expr& order) const {
  const Expr extents = node_.Emit(relax::Take(ShapeVector(node_, x), order, 0));
  const Array<PrimExpr> shape = node_.BoundDims(extents, "the shape in this order");
  return node_.Emit(relax::DynamicPermuteDims(x, node_.BoundDims(order, "the order of axes"), shape));
}

Expr RunTimeAxes::MovedLast(const Expr& x) const { return Permuted(x, Part(I64(0), I64(rank_))); }
Expr RunTimeAxes::MovedBack(const Expr& y) const { return Permuted(y, Places()); }

Expr RunTimeAxes::Spread(const Expr& values, const Expr& otherwise) const {
  const Expr these = Part(I64(rank_) - extent_, I64(rank_));
  return node_.Emit(relax::ScatterElements(otherwise, these, values, 0, "update"));
}

}  // namespace deuteron::onnx
