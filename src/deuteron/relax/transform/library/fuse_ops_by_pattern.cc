/// \file
/// FuseOpsByPattern: makes what patterns match functions of their own.
///
/// Purpose: a library computes matmul, bias and activation in one call; this pass finds such places. Patterns are
/// applied one after another over the whole module, the earlier first. Each match becomes a private function with the
/// attributes Composite (the pattern's name) and Primitive, and a call of it; with `annotate_codegen`, a public
/// function with Codegen that holds it. What a wildcard matched never joins; a match of a single call is wrapped too.
///
/// What it must not do: look into functions that are Primitive, Composite or Codegen (a second run changes nothing);
/// leave dataflow blocks (those in branches of an `if` are visited), or match across their ends.
///
/// Better than TVM unless `tvm_compat`: a match whose values something outside needs which the match needs in turn is
/// left alone and reported, also where that goes through several steps (TVM stops with an error, or loses a variable);
/// so is one that overlaps an earlier match of the same pattern in part (TVM takes values away from matches); names of
/// names are looked through, and bound tuples join.
///
/// Place: before LegalizeOps, while operators are calls by name; MergeCompositeFunctions and RunCodegen follow.
#include <algorithm>
#include <deque>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/relax/transform/library/pattern_partition.h"

namespace deuteron::relax {
namespace {

using fusion::FusedFunctions;
using fusion::GroupEmitter;
using fusion::GroupFunction;
using fusion::PatternPartition;

/// A dataflow block on its way from groups to calls.
struct BlockWork {
  std::unique_ptr<PatternPartition> partition;
  std::unique_ptr<GroupEmitter> emitter;
  /// Of the partition's groups, by number.
  std::deque<GroupFunction::Options> options;
};

/// The dataflow blocks in `seq`, branches and local functions included, in order.
void CollectBlocks(const SeqExpr& seq, std::vector<DataflowBlock>* blocks) {
  for (const BindingBlock& block : seq->blocks) {
    if (const auto* dataflow = block.as<DataflowBlockNode>()) {
      blocks->push_back(GetRef<DataflowBlock>(dataflow));
      continue;
    }
    for (const Binding& binding : block->bindings) {
      const Expr& value = BoundValue(binding);
      if (const auto* branch = value.as<IfNode>()) {
        CollectBlocks(branch->true_branch, blocks);
        CollectBlocks(branch->false_branch, blocks);
      } else if (const auto* local = value.as<FunctionNode>(); local != nullptr && !IsSealed(GetRef<Function>(local))) {
        CollectBlocks(local->body, blocks);
      }
    }
  }
}

/// `block` with names of names replaced by what they name.
DataflowBlock WithoutAliases(const DataflowBlock& block) {
  VarReplacer replacer;
  Array<Binding> bindings;
  for (const Binding& binding : block->bindings) {
    const auto* alias = binding.as<VarBindingNode>();
    const bool is_alias = alias != nullptr && IsVar(alias->value) && alias->var->kind == RelaxKind::kDataflowVar;
    const Binding replaced = replacer.empty() ? binding : replacer.Replace(binding);
    if (is_alias) {
      replacer.Set(binding->var, BoundValue(replaced));
    } else {
      bindings.push_back(replaced);
    }
  }
  return replacer.empty() ? block : DataflowBlock(bindings);
}

class BlockReplacer : public SeqRewriter {
 public:
  explicit BlockReplacer(const std::unordered_map<const Object*, BindingBlock>& blocks) : blocks_(blocks) {}

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const auto it = blocks_.find(block.get());
    return it == blocks_.end() ? SeqRewriter::RewriteBlock(block) : it->second;
  }

 private:
  const std::unordered_map<const Object*, BindingBlock>& blocks_;
};

/// The function for a code generator around a composite one: a local function, and its call.
Function WithCodegen(Function composite, const std::string& codegen) {
  composite = WithoutAttr(std::move(composite), "Primitive");
  Array<Var> params;
  Array<Expr> args;
  for (const Var& param : composite->params) {
    const Var var(param->name_hint, param.ty());
    params.push_back(var);
    args.push_back(var);
  }
  const Var local("local_func", composite.ty());
  const Call call(local, std::move(args));
  call->ty = composite->ret_ty;
  const Var output("output", composite->ret_ty);
  const BindingBlock block({VarBinding(local, composite), VarBinding(output, call)});
  return Function(std::move(params), SeqExpr({block}, output), composite->ret_ty, true,
                  DictAttrs({{"Codegen", String(codegen)}}));
}

class PatternFuser {
 public:
  PatternFuser(const std::vector<FusionPattern>& patterns, const FuseOpsByPatternOptions& options,
               const std::vector<dpl::CompiledPattern>& compiled, const transform::PassContext& context)
      : patterns_(patterns),
        options_(options),
        compiled_(compiled),
        compat_(transform::AsTVM(context)),
        log_(context.decisions.get()) {}

  IRModule Run(IRModule module) {
    std::unordered_set<std::string> entries;
    for (const std::string& name : options_.entry_functions)
      entries.insert(std::string(module.GetGlobalVar(name)->name_hint));
    for (const auto& [var, func] : module->functions) {
      const auto function = As<Function>(func);
      if (!function.defined() || IsSealed(function)) continue;
      if (!entries.empty() && entries.count(std::string(var->name_hint)) == 0) continue;
      AddFunction(var, function);
    }
    Partition();
    FusedFunctions functions(module, Finisher());
    MakeFunctions(&functions);
    for (const auto& [var, function, blocks] : targets_) {
      std::unordered_map<const Object*, BindingBlock> replaced;
      for (const auto& [block, work] : blocks) {
        if (work_[work].partition->any()) replaced.emplace(block, Emit(var, work_[work], &functions));
      }
      if (!replaced.empty()) module.Update(var, BlockReplacer(replaced).RewriteBody(function));
    }
    for (auto& [var, func] : functions.TakeAdded()) module.Update(var, std::move(func));
    return module;
  }

 private:
  struct Target {
    GlobalVar var;
    Function function;
    /// Blocks, and the number of the work on each.
    std::vector<std::pair<const Object*, size_t>> blocks;
  };

  void AddFunction(const GlobalVar& var, const Function& function) {
    std::vector<DataflowBlock> blocks;
    CollectBlocks(function->body, &blocks);
    Target target{var, function, {}};
    for (const DataflowBlock& block : blocks) {
      target.blocks.emplace_back(block.get(), work_.size());
      BlockWork work;
      work.partition =
          std::make_unique<PatternPartition>(compat_ ? block : WithoutAliases(block), var->name_hint, compat_, log_);
      work_.push_back(std::move(work));
    }
    targets_.push_back(std::move(target));
  }

  void Partition() {
    for (uint32_t i = 0; i < patterns_.size(); ++i) {
      const Map<String, Any> attrs{{"Composite", String(patterns_[i].name)}};
      for (BlockWork& work : work_) work.partition->Apply(i, patterns_[i], compiled_[i], attrs);
    }
  }

  FusedFunctions::Finish Finisher() const {
    if (!options_.annotate_codegen) return nullptr;
    return [](Function composite) {
      const std::string name(*composite->GetAttr<String>("Composite"));
      const std::string codegen = name.substr(0, name.find('.'));
      return FusedFunctions::Finished{WithCodegen(std::move(composite), codegen), "_" + codegen};
    };
  }

  /// Makes the functions in order of patterns, which is the order of their names.
  void MakeFunctions(FusedFunctions* functions) {
    struct Made {
      uint32_t pattern;
      const GroupEmitter* emitter;
      uint32_t group;
    };
    std::vector<Made> made;
    for (BlockWork& work : work_) {
      PatternPartition& partition = *work.partition;
      if (!partition.any()) continue;
      const auto count = static_cast<uint32_t>(partition.bindings().size());
      // A binding without a group is a group of its own; both are numbered by their last bindings.
      std::vector<uint32_t> group(count);
      std::vector<uint32_t> last(count, PatternPartition::kNone);
      for (uint32_t i = count; i-- > 0;) {
        const uint32_t number = partition.group_number(i);
        if (number == PatternPartition::kNone) {
          group[i] = i;
        } else {
          if (last[number] == PatternPartition::kNone) last[number] = i;
          group[i] = last[number];
        }
      }
      const auto options = [&](uint32_t first) -> const GroupFunction::Options* {
        const auto* members = partition.group(first);
        if (members == nullptr) return nullptr;
        work.options.push_back({.bind_constants = options_.bind_constants, .attrs = members->attrs});
        return &work.options.back();
      };
      work.emitter = std::make_unique<GroupEmitter>(partition.bindings(), group, options);
      work.emitter->Complete([&](const Object* var) { return partition.IndexOf(var); },
                             [&](uint32_t i) { return partition.SymbolDefinitions(i); });
      for (uint32_t i = 0; i < count; ++i) {
        if (group[i] != i || partition.group(i) == nullptr) continue;
        made.push_back({partition.group(i)->pattern, work.emitter.get(), work.emitter->group_of(i)});
      }
    }
    std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.pattern < b.pattern; });
    for (const auto& [pattern, emitter, group] : made) {
      if (const auto function = emitter->function(group)) functions->Get(*function);
    }
  }

  BindingBlock Emit(const GlobalVar& var, const BlockWork& work, FusedFunctions* functions) {
    DataflowBlock block(work.emitter->Emit(functions));
    const PatternPartition& partition = *work.partition;
    for (uint32_t i = 0; i < partition.bindings().size(); ++i) {
      const auto* group = partition.group(i);
      if (group == nullptr || group->members.back() != i) continue;
      const Binding& root = partition.bindings()[i];
      log_->Add({.pass = "FuseOpsByPattern",
                 .function = var->name_hint,
                 .subject = root->var->name_hint,
                 .object = work.emitter->name(work.emitter->group_of(i)),
                 .reason = transform::Reason::kPatternMatched,
                 .message = patterns_[group->pattern].name,
                 .figures = {{"operators", static_cast<int64_t>(group->members.size())}},
                 .subject_span = root->span.defined() ? root->span : BoundValue(root)->span});
    }
    return block;
  }

  const std::vector<FusionPattern>& patterns_;
  const FuseOpsByPatternOptions& options_;
  const std::vector<dpl::CompiledPattern>& compiled_;
  bool compat_;
  transform::DecisionLog* log_;
  std::vector<Target> targets_;
  std::deque<BlockWork> work_;
};

}  // namespace

transform::Pass FuseOpsByPattern(std::vector<FusionPattern> patterns, FuseOpsByPatternOptions options) {
  std::vector<dpl::CompiledPattern> compiled;
  for (const FusionPattern& pattern : patterns) {
    if (pattern.name.empty()) DEUTERON_THROW(UsageError) << "FuseOpsByPattern: a pattern has no name";
    if (options.annotate_codegen && pattern.name.find('.') == std::string::npos) {
      DEUTERON_THROW(UsageError)
          << "FuseOpsByPattern: with annotate_codegen, the name of a pattern begins with that of its "
             "code generator and a dot, as in \"dnnl."
          << pattern.name << "\"; this one is \"" << pattern.name << "\"";
    }
    compiled.emplace_back(pattern.pattern);
  }
  return transform::ModulePass(
      {.name = "FuseOpsByPattern"},
      [patterns = std::move(patterns), options = std::move(options), compiled = std::move(compiled)](
          IRModule module, const transform::PassContext& context) {
        return PatternFuser(patterns, options, compiled, context).Run(std::move(module));
      });
}

}  // namespace deuteron::relax
