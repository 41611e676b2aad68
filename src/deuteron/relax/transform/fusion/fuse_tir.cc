/// \file
/// FuseTIR: makes every Primitive function one kernel.
///
/// Purpose: what FuseOps grouped becomes a single PrimFunc, under the same name; its intermediate values are
/// buffers of that kernel, and its calls become call_tir (call_tir_inplace where it writes into an argument).
///
/// What it must not do: touch private functions that are not Primitive, external ones, or what kernels
/// compute. A Primitive function that cannot be merged (a kernel without a root block, shapes whose equality
/// cannot be proved) stays a function of kernel calls and is reported in the decision log.
///
/// Place: after FuseOps, before schedules. It is a sequence: ExpandTupleArguments and RemoveUnusedParameters
/// bring arguments to single tensors, the merge follows, DeadCodeElimination removes the kernels it consumed.
#include <algorithm>
#include <exception>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/parallel.h"

namespace deuteron::relax {
namespace {

/// The arguments that each merged function writes in place, as MergedKernel has them.
using MergedMap = std::unordered_map<const Object*, Array<int64_t>>;

/// Turns calls of merged functions into calls of kernels.
class CallRewriter : public VarReplacer {
 public:
  CallRewriter(const MergedMap& merged, bool scalars_in_args)
      : VarReplacer(true), merged_(merged), scalars_in_args_(scalars_in_args) {}

 protected:
  Expr VisitCall(Call call) override {
    auto it = merged_.find(call->op.get());
    if (it == merged_.end()) return call;
    Array<Expr> tensors;
    Array<PrimExpr> scalars;
    for (const Expr& arg : call->args) {
      if (const auto* shape = arg.ty().as<ShapeTypeNode>()) {
        DEUTERON_CHECK(shape->values.has_value()) << "a shape argument of unknown dimensions";
        for (const PrimExpr& value : *shape->values) scalars.push_back(value);
      } else {
        tensors.push_back(arg);
      }
    }
    if (scalars_in_args_) {
      for (const PrimExpr& scalar : scalars) tensors.push_back(PrimValue(scalar));
      scalars.clear();
    }
    const Expr tir_vars = scalars.empty() ? Expr() : Expr(ShapeExpr(std::move(scalars)));
    const auto callee = Downcast<GlobalVar>(call->op);
    const Array<int64_t>& inplace = it->second;
    Call rewritten = inplace.empty() ? CallTIR(callee, Tuple(std::move(tensors)), call.ty(), tir_vars)
                                     : CallTIRInplace(callee, Tuple(std::move(tensors)), inplace, call.ty(), tir_vars);
    rewritten->ty = call.ty();
    rewritten->span = call->span;
    return rewritten;
  }

 private:
  const MergedMap& merged_;
  /// TVM 0.27 passes scalars among the arguments.
  const bool scalars_in_args_;
};

void Report(const transform::PassContext& context, const GlobalVar& name, const std::string& why) {
  transform::Decision decision{.reason = transform::Reason::kNotMerged};
  decision.pass = "FuseTIR";
  decision.function = name->name_hint;
  decision.subject = name->name_hint;
  decision.message = why;
  context.decisions->Add(std::move(decision));
}

/// Whether `func` is a group that is ours to merge: a composite or external function is for its back end.
bool IsGroup(const BaseFunc& func) {
  const auto function = As<Function>(func);
  return function.defined() && function->HasNonzeroAttr("Primitive") && !function->attrs->dict.count("Codegen") &&
         !function->attrs->dict.count("Composite");
}

/// The calls of what was merged become calls of kernels.
void RewriteCalls(const MergedMap& merged, bool compat, IRModule* module) {
  if (merged.empty()) return;
  CallRewriter rewriter(merged, compat);
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, func] : (*module)->functions) {
    const auto function = As<Function>(func);
    if (!function.defined()) continue;
    Function rewritten = rewriter.Replace(function);
    if (!rewritten.same_as(function)) changed.emplace_back(var, std::move(rewritten));
  }
  for (auto& [var, func] : changed) module->Update(var, std::move(func));
}

/// So many groups are merged by threads at once. They stay beside the kernels that take their places no longer than
/// that.
constexpr size_t kAtOnce = 64;
/// For fewer, to begin a thread takes longer, while what compiling needs later is opened by another.
constexpr size_t kFewest = 40;

fusion::MergedKernel MergeGroup(const IRModule& module, const GlobalVar& var, bool compat) {
  const auto group = Downcast<Function>(module.Lookup(var));
  const bool side_by_side = group->HasNonzeroAttr(fusion::kSideBySide);
  return fusion::MergeKernels(module, var, group,
                              {.first_region_only = compat,
                               .scalars_before_results = compat,
                               .trust_inplace = compat,
                               .keep_kernels = side_by_side,
                               .side_by_side = side_by_side});
}

void MergePrimitives(IRModule* module, const transform::PassContext& context) {
  const bool compat = transform::AsTVM(context);
  std::vector<GlobalVar> groups;
  for (const auto& [var, func] : (*module)->functions) {
    if (IsGroup(func)) groups.push_back(var);
  }
  MergedMap merged;
  try {
    for (size_t begin = 0; begin < groups.size(); begin += kAtOnce) {
      const size_t count = std::min(kAtOnce, groups.size() - begin);
      std::vector<fusion::MergedKernel> kernels(count);
      std::vector<std::exception_ptr> errors(count);
      const auto threads = count < kFewest ? size_t{1} : static_cast<size_t>(runtime::UsableThreads());
      ForEachInParallel(count, threads, [&](size_t i) {
        try {
          kernels[i] = MergeGroup(*module, groups[begin + i], compat);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
      // Those before one that fails are merged.
      for (size_t i = 0; i < count; ++i) {
        if (errors[i]) std::rethrow_exception(errors[i]);
        const GlobalVar& var = groups[begin + i];
        if (!kernels[i].func.defined()) {
          Report(context, var, kernels[i].why);
          continue;
        }
        module->Update(var, std::move(kernels[i].func));
        merged.emplace(var.get(), std::move(kernels[i].inplace_indices));
      }
    }
  } catch (...) {
    RewriteCalls(merged, compat, module);
    throw;
  }
  RewriteCalls(merged, compat, module);
}

}  // namespace

Pass FuseTIR() {
  const Pass merge = transform::StepwisePass({.name = "MergePrimitives"}, MergePrimitives);
  transform::Sequential passes({ExpandTupleArguments(), RemoveUnusedParameters(), merge, DeadCodeElimination()},
                               "FuseTIR");
  CopyOnWrite(&passes)->info.restartable = true;
  return passes;
}

}  // namespace deuteron::relax
