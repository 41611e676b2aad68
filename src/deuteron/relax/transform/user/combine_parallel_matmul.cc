/// \file
/// CombineParallelMatmul: products of one left operand with several right ones become one product.
///
/// Purpose: matmul(x, A), matmul(x, B) is split(matmul(x, concat(A, B))): `x` is read once and one larger product uses
/// the machine better (the query, key and value of attention). If every product of a group is followed by a bias of one
/// form, or by the same activation (relu, gelu, gelu_tanh, silu), these move before the split too. The concatenation of
/// constant weights is folded by FoldConstant.
///
/// What it must not do: make a product wait for itself. A right operand that depends on another product of its group
/// does not join. Bindings keep their order unless an operand of the combined product comes later. Nothing moves across
/// a match_cast, a branch, or a call that has side effects or writes in place.
///
/// Constant weights join; a repeated weight is multiplied once; products of different batch dimensions or result dtypes
/// form groups of their own; a bias moves only where the product has no other use, so that no product is computed
/// twice; biases that do not concatenate stay behind.
///
/// Place: before LegalizeOps, and before FoldConstant.
#include "deuteron/relax/transform/user/combine_parallel_matmul.h"

#include <map>

#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// How often each variable is used in a function, branches and local functions included.
class UseCounter : public ExprVisitor {
 public:
  std::unordered_map<const Object*, int64_t> uses;

 protected:
  void VisitVar_(const VarNode* op) override { ++uses[op]; }
};

class ParallelMatmulCombiner : public ExprMutator {
 public:
  ParallelMatmulCombiner(const IRModule& module, String name, const CombineMatmulCheck& check,
                         const transform::PassContext& context)
      : module_(module), name_(std::move(name)), check_(check), context_(context) {}

  Function Run(const Function& function) {
    UseCounter counter;
    counter.VisitExpr(function);
    uses_ = std::move(counter.uses);
    return Downcast<Function>(VisitExpr(function));
  }

 protected:
  BindingBlock VisitBlock(const BindingBlock& block) override {
    if (block->IsInstance<DataflowBlockNode>()) {
      builder_.BeginDataflowBlock();
    } else {
      builder_.BeginBindingBlock();
    }
    bool changed = false;
    std::vector<Binding> run;
    const auto end_run = [&] {
      const std::optional<MatmulPlan> plan = PlanMatmuls(run, {uses_, check_});
      if (plan) {
        Emit(*plan, run);
        changed = true;
      } else {
        for (const Binding& binding : run) VisitBinding(binding);
      }
      run.clear();
    };
    for (const Binding& binding : block->bindings) {
      if (!IsBarrier(binding)) {
        run.push_back(binding);
        continue;
      }
      end_run();
      VisitBinding(binding);
    }
    end_run();
    const BindingBlock rebuilt = builder_.EndBlock();
    changed |= rebuilt->bindings.size() != block->bindings.size() ||
               !std::equal(rebuilt->bindings.begin(), rebuilt->bindings.end(), block->bindings.begin(),
                           [](const Binding& a, const Binding& b) { return a.same_as(b); });
    return changed ? rebuilt : block;
  }

 private:
  /// Whether other bindings keep their place before or after this one.
  bool IsBarrier(const Binding& binding) const {
    static const Op in_place = Op::Get("relax.call_tir_inplace");
    if (binding->IsInstance<MatchCastNode>()) return true;
    const Expr& value = BoundValue(binding);
    if (value->kind == RelaxKind::kIf || value->kind == RelaxKind::kFunction || value->kind == RelaxKind::kSeqExpr) {
      return true;
    }
    const auto* call = value.as<CallNode>();
    return call != nullptr && (call->op.same_as(in_place) || HasSideEffect(value, module_));
  }

  void Emit(const MatmulPlan& plan, const std::vector<Binding>& run) {
    std::vector<Expr> pieces(plan.groups.size());
    weights_.clear();
    for (const MatmulPlan::Step& step : plan.steps) {
      if (!step.is_group) {
        const Binding& binding = run[step.index];
        const auto it = plan.projections.find(step.index);
        if (it == plan.projections.end()) {
          VisitBinding(binding);
        } else if (uses_.count(binding->var.get()) != 0) {
          Project(binding, pieces[it->second.group], it->second.piece);
        }
        continue;
      }
      pieces[step.index] = EmitGroup(plan.groups[step.index]);
      Log(plan.groups[step.index], run);
    }
  }

  Array<Expr> Visited(const std::vector<Expr>& exprs) {
    Array<Expr> visited;
    for (const Expr& expr : exprs) visited.push_back(VisitExpr(expr));
    return visited;
  }

  /// The tuple of results of a group.
  Expr EmitGroup(const MatmulGroup& group) {
    const Span& span = group.span;
    const Array<Expr> rhs = Visited(group.rhs);
    std::vector<const Object*> key;
    for (const Expr& weight : rhs) key.push_back(weight.get());
    Expr& weights = weights_[std::move(key)];
    if (!weights.defined()) weights = builder_.Emit(Concat(rhs, group.rhs_rank - 1), "", span);
    Expr result = builder_.Emit(Matmul(VisitExpr(group.lhs), weights, group.out_dtype), "", span);
    if (!group.bias.empty()) {
      const Expr bias = builder_.Emit(Concat(Visited(group.bias), group.bias_rank - 1), "", span);
      result = builder_.Emit(Add(result, bias), "", span);
    }
    if (group.activation.defined()) result = builder_.Emit(Call(group.activation, {result}), "", span);
    return builder_.Emit(SplitIndices(result, group.split_at, group.out_rank - 1), "", span);
  }

  void Project(const Binding& binding, const Expr& tuple, int64_t piece) {
    const Expr value = builder_.Normalize(TupleGetItem(tuple, piece, binding->span));
    Var var = binding->var;
    if (!TypesIdentical(var.ty(), value.ty())) {
      var = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, value.ty(), var->span))
                                                 : Var(var->name_hint, value.ty(), var->span);
      Remap(binding->var, var);
    }
    builder_.EmitNormalized(VarBinding(var, value, binding->span));
  }

  void Log(const MatmulGroup& group, const std::vector<Binding>& run) const {
    std::string members;
    for (const size_t member : group.members) {
      members += (members.empty() ? "" : ", ") + std::string(run[member]->var->name_hint);
    }
    using transform::Reason;
    const bool active = group.activation.defined();
    transform::Decision decision{
        .reason = group.bias.empty() ? (active ? Reason::kCombinedWithActivation : Reason::kCombined)
                                     : (active ? Reason::kCombinedWithBiasAndActivation : Reason::kCombinedWithBias)};
    decision.pass = "CombineParallelMatmul";
    decision.function = name_;
    decision.subject = members;
    decision.figures = {{"products", static_cast<int64_t>(group.members.size())}};
    decision.subject_span = group.span;
    context_.decisions->Add(std::move(decision));
  }

  const IRModule& module_;
  const String name_;
  const CombineMatmulCheck& check_;
  const transform::PassContext& context_;
  std::unordered_map<const Object*, int64_t> uses_;
  /// Concatenations of the run at hand, by their parts.
  std::map<std::vector<const Object*>, Expr> weights_;
};

}  // namespace

Pass CombineParallelMatmul(CombineMatmulCheck check) {
  return transform::ModulePass(
      {.name = "CombineParallelMatmul"}, [check](IRModule module, const transform::PassContext& context) {
        const IRModule before = module;
        return UpdateFunctions(std::move(module), [&](const GlobalVar& var, const Function& function) {
          return ParallelMatmulCombiner(before, var->name_hint, check, context).Run(function);
        });
      });
}

}  // namespace deuteron::relax
