#include "deuteron/relax/rewrite/remove_all_unused.h"

#include <vector>

#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax {
namespace {

/// Removes dead bindings of one function.
class BindingRemover : public SeqRewriter {
 public:
  explicit BindingRemover(const IRModule& module) : module_(module) {}

 private:
  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    Use(seq->body);
    bool changed = false;
    std::vector<BindingBlock> reversed;
    for (size_t b = seq->blocks.size(); b-- > 0;) {
      const BindingBlock block = RewriteBlock(seq->blocks[b]);
      changed |= !block.same_as(seq->blocks[b]);
      if (!block->bindings.empty()) reversed.push_back(block);
    }
    if (!changed) return seq;
    return SeqExpr(JoinBlocks({reversed.rbegin(), reversed.rend()}), seq->body, seq->span);
  }

  BindingBlock RewriteBlock(const BindingBlock& block) override {
    std::vector<Binding> reversed;
    bool changed = false;
    for (size_t i = block->bindings.size(); i-- > 0;) {
      Binding binding = block->bindings[i];
      if (!IsNeeded(binding)) {
        changed = true;
        continue;
      }
      const Binding kept = WithValue(binding, RewriteNested(BoundValue(binding)));
      changed |= !kept.same_as(binding);
      Use(BoundValue(kept));
      reversed.push_back(kept);
    }
    return changed ? WithBindings(block, Array<Binding>(reversed.rbegin(), reversed.rend())) : block;
  }

  bool IsNeeded(const Binding& binding) const {
    return used_.contains(binding->var.get()) || binding->IsInstance<MatchCastNode>() ||
           HasSideEffect(BoundValue(binding), module_);
  }

  void Use(const Expr& expr) {
    if (const auto* branch = expr.as<IfNode>()) return Use(branch->cond);  // nested bodies were visited
    if (expr->kind == RelaxKind::kFunction) return;
    VisitLeaves(expr, [this](const Expr& leaf) {
      if (IsVar(leaf)) used_.Insert(leaf.get());
    });
  }

  const IRModule& module_;
  PointerSet used_;
};

}  // namespace

Function RemoveAllUnused(const Function& func, const IRModule& module) {
  return BindingRemover(module).RewriteBody(func);
}

}  // namespace deuteron::relax
