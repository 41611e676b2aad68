/// \file
/// Says where tensors and storages die. First removes bindings of one variable to another, so that a value has one
/// name. What is allocated in a branch, or leaves the function, is not killed.
///
/// A pure function, or a dataflow block, in which something dies is refused: RemovePurityChecking and ToNonDataflow
/// come before.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/effects.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/memory/memory_analysis.h"
#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr const char* kName = "KillAfterLastUse";

bool IsLocal(const Expr& var) { return var->kind == RelaxKind::kDataflowVar; }

/// Replaces variables that are names of other variables. Where an output of a dataflow block is a name of what is
/// local to it, the value is bound to the output instead.
class AliasRemover {
 public:
  SeqExpr Remove(const SeqExpr& seq) {
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      if (block->IsInstance<DataflowBlockNode>()) NameOutputs(block);
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) {
        const auto* bound = binding.as<VarBindingNode>();
        if (bound != nullptr && IsVar(bound->value)) {
          const Expr source = replacer_.Replace(bound->value);
          if (source.same_as(bound->var)) continue;
          if (IsLocal(bound->var) || !IsLocal(source)) {
            replacer_.Set(bound->var, source);
            continue;
          }
        }
        bindings.push_back(Rewrite(binding));
      }
      blocks.push_back(WithBindings(block, std::move(bindings)));
    }
    SeqExpr result(std::move(blocks), replacer_.Replace(seq->body), seq->span);
    result->ty = seq->ty;
    return result;
  }

 private:
  /// Finds the local variables of `block` that are to be bound as outputs: each as the first that is a name of it.
  void NameOutputs(const BindingBlock& block) {
    std::unordered_map<const Object*, Expr> source_of;
    for (const Binding& binding : block->bindings) {
      const auto* bound = binding.as<VarBindingNode>();
      if (bound == nullptr || !IsVar(bound->value)) continue;
      const auto known = source_of.find(bound->value.get());
      const Expr source = known == source_of.end() ? bound->value : known->second;
      source_of.emplace(bound->var.get(), source);
      if (IsLocal(bound->var) || !IsLocal(source) || !TypesIdentical(bound->var.ty(), source.ty())) continue;
      if (bound_as_.emplace(source.get(), bound->var).second) replacer_.Set(Downcast<Var>(source), bound->var);
    }
  }

  Binding Rewrite(const Binding& binding) {
    const auto* bound = binding.as<VarBindingNode>();
    const auto* branch = bound == nullptr ? nullptr : bound->value.as<IfNode>();
    if (branch == nullptr) {
      const Binding replaced = replacer_.Replace(binding);
      const auto output = bound_as_.find(binding->var.get());
      return output == bound_as_.end() ? replaced : Rebind(replaced, output->second, BoundValue(replaced));
    }
    const SeqExpr true_branch = Remove(branch->true_branch);
    const SeqExpr false_branch = Remove(branch->false_branch);
    If rewritten(replacer_.Replace(branch->cond), true_branch, false_branch, branch->span);
    rewritten->ty = branch->ty;
    return VarBinding(bound->var, rewritten, bound->span);
  }

  VarReplacer replacer_;
  std::unordered_map<const Object*, Var> bound_as_;
};

Expr KillOf(const Allocation& allocation) {
  const bool storage = MemoryCallOf(allocation.call) == MemoryCall::kAllocStorage;
  Call kill = storage ? KillStorage(allocation.var) : KillTensor(allocation.var);
  kill->ty = TupleType(Array<Type>());
  return kill;
}

Function AddKills(const IRModule& module, const std::string& name, const Function& function) {
  const MemoryAnalysis analysis(module, function);
  // By the step after which they die; tensors before the storage that they lie in.
  std::unordered_map<int64_t, std::vector<const Allocation*>> deaths;
  const auto& allocations = analysis.allocations();
  for (auto it = allocations.rbegin(); it != allocations.rend(); ++it) {
    if (!it->escapes && !it->in_branch) deaths[it->last].push_back(&*it);
  }
  Array<BindingBlock> blocks;
  int64_t done = 0;
  for (const BindingBlock& block : function->body->blocks) {
    Array<Binding> bindings;
    for (size_t i = 0; i < block->bindings.size(); ++i) {
      const Binding& binding = block->bindings[i];
      bindings.push_back(binding);
      // An If takes the steps of its branches.
      const bool last_in_block = i + 1 == block->bindings.size();
      const int64_t step = analysis.StepOf(binding->var);
      int64_t until = step;
      if (!last_in_block) until = analysis.StepOf(block->bindings[i + 1]->var) - 1;
      const auto* bound = binding.as<VarBindingNode>();
      if (bound == nullptr || bound->value->kind != RelaxKind::kIf) until = step;
      for (done = step; done <= until; ++done) {
        const auto dead = deaths.find(done);
        if (dead == deaths.end()) continue;
        RequireImpure(kName, name, function);
        RequirePlain(kName, name, block);
        for (const Allocation* allocation : dead->second) {
          bindings.push_back(VarBinding(Var("_", TupleType(Array<Type>())), KillOf(*allocation)));
        }
      }
    }
    blocks.push_back(WithBindings(block, std::move(bindings)));
  }
  SeqExpr body(std::move(blocks), function->body->body, function->body->span);
  body->ty = function->body->ty;
  return WithBody(function, body);
}

}  // namespace

Pass KillAfterLastUse() {
  return transform::ModulePass({.name = kName}, [](IRModule module, const transform::PassContext&) {
    const IRModule& functions = module;
    return UpdateAllFunctions(module, [&functions](const GlobalVar& var, const Function& function) {
      const Function named_once = WithBody(function, AliasRemover().Remove(function->body));
      return AddKills(functions, std::string(var->name_hint), named_once);
    });
  });
}

}  // namespace deuteron::relax
