/// \file
/// ConvertToDataflow and ToNonDataflow: drawing and erasing the borders of dataflow blocks.
///
/// Purpose: fusion and most rewrites work inside of dataflow blocks only. ConvertToDataflow gathers every run
/// of at least `min_size` bindings without effect and control flow, together with the dataflow blocks next to
/// it, into one dataflow block. What nothing outside of the block uses becomes local to it.
///
/// What it must not do: move a binding past another; take in an impure call, an `if`, a local function, or a
/// match_cast that is the only check of a type; open existing dataflow blocks, however small.
///
/// Place: after import. ToNonDataflow is its inverse, for back ends that know no dataflow blocks.
#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/transform/canonicalize.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/var_replacer.h"

namespace deuteron::relax {
namespace {

class DataflowMaker {
 public:
  DataflowMaker(const IRModule& module, int64_t min_size) : module_(module), min_size_(min_size) {}

  SeqExpr Visit(const SeqExpr& seq) {
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) Visit(block, &blocks);
    if (blocks.size() == seq->blocks.size() && std::equal(blocks.begin(), blocks.end(), seq->blocks.begin(),
                                                          [](const auto& a, const auto& b) { return a.same_as(b); })) {
      return seq;
    }
    return SeqExpr(MergeNeighbours(blocks), seq->body, seq->span);
  }

 private:
  void Visit(const BindingBlock& block, std::vector<BindingBlock>* blocks) {
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
      const Binding binding = VisitBranches(original);
      changed |= !binding.same_as(original);
      const bool pure = IsPure(binding);
      if (runs.empty() || runs.back().first != pure) runs.push_back({pure, {}});
      runs.back().second.push_back(binding);
    }
    const bool dataflow_before = !blocks->empty() && blocks->back()->IsInstance<DataflowBlockNode>();
    bool open_pure = false;
    for (size_t i = 0; i < runs.size(); ++i) {
      auto& [pure, bindings] = runs[i];
      const bool joins = i == 0 && dataflow_before;
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
    if (value->kind == RelaxKind::kIf || value->kind == RelaxKind::kFunction) return false;
    return !HasSideEffect(value, module_);
  }

  Binding VisitBranches(const Binding& binding) {
    const auto* branch = BoundValue(binding).as<IfNode>();
    if (branch == nullptr) return binding;
    const SeqExpr true_branch = Visit(branch->true_branch);
    const SeqExpr false_branch = Visit(branch->false_branch);
    if (true_branch.same_as(branch->true_branch) && false_branch.same_as(branch->false_branch)) return binding;
    const If visited(branch->cond, true_branch, false_branch, branch->span);
    visited->ty = branch->ty;
    return VarBinding(binding->var, visited, binding->span);
  }

  static Array<BindingBlock> MergeNeighbours(const std::vector<BindingBlock>& blocks) {
    Array<BindingBlock> merged;
    std::vector<Binding> open;
    const auto close = [&] {
      if (!open.empty()) merged.push_back(DataflowBlock(Array<Binding>(open.begin(), open.end())));
      open.clear();
    };
    for (const BindingBlock& block : blocks) {
      if (block->IsInstance<DataflowBlockNode>()) {
        open.insert(open.end(), block->bindings.begin(), block->bindings.end());
      } else {
        close();
        merged.push_back(block);
      }
    }
    close();
    return merged;
  }

  const IRModule& module_;
  const int64_t min_size_;
};

/// Makes every variable plain and every block an ordinary one.
class DataflowOpener {
 public:
  SeqExpr Visit(const SeqExpr& seq) {
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) bindings.push_back(Visit(binding));
      blocks.push_back(BindingBlock(std::move(bindings)));
    }
    Array<BindingBlock> joined;
    for (const BindingBlock& block : blocks) {
      if (joined.empty()) {
        joined.push_back(block);
        continue;
      }
      Array<Binding> all = joined.back()->bindings;
      for (const Binding& binding : block->bindings) all.push_back(binding);
      joined.Set(static_cast<int64_t>(joined.size()) - 1, BindingBlock(std::move(all)));
    }
    return SeqExpr(std::move(joined), replacer_.Replace(seq->body), seq->span);
  }

 private:
  Binding Visit(const Binding& binding) {
    Expr value = BoundValue(binding);
    if (const auto* branch = value.as<IfNode>()) {
      const If visited(replacer_.Replace(branch->cond), Visit(branch->true_branch), Visit(branch->false_branch), value->span);
      visited->ty = value.ty();
      value = visited;
    } else {
      value = replacer_.Replace(value);
    }
    Var var = binding->var;
    if (var->kind == RelaxKind::kDataflowVar) {
      var = Var(var->name_hint, var.ty(), var->span);
      replacer_.Set(binding->var, var);
    }
    if (const auto* cast = binding.as<MatchCastNode>()) return MatchCast(var, value, cast->ty, binding->span);
    return VarBinding(var, value, binding->span);
  }
  VarReplacer replacer_;
};

}  // namespace

Pass ConvertToDataflow(int64_t min_size) {
  return transform::ModulePass({.name = "ConvertToDataflow"}, [min_size](IRModule module, const transform::PassContext&) {
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      return Canonicalize(WithBody(function, DataflowMaker(original, min_size).Visit(function->body)));
    });
  });
}

Pass ToNonDataflow() {
  return transform::ModulePass({.name = "ToNonDataflow"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& function) {
      return WithBody(function, DataflowOpener().Visit(function->body));
    });
  });
}

}  // namespace deuteron::relax
