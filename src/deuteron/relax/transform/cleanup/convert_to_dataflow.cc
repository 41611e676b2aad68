/// \file
/// ConvertToDataflow and ToNonDataflow: drawing and erasing the borders of dataflow blocks.
///
/// Purpose: fusion and most rewrites work inside of dataflow blocks only. ConvertToDataflow gathers every run
/// of at least `min_size` bindings without effect and control flow, together with the dataflow blocks next to
/// it, into one dataflow block. What nothing outside of the block uses becomes local to it.
///
/// What it must not do: move a binding past another; take in an impure call, an `if`; open existing dataflow blocks,
/// however small.
///
/// Place: after import. ToNonDataflow is its inverse, for back ends that know no dataflow blocks.
#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/canonicalize.h"
#include "deuteron/relax/transform/cleanup/passes.h"

namespace deuteron::relax {
namespace {

class DataflowMaker : public SeqRewriter {
 public:
  DataflowMaker(const IRModule& module, int64_t min_size) : module_(module), min_size_(min_size) {}

  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    std::vector<BindingBlock> blocks;
    for (size_t i = 0; i < seq->blocks.size(); ++i) {
      const bool dataflow_after = i + 1 < seq->blocks.size() && seq->blocks[i + 1]->IsInstance<DataflowBlockNode>();
      Visit(seq->blocks[i], dataflow_after, &blocks);
    }
    if (blocks.size() == seq->blocks.size() && std::equal(blocks.begin(), blocks.end(), seq->blocks.begin(),
                                                          [](const auto& a, const auto& b) { return a.same_as(b); })) {
      return seq;
    }
    return SeqExpr(JoinBlocks(blocks), seq->body, seq->span);
  }

 private:
  void Visit(const BindingBlock& block, bool dataflow_after, std::vector<BindingBlock>* blocks) {
    if (block->IsInstance<DataflowBlockNode>()) {
      blocks->push_back(block);
      return;
    }
    std::vector<Binding> run;
    bool changed = false;
    std::vector<BindingBlock> parts;
    const auto close = [&](bool pure) {
      if (run.empty()) return;
      const Array<Binding> bindings(run.begin(), run.end());
      parts.push_back(pure ? BindingBlock(DataflowBlock(bindings)) : BindingBlock(bindings));
      changed |= pure;
      run.clear();
    };
    // Bindings are gathered into maximal pure and impure runs; a short pure run joins its impure neighbours
    // unless a dataflow block touches it, which can take it in.
    std::vector<std::pair<bool, std::vector<Binding>>> runs;
    for (const Binding& original : block->bindings) {
      const Binding binding = WithValue(original, RewriteNested(BoundValue(original)));
      changed |= !binding.same_as(original);
      const bool pure = IsPure(binding);
      if (runs.empty() || runs.back().first != pure) runs.push_back({pure, {}});
      runs.back().second.push_back(binding);
    }
    const bool dataflow_before = !blocks->empty() && blocks->back()->IsInstance<DataflowBlockNode>();
    bool open_pure = false;
    for (size_t i = 0; i < runs.size(); ++i) {
      auto& [pure, bindings] = runs[i];
      const bool joins = (i == 0 && dataflow_before) || (i + 1 == runs.size() && dataflow_after);
      const bool as_dataflow = pure && (joins || static_cast<int64_t>(bindings.size()) >= min_size_);
      if (!run.empty() && open_pure != as_dataflow) close(open_pure);
      open_pure = as_dataflow;
      run.insert(run.end(), bindings.begin(), bindings.end());
    }
    close(open_pure);
    if (!changed) {
      blocks->push_back(block);
      return;
    }
    blocks->insert(blocks->end(), parts.begin(), parts.end());
  }

  bool IsPure(const Binding& binding) const {
    const Expr& value = BoundValue(binding);
    return value->kind != RelaxKind::kIf && !HasSideEffect(value, module_);
  }

  const IRModule& module_;
  const int64_t min_size_;
};

/// Makes every variable plain and every block an ordinary one.
class DataflowOpener : public SeqRewriter {
 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const BindingBlock opened = SeqRewriter::RewriteBlock(block);
    return opened->IsInstance<DataflowBlockNode>() ? BindingBlock(opened->bindings) : opened;
  }
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Binding replaced = replacer_.Replace(WithValue(binding, RewriteNested(BoundValue(binding))));
    if (binding->var->kind != RelaxKind::kDataflowVar) return out->push_back(replaced);
    const Var var(binding->var->name_hint, replaced->var.ty(), binding->var->span);
    replacer_.Set(binding->var, var);
    out->push_back(Rebind(replaced, var, BoundValue(replaced)));
  }
  Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

 private:
  VarReplacer replacer_;
};

}  // namespace

Pass ConvertToDataflow(int64_t min_size) {
  return transform::ModulePass(
      {.name = "ConvertToDataflow"}, [min_size](IRModule module, const transform::PassContext&) {
        const IRModule original = module;
        return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
          return Canonicalize(DataflowMaker(original, min_size).RewriteBody(function), original);
        });
      });
}

Pass ToNonDataflow() {
  return transform::ModulePass({.name = "ToNonDataflow"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& function) {
      return DataflowOpener().RewriteBody(function);
    });
  });
}

}  // namespace deuteron::relax
