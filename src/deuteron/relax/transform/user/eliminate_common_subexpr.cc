/// \file
/// EliminateCommonSubexpr: computes what is written twice once.
///
/// Purpose: a binding whose value is written like that of an earlier binding, on the same arguments, becomes a name of
/// it (`lv1 = lv0`), and uses of the name become uses of the earlier variable. CanonicalizeBindings removes the names.
///
/// What it must not do: touch bindings with side effects or that allocate; read a DataflowVar outside of its block
/// (there the first output that is a name of it stands for it, if there is one); take a value out of a branch, or share
/// one between two branches; take a match_cast to another type for the same; give two values that are written alike one
/// type if they are declared with two. Outputs of a dataflow block keep their names outside of it.
///
/// Better than TVM: a local function is a scope (there a variable of its body can replace one outside of it); functions
/// that back ends match again (Composite, Codegen) keep their form; values whose memory a call_tir_inplace takes are
/// not merged.
///
/// Place: after CanonicalizeBindings and ConvertToDataflow, before fusion. opt_level 3.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/transform/user/value_key.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

using VarSet = std::unordered_set<const Object*>;

/// Finds values that some call_tir_inplace overwrites, also as fields of tuples and under other names.
class ConsumedValues : public SeqRewriter {
 public:
  VarSet Find(const Function& function) {
    RewriteBody(function);
    return std::move(consumed_);
  }

 protected:
  /// From the last binding to the first, since a name stands after what it names.
  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    for (size_t b = seq->blocks.size(); b-- > 0;) {
      const auto& bindings = seq->blocks[b]->bindings;
      for (size_t i = bindings.size(); i-- > 0;) Visit(bindings[i]->var, BoundValue(bindings[i]));
    }
    return seq;
  }

 private:
  void Visit(const Var& var, const Expr& value) {
    if (const auto* branch = value.as<IfNode>(); branch != nullptr && consumed_.count(var.get())) {
      Consume(branch->true_branch->body);
      Consume(branch->false_branch->body);
    }
    RewriteNested(value);
    if (value->kind == RelaxKind::kCall) {
      const auto* call = value.as<CallNode>();
      if (const auto* attrs = call->attrs.as<CallTIRInplaceAttrsNode>()) {
        const Array<Expr>& args = ViewCallTIR(GetRef<Call>(call)).args->fields;
        for (const int64_t index : attrs->inplace_indices) {
          if (index >= 0) Consume(args[index]);
        }
      } else if (const auto* packed = call->attrs.as<CallInplacePackedAttrsNode>()) {
        for (const int64_t index : packed->inplace_indices) {
          if (index >= 0 && index + 1 < static_cast<int64_t>(call->args.size())) Consume(call->args[index + 1]);
        }
      }
      return;
    }
    if (consumed_.count(var.get())) Consume(value);
  }
  void Consume(const Expr& value) {
    if (value->kind == RelaxKind::kCall) return;
    VisitLeaves(value, [this](const Expr& leaf) {
      if (IsVar(leaf)) consumed_.insert(leaf.get());
    });
  }
  VarSet consumed_;
};

/// Works through one function.
class Eliminator : public SeqRewriter {
 public:
  Eliminator(const IRModule& module, String function, bool call_only, VarSet consumed, transform::DecisionLog* log)
      : module_(module),
        function_(std::move(function)),
        call_only_(call_only),
        consumed_(std::move(consumed)),
        log_(log) {}

 protected:
  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    const size_t outside = scope_.size();
    const SeqExpr rewritten = SeqRewriter::RewriteSeq(Joined(seq));
    LeaveScope(outside);
    return rewritten;
  }

  BindingBlock RewriteBlock(const BindingBlock& block) override {
    if (!block->IsInstance<DataflowBlockNode>()) return SeqRewriter::RewriteBlock(block);
    const size_t outside = scope_.size();
    output_of_.clear();
    renamed_outputs_.clear();
    const BindingBlock rewritten = SeqRewriter::RewriteBlock(block);
    for (const Var& output : renamed_outputs_) replacer_.Set(output, output);
    LeaveDataflowBlock(outside);
    return rewritten;
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Binding replaced = replacer_.Replace(WithValue(binding, Nested(BoundValue(binding))));
    const Var& var = replaced->var;
    const Expr& value = BoundValue(replaced);
    if (!IsCandidate(var, value)) return out->push_back(replaced);
    const auto* cast = replaced.as<MatchCastNode>();
    size_t hash = ValueHash(value);
    if (cast != nullptr) hash = hash * 31 + TypeHash(cast->ty);
    const Type cast_type = cast != nullptr ? cast->ty : Type();
    const Var* earlier = Find(hash, value, cast_type, var.ty());
    if (earlier == nullptr) {
      scope_.push_back(known_.emplace(hash, Known{value, cast_type, var}));
      return out->push_back(replaced);
    }
    transform::Decision decision{.reason = transform::Reason::kCommonSubexpression};
    decision.pass = "EliminateCommonSubexpr";
    decision.function = function_;
    decision.subject = var->name_hint;
    decision.object = (*earlier)->name_hint;
    log_->Add(std::move(decision));
    if (var->kind != RelaxKind::kDataflowVar) {
      renamed_outputs_.push_back(var);
      if ((*earlier)->kind == RelaxKind::kDataflowVar) output_of_.try_emplace(earlier->get(), var);
    }
    replacer_.Set(var, *earlier);
    out->push_back(VarBinding(var, *earlier, binding->span));
  }

  Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

 private:
  struct Known {
    Expr value;
    /// The type of a match_cast, else null.
    Type cast_type;
    Var var;
  };
  using Table = std::unordered_multimap<size_t, Known>;

  /// Outputs of a dataflow block are local to what it and its neighbours are together.
  static SeqExpr Joined(const SeqExpr& seq) {
    Array<BindingBlock> blocks = JoinBlocks({seq->blocks.begin(), seq->blocks.end()});
    if (blocks.size() == seq->blocks.size()) return seq;
    SeqExpr joined(std::move(blocks), seq->body, seq->span);
    joined->ty = seq->ty;
    return joined;
  }

  /// A local function knows nothing of the values outside: it may run at another time, or never.
  Expr Nested(const Expr& value) {
    if (value->kind != RelaxKind::kFunction) return RewriteNested(value);
    Table outside;
    std::vector<Table::iterator> scope;
    std::swap(outside, known_);
    std::swap(scope, scope_);
    const Expr rewritten = RewriteNested(value);
    std::swap(outside, known_);
    std::swap(scope, scope_);
    return rewritten;
  }

  bool IsCandidate(const Var& var, const Expr& value) const {
    if (call_only_ && value->kind != RelaxKind::kCall) return false;
    if (consumed_.count(var.get()) || MemoryCallOf(value) != MemoryCall::kNone) return false;
    return !HasSideEffect(value, module_);
  }

  const Var* Find(size_t hash, const Expr& value, const Type& cast_type, const Type& type) const {
    const auto [begin, end] = known_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const Known& known = it->second;
      if (cast_type.defined() != known.cast_type.defined()) continue;
      if (cast_type.defined() && !TypesIdentical(cast_type, known.cast_type)) continue;
      if (TypesIdentical(type, known.var.ty()) && SameValue(value, known.value)) return &known.var;
    }
    return nullptr;
  }

  void LeaveScope(size_t size) {
    for (; scope_.size() > size; scope_.pop_back()) known_.erase(scope_.back());
  }
  /// What a DataflowVar holds is known outside by the first output of that value.
  void LeaveDataflowBlock(size_t outside) {
    size_t kept = outside;
    for (size_t i = outside; i < scope_.size(); ++i) {
      Var& var = scope_[i]->second.var;
      if (var->kind == RelaxKind::kDataflowVar) {
        const auto output = output_of_.find(var.get());
        if (output == output_of_.end()) {
          known_.erase(scope_[i]);
          continue;
        }
        var = output->second;
      }
      scope_[kept++] = scope_[i];
    }
    scope_.resize(kept);
  }

  const IRModule& module_;
  const String function_;
  const bool call_only_;
  const VarSet consumed_;
  transform::DecisionLog* log_;
  VarReplacer replacer_;
  Table known_;
  /// Entries of `known_` in order, innermost scope last.
  std::vector<Table::iterator> scope_;
  /// In the dataflow block that is open: outputs that are names, and the first of them for each DataflowVar.
  std::vector<Var> renamed_outputs_;
  std::unordered_map<const Object*, Var> output_of_;
};

}  // namespace

Pass EliminateCommonSubexpr(bool call_only) {
  return transform::ModulePass({.name = "EliminateCommonSubexpr", .opt_level = 3},
                               [call_only](IRModule module, const transform::PassContext& context) {
                                 std::vector<std::pair<GlobalVar, Function>> changed;
                                 for (const auto& [var, func] : module->functions) {
                                   const auto function = As<Function>(func);
                                   if (!function.defined()) continue;
                                   if (function->attrs.defined() && (function->attrs->dict.count("Composite") ||
                                                                     function->attrs->dict.count("Codegen"))) {
                                     continue;
                                   }
                                   Eliminator eliminator(module, var->name_hint, call_only,
                                                         ConsumedValues().Find(function), context.decisions.get());
                                   Function updated = eliminator.RewriteBody(function);
                                   if (!updated.same_as(function)) changed.emplace_back(var, std::move(updated));
                                 }
                                 for (auto& [var, func] : changed) module.Update(var, std::move(func));
                                 return module;
                               });
}

}  // namespace deuteron::relax
