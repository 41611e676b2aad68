#include "deuteron/frontend/onnx/axes.h"

#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"

namespace deuteron::onnx {

using relax::Expr;

Expr ShapeVector(const NodeContext& node, const Expr& x) {
  return node.importer()->ExprOf(Value(SymbolicVector(node.Shape(x))), Span());
}

RunTimeAxes::RunTimeAxes(const NodeContext& node, Expr axes, int64_t rank) : node_(node), rank_(rank) {
  axes = node.CastTo(axes, DataType::Int(64));
  if (node.Rank(axes) == 0) axes = node.Reshaped(axes, {I64(1)});
  count_ = node.StaticDim(axes, 0, "the number of axes");
  if (count_ > rank) node.Fail(std::to_string(count_) + " axes of a tensor of rank " + std::to_string(rank));
  orders_ = node.Emit(relax::CallPurePacked(
      relax::ExternFunc("deuteron.vm.move_axes"),
      {axes, relax::PrimValue(I64(rank)), relax::StringImm("the axes of " + NodeSpanName(node.node()))},
      {TensorType({I64(2 * rank)}, DataType::Int(64))}));
}

std::vector<int64_t> RunTimeAxes::Last() const {
  std::vector<int64_t> axes;
  for (int64_t axis = rank_ - count_; axis < rank_; ++axis) axes.push_back(axis);
  return axes;
}

Expr RunTimeAxes::Part(int64_t begin, int64_t end) const {
  return node_.Emit(relax::StridedSlice(orders_, {0}, {I64(begin)}, {I64(end)}, {I64(1)}));
}

Expr RunTimeAxes::Others() const { return Part(0, rank_ - count_); }
Expr RunTimeAxes::Places() const { return Part(rank_, 2 * rank_); }

Expr RunTimeAxes::Permuted(const Expr& x, const Expr& order) const {
  const Expr extents = node_.Emit(relax::Take(ShapeVector(node_, x), order, 0));
  const Array<PrimExpr> shape = node_.BoundDims(extents, "the shape in this order");
  return node_.Emit(relax::DynamicPermuteDims(x, node_.BoundDims(order, "the order of axes"), shape));
}

Expr RunTimeAxes::MovedLast(const Expr& x) const { return Permuted(x, Part(0, rank_)); }
Expr RunTimeAxes::MovedBack(const Expr& y) const { return Permuted(y, Places()); }

Expr RunTimeAxes::Spread(const Expr& values, const Expr& otherwise) const {
  return node_.Emit(relax::ScatterElements(otherwise, Part(rank_ - count_, rank_), values, 0, "update"));
}

}  // namespace deuteron::onnx
