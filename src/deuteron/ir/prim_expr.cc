#include "deuteron/ir/prim_expr.h"

#include <bit>
#include <cmath>
#include <limits>

#include "deuteron/ir/scalar_format.h"
#include "deuteron/support/element.h"

namespace deuteron {

double RoundToFormat(DataType dtype, double value) {
  if (dtype.code() == kDLFloat && dtype.bits() == 32) return static_cast<float>(value);
  const FloatFormat* format = FindFloatFormat(dtype);
  return format == nullptr ? value : format->Round(value);
}

int64_t WrapToWidth(DataType dtype, int64_t value) {
  if (dtype.is_bool()) return value != 0;
  if (!dtype.is_integer() || dtype.bits() >= 64) return value;
  const int shift = 64 - dtype.bits();
  const uint64_t high = static_cast<uint64_t>(value) << shift;
  return dtype.is_int() ? static_cast<int64_t>(high) >> shift : static_cast<int64_t>(high >> shift);
}

namespace tir {

Var::Var(String name_hint, DataType dtype) {
  auto node = MakeNode<VarNode>();
  node->dtype = dtype;
  node->name_hint = std::move(name_hint);
  data_ = std::move(node);
}

IntImm::IntImm(DataType dtype, int64_t value) {
  auto node = MakeNode<IntImmNode>();
  node->dtype = dtype;
  node->value = WrapToWidth(dtype, value);
  data_ = std::move(node);
}

FloatImm::FloatImm(DataType dtype, double value) {
  auto node = MakeNode<FloatImmNode>();
  node->dtype = dtype;
  node->value = RoundToFormat(dtype, value);
  data_ = std::move(node);
}

StringImm::StringImm(String value) {
  auto node = MakeNode<StringImmNode>();
  node->dtype = DataType::Handle();
  node->value = std::move(value);
  data_ = std::move(node);
}

Cast::Cast(DataType dtype, PrimExpr value) {
  DEUTERON_CHECK(dtype.lanes() == value.dtype().lanes()) << "cast from " << value.dtype() << " to " << dtype;
  auto node = MakeNode<CastNode>();
  node->dtype = dtype;
  node->value = std::move(value);
  data_ = std::move(node);
}

namespace {

template <typename Node>
ObjectPtr<Node> MakeBinaryNode(DataType dtype, PrimExpr a, PrimExpr b) {
  DEUTERON_CHECK(a.defined() && b.defined()) << "operand of " << Node::_type_key << " is null";
  DEUTERON_CHECK(a.dtype() == b.dtype()) << "operands of " << Node::_type_key << " have types " << a.dtype() << " and "
                                         << b.dtype();
  auto node = MakeNode<Node>();
  node->dtype = dtype;
  node->a = std::move(a);
  node->b = std::move(b);
  return node;
}

}  // namespace

#define DEUTERON_ARITHMETIC(Name)                                          \
  Name::Name(PrimExpr a, PrimExpr b) {                                     \
    const DataType dtype = a.dtype();                                      \
    data_ = MakeBinaryNode<Name##Node>(dtype, std::move(a), std::move(b)); \
  }
#define DEUTERON_PREDICATE(Name)                                           \
  Name::Name(PrimExpr a, PrimExpr b) {                                     \
    const DataType dtype = DataType::Bool(a.dtype().lanes());              \
    data_ = MakeBinaryNode<Name##Node>(dtype, std::move(a), std::move(b)); \
  }
DEUTERON_ARITHMETIC(Add)
DEUTERON_ARITHMETIC(Sub)
DEUTERON_ARITHMETIC(Mul)
DEUTERON_ARITHMETIC(Div)
DEUTERON_ARITHMETIC(Mod)
DEUTERON_ARITHMETIC(FloorDiv)
DEUTERON_ARITHMETIC(FloorMod)
DEUTERON_ARITHMETIC(Min)
DEUTERON_ARITHMETIC(Max)
DEUTERON_PREDICATE(EQ)
DEUTERON_PREDICATE(NE)
DEUTERON_PREDICATE(LT)
DEUTERON_PREDICATE(LE)
DEUTERON_PREDICATE(GT)
DEUTERON_PREDICATE(GE)
DEUTERON_PREDICATE(And)
DEUTERON_PREDICATE(Or)
#undef DEUTERON_ARITHMETIC
#undef DEUTERON_PREDICATE

Not::Not(PrimExpr a) {
  DEUTERON_CHECK(a.dtype().is_bool()) << "not of " << a.dtype();
  auto node = MakeNode<NotNode>();
  node->dtype = a.dtype();
  node->a = std::move(a);
  data_ = std::move(node);
}

Select::Select(PrimExpr condition, PrimExpr true_value, PrimExpr false_value) {
  DEUTERON_CHECK(condition.dtype().is_bool()) << "condition of select has type " << condition.dtype();
  DEUTERON_CHECK(true_value.dtype() == false_value.dtype())
      << "values of select have types " << true_value.dtype() << " and " << false_value.dtype();
  auto node = MakeNode<SelectNode>();
  node->dtype = true_value.dtype();
  node->condition = std::move(condition);
  node->true_value = std::move(true_value);
  node->false_value = std::move(false_value);
  data_ = std::move(node);
}

Let::Let(Var var, PrimExpr value, PrimExpr body) {
  DEUTERON_CHECK(var.dtype() == value.dtype())
      << "let binds a " << var.dtype() << " variable to a " << value.dtype() << " value";
  auto node = MakeNode<LetNode>();
  node->dtype = body.dtype();
  node->var = std::move(var);
  node->value = std::move(value);
  node->body = std::move(body);
  data_ = std::move(node);
}

Ramp::Ramp(PrimExpr base, PrimExpr stride, int64_t lanes) {
  DEUTERON_CHECK(base.dtype().is_scalar() && base.dtype() == stride.dtype() && lanes > 1)
      << "ramp of base " << base.dtype() << ", stride " << stride.dtype() << ", " << lanes << " lanes";
  auto node = MakeNode<RampNode>();
  node->dtype = base.dtype().with_lanes(static_cast<int>(lanes));
  node->base = std::move(base);
  node->stride = std::move(stride);
  node->lanes = lanes;
  data_ = std::move(node);
}

Broadcast::Broadcast(PrimExpr value, int64_t lanes) {
  DEUTERON_CHECK(value.dtype().is_scalar() && lanes > 1) << "broadcast of " << value.dtype();
  auto node = MakeNode<BroadcastNode>();
  node->dtype = value.dtype().with_lanes(static_cast<int>(lanes));
  node->value = std::move(value);
  node->lanes = lanes;
  data_ = std::move(node);
}

Shuffle::Shuffle(Array<PrimExpr> vectors, Array<PrimExpr> indices) {
  DEUTERON_CHECK(!vectors.empty() && !indices.empty()) << "shuffle of nothing";
  auto node = MakeNode<ShuffleNode>();
  node->dtype = vectors[0].dtype().with_lanes(static_cast<int>(indices.size()));
  node->vectors = std::move(vectors);
  node->indices = std::move(indices);
  data_ = std::move(node);
}

Call::Call(DataType dtype, Op op, Array<PrimExpr> args) {
  DEUTERON_CHECK(op.defined()) << "call of a null operator";
  auto node = MakeNode<CallNode>();
  node->dtype = dtype;
  node->op = std::move(op);
  node->args = std::move(args);
  data_ = std::move(node);
}

Range Range::FromMinExtent(PrimExpr min, PrimExpr extent) {
  auto node = MakeNode<RangeNode>();
  node->min = std::move(min);
  node->extent = std::move(extent);
  return Range(std::move(node));
}

IterVar::IterVar(Range dom, Var var, IterVarType type) {
  auto node = MakeNode<IterVarNode>();
  node->dom = std::move(dom);
  node->var = std::move(var);
  node->type = type;
  data_ = std::move(node);
}

Buffer::Buffer(String name, DataType dtype, Array<PrimExpr> shape, String scope, Array<PrimExpr> strides,
               PrimExpr elem_offset, int64_t offset_factor) {
  auto node = MakeNode<BufferNode>();
  node->data = Var(name, DataType::Handle());
  node->dtype = dtype;
  node->shape = std::move(shape);
  node->strides = std::move(strides);
  node->elem_offset = std::move(elem_offset);
  node->offset_factor = offset_factor;
  node->name = std::move(name);
  node->scope = std::move(scope);
  data_ = std::move(node);
}

BufferLoad::BufferLoad(Buffer buffer, Array<PrimExpr> indices) {
  DEUTERON_CHECK(indices.size() == buffer->shape.size())
      << "buffer " << buffer->name << " of rank " << buffer->shape.size() << " read with " << indices.size()
      << " indices";
  auto node = MakeNode<BufferLoadNode>();
  const int lanes = indices.empty() ? 1 : indices.back().dtype().lanes();
  node->dtype = buffer->dtype.with_lanes(buffer->dtype.lanes() * lanes);
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  data_ = std::move(node);
}

ProducerLoad::ProducerLoad(ObjectRef producer, DataType dtype, Array<PrimExpr> indices) {
  auto node = MakeNode<ProducerLoadNode>();
  node->dtype = dtype;
  node->producer = std::move(producer);
  node->indices = std::move(indices);
  data_ = std::move(node);
}

CommReducer::CommReducer(Array<Var> lhs, Array<Var> rhs, Array<PrimExpr> result, Array<PrimExpr> identity) {
  DEUTERON_CHECK(lhs.size() == rhs.size() && lhs.size() == result.size() && lhs.size() == identity.size())
      << "parts of a reducer differ in number";
  auto node = MakeNode<CommReducerNode>();
  node->lhs = std::move(lhs);
  node->rhs = std::move(rhs);
  node->result = std::move(result);
  node->identity = std::move(identity);
  data_ = std::move(node);
}

Reduce::Reduce(CommReducer combiner, Array<PrimExpr> source, Array<IterVar> axis, int64_t value_index) {
  auto node = MakeNode<ReduceNode>();
  node->dtype = source[value_index].dtype();
  node->combiner = std::move(combiner);
  node->source = std::move(source);
  node->axis = std::move(axis);
  node->value_index = value_index;
  data_ = std::move(node);
}

}  // namespace tir
}  // namespace deuteron
