#include "deuteron/relax/rewrite/function_copier.h"

#include <utility>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

Var FunctionCopier::Renew(const Var& var) {
  const Type type = replacer_.Replace(var.ty());
  const Var renewed = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, type, var->span))
                                                           : Var(var->name_hint, type, var->span);
  replacer_.Set(var, renewed);
  return renewed;
}

void FunctionCopier::RenewSymbols(const Type& type) {
  for (const tir::Var& symbol : SymbolicVars(type)) {
    if (replacer_.Has(symbol)) continue;
    replacer_.SetSymbol(symbol, tir::Var(symbol->name_hint, symbol->dtype));
  }
}

Function FunctionCopier::CopyLocal(const Function& function) {
  Array<Var> params;
  for (const Var& param : function->params) {
    for (const tir::Var& symbol : DefinedSymbolicVars(param.ty())) {
      if (!replacer_.Has(symbol)) RenewSymbols(ShapeType({symbol}));
    }
    params.push_back(Renew(param));
  }
  const SeqExpr body = RewriteSeq(function->body);
  return Function(std::move(params), body, replacer_.Replace(function->ret_ty), function->is_pure, function->attrs,
                  function->span);
}

void FunctionCopier::RewriteBinding(const Binding& binding, Bindings* out) {
  const Expr& old_value = BoundValue(binding);
  if (const auto* function = old_value.as<FunctionNode>()) {
    const Var var = Renew(binding->var);  // it may call itself
    out->push_back(VarBinding(var, CopyLocal(GetRef<Function>(function)), binding->span));
    return;
  }
  Expr value;
  if (const auto* branch = old_value.as<IfNode>()) {
    const SeqExpr true_branch = RewriteSeq(branch->true_branch);
    value = WithBranches(GetRef<If>(branch), replacer_.Replace(branch->cond), true_branch,
                         RewriteSeq(branch->false_branch));
    if (!value.same_as(old_value)) value->ty = replacer_.Replace(branch->ty);
  } else {
    value = replacer_.Replace(old_value);
  }
  if (const auto* cast = binding.as<MatchCastNode>()) {
    RenewSymbols(cast->ty);
    const Type type = replacer_.Replace(cast->ty);
    out->push_back(MatchCast(Renew(binding->var), value, type, binding->span));
    return;
  }
  out->push_back(VarBinding(Renew(binding->var), value, binding->span));
}

}  // namespace deuteron::relax
