#include "deuteron/relax/transform/fusion/row_merger.h"

#include <algorithm>
#include <map>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/target/target.h"

namespace deuteron::relax::fusion {

using transform::Reason;

namespace {

/// Compositions of groups that are kept: merging goes along the block, so that those it comes back to are the last.
constexpr size_t kMostKept = 8;
/// A shared tensor must be this part of what the smaller of two siblings moves.
constexpr double kSharedPart = 1.0 / 8;

bool SameDims(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PrimExpr& x, const PrimExpr& y) { return ExprEqual(x, y); });
}

/// The extents of a tensor, those of 1 left out.
std::vector<PrimExpr> Extents(const Type& type) {
  std::vector<PrimExpr> dims;
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return dims;
  for (const PrimExpr& dim : *tensor->shape) {
    if (!IsConstInt(dim, 1)) dims.push_back(dim);
  }
  return dims;
}

/// The extents that all results have, if they are the same.
std::optional<std::vector<PrimExpr>> CommonExtents(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (tuple == nullptr) return Extents(type);
  std::optional<std::vector<PrimExpr>> common;
  for (const Type& field : tuple->fields) {
    auto extents = Extents(field);
    if (common && !SameDims(*common, extents)) return std::nullopt;
    common = std::move(extents);
  }
  return common;
}

std::string DescribeBoth(const std::optional<std::vector<PrimExpr>>& a, const std::optional<std::vector<PrimExpr>>& b) {
  const auto text = [](const std::optional<std::vector<PrimExpr>>& dims) {
    return dims ? Describe(Array<PrimExpr>(dims->begin(), dims->end())) : std::string("several shapes");
  };
  return "one has " + text(a) + ", the other " + text(b);
}

}  // namespace

/// The kernels of a group as they would be in one, to which those of others are added.
class RowMerger::Composition {
 public:
  explicit Composition(const MergeGraph& graph) : graph_(graph) {}

  /// Null, or why the calls do not fit together. To be called in order where all are planned.
  const char* Add(const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      if (const char* why = Add(node)) return why;
    }
    return nullptr;
  }
  const tir::RowPlan& Plan() { return planner_.Plan(); }
  /// Null where all have to be planned; then nothing has been added.
  const tir::RowPlan* Extend(const std::vector<uint32_t>& nodes) {
    if (Add(nodes) == nullptr) {
      if (const tir::RowPlan* plan = planner_.Extend()) return plan;
    }
    TakeBack();
    return nullptr;
  }
  void Keep() {
    added_.clear();
    planner_.Keep();
  }
  void TakeBack() {
    for (const Key& key : added_) ids_.erase(key);
    added_.clear();
    planner_.TakeBack();
  }
  size_t IdOf(const MergeGraph::Input& input) {
    return input.producer == UINT32_MAX ? IdOf(input.var, 0) : IdOf(VarOf(input.producer), input.result);
  }

 private:
  using Key = std::pair<const Object*, uint32_t>;

  const char* Add(uint32_t node) {
    const RowSummary* summary = graph_.summary(node);
    if (summary == nullptr) return nullptr;  // a projection
    std::vector<size_t> tensors;
    for (const MergeGraph::Input& input : graph_.inputs(node)) tensors.push_back(IdOf(input));
    const auto* tuple = graph_.binding(node)->var.ty().as<TupleTypeNode>();
    const size_t results = tuple == nullptr ? 1 : tuple->fields.size();
    for (uint32_t result = 0; result < results; ++result) tensors.push_back(IdOf(VarOf(node), result));
    return planner_.Append(*summary->graph, tensors);
  }
  size_t IdOf(const Object* var, uint32_t result) {
    const auto [it, inserted] = ids_.try_emplace({var, result}, 0);
    if (!inserted) return it->second;
    added_.push_back(it->first);
    return it->second = planner_.AddTensor();
  }
  const Object* VarOf(uint32_t node) const { return graph_.binding(node)->var.get(); }

  const MergeGraph& graph_;
  tir::RowPlanner planner_;
  std::map<Key, size_t> ids_;
  /// Since the last Keep.
  std::vector<Key> added_;
};

RowMerger::RowMerger(const BindingBlock& block, RowAnalyzer* analyzer, const tir::CostModel& costs,
                     const transform::PassContext& context, const char* pass, String function)
    : graph_(block, analyzer),
      costs_(costs),
      log_(context.decisions.get()),
      pass_(pass),
      function_(std::move(function)),
      max_depth_(context.GetInt("relax.FuseOps.max_depth")),
      max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
      groups_(graph_.size()) {
  for (uint32_t node = 0; node < graph_.size(); ++node) {
    const RowSummary* summary = graph_.summary(node);
    if (summary == nullptr) continue;
    Group& group = groups_[graph_.Find(node)];
    group.has_reduction = summary->has_reduction;
    group.transposes = summary->transposes;
    group.fusable = summary->why_not == nullptr;
    if (!group.has_reduction) group.space = CommonExtents(graph_.binding(node)->var.ty());
  }
}

RowMerger::~RowMerger() = default;

bool RowMerger::any_reduction() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.has_reduction; });
}

bool RowMerger::TryEdge(uint32_t producer, uint32_t consumer) {
  const uint32_t a = graph_.Find(producer);
  const uint32_t b = graph_.Find(consumer);
  const bool reduces = groups_[a].has_reduction || groups_[b].has_reduction;
  Verdict verdict = CheckRowByRow(producer, consumer);
  if (!verdict.reason && !reduces) verdict = CheckSpace(a, b);
  const tir::RowPlan* plan = nullptr;
  if (!verdict.reason) verdict = CheckRows(producer, consumer, nullptr, &plan);
  // Rows that lie beside each other are read so.
  if (!verdict.reason && reduces && !plan->columns && (groups_[a].transposes || groups_[b].transposes))
    verdict = {Reason::kRowsOutOfStep, "one of them transposes more than the first cache holds"};
  if (!verdict.reason) verdict = Weigh(a, b, reduces ? plan : nullptr, !reduces);
  return Commit(producer, consumer, std::move(verdict));
}

bool RowMerger::TrySiblings(uint32_t first, size_t first_argument, uint32_t second, size_t second_argument) {
  const uint32_t a = graph_.Find(first);
  const uint32_t b = graph_.Find(second);
  const bool reduces = groups_[a].has_reduction || groups_[b].has_reduction;
  Verdict verdict = CheckRowByRow(first, second);
  const tir::RowPlan* plan = nullptr;
  if (!verdict.reason && reduces) {
    verdict = CheckRows(first, second, graph_.inputs(first)[first_argument].var, &plan);
  } else if (!verdict.reason) {
    verdict = CheckSpace(a, b);
    const bool in_step = tir::IsReadFromFirstIterator(*graph_.summary(first)->graph, first_argument) &&
                         tir::IsReadFromFirstIterator(*graph_.summary(second)->graph, second_argument);
    if (!verdict.reason && !in_step)
      verdict = {Reason::kRowsOutOfStep, "they do not read the tensor that they share in step with what they write"};
  }
  if (!verdict.reason) verdict = Weigh(a, b, plan, true);
  return Commit(first, second, std::move(verdict));
}

RowMerger::Verdict RowMerger::CheckRowByRow(uint32_t producer, uint32_t consumer) const {
  for (const uint32_t node : {producer, consumer}) {
    if (groups_[graph_.Find(node)].fusable) continue;
    const RowSummary* summary = graph_.summary(node);
    const char* why = summary && summary->why_not ? summary->why_not : "is no kernel";
    return {Reason::kNotRowByRow, std::string(graph_.binding(node)->var->name_hint) + " " + why};
  }
  return {};
}

/// Elementwise through and through: every element is a row.
RowMerger::Verdict RowMerger::CheckSpace(uint32_t a, uint32_t b) const {
  if (groups_[a].space && groups_[b].space && SameDims(*groups_[a].space, *groups_[b].space)) return {};
  return {Reason::kShapesDiffer, DescribeBoth(groups_[a].space, groups_[b].space)};
}

RowMerger::Verdict RowMerger::CheckRows(uint32_t first, uint32_t second, const Object* shared,
                                        const tir::RowPlan** plan) {
  const uint32_t a = graph_.Find(first);
  const uint32_t b = graph_.Find(second);
  // Before looking at all of them.
  if (graph_.CountKernels(a) + graph_.CountKernels(b) > max_depth_) {
    return {
        Reason::kDepthLimit, "", {{"limit", max_depth_}, {"needed", graph_.CountKernels(a) + graph_.CountKernels(b)}}};
  }
  if (shared == nullptr && (*plan = Extend(a, b))) return {};
  std::vector<uint32_t> members;
  std::merge(graph_.members(a).begin(), graph_.members(a).end(), graph_.members(b).begin(), graph_.members(b).end(),
             std::back_inserter(members));
  tried_ = std::make_unique<Composition>(graph_);
  const auto what_both_compute = [](const char* why) { return std::string("what both compute ") + why; };
  if (const char* why = tried_->Add(members)) return {Reason::kNotRowByRow, what_both_compute(why)};
  *plan = &tried_->Plan();
  switch ((*plan)->fault) {
    case tir::RowPlan::Fault::kNone:
      break;
    case tir::RowPlan::Fault::kKernel:
      return {Reason::kNotRowByRow, what_both_compute((*plan)->why_not)};
    case tir::RowPlan::Fault::kRowsDiffer:
      return {Reason::kRowsDiffer, "their reductions run along rows of different numbers"};
    case tir::RowPlan::Fault::kOutOfStep:
      return {Reason::kRowsOutOfStep, what_both_compute((*plan)->why_not)};
  }
  if (shared == nullptr) return {};
  for (const MergeGraph::Input& input : graph_.inputs(second)) {
    if (input.var != shared) continue;
    if ((*plan)->in_step[tried_->IdOf(input)]) return {};
    return {Reason::kRowsOutOfStep, "they do not read the tensor that they share in step with the rows"};
  }
  return {};
}

/// From what was composed of one of two groups; null if that cannot be extended by the other.
const tir::RowPlan* RowMerger::Extend(uint32_t a, uint32_t b) {
  if (graph_.members(a).size() < graph_.members(b).size()) std::swap(a, b);
  for (const uint32_t root : {a, b}) {
    const auto kept = FindKept(root);
    if (kept == kept_.end()) continue;
    const tir::RowPlan* plan = kept->composition->Extend(graph_.members(root == a ? b : a));
    if (plan == nullptr) continue;
    extended_ = kept->composition.get();
    return plan;
  }
  return nullptr;
}

std::vector<RowMerger::Kept>::iterator RowMerger::FindKept(uint32_t root) {
  return std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.root == root; });
}

/// Two groups have become that of `root`.
void RowMerger::KeepTried(uint32_t a, uint32_t b, uint32_t root) {
  for (const uint32_t group : {a, b}) {
    const auto kept = FindKept(group);
    if (kept == kept_.end()) continue;
    if (kept->composition.get() == extended_) tried_ = std::move(kept->composition);
    kept_.erase(kept);
  }
  extended_ = nullptr;
  if (tried_ == nullptr) return;
  tried_->Keep();
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back({root, std::move(tried_)});
}

void RowMerger::ForgetTried() {
  if (extended_ != nullptr) extended_->TakeBack();
  extended_ = nullptr;
  tried_ = nullptr;
}

RowMerger::Verdict RowMerger::Weigh(uint32_t a, uint32_t b, const tir::RowPlan* plan, bool siblings) {
  const auto& one = graph_.Measure(a);
  const auto& other = graph_.Measure(b);
  const auto both = graph_.MeasureBoth(a, b);
  const bool has_rows = plan != nullptr;
  double count = has_rows ? plan->CountRows(tir::kUnknownExtent) : 0;
  // Those of a vector are in the cache together.
  if (has_rows && plan->columns) {
    count /= std::min(static_cast<double>(costs_.machine().Lanes(32)),
                      plan->groups.back().extent.Count(tir::kUnknownExtent));
  }
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
  const auto refuse = [&](Reason reason, std::initializer_list<transform::Figure> figures) {
    verdict.reason = reason;
    verdict.figures.insert(verdict.figures.end(), figures);
    return verdict;
  };
  if (const int64_t kernels = graph_.CountKernels(a) + graph_.CountKernels(b); kernels > max_depth_) {
    return refuse(Reason::kDepthLimit, {{"limit", max_depth_}, {"needed", kernels}});
  }
  if (max_arguments_ > 0 && both.arguments > max_arguments_) {
    return refuse(Reason::kArgumentLimit, {{"limit", max_arguments_}, {"needed", both.arguments}});
  }
  if (has_rows && row_bytes > costs_.RowBytes()) {
    return refuse(Reason::kRowExceedsCache, {{"limit_bytes", static_cast<int64_t>(costs_.RowBytes())}});
  }
  if (has_rows && count < static_cast<double>(costs_.machine().threads) && both.touched > costs_.SerialBytes()) {
    return refuse(Reason::kTooFewRows, {{"limit", costs_.machine().threads}});
  }
  if (siblings && both.arguments > costs_.machine().streams) {
    return refuse(Reason::kTooManyStreams, {{"limit", costs_.machine().streams}, {"needed", both.arguments}});
  }
  const double least = siblings ? kSharedPart * std::min(one.cost.bytes(), other.cost.bytes()) : 0;
  if (saved <= least) return refuse(Reason::kNotProfitable, {{"least_bytes", static_cast<int64_t>(least)}});
  return verdict;
}

bool RowMerger::Commit(uint32_t producer, uint32_t consumer, Verdict verdict) {
  if (verdict.reason) return Refuse(producer, consumer, std::move(verdict));
  const uint32_t a = graph_.Find(producer);
  const uint32_t b = graph_.Find(consumer);
  const Group before = groups_[a];
  const bool reduces = before.has_reduction || groups_[b].has_reduction;
  const bool transposes = before.transposes || groups_[b].transposes;
  uint32_t root = 0;
  switch (graph_.Merge(producer, consumer, &root)) {
    case ContractibleDag::Answer::kMerged:
      break;
    case ContractibleDag::Answer::kCycle: {
      const Binding& between = graph_.binding(graph_.in_the_way());
      return Refuse(producer, consumer,
                    {Reason::kPathThroughAnother, transform::PlaceText(SpanOf(between), between->var->name_hint),
                     std::move(verdict.figures)});
    }
    case ContractibleDag::Answer::kTooFar:
      verdict.figures.emplace_back("limit", static_cast<int64_t>(ContractibleDag::kMostVisited));
      return Refuse(producer, consumer, {Reason::kTooFarApart, "", std::move(verdict.figures)});
  }
  KeepTried(a, b, root);
  groups_[root] = {true, reduces, transposes, reduces ? std::nullopt : before.space};
  fused_.push_back({producer, consumer, std::move(verdict)});
  return true;
}

bool RowMerger::Refuse(uint32_t producer, uint32_t consumer, Verdict verdict) {
  ForgetTried();
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
             .reason = fused ? Reason::kFused : pair.verdict.reason.value(),
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
  const tir::CostModel costs(Target::Current().machine);
  return MergeInBlocks(module, [&](const BindingBlock& block, const String& name, FusedFunctions* functions) {
    RowMerger merger(block, &analyzer, costs, context, pass, name);
    merge(&merger);
    return merger.Finish(functions);
  });
}

}  // namespace deuteron::relax::fusion
