#include "deuteron/relax/op/call.h"

#include "deuteron/relax/op/op_common.h"

namespace deuteron::relax {
namespace {

/// The declared result of call_tir and its like, whose arguments must be a function and a tuple.
Type InferDestinationPassing(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 3);
  if (call->args[1].as<TupleNode>() == nullptr) ThrowOpError(call, "its arguments must be a literal tuple");
  if (call->ty_args.size() != 1) ThrowOpError(call, "needs the type of its result (out_ty)");
  if (call->args.size() == 3 && call->args[2].as<ShapeExprNode>() == nullptr) {
    ThrowOpError(call, "tir_vars must be a literal shape");
  }
  for (const TensorType& output : OutputTensors(call->ty_args[0])) {
    if (!output->has_shape() || output->dtype.is_void()) {
      ThrowOpError(call, "the shape and the dtype of its results must be known, not " + Describe(output));
    }
  }
  return call->ty_args[0];
}

Type InferCallTIR(const Call& call, const BlockBuilder& builder) {
  if (call->args.empty() || call->args[0].as<GlobalVarNode>() == nullptr) {
    ThrowOpError(call, "its first argument must be a function of the module");
  }
  return InferDestinationPassing(call, builder);
}

Type InferCallTIRInplace(const Call& call, const BlockBuilder& builder) {
  const Type type = InferCallTIR(call, builder);
  const auto& indices = AttrsOf<CallTIRInplaceAttrsNode>(call)->inplace_indices;
  const auto outputs = OutputTensors(type);
  const auto& args = call->args[1].as<TupleNode>()->fields;
  if (indices.size() != outputs.size()) {
    ThrowOpError(call, "has " + std::to_string(indices.size()) + " inplace_indices for " +
                           std::to_string(outputs.size()) + " results");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (indices[i] == -1) continue;
    if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(args.size())) {
      ThrowOpError(call,
                   "inplace index " + std::to_string(indices[i]) + " of " + std::to_string(args.size()) + " arguments");
    }
    if (!MayBe(outputs[i], args[indices[i]].ty(), &builder.analyzer())) {
      ThrowOpError(call, "result " + std::to_string(i) + " is " + Describe(outputs[i]) +
                             " and cannot take the memory of an argument that is " + Describe(args[indices[i]].ty()));
    }
  }
  return type;
}

Type InferFromTypeArgs(const Call& call, const BlockBuilder&) {
  if (call->args.empty()) ThrowOpError(call, "needs the function to call");
  if (call->ty_args.empty()) return AnyType::Get();
  return call->ty_args.size() == 1 ? call->ty_args[0] : Type(TupleType(call->ty_args));
}

Type InferAny(const Call&, const BlockBuilder&) { return AnyType::Get(); }
Type InferNothing(const Call&, const BlockBuilder&) { return TupleType(Array<Type>()); }

Type InferAssert(const Call& call, const BlockBuilder&) {
  if (call->args.empty()) ThrowOpError(call, "needs a condition");
  const auto* tensor = call->args[0].ty().as<TensorTypeNode>();
  const auto* prim = call->args[0].ty().as<PrimTypeNode>();
  if ((tensor == nullptr || !tensor->dtype.is_bool()) && (prim == nullptr || !prim->dtype.is_bool())) {
    ThrowOpError(call, "the condition must be a boolean and is " + Describe(call->args[0].ty()));
  }
  return TupleType(Array<Type>());
}

/// What has an effect in the runtime is a function of it.
Expr LegalizePrint(BlockBuilder&, const Call& call) {
  return CallPacked(ExternFunc("deuteron.vm.print"), call->args, {call.ty()});
}
Expr LegalizeAssert(BlockBuilder&, const Call& call) {
  return CallPacked(ExternFunc("deuteron.vm.assert"), call->args, {call.ty()});
}

bool IsCallOf(const Expr& expr, const Op& op) {
  const auto* call = expr.as<CallNode>();
  return call != nullptr && call->op.same_as(op);
}

Array<Expr> DestinationPassingArgs(Expr func, Tuple args, Expr tir_vars) {
  if (!tir_vars.defined()) return {std::move(func), std::move(args)};
  return {std::move(func), std::move(args), std::move(tir_vars)};
}

const Op& CallTIROp() {
  static const Op op = Op::Get("relax.call_tir");
  return op;
}
const Op& CallTIRInplaceOp() {
  static const Op op = Op::Get("relax.call_tir_inplace");
  return op;
}
const Op& CallDPSPackedOp() {
  static const Op op = Op::Get("relax.call_dps_packed");
  return op;
}

}  // namespace

std::vector<OpInfo> CallOps() {
  const std::vector<const char*> dps = {"func", "args", "tir_vars?"};
  return {
      {"call_tir", dps, nullptr, InferCallTIR, nullptr},
      {"call_tir_inplace", dps, "deuteron.relax.CallTIRInplaceAttrs", InferCallTIRInplace, nullptr},
      {"call_dps_packed", {"func", "args"}, nullptr, InferDestinationPassing, nullptr},
      {"call_pure_packed", {"func", "*"}, nullptr, InferFromTypeArgs, nullptr},
      {"call_inplace_packed", {"func", "*"}, "deuteron.relax.CallInplacePackedAttrs", InferFromTypeArgs, nullptr},
      {"call_builtin_with_ctx", {"func", "args"}, nullptr, InferFromTypeArgs, nullptr},
      {"make_closure", {"func", "args"}, nullptr, InferAny, nullptr},
      {"invoke_closure", {"closure", "args"}, nullptr, InferFromTypeArgs, nullptr, /*pure=*/false},
      {"invoke_pure_closure", {"closure", "args"}, nullptr, InferFromTypeArgs, nullptr},
      {"null_value", {}, nullptr, InferAny, nullptr},
      {"print", {"*"}, nullptr, InferNothing, LegalizePrint, /*pure=*/false},
      {"assert_op", {"condition", "*"}, nullptr, InferAssert, LegalizeAssert, /*pure=*/false},
  };
}

Call CallTIR(const GlobalVar& func, Tuple args, Type out_ty, Expr tir_vars) {
  return Call(CallTIROp(), DestinationPassingArgs(func, std::move(args), std::move(tir_vars)), Attrs(),
              {std::move(out_ty)});
}

Call CallTIRInplace(const GlobalVar& func, Tuple args, Array<int64_t> inplace_indices, Type out_ty, Expr tir_vars) {
  auto attrs = make_object<CallTIRInplaceAttrsNode>();
  attrs->inplace_indices = std::move(inplace_indices);
  return Call(CallTIRInplaceOp(), DestinationPassingArgs(func, std::move(args), std::move(tir_vars)),
              CallTIRInplaceAttrs(std::move(attrs)), {std::move(out_ty)});
}

Call CallDPSPacked(Expr func, Tuple args, Type out_ty) {
  return Call(CallDPSPackedOp(), {std::move(func), std::move(args)}, Attrs(), {std::move(out_ty)});
}

Call CallPurePacked(Expr func, Array<Expr> args, Array<Type> ty_args) {
  Array<Expr> all = {std::move(func)};
  for (const Expr& arg : args) all.push_back(arg);
  return MakeCall("call_pure_packed", std::move(all), Attrs(), std::move(ty_args));
}

Call CallPacked(Expr func, Array<Expr> args, Array<Type> ty_args) {
  return Call(std::move(func), std::move(args), Attrs(), std::move(ty_args));
}

Call NullValue() { return MakeCall("null_value", {}); }

bool IsCallTIR(const Expr& expr) { return IsCallOf(expr, CallTIROp()); }
bool IsCallTIRInplace(const Expr& expr) { return IsCallOf(expr, CallTIRInplaceOp()); }
bool IsCallDPSPacked(const Expr& expr) { return IsCallOf(expr, CallDPSPackedOp()); }
bool IsAnyCallTIR(const Expr& expr) { return IsCallTIR(expr) || IsCallTIRInplace(expr); }

CallTIRView ViewCallTIR(const Call& call) {
  CallTIRView view;
  view.func = As<GlobalVar>(call->args[0]);
  view.args = Downcast<Tuple>(call->args[1]);
  view.out_ty = call->ty_args[0];
  if (call->args.size() > 2) view.tir_vars = Downcast<ShapeExpr>(call->args[2]);
  return view;
}

std::vector<TensorType> OutputTensors(const Type& out_ty) {
  if (const auto* tensor = out_ty.as<TensorTypeNode>()) return {GetRef<TensorType>(tensor)};
  const auto* tuple = out_ty.as<TupleTypeNode>();
  if (tuple == nullptr) {
    DEUTERON_THROW(ModelError) << "the result of a call_tir must be tensors, not " << Describe(out_ty);
  }
  std::vector<TensorType> outputs;
  for (const Type& field : tuple->fields) {
    const auto* tensor = field.as<TensorTypeNode>();
    if (tensor == nullptr) {
      DEUTERON_THROW(ModelError) << "the results of a call_tir must be tensors, not " << Describe(field);
    }
    outputs.push_back(GetRef<TensorType>(tensor));
  }
  return outputs;
}

void CallTIRInplaceAttrsNode::RegisterReflection() {
  refl::ObjectDef<CallTIRInplaceAttrsNode>().def_ro("inplace_indices", &CallTIRInplaceAttrsNode::inplace_indices);
}
void CallInplacePackedAttrsNode::RegisterReflection() {
  refl::ObjectDef<CallInplacePackedAttrsNode>().def_ro("inplace_indices", &CallInplacePackedAttrsNode::inplace_indices);
}
TVM_FFI_STATIC_INIT_BLOCK() {
  CallTIRInplaceAttrsNode::RegisterReflection();
  CallInplacePackedAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
