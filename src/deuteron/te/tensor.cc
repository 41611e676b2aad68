#include "deuteron/te/tensor.h"

#include <unordered_set>

#include "deuteron/ir/expr_functor.h"

namespace deuteron::te {
namespace {

using tir::CommReducer;
using tir::IterVar;
using tir::IterVarType;
using tir::Range;
using tir::Reduce;
using tir::Var;

Tensor MakeTensor(const Array<PrimExpr>& shape, DataType dtype, ComputeOp op, int64_t value_index) {
  auto node = MakeNode<TensorNode>();
  node->shape = shape;
  node->dtype = dtype;
  node->op = std::move(op);
  node->value_index = value_index;
  return Tensor(std::move(node));
}

ComputeOp MakeOp(const std::string& name, Array<IterVar> axis, Array<PrimExpr> body, Map<String, Any> attrs) {
  auto node = MakeNode<ComputeOpNode>();
  node->name = name;
  node->axis = std::move(axis);
  node->body = std::move(body);
  node->attrs = std::move(attrs);
  return ComputeOp(std::move(node));
}

/// Dimensions are int64, whatever the literals of the caller were.
Array<PrimExpr> AsInt64(const Array<PrimExpr>& shape) {
  return shape.Map([](const PrimExpr& extent) { return CastTo(DataType::Int(64), extent); });
}

Array<IterVar> SpatialAxes(const Array<PrimExpr>& shape, const std::vector<std::string>& names) {
  DEUTERON_CHECK(names.empty() || names.size() == shape.size())
      << names.size() << " axis names for " << shape.size() << " dimensions";
  std::vector<IterVar> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string name = names.empty() ? "i" + std::to_string(i) : names[i];
    axes.push_back(IterVar(Range::FromMinExtent(I64(0), shape[i]), Var(name), IterVarType::kSpatial));
  }
  return axes;
}

PrimExpr ReduceBy(PrimExpr (*combine)(PrimExpr, PrimExpr), PrimExpr identity, PrimExpr source,
                  const Array<IterVar>& axis) {
  const DataType dtype = source.dtype();
  Var lhs("x", dtype);
  Var rhs("y", dtype);
  CommReducer reducer({lhs}, {rhs}, {combine(lhs, rhs)}, {std::move(identity)});
  return Reduce(std::move(reducer), {std::move(source)}, axis);
}

}  // namespace

PrimExpr Tensor::operator()(const Array<PrimExpr>& indices) const {
  DEUTERON_CHECK(indices.size() == get()->shape.size())
      << indices.size() << " indices into tensor " << get()->op->name << " of rank " << get()->shape.size();
  const ComputeOp& op = get()->op;
  if (op->attrs.count("te.scalar") != 0) return op->body[0];
  return tir::ProducerLoad(*this, get()->dtype, indices);
}

Tensor ScalarTensor(PrimExpr value) {
  const DataType dtype = value.dtype();
  return MakeTensor({}, dtype, MakeOp("scalar", {}, {std::move(value)}, {{"te.scalar", true}}), 0);
}

Tensor Placeholder(const Array<PrimExpr>& shape, DataType dtype, const std::string& name) {
  return MakeTensor(AsInt64(shape), dtype, MakeOp(name, {}, {}, {}), 0);
}

Tensor Compute(const Array<PrimExpr>& shape, const std::function<PrimExpr(const Array<Var>&)>& body,
               const std::string& name, Map<String, Any> attrs, const std::vector<std::string>& axis_names) {
  return ComputeMany(
      shape, [&body](const Array<Var>& axes) { return Array<PrimExpr>{body(axes)}; }, name, std::move(attrs),
      axis_names)[0];
}

Array<Tensor> ComputeMany(const Array<PrimExpr>& shape, const std::function<Array<PrimExpr>(const Array<Var>&)>& body,
                          const std::string& name, Map<String, Any> attrs, const std::vector<std::string>& axis_names) {
  const Array<PrimExpr> extents = AsInt64(shape);
  Array<IterVar> axes = SpatialAxes(extents, axis_names);
  Array<Var> vars;
  for (const IterVar& axis : axes) vars.push_back(axis->var);
  Array<PrimExpr> values = body(vars);
  const ComputeOp op = MakeOp(name, std::move(axes), values, std::move(attrs));
  Array<Tensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    tensors.push_back(MakeTensor(extents, values[i].dtype(), op, static_cast<int64_t>(i)));
  }
  return tensors;
}

Array<Tensor> Extern(const std::string& name, const Array<Tensor>& inputs,
                     const std::vector<std::pair<Array<PrimExpr>, DataType>>& outputs, const Array<PrimExpr>& spatial,
                     ExternBody body) {
  auto node = MakeNode<ComputeOpNode>();
  node->name = name;
  node->axis = SpatialAxes(AsInt64(spatial), {});
  node->extern_body = std::move(body);
  for (const Tensor& input : inputs) {
    DEUTERON_CHECK(input->op->attrs.count("te.scalar") == 0) << "a scalar is an input of extern op " << name;
    node->extern_inputs.push_back(input);
  }
  for (const auto& [shape, dtype] : outputs) {
    node->extern_shapes.push_back(AsInt64(shape));
    node->body.push_back(MakeConst(dtype, 0));
  }
  const ComputeOp op(std::move(node));
  Array<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    tensors.push_back(MakeTensor(op->extern_shapes[i], outputs[i].second, op, static_cast<int64_t>(i)));
  }
  return tensors;
}

IterVar ReduceAxis(PrimExpr extent, const std::string& name) {
  return IterVar(Range::FromMinExtent(I64(0), CastTo(DataType::Int(64), std::move(extent))), Var(name),
                 IterVarType::kReduce);
}

PrimExpr Sum(PrimExpr source, const Array<IterVar>& axis) {
  PrimExpr zero = MakeConst(source.dtype(), 0);
  return ReduceBy([](PrimExpr a, PrimExpr b) { return std::move(a) + std::move(b); }, std::move(zero),
                  std::move(source), axis);
}
PrimExpr Prod(PrimExpr source, const Array<IterVar>& axis) {
  PrimExpr one = MakeConst(source.dtype(), 1);
  return ReduceBy([](PrimExpr a, PrimExpr b) { return std::move(a) * std::move(b); }, std::move(one), std::move(source),
                  axis);
}
PrimExpr MaxReduce(PrimExpr source, const Array<IterVar>& axis) {
  PrimExpr least = MinValue(source.dtype());
  return ReduceBy([](PrimExpr a, PrimExpr b) { return Max(std::move(a), std::move(b)); }, std::move(least),
                  std::move(source), axis);
}
PrimExpr MinReduce(PrimExpr source, const Array<IterVar>& axis) {
  PrimExpr greatest = MaxValue(source.dtype());
  return ReduceBy([](PrimExpr a, PrimExpr b) { return Min(std::move(a), std::move(b)); }, std::move(greatest),
                  std::move(source), axis);
}

namespace {

/// Collects the tensors that an expression reads, in order of first occurrence.
class ProducerCollector : public ExprVisitor {
 public:
  std::vector<ComputeOp> ops;

 protected:
  void VisitProducerLoad_(const tir::ProducerLoadNode* op) override {
    ops.push_back(Downcast<Tensor>(op->producer)->op);
    ExprVisitor::VisitProducerLoad_(op);
  }
};

}  // namespace

std::vector<ComputeOp> PostOrder(const Array<Tensor>& outputs) {
  std::vector<ComputeOp> order;
  std::unordered_set<const Object*> done;
  const std::function<void(const ComputeOp&)> visit = [&](const ComputeOp& op) {
    if (!done.insert(op.get()).second) return;
    ProducerCollector collector;
    for (const PrimExpr& value : op->body) collector.VisitExpr(value);
    for (const ComputeOp& producer : collector.ops) visit(producer);
    for (const ObjectRef& input : op->extern_inputs) visit(Downcast<Tensor>(input)->op);
    order.push_back(op);
  };
  for (const Tensor& output : outputs) visit(output->op);
  return order;
}

void ComputeOpNode::RegisterReflection() {
  refl::ObjectDef<ComputeOpNode>()
      .def_ro("name", &ComputeOpNode::name)
      .def_ro("axis", &ComputeOpNode::axis)
      .def_ro("body", &ComputeOpNode::body)
      .def_ro("attrs", &ComputeOpNode::attrs);
}
void TensorNode::RegisterReflection() {
  refl::ObjectDef<TensorNode>()
      .def_ro("shape", &TensorNode::shape)
      .def_ro("dtype", &TensorNode::dtype)
      .def_ro("op", &TensorNode::op)
      .def_ro("value_index", &TensorNode::value_index);
}
DEUTERON_REFLECTION() {
  ComputeOpNode::RegisterReflection();
  TensorNode::RegisterReflection();
}

}  // namespace deuteron::te
