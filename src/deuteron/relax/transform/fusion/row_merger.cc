#include "deuteron/relax/transform/fusion/row_merger.h"

#include <algorithm>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/target/target.h"

namespace deuteron::relax::fusion {
namespace {

/// A shared tensor must be this part of what the smaller of two siblings moves.
constexpr double kSharedPart = 1.0 / 8;
/// More streams than this at once are more than prefetchers follow.
constexpr int64_t kMostStreams = 16;

bool SameDims(const RowDims& a, const RowDims& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const PrimExpr& x, const PrimExpr& y) { return ExprEqual(x, y); });
}

/// The extents of a tensor, those of 1 left out.
RowDims Extents(const Type& type) {
  RowDims dims;
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return dims;
  for (const PrimExpr& dim : *tensor->shape) {
    if (!IsConstInt(dim, 1)) dims.push_back(dim);
  }
  return dims;
}

}  // namespace

RowMerger::RowMerger(const BindingBlock& block, RowAnalyzer* analyzer, StridedRowAnalyzer* strided,
                     const CostModel& costs, const transform::PassContext& context, const char* pass, String function)
    : graph_(block, analyzer),
      strided_(*strided),
      costs_(costs),
      log_(context.decisions.get()),
      pass_(pass),
      function_(std::move(function)),
      max_depth_(context.GetInt("relax.FuseOps.max_depth")),
      max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
      rows_(graph_.size()) {
  for (uint32_t node = 0; node < graph_.size(); ++node) {
    const RowSummary* summary = graph_.summary(node);
    if (summary == nullptr) continue;
    GroupRows& rows = rows_[graph_.Find(node)];
    if (summary->is_strided) rows.has_reduction = rows.is_strided = true;
    if (summary->why_not != nullptr) continue;
    rows = {true, summary->has_reduction, summary->inner, summary->reduced, std::nullopt, false, 0, 1};
    const Type& type = graph_.binding(node)->var.ty();
    if (summary->has_reduction || summary->results.empty()) continue;
    const auto* tuple = type.as<TupleTypeNode>();
    RowDims space = Extents(tuple ? tuple->fields[0] : type);
    const bool whole = std::all_of(summary->results.begin(), summary->results.end(),
                                   [&](const RowDims& dims) { return SameDims(dims, space); });
    if (whole) rows.space = std::move(space);
  }
}

bool RowMerger::any_reduction() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const GroupRows& rows) { return rows.has_reduction; });
}

bool RowMerger::TryEdge(uint32_t producer, uint32_t consumer) {
  const uint32_t a = graph_.Find(producer);
  const uint32_t b = graph_.Find(consumer);
  GroupRows rows;
  Verdict verdict = rows_[a].is_strided || rows_[b].is_strided ? JoinStrided(producer, consumer, &rows)
                                                               : JoinAlongLast(producer, consumer, &rows);
  if (verdict.reason) return Refuse(producer, consumer, std::move(verdict));
  return Commit(producer, consumer, rows, Weigh(a, b, rows, !rows.has_reduction));
}

RowMerger::Verdict RowMerger::JoinAlongLast(uint32_t producer, uint32_t consumer, GroupRows* rows) const {
  if (Verdict verdict = CheckRowByRow(producer, consumer); verdict.reason) return verdict;
  const uint32_t a = graph_.Find(producer);
  const uint32_t b = graph_.Find(consumer);
  if (Verdict verdict = JoinRows(a, b, rows); verdict.reason) return verdict;
  if (!rows->reduced) {
    // Elementwise through and through: every element is a row.
    rows->has_reduction = false;
    rows->space = rows_[a].space;
    if (!rows->space || !rows_[b].space || !SameDims(*rows->space, *rows_[b].space)) {
      return {"shapes-differ", "their results have different shapes"};
    }
  }
  const RowDims& finest = rows->reduced ? *rows->reduced : *rows->space;
  if (!SameRowCount(CommonRows(*rows->inner, finest), finest)) {
    return {"rows-out-of-step", "a value between them is not used in step with the rows"};
  }
  return {};
}

/// Rows at other dimensions are looked for in both groups together, from the reductions on.
RowMerger::Verdict RowMerger::JoinStrided(uint32_t producer, uint32_t consumer, GroupRows* rows) const {
  for (const uint32_t node : {producer, consumer}) {
    const GroupRows& own = rows_[graph_.Find(node)];
    if (own.fusable || own.is_strided) continue;
    return CheckRowByRow(node, node);
  }
  const uint32_t a = graph_.Find(producer);
  const uint32_t b = graph_.Find(consumer);
  // Before looking at all of them.
  if (graph_.CountKernels(a) + graph_.CountKernels(b) > max_depth_) {
    return {"depth-limit", "", {{"limit", max_depth_}}};
  }
  const auto& first = graph_.members(a);
  const auto& second = graph_.members(b);
  std::vector<uint32_t> members;
  std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(members));
  const StridedRowAnalyzer::Answer answer = strided_.Analyze(graph_, members);
  if (answer.labels.why_not != nullptr) {
    return {answer.is_kernel_at_fault ? "not-row-by-row" : "rows-out-of-step",
            std::string("what both compute ") + answer.labels.why_not};
  }
  rows->has_reduction = true;
  rows->is_strided = true;
  rows->count = answer.labels.rows.Count(kSymbolicExtent);
  if (answer.labels.columns) {
    rows->together = std::min(costs_.Lanes(), answer.labels.groups.back().Count(kSymbolicExtent));
  }
  return {};
}

bool RowMerger::TrySiblings(uint32_t first, size_t first_argument, uint32_t second, size_t second_argument) {
  if (Verdict verdict = CheckRowByRow(first, second); verdict.reason) return Refuse(first, second, std::move(verdict));
  const uint32_t a = graph_.Find(first);
  const uint32_t b = graph_.Find(second);
  const RowDims shared = CommonRows(graph_.summary(first)->arguments.at(first_argument),
                                    graph_.summary(second)->arguments.at(second_argument));
  GroupRows rows;
  if (rows_[a].has_reduction || rows_[b].has_reduction) {
    if (Verdict verdict = JoinRows(a, b, &rows); verdict.reason) return Refuse(first, second, std::move(verdict));
    bool in_step = SameRowCount(CommonRows(shared, *rows.reduced), *rows.reduced);
    if (rows.inner) in_step = in_step && SameRowCount(CommonRows(*rows.inner, *rows.reduced), *rows.reduced);
    for (const uint32_t root : {a, b}) {
      if (rows_[root].has_reduction) continue;
      in_step =
          in_step && rows_[root].space && SameRowCount(CommonRows(*rows_[root].space, *rows.reduced), *rows.reduced);
    }
    if (!in_step) return Refuse(first, second, {"rows-out-of-step", "they do not read it in step with the rows"});
  } else {
    if (!rows_[a].space || !rows_[b].space || !SameDims(*rows_[a].space, *rows_[b].space)) {
      return Refuse(first, second, {"shapes-differ", "their results have different shapes"});
    }
    if (shared.empty() && !rows_[a].space->empty()) {
      return Refuse(first, second, {"rows-out-of-step", "they do not read it in step with what they write"});
    }
    rows = rows_[a];
  }
  return Commit(first, second, rows, Weigh(a, b, rows, true));
}

RowMerger::Verdict RowMerger::CheckRowByRow(uint32_t producer, uint32_t consumer) const {
  for (const uint32_t node : {producer, consumer}) {
    if (rows_[graph_.Find(node)].fusable) continue;
    const RowSummary* summary = graph_.summary(node);
    const char* why = summary && summary->why_not ? summary->why_not : "is no kernel";
    return {"not-row-by-row", std::string(graph_.binding(node)->var->name_hint) + " " + why};
  }
  return {};
}

/// What both groups, and the tensors that go from one to the other, have in common.
RowMerger::Verdict RowMerger::JoinRows(uint32_t a, uint32_t b, GroupRows* rows) const {
  *rows = {true, true, rows_[a].inner, rows_[a].reduced, std::nullopt, false, 0, 1};
  const auto limit = [&](const RowDims& dims) { rows->inner = rows->inner ? CommonRows(*rows->inner, dims) : dims; };
  if (rows_[b].inner) limit(*rows_[b].inner);
  if (!rows->reduced) rows->reduced = rows_[b].reduced;
  if (rows_[b].reduced && !SameRowCount(*rows->reduced, *rows_[b].reduced)) {
    return {"rows-differ", "their reductions run along rows of different numbers"};
  }
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    for (const uint32_t node : graph_.members(to)) {
      const RowSummary* user = graph_.summary(node);
      if (user == nullptr) continue;
      const auto& inputs = graph_.inputs(node);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].producer == UINT32_MAX || graph_.Find(inputs[i].producer) != from) continue;
        const RowSummary* maker = graph_.summary(inputs[i].producer);
        if (maker == nullptr || i >= user->arguments.size()) return {"not-row-by-row", "an argument is no tensor"};
        limit(CommonRows(maker->results.at(inputs[i].result), user->arguments[i]));
      }
    }
  }
  return {};
}

RowMerger::Verdict RowMerger::Weigh(uint32_t a, uint32_t b, const GroupRows& rows, bool siblings) const {
  const auto one = graph_.Measure({a});
  const auto other = graph_.Measure({b});
  const auto both = graph_.Measure({a, b});
  const double count = rows.is_strided ? rows.count / rows.together : rows.reduced ? CountRows(*rows.reduced) : 0;
  const bool has_rows = rows.is_strided || rows.reduced;
  const double saved = one.cost.bytes() + other.cost.bytes() - both.cost.bytes();
  const double row_bytes = both.touched / std::max(count, 1.0);
  Verdict verdict;
  verdict.figures = {{"bytes_saved", static_cast<int64_t>(saved)},
                     {"bytes_before", static_cast<int64_t>(one.cost.bytes() + other.cost.bytes())},
                     {"bytes_after", static_cast<int64_t>(both.cost.bytes())},
                     {"flops", static_cast<int64_t>(both.cost.flops)}};
  if (has_rows) {
    verdict.figures.emplace_back("rows", static_cast<int64_t>(count));
    verdict.figures.emplace_back("row_bytes", static_cast<int64_t>(row_bytes));
  }
  const auto refuse = [&](const char* reason, const char* message) {
    verdict.reason = reason;
    verdict.message = message;
    return verdict;
  };
  const auto exceeds = [&](const char* reason, int64_t limit) {
    verdict.figures.emplace_back("limit", limit);
    return refuse(reason, "");
  };
  if (graph_.CountKernels(a) + graph_.CountKernels(b) > max_depth_) return exceeds("depth-limit", max_depth_);
  if (max_arguments_ > 0 && both.arguments > max_arguments_) return exceeds("argument-limit", max_arguments_);
  if (has_rows && row_bytes > costs_.RowBytes()) {
    return refuse("row-exceeds-cache",
                  "a row of all its tensors does not fit the cache, so it would be read again anyway");
  }
  if (has_rows && count < static_cast<double>(costs_.threads()) && both.touched > costs_.SerialBytes()) {
    return refuse("too-few-rows", "rows are what threads share, and there are fewer than threads");
  }
  if (siblings && both.arguments > kMostStreams) {
    return refuse("too-many-streams", "more tensors at once than prefetching follows");
  }
  const double least = siblings ? kSharedPart * std::min(one.cost.bytes(), other.cost.bytes()) : 0;
  if (saved <= least) return refuse("not-profitable", "it would save too few bytes");
  return verdict;
}

bool RowMerger::Commit(uint32_t producer, uint32_t consumer, const GroupRows& rows, Verdict verdict) {
  if (verdict.reason != nullptr) return Refuse(producer, consumer, std::move(verdict));
  uint32_t root = 0;
  switch (graph_.Merge(producer, consumer, &root)) {
    case ContractibleDag::Answer::kMerged:
      break;
    case ContractibleDag::Answer::kCycle:
      return Refuse(producer, consumer,
                    {"path-through-another", "a path from one to the other leads through a kernel outside",
                     std::move(verdict.figures)});
    case ContractibleDag::Answer::kTooFar:
      return Refuse(
          producer, consumer,
          {"too-far-apart", "too many operators lie between them to exclude a cycle", std::move(verdict.figures)});
  }
  rows_[root] = rows;
  fused_.push_back({producer, consumer, std::move(verdict)});
  return true;
}

bool RowMerger::Refuse(uint32_t producer, uint32_t consumer, Verdict verdict) {
  refused_.push_back({producer, consumer, std::move(verdict)});
  return false;
}

BindingBlock RowMerger::Finish(FusedFunctions* functions) {
  BindingBlock block;
  if (!fused_.empty()) block = graph_.Emit(functions);
  for (const Pair& pair : fused_) Record(pair, true);
  for (const Pair& pair : refused_) Record(pair, false);
  return block;
}

void RowMerger::Record(const Pair& pair, bool fused) const {
  const Binding& from = graph_.binding(pair.from);
  const Binding& to = graph_.binding(pair.to);
  log_->Add({.pass = pass_,
             .function = function_,
             .subject = from->var->name_hint,
             .object = to->var->name_hint,
             .reason = fused ? "fused" : pair.verdict.reason,
             .message = fused ? graph_.NameOf(pair.to) : String(pair.verdict.message),
             .figures = pair.verdict.figures,
             .subject_span = SpanOf(from),
             .object_span = SpanOf(to)});
}

/// Whether a Primitive function takes a tuple whole.
static bool TakesTuples(const IRModule& module) {
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined() || !function->HasNonzeroAttr("Primitive")) continue;
    for (const Var& param : function->params) {
      if (param.ty().as<TupleTypeNode>()) return true;
    }
  }
  return false;
}

IRModule MergeRowKernels(IRModule module, const transform::PassContext& context, const char* pass,
                         const std::function<void(RowMerger*)>& merge) {
  if (!transform::MergesBeyondFuseOps(context)) return module;
  // Rows are those of tensors. FuseTIR would do this later.
  if (TakesTuples(module)) module = ExpandTupleArguments()(std::move(module));
  RowAnalyzer analyzer(module);
  StridedRowAnalyzer strided(module, analyzer);
  const CostModel costs(Target::Current());
  return MergeInBlocks(module, [&](const BindingBlock& block, const String& name, FusedFunctions* functions) {
    RowMerger merger(block, &analyzer, &strided, costs, context, pass, name);
    merge(&merger);
    return merger.Finish(functions);
  });
}

}  // namespace deuteron::relax::fusion
