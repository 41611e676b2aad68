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

/// The result of a loop is declared: what a state is after any number of steps does not follow from one.
Type InferLoop(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 4);
  const auto* result = call->ty_args.size() == 1 ? call->ty_args[0].as<TupleTypeNode>() : nullptr;
  if (result == nullptr) ThrowOpError(call, "needs the type of its result (ty_args), a tuple");
  if (!PrimArgType(call, 1).is_integer()) ThrowOpError(call, "the number of steps must be an integer");
  const auto* states = call->args[2].ty().as<TupleTypeNode>();
  if (states == nullptr) ThrowOpError(call, "its states must be a tuple, not " + Describe(call->args[2].ty()));
  if (states->fields.size() > result->fields.size()) {
    ThrowOpError(call, "has " + std::to_string(states->fields.size()) + " states and " +
                           std::to_string(result->fields.size()) + " results");
  }
  const auto* body = call->args[0].ty().as<FuncTypeNode>();
  if (body == nullptr || !body->params.has_value()) return call->ty_args[0];
  const Array<Type>& params = body->params.value();
  if (params.size() != states->fields.size() + 1) {
    ThrowOpError(call, "its body takes " + std::to_string(params.size()) + " values, not the number of the step and " +
                           std::to_string(states->fields.size()) + " states");
  }
  if (params[0]->kind != TypeKind::kShape)
    ThrowOpError(call, "its body must take the number of the step as R.Shape([t])");
  const size_t given = result->fields.size() + (call->args.size() > 3 ? 1 : 0);
  const auto* gives = body->ret.as<TupleTypeNode>();
  if (gives == nullptr || gives->fields.size() != given) {
    ThrowOpError(call,
                 "its body must give a tuple of " + std::to_string(given) + " values, not " + Describe(body->ret));
  }
  for (size_t i = 0; i < states->fields.size(); ++i) {
    if (MayBe(params[i + 1], states->fields[i], &builder.analyzer())) continue;
    ThrowOpError(call, "state " + std::to_string(i) + " is " + Describe(states->fields[i]) + ", and its body takes " +
                           Describe(params[i + 1]));
  }
  return call->ty_args[0];
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

}  // namespace

Call Loop(const Expr& body, const PrimExpr& trips, const Array<Expr>& states, const Expr& condition, TupleType result) {
  Array<Expr> args = {body, PrimValue(trips), Tuple(states)};
  if (condition.defined()) args.push_back(condition);
  return MakeCall("loop", std::move(args), Attrs(), {std::move(result)});
}

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
      {"loop", {"body", "trips", "states", "condition?"}, nullptr, InferLoop, nullptr},
      {"null_value", {}, nullptr, InferAny, nullptr},
      {"print", {"*"}, nullptr, InferNothing, LegalizePrint, /*pure=*/false},
      {"assert_op", {"condition", "*"}, nullptr, InferAssert, LegalizeAssert, /*pure=*/false},
  };
}

}  // namespace deuteron::relax
