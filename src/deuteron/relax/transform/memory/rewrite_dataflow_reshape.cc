/// \file
/// RewriteDataflowReshape: a kernel that only gives its argument another shape becomes a view of it.
///
/// Purpose: reshapes that stand between kernels that take no others in, two products say, copy what is there already.
///
///     lv1 = call_tir(reshape, (lv,), Tensor((50, 8, 1024)))   →   lv1 = memory.view of lv
///
/// When: the result is local to its dataflow block and read by kernels and libraries alone, which cannot write into
/// what they are given, so that nobody can tell it from a copy. Whether its shape is matched in between is all the
/// same.
///
/// Place: behind all fusion; FuseOps takes a reshape into a kernel where it can. Off under tvm_compat.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/tir/analysis/reshape.h"

namespace deuteron::relax {
namespace {

class ReshapeRewriter {
 public:
  explicit ReshapeRewriter(const IRModule& module) : module_(module) {}

  Function Rewrite(const Function& function) {
    const Array<BindingBlock> blocks = function->body->blocks.Map(
        [&](const BindingBlock& block) { return block->IsInstance<DataflowBlockNode>() ? Rewrite(block) : block; });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  }

 private:
  BindingBlock Rewrite(const BindingBlock& block) {
    std::unordered_set<const Object*> otherwise_used;
    for (size_t i = block->bindings.size(); i-- > 0;) {
      const Binding& binding = block->bindings[static_cast<int64_t>(i)];
      const Expr& value = BoundValue(binding);
      if (IsCallTIR(value) || IsCallDPSPacked(value)) continue;
      // A match is the same tensor, for what uses it.
      const bool is_match = binding->IsInstance<MatchCastNode>() && binding->var->kind == RelaxKind::kDataflowVar;
      if (is_match && otherwise_used.count(binding->var.get()) == 0) continue;
      VisitLeaves(value, [&](const Expr& leaf) { otherwise_used.insert(leaf.get()); });
    }
    bool changed = false;
    Array<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      const Expr view = ViewFor(binding, otherwise_used);
      changed |= view.defined();
      bindings.push_back(view.defined() ? VarBinding(binding->var, view, SpanOf(binding)) : binding);
    }
    return changed ? WithBindings(block, std::move(bindings)) : block;
  }

  /// Null where it stays a kernel.
  Expr ViewFor(const Binding& binding, const std::unordered_set<const Object*>& otherwise_used) {
    const Expr& value = BoundValue(binding);
    const Var& var = binding->var;
    if (!binding->IsInstance<VarBindingNode>() || var->kind != RelaxKind::kDataflowVar || !IsCallTIR(value)) return {};
    const CallTIRView view = ViewCallTIR(Downcast<Call>(value));
    const auto* type = view.out_ty.as<TensorTypeNode>();
    const bool is_plain =
        type != nullptr && type->has_shape() && view.args->fields.size() == 1 && IsVar(view.args->fields[0]);
    if (!is_plain || otherwise_used.count(var.get()) != 0 || !IsReshape(view.func)) return {};
    return WholeView(view.args->fields[0], GetRef<TensorType>(type));
  }

  bool IsReshape(const GlobalVar& name) {
    const auto [it, inserted] = is_reshape_.try_emplace(name.get(), false);
    if (inserted) {
      const auto kernel = As<tir::PrimFunc>(module_.Lookup(name));
      it->second = kernel.defined() && tir::IsReshape(kernel);
    }
    return it->second;
  }

  const IRModule& module_;
  std::unordered_map<const Object*, bool> is_reshape_;
};

}  // namespace

Pass RewriteDataflowReshape() {
  return transform::ModulePass(
      {.name = "RewriteDataflowReshape"}, [](IRModule module, const transform::PassContext& context) {
        if (transform::AsTVM(context)) return module;
        ReshapeRewriter rewriter(module);
        return UpdateFunctions(module,
                               [&](const GlobalVar&, const Function& function) { return rewriter.Rewrite(function); });
      });
}

}  // namespace deuteron::relax
