#include "deuteron/relax/transform/fusion/rule_fuser.h"

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/parallel.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::relax::fusion {

using transform::Reason;

namespace {

/// Seconds that two kernels take longer to be tried as one, merged and compiled (0.7 to 1.3 ms on a core, where one of
/// them is a convolution).
constexpr double kSecondsToAsk = 1e-3;

}  // namespace

RuleFuser::RuleFuser(const AskedRule& rule, const BindingBlock& block, const IRModule& module, RowAnalyzer* analyzer,
                     RuleVerdicts* verdicts, const transform::PassContext& context, String function)
    : rule_(rule),
      module_(module),
      graph_(block, analyzer),
      verdicts_(*verdicts),
      log_(context.decisions.get()),
      function_(std::move(function)),
      max_depth_(context.GetInt("relax.FuseOps.max_depth")),
      max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
      expected_runs_(context.GetInt("expected_runs")) {}

bool RuleFuser::IsLone(uint32_t node) const {
  return graph_.members(graph_.Find(node)).size() == 1 && graph_.binding(node)->var.ty().as<TensorTypeNode>();
}

bool RuleFuser::HasOneUser(uint32_t node) const {
  return graph_.users(node).size() == 1 && graph_.binding(node)->var->kind == RelaxKind::kDataflowVar;
}

bool RuleFuser::IsLoneProduct(uint32_t node) const {
  const RowSummary* summary = graph_.summary(node);
  return summary != nullptr && summary->why_not != nullptr && IsLone(node);
}

int64_t RuleFuser::CallsAlike(uint32_t node) {
  const auto callee = [this](uint32_t each) -> const Object* {
    const auto* call = BoundValue(graph_.binding(each)).as<CallNode>();
    if (call == nullptr) return nullptr;
    return (IsCallTIR(GetRef<Call>(call)) ? call->args[0] : call->op).get();
  };
  if (calls_.empty()) {
    for (uint32_t each = 0; each < graph_.size(); ++each) ++calls_[callee(each)];
  }
  return calls_.at(callee(node));
}

double RuleFuser::KeptBytes() {
  const Machine& machine = Target::Current().machine;
  return static_cast<double>(machine.threads * machine.l2.Share()) / 2;
}

bool RuleFuser::PaysToAsk(uint32_t from) {
  if (expected_runs_ == 0) return true;
  const double seconds =
      tir::CostModel(Target::Current().machine).SecondsToMove(AssumedBytes(graph_.binding(from)->var.ty()));
  const double moves = rule_.num_results == 1 ? 2 : 1;  // what others read, too, is stored in any case
  const double calls = static_cast<double>(expected_runs_) * static_cast<double>(CallsAlike(from));
  return calls * moves * seconds >= kSecondsToAsk;
}

RuleFuser::Verdict RuleFuser::WhyNoKernel(const Calls& calls, std::optional<GroupFunction>* group) {
  int64_t kernels = 0;
  for (const uint32_t call : calls) kernels += graph_.summary(call)->kernels;
  if (kernels > max_depth_) return {Reason::kDepthLimit, "", {{"limit", max_depth_}, {"needed", kernels}}};
  group->emplace(graph_.Compose(calls));
  const auto arguments = static_cast<int64_t>((*group)->arguments().size() + (*group)->outputs().size());
  if (max_arguments_ > 0 && arguments > max_arguments_)
    return {Reason::kArgumentLimit, "", {{"limit", max_arguments_}, {"needed", arguments}}};
  if ((*group)->outputs().size() != rule_.num_results) return {rule_.refusal, "a value within it is used elsewhere"};
  return {};
}

std::string RuleFuser::Ask(const GroupFunction& group) const {
  const MergedKernel kernel = MergeKernels(module_, GlobalVar(rule_.kernel), group.Build(), {});
  const char* why = kernel.func.defined() ? rule_.why_not(kernel.func, Target::Current()) : kernel.why.c_str();
  return why == nullptr ? "" : why;
}

RuleFuser::Verdict RuleFuser::WhyNot(const Calls& calls) {
  std::optional<GroupFunction> group;
  if (Verdict verdict = WhyNoKernel(calls, &group); verdict.reason) return verdict;
  const auto [it, inserted] = verdicts_.try_emplace(group->key());
  if (inserted) it->second = Ask(*group);
  if (it->second.empty()) return {};
  return {rule_.refusal, it->second};
}

void RuleFuser::AskAhead(const VisitPairs& visit) {
  std::vector<std::pair<GroupFunction, std::string*>> asked;
  visit([&](uint32_t from, uint32_t to) {
    std::optional<GroupFunction> group;
    if (!PaysToAsk(from) || WhyNoKernel({from, to}, &group).reason) return;
    const auto [it, inserted] = verdicts_.try_emplace(group->key());
    if (inserted) asked.emplace_back(*std::move(group), &it->second);
  });
  const Target& target = Target::Current();
  transform::PassContext context = transform::PassContext::Current();
  context.instruments.clear();
  ForEachInParallel(asked.size(), static_cast<size_t>(runtime::UsableThreads()), [&](size_t i) {
    const TargetScope of_target(target);
    const transform::PassContext::Scope of_context(context);
    *asked[i].second = Ask(asked[i].first);
  });
}

void RuleFuser::TryPairs(const VisitPairs& visit) {
  AskAhead(visit);
  visit([this](uint32_t from, uint32_t to) { TryPair(from, to); });
}

void RuleFuser::Merge(const Calls& calls) {
  for (size_t i = 0; i + 1 < calls.size(); ++i) MergeEdge(calls[i], graph_.users(calls[i])[0]);
}

void RuleFuser::MergeEdge(uint32_t from, uint32_t to) {
  uint32_t root = 0;
  if (graph_.Merge(from, to, &root) == ContractibleDag::Answer::kMerged) {
    fused_.emplace_back(from, to);
  } else {
    Record(from, to, Reason::kTooFarApart, "");
  }
}

void RuleFuser::TryPair(uint32_t from, uint32_t to) {
  if (!PaysToAsk(from)) return Record(from, to, Reason::kFewRuns, "");
  const Verdict verdict = WhyNot({from, to});
  if (!verdict.reason) return MergeEdge(from, to);
  Record(from, to, *verdict.reason, verdict.message, verdict.figures);
}

void RuleFuser::Record(uint32_t from, uint32_t to, Reason reason, const String& message,
                       const std::vector<transform::Figure>& figures) const {
  const Binding& producer = graph_.binding(from);
  const Binding& consumer = graph_.binding(to);
  log_->Add({.pass = rule_.pass,
             .function = function_,
             .subject = producer->var->name_hint,
             .object = consumer->var->name_hint,
             .reason = reason,
             .message = message,
             .figures = figures,
             .subject_span = SpanOf(producer),
             .object_span = SpanOf(consumer)});
}

BindingBlock RuleFuser::Emit(FusedFunctions* functions) {
  BindingBlock block;
  if (!fused_.empty()) block = graph_.Emit(functions);
  for (const auto& [from, to] : fused_) Record(from, to, Reason::kFused, graph_.NameOf(to));
  return block;
}

}  // namespace deuteron::relax::fusion
