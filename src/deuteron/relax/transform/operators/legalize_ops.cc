/// \file
/// LegalizeOps: from operators to loops.
///
/// Purpose: every call of a graph-level operator becomes a call_tir of a kernel that computes it. The kernel
/// comes from the custom map, else from the operator's row (relax/op_info.h). A call whose operator,
/// attributes and argument types were met before shares the kernel, and nothing is built for it.
///
/// What it must not do: touch operators in `skip_ops`, operators without a rule (they are lowered later or
/// run in the runtime), or calls whose shapes are not known well enough for their rule (it returns the call
/// itself). Operators without a rule are listed in the decision log, and with `enable_warning` on standard error. What
/// a rule returns is legalised in turn, since it may use other operators.
///
/// Place: after graph-level rewrites, before AnnotateTIROpPattern.
#include <iostream>
#include <unordered_set>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/legalize_cache.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/rewrite/operator_names.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

class Legalizer {
 public:
  Legalizer(const IRModule& module, const LegalizeMap& custom, const std::vector<std::string>& skip_ops, bool warn,
            transform::DecisionLog* log)
      : builder_(module), custom_(custom), warn_(warn), log_(log) {
    for (const std::string& name : skip_ops) skipped_.insert(Op::Get(name).get());
  }

  void Run(const GlobalVar& name, const Function& function) {
    function_ = name->name_hint;
    warned_.clear();
    LegalizeAhead(function);
    builder_.BeginScope(function->params);
    const SeqExpr body = Visit(function->body);
    builder_.EndScope();
    if (!body.same_as(function->body)) builder_.UpdateFunction(name, WithBody(function, body));
  }

  IRModule Finish() { return builder_.Finalize(); }

 private:
  /// The calls of the function's blocks, by threads; its bindings then take what these made, one after the other.
  void LegalizeAhead(const Function& function) {
    std::vector<std::pair<Call, Legalize>> calls;
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* call = BoundValue(binding).as<CallNode>();
        const Legalize rule = call == nullptr ? nullptr : RuleOf(GetRef<Call>(call));
        if (rule != nullptr) calls.emplace_back(GetRef<Call>(call), rule);
      }
    }
    cache_.RunAhead(calls);
  }

  SeqExpr Visit(const SeqExpr& seq) {
    Array<BindingBlock> blocks = seq->blocks.Map([this](const BindingBlock& block) { return Visit(block); });
    return blocks.same_as(seq->blocks) ? seq : SeqExpr(std::move(blocks), seq->body, seq->span);
  }

  BindingBlock Visit(const BindingBlock& block) {
    if (block->IsInstance<DataflowBlockNode>()) {
      builder_.BeginDataflowBlock();
    } else {
      builder_.BeginBindingBlock();
    }
    bool changed = false;
    for (const Binding& binding : block->bindings) {
      const Expr& value = BoundValue(binding);
      const Expr legal = Visit(value);
      if (legal.same_as(value)) {
        builder_.EmitNormalized(binding);
        continue;
      }
      changed = true;
      if (legal->kind == RelaxKind::kCall && !legal->span.defined()) legal->span = value->span;
      builder_.EmitNormalized(VarBinding(binding->var, legal, binding->span));
    }
    const BindingBlock rebuilt = builder_.EndBlock();
    if (!changed) return block;
    return WithPlaces(rebuilt, block->bindings);
  }

  /// What a rule bound before its result has the place of the call that it was made for, as its result has.
  static BindingBlock WithPlaces(const BindingBlock& rebuilt, const Array<Binding>& original) {
    size_t next = 0;
    Array<Binding> bindings = rebuilt->bindings.Map([&](const Binding& binding) -> Binding {
      const Binding& made_for = original[next];
      if (binding->var.same_as(made_for->var)) {
        ++next;
        return binding;
      }
      if (binding->span.defined() || !made_for->span.defined()) return binding;
      if (const auto* cast = binding.as<MatchCastNode>()) {
        return MatchCast(binding->var, cast->value, cast->ty, made_for->span);
      }
      const Expr& value = BoundValue(binding);
      if (value->kind == RelaxKind::kCall && !value->span.defined()) value->span = made_for->span;
      return VarBinding(binding->var, value, made_for->span);
    });
    return WithBindings(rebuilt, std::move(bindings));
  }

  Expr Visit(const Expr& value) {
    if (const auto* branch = value.as<IfNode>()) {
      const SeqExpr true_branch = VisitBranch(branch->true_branch);
      const SeqExpr false_branch = VisitBranch(branch->false_branch);
      if (true_branch.same_as(branch->true_branch) && false_branch.same_as(branch->false_branch)) return value;
      If rewritten(branch->cond, true_branch, false_branch, value->span);
      rewritten->ty = value.ty();
      return rewritten;
    }
    if (const auto* local = value.as<FunctionNode>()) {
      builder_.BeginScope(local->params);
      const SeqExpr body = Visit(local->body);
      builder_.EndScope();
      return body.same_as(local->body) ? value : Expr(WithBody(GetRef<Function>(local), body));
    }
    if (value->kind != RelaxKind::kCall) return value;
    Expr result = value;
    // A rule may return a call of another operator; a cycle of rules would be a bug of the table.
    for (int depth = 0; result->kind == RelaxKind::kCall; ++depth) {
      DEUTERON_CHECK(depth < 16) << "legalisation of " << Downcast<Op>(Downcast<Call>(value)->op)->name
                                 << " does not end";
      const Expr next = Legalized(Downcast<Call>(result));
      if (next.same_as(result)) break;
      result = next->kind == RelaxKind::kCall ? builder_.Normalize(next) : next;
    }
    return result;
  }

  SeqExpr VisitBranch(const SeqExpr& branch) {
    builder_.BeginScope({});
    SeqExpr visited = Visit(branch);
    builder_.EndScope();
    return visited;
  }

  bool IsSkipped(const Call& call) const {
    return call->op->kind != RelaxKind::kOp || IsAnyCallTIR(call) || IsCallDPSPacked(call) ||
           skipped_.count(call->op.get()) != 0;
  }

  /// Of the operators' table; null for calls that have none, are skipped, or have a custom one.
  Legalize RuleOf(const Call& call) {
    if (IsSkipped(call)) return nullptr;
    const auto op = Downcast<Op>(call->op);
    if (!custom_.empty() && custom_.count(std::string(op->name)) != 0) return nullptr;
    auto [it, inserted] = rules_.try_emplace(op.get(), nullptr);
    if (inserted) {
      if (const OpInfo* info = FindOpInfo(op)) it->second = info->legalize;
    }
    return it->second;
  }

  Expr Legalized(const Call& call) {
    if (IsSkipped(call)) return call;
    const auto* op = call->op.as<OpNode>();
    if (!custom_.empty()) {
      auto it = custom_.find(std::string(op->name));
      if (it != custom_.end()) return it->second(builder_, call);
    }
    const Legalize rule = RuleOf(call);
    if (rule == nullptr) {
      // What calls an external function has nothing to be made of it.
      static const Op call_pure_packed = Op::Get("relax.call_pure_packed");
      if (!call->op.same_as(call_pure_packed)) ReportMissing(GetRef<Op>(op), call->span);
      return call;
    }
    return cache_.Run(builder_, call, rule);
  }

  /// Once for each operator in a function.
  void ReportMissing(const Op& op, const Span& span) {
    if (!warned_.insert(op.get()).second) return;
    transform::Decision decision{.reason = transform::Reason::kNoLegalization};
    decision.pass = "LegalizeOps";
    decision.function = function_;
    decision.subject = op->name;
    decision.subject_span = span;
    log_->Add(std::move(decision));
    if (!warn_) return;
    std::cerr << "warning: LegalizeOps: function \"" << std::string(function_) << "\": operator "
              << std::string(op->name) << " has no legalization\n";
  }

  BlockBuilder builder_;
  LegalizeCache cache_;
  const LegalizeMap& custom_;
  const bool warn_;
  transform::DecisionLog* log_;
  String function_;
  std::unordered_set<const Object*> warned_;
  std::unordered_set<const Object*> skipped_;
  std::unordered_map<const Object*, Legalize> rules_;
};

}  // namespace

Pass LegalizeOps(LegalizeMap custom, std::vector<std::string> skip_ops, bool enable_warning) {
  for (const std::string& name : skip_ops) RequireOperator("LegalizeOps: skip_ops", name);
  return transform::ModulePass(
      {.name = "LegalizeOps"},
      [custom, skip_ops, enable_warning](const IRModule& module, const transform::PassContext& context) {
        return MutateFunctions(module, Legalizer(module, custom, skip_ops, enable_warning, context.decisions.get()));
      });
}

}  // namespace deuteron::relax
