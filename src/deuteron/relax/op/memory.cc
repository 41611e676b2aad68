#include "deuteron/relax/op/memory.h"

#include <array>

#include "deuteron/relax/op/op_common.h"

namespace deuteron::relax {
namespace {

/// The type that the arguments `shape` and `dtype` at `first` say.
Type InferAllocated(const Call& call, size_t first) {
  const auto* shape = call->args[first].as<ShapeExprNode>();
  const auto* dtype = call->args[first + 1].as<DataTypeImmNode>();
  if (dtype == nullptr) ThrowOpError(call, "the dtype must be a literal");
  if (shape != nullptr) return TensorType(shape->values, dtype->value);
  const auto* type = call->args[first].ty().as<ShapeTypeNode>();
  if (type == nullptr) ThrowOpError(call, "the shape must be a shape, not " + Describe(call->args[first].ty()));
  if (type->values.has_value()) return TensorType(type->values.value(), dtype->value);
  return TensorType::WithNDim(type->ndim, dtype->value);
}

Type InferBuiltinAlloc(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 4);
  return InferAllocated(call, 0);
}

Type InferMemoryAlloc(const Call& call, const BlockBuilder&) {
  CheckArity(call, 4, 5);
  return InferAllocated(call, 2);
}

Type InferStorage(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 4);
  return AnyType::Get();
}

Type InferNothing(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 2);
  return TupleType(Array<Type>());
}

Expr Device() { return PrimValue::Int64(0); }

}  // namespace

std::vector<OpInfo> BuiltinOps() {
  return {{"builtin.alloc_tensor", {"shape", "dtype", "runtime_device_index?", "storage_scope?"}, nullptr,
           InferBuiltinAlloc, nullptr}};
}

std::vector<OpInfo> MemoryOps() {
  return {
      {"memory.alloc_storage", {"size", "virtual_device_index?", "storage_scope?", "dtype?"}, nullptr, InferStorage,
       nullptr},
      {"memory.alloc_tensor", {"storage", "offset", "shape", "dtype", "runtime_device_index?"}, nullptr,
       InferMemoryAlloc, nullptr},
      {"memory.kill_storage", {"storage"}, nullptr, InferNothing, nullptr, /*pure=*/false},
      {"memory.kill_tensor", {"tensor"}, nullptr, InferNothing, nullptr, /*pure=*/false},
      {"memory.ensure_zero_offset", {"x"}, nullptr, InferSameType, nullptr},
  };
}

std::vector<OpInfo> VMOps() {
  return {
      {"vm.alloc_storage", {"size", "runtime_device_index?", "dtype?", "storage_scope?"}, nullptr, InferStorage,
       nullptr},
      {"vm.alloc_tensor", {"storage", "offset", "shape", "dtype", "runtime_device_index?"}, nullptr, InferMemoryAlloc,
       nullptr},
      {"vm.kill_object", {"object"}, nullptr, InferNothing, nullptr, /*pure=*/false},
      {"vm.call_tir_dyn", {"func", "args"}, nullptr, InferNothing, nullptr, /*pure=*/false},
  };
}

Call BuiltinAllocTensor(const TensorType& type) {
  return MakeCall("builtin.alloc_tensor",
                  {ShapeExpr(type->shape.value()), DataTypeImm(type->dtype), Device(), StringImm("global")}, Attrs(),
                  {type});
}

Call AllocStorage(const PrimExpr& bytes, DataType dtype) {
  return MakeCall("memory.alloc_storage", {ShapeExpr({bytes}), Device(), StringImm("global"), DataTypeImm(dtype)});
}

Call MemoryAllocTensor(const Expr& storage, const PrimExpr& offset, const TensorType& type) {
  return MakeCall("memory.alloc_tensor",
                  {storage, PrimValue(offset), ShapeExpr(type->shape.value()), DataTypeImm(type->dtype), Device()});
}

Call KillTensor(const Expr& tensor) { return MakeCall("memory.kill_tensor", {tensor}); }
Call KillStorage(const Expr& storage) { return MakeCall("memory.kill_storage", {storage}); }
Call KillObject(const Expr& object) { return MakeCall("vm.kill_object", {object}); }

MemoryCall MemoryCallOf(const Expr& expr) {
  struct Known {
    Op op;
    MemoryCall kind;
  };
  static const auto* known = new std::array<Known, 8>{{
      {Op::Get("relax.builtin.alloc_tensor"), MemoryCall::kBuiltinAlloc},
      {Op::Get("relax.memory.alloc_storage"), MemoryCall::kAllocStorage},
      {Op::Get("relax.vm.alloc_storage"), MemoryCall::kAllocStorage},
      {Op::Get("relax.memory.alloc_tensor"), MemoryCall::kAllocTensor},
      {Op::Get("relax.vm.alloc_tensor"), MemoryCall::kAllocTensor},
      {Op::Get("relax.memory.kill_tensor"), MemoryCall::kKill},
      {Op::Get("relax.memory.kill_storage"), MemoryCall::kKill},
      {Op::Get("relax.vm.kill_object"), MemoryCall::kKill},
  }};
  const auto* call = expr.as<CallNode>();
  if (call == nullptr) return MemoryCall::kNone;
  for (const Known& each : *known) {
    if (call->op.same_as(each.op)) return each.kind;
  }
  return MemoryCall::kNone;
}

TensorType AllocatedType(const Call& call) {
  const size_t first = MemoryCallOf(call) == MemoryCall::kBuiltinAlloc ? 0 : 2;
  return Downcast<TensorType>(InferAllocated(call, first));
}

}  // namespace deuteron::relax
