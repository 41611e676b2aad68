#include "deuteron/relax/op/op_shape.h"

#include <algorithm>
#include <numeric>

namespace deuteron::relax {

std::vector<const TensorTypeNode*> TensorTupleArg(const Call& call, size_t index) {
  std::vector<const TensorTypeNode*> types;
  const auto* tuple = call->args[index].ty().as<TupleTypeNode>();
  if (tuple == nullptr) {
    ThrowOpError(call, "argument " + std::to_string(index) + " must be a tuple of tensors and is " +
                           Describe(call->args[index].ty()));
  }
  for (const Type& field : tuple->fields) {
    types.push_back(field.as<TensorTypeNode>());
    if (types.back() == nullptr) ThrowOpError(call, "a field of its tuple is no tensor but " + Describe(field));
  }
  if (types.empty()) ThrowOpError(call, "needs at least one tensor, and its tuple is empty");
  return types;
}

Array<Expr> TupleFields(BlockBuilder& builder, const Expr& tuple) {
  if (const auto* literal = tuple.as<TupleNode>()) return literal->fields;
  Array<Expr> fields;
  const size_t count = Downcast<TupleType>(tuple.ty())->fields.size();
  for (size_t i = 0; i < count; ++i) {
    fields.push_back(builder.Emit(TupleGetItem(tuple, static_cast<int64_t>(i))));
  }
  return fields;
}

Array<PrimExpr> PrimTupleArg(const Call& call, size_t index) {
  const auto* tuple = index < call->args.size() ? call->args[index].as<TupleNode>() : nullptr;
  if (tuple == nullptr) {
    ThrowOpError(call, "argument " + std::to_string(index) + " must be a tuple of scalars written out");
  }
  return tuple->fields.Map([&](const Expr& field) -> PrimExpr {
    const auto* value = field.as<PrimValueNode>();
    if (value == nullptr) {
      ThrowOpError(call, "argument " + std::to_string(index) + " must be a tuple of scalars and has a field of type " +
                             Describe(field.ty()));
    }
    return CastTo(DataType::Int(64), value->value);
  });
}

size_t AxisArg(const Call& call, int64_t axis, int64_t ndim) {
  return static_cast<size_t>(NormalizeAxis(call, axis, ndim));
}

std::vector<size_t> AxesArg(const Call& call, const Array<int64_t>& axes, int64_t ndim) {
  const std::vector<int64_t> normal = NormalizeAxes(call, ToVector(axes), ndim);
  return {normal.begin(), normal.end()};
}

std::vector<size_t> AllAxes(int64_t ndim) {
  std::vector<size_t> axes(static_cast<size_t>(ndim));
  std::iota(axes.begin(), axes.end(), size_t{0});
  return axes;
}

Array<PrimExpr> ResultShape(const Call& call) {
  const auto* type = call.ty().as<TensorTypeNode>();
  DEUTERON_CHECK(type != nullptr && type->shape.has_value()) << OpName(call) << " has no known result shape";
  return *type->shape;
}

}  // namespace deuteron::relax
