#include "deuteron/relax/analysis/purity.h"

#include "deuteron/relax/op_info.h"

namespace deuteron::relax {
namespace {

bool CallHasSideEffect(const CallNode* call, const IRModule& module) {
  if (const auto* op = call->op.as<OpNode>()) {
    const OpInfo* info = FindOpInfo(GetRef<Op>(op));
    return info == nullptr || !info->pure;
  }
  if (const auto* callee = call->op.as<GlobalVarNode>()) {
    const GlobalVar var = module.FindGlobalVar(std::string(callee->name_hint));
    if (!var.defined()) return true;
    const auto func = module->functions.at(var);
    if (const auto* function = func.as<FunctionNode>()) return !function->is_pure;
    const auto* kernel = func->ty.as<FuncTypeNode>();
    return kernel == nullptr || !kernel->purity;
  }
  const auto* type = call->op.ty().as<FuncTypeNode>();
  return type == nullptr || !type->purity;
}

bool SeqHasSideEffect(const SeqExpr& seq, const IRModule& module) {
  for (const BindingBlock& block : seq->blocks) {
    if (block->IsInstance<DataflowBlockNode>()) continue;
    for (const Binding& binding : block->bindings) {
      if (binding->IsInstance<MatchCastNode>()) return true;
      if (HasSideEffect(static_cast<const VarBindingNode*>(binding.get())->value, module)) return true;
    }
  }
  return false;
}

}  // namespace

bool HasSideEffect(const Expr& value, const IRModule& module) {
  if (const auto* call = value.as<CallNode>()) return CallHasSideEffect(call, module);
  if (const auto* branch = value.as<IfNode>()) {
    return SeqHasSideEffect(branch->true_branch, module) || SeqHasSideEffect(branch->false_branch, module);
  }
  return false;
}

}  // namespace deuteron::relax
