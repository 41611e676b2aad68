/// \file
/// RecomputeProducers: a pointwise value that several kernels use is computed in each of them, and never stored.
///
/// Purpose: where the uses of a value never come together, FuseOps has to leave it in memory: one kernel writes it and
/// all others read it. If it is cheap, every one of them computes it from what it is made of.
///
///     v = add(x, y)                          a = fused_add_transpose(x, y)
///     a = transpose(v)                  →    b = fused_add_sum(x, y)
///     b = sum(v)
///
/// When: the producer is elementwise, broadcasting or injective (a kernel or a group of FuseOps) of one result, and
///  - every user is a kernel that it can be part of: pointwise, or, for elementwise producers, with one reduction;
///    none holds a product, a convolution, or several stages;
///  - no user asks for an element more often than it is there (a broadcast of the value would compute it anew for
///  each);
///  - the bytes that are saved (written once, read by every user, less what is read of its arguments in addition) are
///    worth the operations that are done again (tir/analysis/cost.h);
///  - the limits on operators and arguments of a kernel hold.
/// All users take it, or none: a value that is stored anyway is read cheaply.
///
/// What it must not do: compute a value again that is an output, or one whose users FuseReductions and FuseSiblings
/// have already brought together; chain (a producer that is recomputed takes no other in); change what tvm_compat
/// promises.
///
/// Place: after FuseSiblings, which computes nothing twice, before FuseTIR. Every value of several users that it looks
/// at gets a verdict in the decision log.
#include <algorithm>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/op_pattern.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using tir::OpPatternKind;
using transform::Reason;

/// What counts of a kernel, or of all kernels of a Primitive function.
struct Work {
  OpPatternKind kind = OpPatternKind::kElemWise;
  double flops = 0;
  int64_t kernels = 0;
  int64_t reductions = 0;
};

class WorkAnalyzer {
 public:
  WorkAnalyzer(const IRModule& module, const fusion::RowAnalyzer& rows) : module_(module), rows_(rows) {}

  Work Of(const Expr& value) {
    Work work;
    if (const Function function = rows_.PrimitiveCallee(value); function.defined()) {
      for (const BindingBlock& block : function->body->blocks) {
        for (const Binding& binding : block->bindings) {
          if (BoundValue(binding)->kind == RelaxKind::kCall) Add(BoundValue(binding), &work);
        }
      }
    } else {
      Add(value, &work);
    }
    return work;
  }

 private:
  void Add(const Expr& value, Work* work) {
    const Work one =
        IsCallTIR(value) ? OfKernel(static_cast<const CallNode*>(value.get())->args[0]) : Work{OpPatternKind::kOpaque};
    work->kind = std::max(work->kind, one.kind);
    work->flops += one.flops;
    work->kernels += 1;
    work->reductions += one.kind == OpPatternKind::kCommReduce;
  }
  const Work& OfKernel(const Expr& callee) {
    auto [it, inserted] = kernels_.try_emplace(callee.get(), Work{OpPatternKind::kOpaque});
    if (!inserted || callee->kind != RelaxKind::kGlobalVar) return it->second;
    const auto func = As<tir::PrimFunc>(module_.Lookup(Downcast<GlobalVar>(callee)));
    if (!func.defined() || !tir::HasRootBlock(func)) return it->second;
    if (const auto kind = func->GetAttr<int64_t>("op_pattern")) it->second.kind = static_cast<OpPatternKind>(*kind);
    it->second.flops = tir::AssumedOps(func);
    return it->second;
  }

  const IRModule& module_;
  const fusion::RowAnalyzer& rows_;
  std::unordered_map<const Object*, Work> kernels_;
};

/// Recomputes the values of one block.
class BlockRecomputer {
 public:
  BlockRecomputer(const BindingBlock& block, fusion::RowAnalyzer* rows, WorkAnalyzer* work, const tir::CostModel& costs,
                  const transform::PassContext& context, String function)
      : block_(block),
        rows_(rows),
        work_(work),
        costs_(costs),
        log_(context.decisions.get()),
        function_(std::move(function)),
        max_depth_(context.GetInt("relax.FuseOps.max_depth")),
        max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
        graph_(block, rows) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    std::vector<bool> recomputed(graph_.size());
    std::vector<bool> takes(graph_.size());
    bool any = false;
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (takes[node] || !IsCandidate(node)) continue;
      if (!Judge(node, recomputed, takes)) continue;
      recomputed[node] = any = true;
      for (const uint32_t user : graph_.users(node)) takes[user] = true;
    }
    return any ? Rewrite(recomputed, functions) : BindingBlock();
  }

 private:
  /// A kernel or group of one result that several others use, inside the block only.
  bool IsCandidate(uint32_t node) const {
    const Binding& binding = graph_.binding(node);
    return graph_.summary(node) != nullptr && graph_.users(node).size() > 1 &&
           graph_.members(graph_.Find(node)).size() == 1 && binding->var->kind == RelaxKind::kDataflowVar &&
           binding->var.ty().as<TensorTypeNode>() != nullptr;
  }

  bool Judge(uint32_t node, const std::vector<bool>& recomputed, const std::vector<bool>& takes) {
    const Work producer = work_->Of(BoundValue(graph_.binding(node)));
    if (producer.kind > OpPatternKind::kInjective) return false;  // never in question
    const double stored = AssumedBytes(graph_.binding(node)->var.ty());
    const auto& inputs = graph_.inputs(node);
    double read = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsFirst(inputs, i)) read += inputs[i].bytes;
    }
    const auto num_users = static_cast<double>(graph_.users(node).size());
    double saved = stored * (1 + num_users) + read;
    for (const uint32_t user : graph_.users(node)) {
      // Passed on as it is, or in a tuple.
      if (graph_.summary(user) == nullptr) return Refuse(node, user, Reason::kOpaqueConsumer, {});
      const Work consumer = work_->Of(BoundValue(graph_.binding(user)));
      if (consumer.kind > OpPatternKind::kCommReduce) {
        const bool opaque = consumer.kind == OpPatternKind::kOpaque;
        return Refuse(node, user, opaque ? Reason::kOpaqueConsumer : Reason::kComplexConsumer, {});
      }
      if (consumer.reductions > 1 || (consumer.reductions == 1 && producer.kind > OpPatternKind::kBroadcast)) {
        return Refuse(node, user, Reason::kStagesInConsumer, {});
      }
      if (recomputed[user] || takes[user]) return Refuse(node, user, Reason::kRecomputedAlready, {});
      if (!ReadsOnce(node, user)) {
        return Refuse(node, user, Reason::kRecomputedTooOften, {},
                      "it has " + Describe(graph_.binding(user)->var.ty()) + ", the value " +
                          Describe(graph_.binding(node)->var.ty()));
      }
      if (const int64_t kernels = producer.kernels + consumer.kernels; kernels > max_depth_)
        return Refuse(node, user, Reason::kDepthLimit, {{"limit", max_depth_}, {"needed", kernels}});
      const auto& own = graph_.inputs(user);
      int64_t arguments = graph_.Measure(graph_.Find(user)).arguments - 1;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const bool shared =
            std::any_of(own.begin(), own.end(), [&](const auto& input) { return input.var == inputs[i].var; });
        if (shared || !IsFirst(inputs, i)) continue;
        saved -= inputs[i].bytes;
        ++arguments;
      }
      if (max_arguments_ > 0 && arguments > max_arguments_)
        return Refuse(node, user, Reason::kArgumentLimit, {{"limit", max_arguments_}, {"needed", arguments}});
    }
    const double again = producer.flops * (num_users - 1);
    std::vector<transform::Figure> figures{{"bytes_saved", static_cast<int64_t>(saved)},
                                           {"flops_again", static_cast<int64_t>(again)},
                                           {"users", static_cast<int64_t>(num_users)}};
    if (const double per_byte = costs_.FlopsPerByte(stored); saved * per_byte <= again) {
      figures.emplace_back("least_bytes", static_cast<int64_t>(again / per_byte));
      return Refuse(node, graph_.users(node)[0], Reason::kNotProfitable, figures);
    }
    for (const uint32_t user : graph_.users(node)) Record(node, user, Reason::kRecomputed, figures);
    return true;
  }

  static bool IsFirst(const std::vector<MergeGraph::Input>& inputs, size_t at) {
    return std::none_of(inputs.begin(), inputs.begin() + static_cast<int64_t>(at),
                        [&](const auto& input) { return input.var == inputs[at].var; });
  }

  /// Whether no result of the user has more elements than the value.
  bool ReadsOnce(uint32_t node, uint32_t user) const {
    const double there = AssumedElements(graph_.binding(node)->var.ty());
    const Type& result = graph_.binding(user)->var.ty();
    const auto* tuple = result.as<TupleTypeNode>();
    if (tuple == nullptr) return AssumedElements(result) <= there;
    return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const Type& field) { return AssumedElements(field) <= there; });
  }

  /// The block with a copy of each recomputed value before each of its users, merged into it.
  BindingBlock Rewrite(const std::vector<bool>& recomputed, fusion::FusedFunctions* functions) {
    Array<Binding> bindings;
    std::vector<std::pair<uint32_t, uint32_t>> merges;
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (recomputed[node]) continue;
      const Binding& binding = graph_.binding(node);
      VarReplacer replacer;
      std::vector<uint32_t> copies;
      std::vector<uint32_t> seen;
      for (const MergeGraph::Input& input : graph_.inputs(node)) {
        if (input.producer == UINT32_MAX || !recomputed[input.producer]) continue;
        if (std::find(seen.begin(), seen.end(), input.producer) != seen.end()) continue;
        seen.push_back(input.producer);
        const Binding& source = graph_.binding(input.producer);
        const DataflowVar copy(source->var->name_hint, source->var.ty(), source->var->span);
        replacer.Set(source->var, copy);
        copies.push_back(static_cast<uint32_t>(bindings.size()));
        bindings.push_back(VarBinding(copy, BoundValue(source), source->span));
      }
      for (const uint32_t copy : copies) merges.emplace_back(copy, static_cast<uint32_t>(bindings.size()));
      bindings.push_back(
          copies.empty() ? binding : VarBinding(binding->var, replacer.Replace(BoundValue(binding)), binding->span));
    }
    MergeGraph merged(WithBindings(block_, std::move(bindings)), rows_);
    for (const auto& [copy, user] : merges) {
      uint32_t root = 0;
      const auto answer = merged.Merge(copy, user, &root);
      DEUTERON_CHECK(answer == fusion::ContractibleDag::Answer::kMerged) << "a value and its only user make a cycle";
    }
    return merged.Emit(functions);
  }

  bool Refuse(uint32_t node, uint32_t user, Reason reason, const std::vector<transform::Figure>& figures,
              const std::string& message = "") {
    Record(node, user, reason, figures, message);
    return false;
  }
  void Record(uint32_t node, uint32_t user, Reason reason, const std::vector<transform::Figure>& figures,
              const std::string& message = "") {
    const Binding& from = graph_.binding(node);
    const Binding& to = graph_.binding(user);
    log_->Add({.pass = "RecomputeProducers",
               .function = function_,
               .subject = from->var->name_hint,
               .object = to->var->name_hint,
               .reason = reason,
               .message = String(message),
               .figures = figures,
               .subject_span = SpanOf(from),
               .object_span = SpanOf(to)});
  }

  const BindingBlock& block_;
  fusion::RowAnalyzer* rows_;
  WorkAnalyzer* work_;
  const tir::CostModel& costs_;
  transform::DecisionLog* log_;
  String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  MergeGraph graph_;
};

IRModule Run(const IRModule& module, const transform::PassContext& context) {
  if (!transform::MergesBeyondFuseOps(context)) return module;
  fusion::RowAnalyzer rows(module);
  WorkAnalyzer work(module, rows);
  const tir::CostModel costs(Target::Current().machine);
  return fusion::MergeInBlocks(module,
                               [&](const BindingBlock& block, const String& name, fusion::FusedFunctions* functions) {
                                 return BlockRecomputer(block, &rows, &work, costs, context, name).Run(functions);
                               });
}

}  // namespace

transform::Pass RecomputeProducers() {
  return transform::ModulePass(
      {.name = "RecomputeProducers"},
      [](const IRModule& module, const transform::PassContext& context) { return Run(module, context); });
}

}  // namespace deuteron::relax
