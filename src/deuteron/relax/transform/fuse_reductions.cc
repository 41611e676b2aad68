/// \file
/// FuseReductions: reductions with what they are computed from and what is computed from them.
///
/// Purpose: a softmax, a layer norm, an RMS norm, a group norm, a log-sum-exp, written out in primitive operators, is
/// a chain of reductions and elementwise operators that FuseOps cuts behind each reduction, since a reduction is
/// complete only after its last input. But all of them work on the same rows: this pass merges the Primitive functions
/// and lone kernels of such a chain into one, which reads its row once and keeps it in the cache from stage to stage
/// (tir/schedule/rules/rows.cc).
///
/// When: along an edge between two groups that compute row by row (fusion/row_kernels.h), one of which reduces; if
///  - every tensor between them is made and used in step with the rows, and all reductions run along whole rows;
///  - there is no path from one to the other through a third;
///  - the tensors of a row together fit half of the second cache, or all of them fit it with several rows;
///  - there are rows enough for the threads, or too little work for several of them;
///  - the limits on operators and arguments of a kernel hold;
///  - it saves bytes (fusion/cost_model.h). Nothing is computed twice, so that is all that counts.
///
/// What it must not do: take in matrix products, convolutions and windows, whose schedules an epilogue of another
/// shape would spoil; touch what FuseOps has put into one of these; change what tvm_compat promises.
///
/// Place: between FuseOps and FuseTIR. Every edge that it looks at gets a verdict in the decision log.
#include <algorithm>

#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

using fusion::CommonRows;
using fusion::ContractibleDag;
using fusion::CostModel;
using fusion::CountRows;
using fusion::FusedFunctions;
using fusion::MergeGraph;
using fusion::RowAnalyzer;
using fusion::RowDims;
using fusion::RowSummary;
using fusion::SameRowCount;

struct Verdict {
  const char* reason;
  std::string message;
  std::vector<transform::Figure> figures;
};

/// What is known of a group's rows.
struct GroupRows {
  bool fusable = false;
  bool has_reduction = false;
  std::optional<RowDims> inner;
  std::optional<RowDims> reduced;
};

class BlockMerger {
 public:
  BlockMerger(const BindingBlock& block, RowAnalyzer* analyzer, const CostModel& costs,
              const transform::PassContext& context, String function)
      : graph_(block, analyzer, &costs),
        costs_(costs),
        log_(context.decisions.get()),
        function_(std::move(function)),
        max_depth_(context.GetInt("relax.FuseOps.max_depth")),
        max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
        rows_(graph_.size()) {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      const RowSummary* summary = graph_.summary(node);
      if (summary == nullptr || summary->why_not != nullptr) continue;
      rows_[graph_.Find(node)] = {true, summary->has_reduction, summary->inner, summary->reduced};
    }
  }

  /// Null if nothing was merged.
  BindingBlock Run(FusedFunctions* functions) {
    const bool reduces =
        std::any_of(rows_.begin(), rows_.end(), [](const GroupRows& rows) { return rows.has_reduction; });
    if (!reduces) return BindingBlock();
    // An elementwise group may be reached from a reduction on its other side first: hence twice.
    bool merged = Sweep();
    if (merged) merged = Sweep();
    BindingBlock block = graph_.Emit(functions);
    Record();
    return block;
  }

 private:
  struct Edge {
    uint32_t from;
    uint32_t to;
    Verdict verdict;
  };

  bool Sweep() {
    bool merged = false;
    edges_.clear();
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      for (const MergeGraph::Input& input : graph_.inputs(node)) {
        if (input.producer == UINT32_MAX || graph_.Find(input.producer) == graph_.Find(node)) continue;
        if (graph_.summary(node) == nullptr || graph_.summary(input.producer) == nullptr) continue;
        const GroupRows& from = rows_[graph_.Find(input.producer)];
        const GroupRows& to = rows_[graph_.Find(node)];
        if (!from.has_reduction && !to.has_reduction) continue;
        Verdict verdict = Try(input.producer, node);
        merged |= verdict.reason == kFused;
        if (verdict.reason == kFused)
          fused_.push_back({input.producer, node, std::move(verdict)});
        else
          edges_.push_back({input.producer, node, std::move(verdict)});
      }
    }
    return merged;
  }

  static constexpr const char* kFused = "fused";

  Verdict Try(uint32_t producer, uint32_t consumer) {
    const uint32_t a = graph_.Find(producer);
    const uint32_t b = graph_.Find(consumer);
    for (const auto& [root, node] : {std::pair(a, producer), std::pair(b, consumer)}) {
      if (rows_[root].fusable) continue;
      const RowSummary* summary = graph_.summary(node);
      return {"not-row-by-row",
              std::string(graph_.binding(node)->var->name_hint) + " " +
                  (summary->why_not ? summary->why_not : "is merged with what is not row by row"),
              {}};
    }
    GroupRows rows{true, true, rows_[a].inner, rows_[a].reduced};
    const auto limit = [&](const RowDims& dims) { rows.inner = rows.inner ? CommonRows(*rows.inner, dims) : dims; };
    if (rows_[b].inner) limit(*rows_[b].inner);
    if (!rows.reduced) rows.reduced = rows_[b].reduced;
    if (rows_[b].reduced && !SameRowCount(*rows.reduced, *rows_[b].reduced)) {
      return {"rows-differ", "their reductions run along rows of different numbers", {}};
    }
    if (const Verdict verdict = LimitByTensors(a, b, limit); verdict.reason != nullptr) return verdict;
    if (!SameRowCount(CommonRows(*rows.inner, *rows.reduced), *rows.reduced)) {
      return {"rows-out-of-step", "a value between them is not used in step with the rows", {}};
    }
    if (static_cast<int64_t>(graph_.CountCalls(a) + graph_.CountCalls(b)) > max_depth_) {
      return {"too-many-operators", "the kernel would exceed relax.FuseOps.max_depth", {}};
    }
    Verdict verdict = Weigh(a, b, CountRows(*rows.reduced));
    if (verdict.reason != kFused) return verdict;
    uint32_t root = 0;
    switch (graph_.Merge(a, b, &root)) {
      case ContractibleDag::Answer::kMerged:
        break;
      case ContractibleDag::Answer::kCycle:
        return {
            "path-through-another", "a path from one to the other leads through a kernel that cannot be merged", {}};
      case ContractibleDag::Answer::kTooFar:
        return {"too-far-apart", "too many operators lie between them to exclude a cycle", {}};
    }
    rows_[root] = rows;
    return verdict;
  }

  /// The tensors that go from one group to the other.
  template <typename F>
  Verdict LimitByTensors(uint32_t a, uint32_t b, F limit) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      for (const uint32_t node : graph_.members(to)) {
        const RowSummary* user = graph_.summary(node);
        if (user == nullptr) continue;
        const auto& inputs = graph_.inputs(node);
        for (size_t i = 0; i < inputs.size(); ++i) {
          if (inputs[i].producer == UINT32_MAX || graph_.Find(inputs[i].producer) != from) continue;
          const RowSummary* maker = graph_.summary(inputs[i].producer);
          if (maker == nullptr || i >= user->arguments.size())
            return {"not-row-by-row", "an argument is no tensor", {}};
          limit(CommonRows(maker->results.at(inputs[i].result), user->arguments[i]));
        }
      }
    }
    return {nullptr, {}, {}};
  }

  Verdict Weigh(uint32_t a, uint32_t b, double rows) {
    const auto one = graph_.Measure({a});
    const auto other = graph_.Measure({b});
    const auto both = graph_.Measure({a, b});
    const double saved = one.cost.bytes() + other.cost.bytes() - both.cost.bytes();
    const double row_bytes = both.touched / std::max(rows, 1.0);
    std::vector<transform::Figure> figures{
        {"bytes_saved", static_cast<int64_t>(saved)},
        {"bytes_before", static_cast<int64_t>(one.cost.bytes() + other.cost.bytes())},
        {"bytes_after", static_cast<int64_t>(both.cost.bytes())},
        {"flops", static_cast<int64_t>(both.cost.flops)},
        {"rows", static_cast<int64_t>(rows)},
        {"row_bytes", static_cast<int64_t>(row_bytes)}};
    if (max_arguments_ > 0 && both.arguments > max_arguments_) {
      return {"too-many-arguments", "the kernel would exceed relax.FuseOps.max_function_args", std::move(figures)};
    }
    if (row_bytes > costs_.RowBytes()) {
      return {"row-exceeds-cache", "a row of all its tensors does not fit the cache, so it would be read again anyway",
              std::move(figures)};
    }
    if (rows < static_cast<double>(costs_.threads()) && both.touched > costs_.SerialBytes()) {
      return {"too-few-rows", "rows are what threads share, and there are fewer than threads", std::move(figures)};
    }
    if (saved <= 0) return {"not-profitable", "it would save no bytes", std::move(figures)};
    return {kFused, {}, std::move(figures)};
  }

  void Record() {
    const auto add = [this](const Edge& edge) {
      const Binding& from = graph_.binding(edge.from);
      const Binding& to = graph_.binding(edge.to);
      const bool fused = edge.verdict.reason == kFused;
      const auto span = [](const Binding& b) { return b->span.defined() ? b->span : BoundValue(b)->span; };
      log_->Add({.pass = "FuseReductions",
                 .function = function_,
                 .subject = from->var->name_hint,
                 .object = to->var->name_hint,
                 .reason = edge.verdict.reason,
                 .message = fused ? graph_.NameOf(edge.to) : String(edge.verdict.message),
                 .figures = edge.verdict.figures,
                 .subject_span = span(from),
                 .object_span = span(to)});
    };
    for (const Edge& edge : fused_) add(edge);
    for (const Edge& edge : edges_) add(edge);
  }

  MergeGraph graph_;
  const CostModel& costs_;
  transform::DecisionLog* log_;
  String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  /// By group, at the node that stands for it.
  std::vector<GroupRows> rows_;
  std::vector<Edge> fused_;
  /// Not fused in the last sweep.
  std::vector<Edge> edges_;
};

IRModule RunFuseReductions(IRModule module, const transform::PassContext& context) {
  if (context.GetBool("tvm_compat") || context.opt_level == 0) return module;
  const IRModule original = module;
  RowAnalyzer analyzer(original);
  FusedFunctions functions(original);
  const CostModel costs(Target::Current());
  module = UpdateFunctions(std::move(module), [&](const GlobalVar& name, const Function& function) {
    const auto blocks = function->body->blocks.Map([&](const BindingBlock& block) {
      if (!MergeGraph::CanHandle(block)) return block;
      const BindingBlock merged = BlockMerger(block, &analyzer, costs, context, name->name_hint).Run(&functions);
      return merged.defined() ? merged : block;
    });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  });
  for (auto& [var, func] : functions.TakeAdded()) module.Update(var, std::move(func));
  return module;
}

}  // namespace

Pass FuseReductions() { return transform::ModulePass({.name = "FuseReductions"}, RunFuseReductions); }

}  // namespace deuteron::relax
