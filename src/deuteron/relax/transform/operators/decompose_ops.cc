/// \file
/// DecomposeOpsForInference: writes composite operators out in simpler ones.
///
/// Purpose: batch_norm yields three values and would stand between a convolution and its activation as one
/// opaque kernel; as subtract, divide, multiply and add it is fused with both. A dropout whose mask is not used
/// is its input.
///
/// What it must not do: change what inference computes. The moving averages pass through unchanged.
///
/// Place: early, before FoldConstant (which folds the square root of constant variances) and LegalizeOps, but
/// after FoldBatchnormToConv2D, which needs batch_norm whole.
#include <unordered_map>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/tuple_simplify.h"
#include "deuteron/relax/transform/operators/batch_norm_view.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

class Decomposer {
 public:
  explicit Decomposer(const IRModule& module) : builder_(module) {}

  Function Run(const Function& function) {
    CollectMasks(function);
    builder_.BeginScope(function->params);
    Array<BindingBlock> blocks = function->body->blocks.Map([this](const BindingBlock& b) { return Visit(b); });
    builder_.EndScope();
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(std::move(blocks), function->body->body, function->body->span));
  }

 private:
  BindingBlock Visit(const BindingBlock& block) {
    if (block->IsInstance<DataflowBlockNode>()) {
      builder_.BeginDataflowBlock();
    } else {
      builder_.BeginBindingBlock();
    }
    bool changed = false;
    for (const Binding& binding : block->bindings) {
      const Expr decomposed = Decompose(binding);
      changed |= decomposed.defined();
      builder_.EmitNormalized(decomposed.defined() ? VarBinding(binding->var, decomposed, binding->span) : binding);
    }
    const BindingBlock rebuilt = builder_.EndBlock();
    return changed ? rebuilt : block;
  }

  Expr Decompose(const Binding& binding) {
    static const Op dropout = Op::Get("relax.nn.dropout");
    if (const auto norm = ViewBatchNorm(BoundValue(binding))) return DecomposeBatchNorm(*norm);
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && call->op.same_as(dropout) && !whole_uses_.count(binding->var.get())) {
      return Tuple({call->args[0], call->args[0]}, call->span);
    }
    return Expr();
  }

  /// (x - mean) / sqrt(var + epsilon) * gamma + beta, parameters expanded to the rank of x.
  Expr DecomposeBatchNorm(const BatchNormView& norm) {
    if (norm.axis < 0) return Expr();
    const auto* type = norm.data.ty().as<TensorTypeNode>();
    std::vector<int64_t> others;
    for (int64_t i = 0; i < type->ndim; ++i) {
      if (i != norm.axis) others.push_back(i);
    }
    const auto emit = [&](const Expr& expr) { return Expr(builder_.Emit(expr, "", norm.span)); };
    const auto expand = [&](const Expr& param) { return emit(ExpandDims(param, others)); };
    const auto* variance = norm.variance.ty().as<TensorTypeNode>();
    const DataType dtype = variance ? variance->dtype : type->dtype;
    const Expr mean = expand(norm.mean);
    const Expr centred = emit(Subtract(norm.data, mean));
    const Expr shifted = emit(Add(expand(norm.variance), Constant::Scalar(dtype, norm.attrs->epsilon)));
    const Expr deviation = emit(Sqrt(shifted));
    Expr result = emit(Divide(centred, deviation));
    if (norm.attrs->scale) result = emit(Multiply(result, expand(norm.gamma)));
    if (norm.attrs->center) result = emit(Add(result, expand(norm.beta)));
    return Tuple({result, norm.mean, norm.variance}, norm.span);
  }

  /// Variables of which more is used than item 0.
  void CollectMasks(const Function& function) {
    const auto note = [this](const Expr& leaf) { whole_uses_.insert(leaf.get()); };
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* item = BoundValue(binding).as<TupleGetItemNode>();
        if (item != nullptr && item->index == 0) continue;
        VisitLeaves(BoundValue(binding), note);
      }
    }
    VisitLeaves(function->body->body, note);
  }

  BlockBuilder builder_;
  std::unordered_set<const Object*> whole_uses_;
};

}  // namespace

Pass DecomposeOpsForInference(std::string func_name) {
  return transform::ModulePass(
      {.name = "DecomposeOpsForInference"}, [func_name](IRModule module, const transform::PassContext&) {
        if (!func_name.empty()) module.GetGlobalVar(func_name);
        module = UpdateFunctions(std::move(module), [&](const GlobalVar& var, const Function& function) {
          if (!func_name.empty() && var->name_hint != func_name) return function;
          return Decomposer(IRModule::Empty()).Run(function);
        });
        return SimplifyTuples(std::move(module));
      });
}

}  // namespace deuteron::relax
