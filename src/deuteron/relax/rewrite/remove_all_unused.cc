#include "deuteron/relax/rewrite/remove_all_unused.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax {
namespace {

/// Removes dead bindings of one function.
class BindingRemover : public SeqRewriter {
 public:
  explicit BindingRemover(const IRModule& module)
      : module_(module), keeps_casts_(transform::PassContext::Current().GetBool("tvm_compat")) {}

  Function Remove(const Function& function) {
    UseType(function->ret_ty);
    return RewriteBody(function);
  }

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
    const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
    std::vector<Binding> reversed;
    bool changed = false;
    for (size_t i = block->bindings.size(); i-- > 0;) {
      Binding binding = block->bindings[i];
      if (!IsNeeded(binding, is_dataflow)) {
        changed = true;
        continue;
      }
      const Binding kept = WithValue(binding, RewriteNested(BoundValue(binding)));
      changed |= !kept.same_as(binding);
      UseBinding(kept);
      reversed.push_back(kept);
    }
    return changed ? WithBindings(block, Array<Binding>(reversed.rbegin(), reversed.rend())) : block;
  }

  bool IsNeeded(const Binding& binding, bool is_dataflow) const {
    if (used_.contains(binding->var.get())) return true;
    if (const auto* cast = binding.as<MatchCastNode>()) {
      if (!is_dataflow || keeps_casts_) return true;
      const auto defined = DefinedSymbolicVars(cast->ty);
      return std::any_of(defined.begin(), defined.end(), [this](const tir::Var& v) { return symbols_.count(v.get()); });
    }
    return HasSideEffect(BoundValue(binding), module_);
  }

  void UseBinding(const Binding& binding) {
    Use(BoundValue(binding));
    UseType(binding->var.ty());
    if (const auto* cast = binding.as<MatchCastNode>()) UseType(cast->ty);
  }
  void Use(const Expr& expr) {
    if (const auto* branch = expr.as<IfNode>()) return Use(branch->cond);  // nested bodies were visited
    if (expr->kind == RelaxKind::kFunction) return;
    VisitLeaves(expr, [this](const Expr& leaf) {
      if (IsVar(leaf)) used_.Insert(leaf.get());
      if (const auto* shape = leaf.as<ShapeExprNode>()) UseDims(shape->values);
      if (const auto* scalar = leaf.as<PrimValueNode>()) UseDims({scalar->value});
    });
    if (const auto* call = expr.as<CallNode>()) {
      for (const Type& type : call->ty_args) UseType(type);
    }
  }
  void UseDims(const Array<PrimExpr>& dims) {
    for (const PrimExpr& dim : dims) {
      if (dim->kind == ExprKind::kIntImm) continue;
      for (const tir::Var& var : FreeVars(dim)) symbols_.insert(var.get());
    }
  }
  void UseType(const Type& type) {
    if (!type.defined()) return;
    for (const tir::Var& var : SymbolicVars(type)) symbols_.insert(var.get());
  }

  const IRModule& module_;
  const bool keeps_casts_;
  PointerSet used_;
  std::unordered_set<const Object*> symbols_;
};

}  // namespace

Function RemoveAllUnused(const Function& func, const IRModule& module) { return BindingRemover(module).Remove(func); }

}  // namespace deuteron::relax
