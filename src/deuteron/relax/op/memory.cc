#include "deuteron/relax/op/memory.h"

#include <array>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/op_shape.h"

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

Type InferKill(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 2);
  return TupleType(Array<Type>());
}

Type InferArgument(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  return call->args[0].ty();
}

/// What only says something to passes is its argument.
Expr LegalizeToArgument(BlockBuilder&, const Call& call) { return call->args[0]; }

constexpr const char* kView = "deuteron.vm.view";

/// Where it is not the whole tensor, the runtime makes the view.
Expr LegalizeView(BlockBuilder&, const Call& call) {
  return CallPurePacked(ExternFunc(kView), call->args, {call.ty()});
}

/// An argument that says nothing: an empty tuple, or a null value.
bool IsAbsent(const Expr& arg) {
  const auto* tuple = arg.ty().as<TupleTypeNode>();
  return tuple != nullptr ? tuple->fields.empty() : arg.ty()->kind == TypeKind::kAny;
}

Type InferView(const Call& call, const BlockBuilder&) {
  CheckArity(call, 4, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  DataType dtype = data->dtype;
  if (const auto* given = call->args[2].as<DataTypeImmNode>()) {
    dtype = given->value;
  } else if (!IsAbsent(call->args[2])) {
    ThrowOpError(call, "its dtype must be a literal and is " + Describe(call->args[2].ty()));
  }
  if (!IsAbsent(call->args[3])) {
    const auto* offset = call->args[3].ty().as<PrimTypeNode>();
    if (offset == nullptr || !offset->dtype.is_integer()) {
      ThrowOpError(call, "its offset must be a number of bytes and is " + Describe(call->args[3].ty()));
    }
  }
  if (IsAbsent(call->args[1])) return MakeTensorType(ShapeOf(data), data->ndim, dtype, data->vdevice);
  const auto* shape = call->args[1].ty().as<ShapeTypeNode>();
  if (shape == nullptr) ThrowOpError(call, "its shape must be a shape and is " + Describe(call->args[1].ty()));
  if (!shape->values.has_value()) return TensorType::WithNDim(shape->ndim, dtype, data->vdevice);
  return TensorType(shape->values.value(), dtype, data->vdevice);
}

Expr Device() { return PrimValue::Int64(0); }

PrimExpr NumElements(const TensorTypeNode* type) {
  PrimExpr count = MakeConst(DataType::Int(64), 1);
  for (const PrimExpr& dim : *type->shape) count = count * dim;
  return count;
}

/// Whether both have the same bytes whatever their symbolic dimensions: as many elements of one size, or all but the
/// last dimensions are the same.
bool HaveSameBytes(const TensorTypeNode* a, const TensorTypeNode* b) {
  if (!a->has_shape() || !b->has_shape()) return false;
  if (a->dtype == b->dtype && a->dtype.bits() % 8 == 0) {
    return arith::Analyzer().CanProveEqual(NumElements(a), NumElements(b));
  }
  if (a->ndim != b->ndim || a->ndim < 1) return false;
  for (int64_t i = 0; i + 1 < a->ndim; ++i) {
    if (!ExprEqual((*a->shape)[i], (*b->shape)[i])) return false;
  }
  const auto last = AsConstInt((*a->shape)[a->ndim - 1]), other = AsConstInt((*b->shape)[b->ndim - 1]);
  // As many bits: elements may be smaller than a byte.
  return last && other && *last * a->dtype.bits() == *other * b->dtype.bits() && a->dtype.bits() % 8 == 0 &&
         b->dtype.bits() % 8 == 0;
}

}  // namespace

std::vector<OpInfo> BuiltinOps() {
  return {{"builtin.alloc_tensor",
           {"shape", "dtype", "runtime_device_index?", "storage_scope?"},
           nullptr,
           InferBuiltinAlloc,
           nullptr},
          {"builtin.stop_lift_params", {"x"}, nullptr, InferArgument, LegalizeToArgument},
          {"hint_on_device", {"data"}, "deuteron.relax.HintOnDeviceAttrs", InferArgument, LegalizeToArgument}};
}

std::vector<OpInfo> MemoryOps() {
  return {
      {"memory.alloc_storage",
       {"size", "virtual_device_index?", "storage_scope?", "dtype?"},
       nullptr,
       InferStorage,
       nullptr},
      {"memory.alloc_tensor",
       {"storage", "offset", "shape", "dtype", "runtime_device_index?"},
       nullptr,
       InferMemoryAlloc,
       nullptr},
      {"memory.kill_storage", {"storage"}, nullptr, InferKill, nullptr, /*pure=*/false},
      {"memory.kill_tensor", {"tensor"}, nullptr, InferKill, nullptr, /*pure=*/false},
      {"memory.view", {"x", "shape", "dtype", "relative_byte_offset"}, nullptr, InferView, LegalizeView},
      {"memory.ensure_zero_offset", {"x"}, nullptr, InferSameType, LegalizeToArgument},
  };
}

std::vector<OpInfo> VMOps() {
  return {
      {"vm.alloc_storage",
       {"size", "runtime_device_index?", "dtype?", "storage_scope?"},
       nullptr,
       InferStorage,
       nullptr},
      {"vm.alloc_tensor",
       {"storage", "offset", "shape", "dtype", "runtime_device_index?"},
       nullptr,
       InferMemoryAlloc,
       nullptr},
      {"vm.kill_object", {"object"}, nullptr, InferKill, nullptr, /*pure=*/false},
      {"vm.call_tir_dyn", {"func", "args"}, nullptr, InferKill, nullptr, /*pure=*/false},
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

Call MemoryView(const Expr& x, Array<PrimExpr> shape, DataType dtype) {
  return MakeCall("memory.view", {x, ShapeExpr(std::move(shape)), DataTypeImm(dtype), Tuple(Array<Expr>())});
}

Call WholeView(const Expr& x, const TensorType& type) {
  return CallPurePacked(ExternFunc(kView), MemoryView(x, type->shape.value(), type->dtype)->args, {type});
}

Expr ViewedTensor(const Call& call) {
  static const Op packed = Op::Get("relax.call_pure_packed");
  const bool is_pure = call->op.same_as(packed);
  const auto* external = (is_pure ? call->args[0] : call->op).as<ExternFuncNode>();
  const int64_t first = is_pure ? 1 : 0;
  if (external == nullptr || external->global_symbol != kView || call->args.size() != static_cast<size_t>(first) + 4)
    return Expr();
  const Expr& x = call->args[first];
  const auto* from = x.ty().as<TensorTypeNode>();
  const auto* to = call.ty().as<TensorTypeNode>();
  const bool is_whole = IsAbsent(call->args[first + 3]) && from != nullptr && to != nullptr && HaveSameBytes(from, to);
  return is_whole ? x : Expr();
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

void HintOnDeviceAttrsNode::RegisterReflection() {
  refl::ObjectDef<HintOnDeviceAttrsNode>()
      .def_ro("device_type", &HintOnDeviceAttrsNode::device_type)
      .def_ro("device_index", &HintOnDeviceAttrsNode::device_index)
      .def_ro("memory_scope", &HintOnDeviceAttrsNode::memory_scope);
}
DEUTERON_REFLECTION() { HintOnDeviceAttrsNode::RegisterReflection(); }

}  // namespace deuteron::relax
