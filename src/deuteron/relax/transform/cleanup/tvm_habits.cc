#include "deuteron/relax/transform/cleanup/tvm_habits.h"

#include <algorithm>

#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/cleanup/canonicalize.h"
#include "deuteron/relax/transform/cleanup/eliminate_common_subexpr.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

Expr ForgetfulMutator::VisitIf_(const IfNode* op) {
  if (!forgets_) return ExprMutator::VisitIf_(op);
  // Its type follows from what its branches have become.
  const Expr visited = builder_.Normalize(ExprMutator::VisitIf_(op));
  const Type erased = EraseToWellDefined(visited.ty(), [](const tir::Var&) { return false; });
  if (TypesIdentical(erased, visited.ty())) return visited;
  const auto* branch = static_cast<const IfNode*>(visited.get());
  If forgetful(branch->cond, branch->true_branch, branch->false_branch, branch->span);
  forgetful->ty = erased;
  return forgetful;
}

Expr ForgetfulMutator::VisitFunction_(const FunctionNode* op) {
  auto function = Downcast<Function>(ExprMutator::VisitFunction_(op));
  if (!forgets_ || function->ret_ty.same_as(op->ret_ty)) return function;
  return Function(function->params, function->body, op->ret_ty, function->is_pure, function->attrs, op->span);
}

Function TidyAsTVM(Function function, const String& name, const IRModule& module,
                   const transform::PassContext& context) {
  for (Function before; !function.same_as(before);) {
    before = function;
    function = Canonicalize(EliminateCommonSubexpr(function, name, module, /*call_only=*/false, context), module);
  }
  return RemoveAllUnused(function, module);
}

bool HasPlainBlock(const Function& function) {
  const auto& blocks = function->body->blocks;
  return std::any_of(blocks.begin(), blocks.end(), [](const BindingBlock& block) {
    return !block->IsInstance<DataflowBlockNode>() && !block->bindings.empty();
  });
}

}  // namespace deuteron::relax
