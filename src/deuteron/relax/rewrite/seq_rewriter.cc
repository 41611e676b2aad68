#include "deuteron/relax/rewrite/seq_rewriter.h"

#include <utility>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron::relax {

Function SeqRewriter::RewriteBody(Function function) {
  SeqExpr body = RewriteSeq(function->body);
  return WithBody(std::move(function), std::move(body));
}

SeqExpr SeqRewriter::RewriteSeq(const SeqExpr& seq) {
  bool changed = false;
  std::vector<BindingBlock> blocks;
  blocks.reserve(seq->blocks.size());
  for (const BindingBlock& block : seq->blocks) {
    blocks.push_back(RewriteBlock(block));
    changed |= !blocks.back().same_as(block);
  }
  const Expr result = RewriteResult(seq->body);
  if (!changed && result.same_as(seq->body)) return seq;
  SeqExpr rewritten(changed ? JoinBlocks(blocks) : seq->blocks, result, seq->span);
  rewritten->ty = result->ty.defined() ? result->ty : seq->ty;
  return rewritten;
}

BindingBlock SeqRewriter::RewriteBlock(const BindingBlock& block) {
  Bindings rewritten;
  rewritten.reserve(block->bindings.size());
  for (const Binding& binding : block->bindings) RewriteBinding(binding, &rewritten);
  bool changed = rewritten.size() != block->bindings.size();
  for (size_t i = 0; i < rewritten.size() && !changed; ++i) changed = !rewritten[i].same_as(block->bindings[i]);
  return changed ? WithBindings(block, Array<Binding>(rewritten.begin(), rewritten.end())) : block;
}

void SeqRewriter::RewriteBinding(const Binding& binding, Bindings* out) {
  out->push_back(WithValue(binding, RewriteNested(BoundValue(binding))));
}

Expr SeqRewriter::RewriteNested(const Expr& value) {
  if (const auto* branch = value.as<IfNode>()) {
    const SeqExpr true_branch = RewriteSeq(branch->true_branch);
    return WithBranches(GetRef<If>(branch), branch->cond, true_branch, RewriteSeq(branch->false_branch));
  }
  if (const auto* function = value.as<FunctionNode>()) return RewriteBody(GetRef<Function>(function));
  return value;
}

Binding WithValue(const Binding& binding, Expr value) {
  if (value.same_as(BoundValue(binding))) return binding;
  return Rebind(binding, binding->var, std::move(value));
}

Binding Rebind(const Binding& binding, const Var& var, Expr value) {
  if (const auto* cast = binding.as<MatchCastNode>()) return MatchCast(var, std::move(value), cast->ty, binding->span);
  return VarBinding(var, std::move(value), binding->span);
}

Array<BindingBlock> JoinBlocks(const std::vector<BindingBlock>& blocks) {
  Array<BindingBlock> joined;
  std::vector<BindingBlock> run;
  const auto close = [&] {
    if (run.size() == 1) {
      joined.push_back(run[0]);
    } else if (!run.empty()) {
      Array<Binding> bindings;
      for (const BindingBlock& block : run) {
        for (const Binding& binding : block->bindings) bindings.push_back(binding);
      }
      joined.push_back(WithBindings(run[0], std::move(bindings)));
    }
    run.clear();
  };
  for (const BindingBlock& block : blocks) {
    if (block->bindings.empty()) continue;
    if (!run.empty() && run[0]->type_index() != block->type_index()) close();
    run.push_back(block);
  }
  close();
  return joined;
}

Expr WithBranches(const If& branch, const Expr& cond, const SeqExpr& true_branch, const SeqExpr& false_branch) {
  if (cond.same_as(branch->cond) && true_branch.same_as(branch->true_branch) &&
      false_branch.same_as(branch->false_branch)) {
    return branch;
  }
  If rewritten(cond, true_branch, false_branch, branch->span);
  rewritten->ty = branch->ty;
  return rewritten;
}

}  // namespace deuteron::relax
