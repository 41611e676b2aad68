#include "deuteron/relax/call_tir.h"

#include <utility>

#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

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

bool IsCallOf(const Expr& expr, const Op& op) {
  const auto* call = expr.as<CallNode>();
  return call != nullptr && call->op.same_as(op);
}

Call CallTIR(const GlobalVar& func, Tuple args, Type out_ty, Expr tir_vars) {
  return Call(CallTIROp(), DestinationPassingArgs(func, std::move(args), std::move(tir_vars)), Attrs(),
              {std::move(out_ty)});
}

Call CallTIRInplace(const GlobalVar& func, Tuple args, Array<int64_t> inplace_indices, Type out_ty, Expr tir_vars) {
  auto attrs = MakeNode<CallTIRInplaceAttrsNode>();
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
DEUTERON_REFLECTION() {
  CallTIRInplaceAttrsNode::RegisterReflection();
  CallInplacePackedAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
