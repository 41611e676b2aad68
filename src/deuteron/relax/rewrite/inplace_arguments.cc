#include "deuteron/relax/rewrite/inplace_arguments.h"

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::relax {

InplaceArguments::InplaceArguments(const Function& function) { VisitSeq(function->body); }

void InplaceArguments::VisitSeq(const SeqExpr& seq) {
  const int64_t sequence = num_sequences_++;
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) VisitBinding(binding->var, BoundValue(binding), sequence);
  }
  Share(seq->body);
}

void InplaceArguments::VisitBinding(const Var& var, const Expr& value, int64_t sequence) {
  if (const auto* branch = value.as<IfNode>()) {
    Share(branch->cond);
    VisitSeq(branch->true_branch);
    VisitSeq(branch->false_branch);
    return;
  }
  if (const auto* local = value.as<FunctionNode>()) {
    // It may be called at any time.
    return VisitAllLeaves(local->body, [this](const Expr& leaf) { Share(leaf); });
  }
  if (!IsAnyCallTIR(value) && !IsCallDPSPacked(value)) return Share(value);
  const CallTIRView view = ViewCallTIR(Downcast<Call>(value));
  for (const Expr& arg : view.args->fields) {
    if (!IsVar(arg)) {
      Share(arg);
      continue;
    }
    Use& use = uses_[arg.get()];
    // As two arguments of one call it would be read while it is written.
    use.shared |= use.last == var.get();
    use.last = var.get();
    use.last_sequence = sequence;
  }
  if (view.out_ty->kind == TypeKind::kTensor) uses_[var.get()].owner = sequence;
}

void InplaceArguments::Share(const Expr& expr) {
  VisitLeaves(expr, [this](const Expr& leaf) {
    if (IsVar(leaf)) uses_[leaf.get()].shared = true;
  });
}

bool InplaceArguments::MayOverwrite(const Var& var, const Expr& arg) const {
  if (!IsLastUse(var, arg)) return false;
  const Use& use = uses_.at(arg.get());
  return use.owner >= 0 && use.owner == use.last_sequence;
}

bool InplaceArguments::IsLastUse(const Var& var, const Expr& arg) const {
  const auto it = uses_.find(arg.get());
  return it != uses_.end() && !it->second.shared && it->second.last == var.get();
}

}  // namespace deuteron::relax
