/// \file
/// SeparateOutputs: looks through the tuple that an injective kernel of several results returns.
///
/// Purpose: a split, an unstack, a meshgrid is one kernel of several results, and its projections end every group: the
/// results' ways part. Each result is given a kernel of its own, a plain slice, which FuseOps then fuses into what
/// uses it, so that it is never stored.
///
///     lv = call_tir(split, (x,), out_ty=[A, B])        a = call_tir(split_0, (x,), out_ty=A)
///     a = lv[0]                                    →   b = call_tir(split_1, (x,), out_ty=B)
///     b = lv[1]
///
/// When it pays: every use of every result, but for one of them, is an elementwise, broadcasting or injective kernel,
/// into which a slice fuses. The other result is stored by a kernel of its own; where several have to be stored, one
/// kernel that stores all of them is better than several.
///
/// What it must not do: separate results that share work (a block that computes for several), or reductions.
///
/// Place: after AnnotateTIROpPattern, before FuseOps. Off under tvm_compat.
#include <algorithm>
#include <unordered_map>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/op_pattern.h"
#include "deuteron/tir/functor.h"

namespace deuteron::relax {
namespace {

/// Gives kernels one result each.
class KernelSeparator {
 public:
  explicit KernelSeparator(const IRModule& module) : module_(module), names_(module) {}

  /// The kernel of result `index` of `callee`, called with all of its arguments; null if it cannot be separated.
  GlobalVar Get(const GlobalVar& callee, size_t num_results, size_t index) {
    auto [it, inserted] = separated_.try_emplace(callee.get());
    if (inserted) it->second = Separate(callee, num_results);
    return it->second.empty() ? GlobalVar() : it->second.at(index);
  }
  std::vector<std::pair<GlobalVar, BaseFunc>> TakeAdded() { return std::move(added_); }

  /// "op_pattern" of a kernel; opaque if it has none.
  tir::OpPatternKind KindOf(const Expr& callee) const {
    const auto func = callee->kind == RelaxKind::kGlobalVar ? module_.Lookup(Downcast<GlobalVar>(callee)) : BaseFunc();
    const auto* kernel = func.as<tir::PrimFuncNode>();
    const auto kind = kernel ? kernel->GetAttr<int64_t>("op_pattern") : std::nullopt;
    return kind ? static_cast<tir::OpPatternKind>(*kind) : tir::OpPatternKind::kOpaque;
  }

 private:
  std::vector<GlobalVar> Separate(const GlobalVar& callee, size_t num_results) {
    const auto func = As<tir::PrimFunc>(module_.Lookup(callee));
    if (!func.defined() || !tir::HasRootBlock(func) || KindOf(callee) > tir::OpPatternKind::kInjective) return {};
    const Array<tir::Buffer> buffers = tir::ParamBuffers(func);
    if (buffers.size() != func->params.size() || buffers.size() <= num_results) return {};
    const tir::SBlock root = tir::RootBlock(func);
    const auto* nests = root->body.as<tir::SeqStmtNode>();
    if (nests == nullptr || nests->seq.size() != num_results || !root->alloc_buffers.empty()) return {};
    const size_t num_inputs = buffers.size() - num_results;
    // One nest of one injective block writes each result.
    std::vector<tir::Stmt> nest_of(num_results);
    for (const tir::Stmt& nest : nests->seq) {
      const tir::ScopeInfo scope = tir::AnalyzeScope(nest);
      if (scope.blocks.size() != 1) return {};
      const tir::SBlock& block = scope.blocks[0]->block;
      if (tir::ClassifyBlock(block).kind != tir::BlockClass::kInjective || block->writes.size() != 1) return {};
      const auto at = std::find_if(buffers.begin(), buffers.end(),
                                   [&](const tir::Buffer& b) { return b.same_as(block->writes[0]->buffer); });
      const auto position = static_cast<size_t>(at - buffers.begin());
      if (position < num_inputs || position == buffers.size()) return {};
      nest_of[position - num_inputs] = nest;
    }
    std::vector<Array<tir::Buffer>> params_of;
    for (size_t i = 0; i < num_results; ++i) {
      Array<tir::Buffer>& params =
          params_of.emplace_back(buffers.begin(), buffers.begin() + static_cast<int64_t>(num_inputs));
      params.push_back(buffers[static_cast<int64_t>(num_inputs + i)]);
      // A part may begin where another ends, which only that one's shape tells.
      if (!nest_of[i].defined() || !tir::ShapesDefineSymbols(params, buffers, nest_of[i])) return {};
    }
    std::vector<GlobalVar> result;
    for (size_t i = 0; i < num_results; ++i) {
      const tir::SBlock body(kEmpty, kEmpty, kEmpty, "root", nest_of[i]);
      tir::PrimFunc kernel = tir::RenewDefs(
          tir::PrimFunc::FromBuffers(params_of[i], {}, tir::SBlockRealize(kEmpty, True(), body), func->attrs));
      Map<String, Any> attrs = kernel->attrs->dict;
      // A part of a tensor at the same indices looks elementwise, but has another shape.
      attrs.Set("op_pattern", static_cast<int64_t>(tir::OpPatternKind::kInjective));
      CopyOnWrite(&kernel)->attrs = DictAttrs(std::move(attrs));
      GlobalVar var(names_.Unique(std::string(callee->name_hint) + "_" + std::to_string(i)), kernel.ty());
      added_.emplace_back(var, kernel);
      result.push_back(std::move(var));
    }
    return result;
  }

  const IRModule& module_;
  FunctionNames names_;
  std::unordered_map<const Object*, std::vector<GlobalVar>> separated_;
  std::vector<std::pair<GlobalVar, BaseFunc>> added_;
};

BindingBlock SeparateBlock(const BindingBlock& block, KernelSeparator* kernels, const String& function,
                           transform::DecisionLog* log) {
  if (!block->IsInstance<DataflowBlockNode>()) return block;
  // Who uses what, by variable.
  std::unordered_map<const Object*, std::vector<const BindingNode*>> users;
  std::vector<Binding> candidates;
  for (const Binding& binding : block->bindings) {
    const Expr& value = BoundValue(binding);
    VisitLeaves(value, [&](const Expr& leaf) {
      if (IsVar(leaf)) users[leaf.get()].push_back(binding.get());
    });
    const bool has_results =
        binding->var.ty().as<TupleTypeNode>() != nullptr && binding->var->kind == RelaxKind::kDataflowVar;
    if (has_results && binding->IsInstance<VarBindingNode>() && IsCallTIR(value)) candidates.push_back(binding);
  }
  if (candidates.empty()) return block;

  const auto fuses = [&](const BindingNode* item) {
    if (item->var->kind != RelaxKind::kDataflowVar) return false;
    const auto& uses = users[item->var.get()];
    return std::all_of(uses.begin(), uses.end(), [&](const BindingNode* use) {
      const Expr& value = BoundValue(GetRef<Binding>(use));
      return IsCallTIR(value) &&
             kernels->KindOf(static_cast<const CallNode*>(value.get())->args[0]) <= tir::OpPatternKind::kInjective;
    });
  };
  std::unordered_map<const Object*, Call> separated;
  for (const Binding& binding : candidates) {
    const auto& items = users[binding->var.get()];
    const auto call = Downcast<Call>(BoundValue(binding));
    const CallTIRView view = ViewCallTIR(call);
    const bool apart = !items.empty() && !view.tir_vars.defined() &&
                       std::all_of(items.begin(), items.end(), [](const BindingNode* item) {
                         return BoundValue(GetRef<Binding>(item))->kind == RelaxKind::kTupleGetItem;
                       });
    const size_t count = OutputTensors(view.out_ty).size();
    const bool separable = apart && kernels->Get(view.func, count, 0).defined();
    const bool pays = separable && items.size() - std::count_if(items.begin(), items.end(), fuses) <= 1;
    if (apart) {
      log->Add({.pass = "SeparateOutputs",
                .function = function,
                .subject = binding->var->name_hint,
                .reason = pays        ? transform::Reason::kSeparated
                          : separable ? transform::Reason::kResultIsStored
                                      : transform::Reason::kSharedWork});
    }
    if (pays) separated.emplace(binding->var.get(), call);
  }
  if (separated.empty()) return block;
  Array<Binding> bindings;
  for (const Binding& binding : block->bindings) {
    if (separated.count(binding->var.get())) continue;
    const auto* item = BoundValue(binding).as<TupleGetItemNode>();
    const auto tuple = item ? separated.find(item->tuple.get()) : separated.end();
    if (tuple == separated.end()) {
      bindings.push_back(binding);
      continue;
    }
    const CallTIRView view = ViewCallTIR(tuple->second);
    const auto types = OutputTensors(view.out_ty);
    const auto index = static_cast<size_t>(item->index);
    Call call = CallTIR(kernels->Get(view.func, types.size(), index), view.args, types[index]);
    call->ty = types[index];
    call->span = tuple->second->span;
    bindings.push_back(VarBinding(binding->var, call, binding->span));
  }
  return WithBindings(block, std::move(bindings));
}

}  // namespace

Pass SeparateOutputs() {
  return transform::ModulePass({.name = "SeparateOutputs"}, [](IRModule module, const transform::PassContext& context) {
    if (!transform::MergesBeyondFuseOps(context)) return module;
    const IRModule original = module;
    KernelSeparator kernels(original);
    module = UpdateFunctions(std::move(module), [&](const GlobalVar& name, const Function& function) {
      const auto blocks = function->body->blocks.Map([&](const BindingBlock& block) {
        return SeparateBlock(block, &kernels, name->name_hint, context.decisions.get());
      });
      if (blocks.same_as(function->body->blocks)) return function;
      return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
    });
    for (auto& [var, func] : kernels.TakeAdded()) module.Update(var, std::move(func));
    return module;
  });
}

}  // namespace deuteron::relax
