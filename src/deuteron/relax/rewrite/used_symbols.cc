#include "deuteron/relax/rewrite/used_symbols.h"

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

std::vector<tir::Var> UsedSymbols(const Binding& binding) {
  std::vector<tir::Var> used = SymbolicVars(binding->var.ty());
  const auto add = [&used](const std::vector<tir::Var>& more) { used.insert(used.end(), more.begin(), more.end()); };
  const Expr& value = BoundValue(binding);
  if (const auto* call = value.as<CallNode>()) {
    for (const Type& type : call->ty_args) add(SymbolicVars(type));
  }
  VisitLeaves(value, [&](const Expr& leaf) {
    if (const auto* shape = leaf.as<ShapeExprNode>()) {
      for (const PrimExpr& dim : shape->values) add(FreeVars(dim));
    } else if (const auto* scalar = leaf.as<PrimValueNode>()) {
      add(FreeVars(scalar->value));
    }
  });
  return used;
}

}  // namespace deuteron::relax
