#include "deuteron/relax/transform/fusion/fusion_record.h"

#include "deuteron/relax/analysis/record_sizes.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {
namespace {

using transform::Decision;

const String& PassName() {
  static const auto* name = new String("FuseOps");
  return *name;
}

Reason ReasonOf(OpPatternKind kind) {
  switch (kind) {
    case OpPatternKind::kElemWise:
      return Reason::kElementwise;
    case OpPatternKind::kBroadcast:
      return Reason::kBroadcast;
    case OpPatternKind::kInjective:
      return Reason::kInjective;
    case OpPatternKind::kCommReduce:
      return Reason::kReduction;
    case OpPatternKind::kOutEWiseFusable:
      return Reason::kComplex;
    case OpPatternKind::kTuple:
      return Reason::kTuple;
    case OpPatternKind::kOpaque:
      return Reason::kOpaque;
  }
  DEUTERON_UNREACHABLE();
}

/// The code as text that all decisions share.
const String& SharedCode(Reason reason) {
  static const auto* codes = [] {
    auto* list = new std::vector<String>();
    for (const transform::ReasonInfo& info : transform::Reasons()) list->emplace_back(std::string(info.code));
    return list;
  }();
  return (*codes)[static_cast<size_t>(reason)];
}

/// What a follower that is not elementwise does to the shape it is given.
String DescribeChange(OpPatternKind kind, const Type& from, const Type& to) {
  const char* verb = kind == OpPatternKind::kBroadcast    ? "it spreads "
                     : kind == OpPatternKind::kCommReduce ? "it reduces "
                                                          : "it rearranges ";
  return String(verb + Describe(from) + " to " + Describe(to));
}

/// The kernel or operator that a binding calls, or what else it is.
String CalleeName(const Expr& value) {
  static const auto* tuple = new String("tuple");
  static const auto* item = new String("item of a tuple");
  static const auto* other = new String("value");
  static const auto* branch = new String("if");
  if (value->kind == RelaxKind::kTuple) return *tuple;
  if (value->kind == RelaxKind::kTupleGetItem) return *item;
  if (value->kind == RelaxKind::kIf) return *branch;
  const auto* call = value.as<CallNode>();
  if (call == nullptr) return *other;
  const Expr& callee = IsAnyCallTIR(value) || IsCallDPSPacked(value) ? call->args[0] : call->op;
  if (const auto* global = callee.as<GlobalVarNode>()) return global->name_hint;
  if (const auto* external = callee.as<ExternFuncNode>()) return external->global_symbol;
  if (const auto* op = callee.as<OpNode>()) return op->name;
  return *other;
}

}  // namespace

Decision FusionRecord::Edge(const Binding& from, const Binding& to, Reason verdict) const {
  Decision decision{.reason = verdict};
  decision.pass = PassName();
  decision.function = function_;
  decision.subject = from->var->name_hint;
  decision.object = to->var->name_hint;
  decision.subject_span = SpanOf(from);
  decision.object_span = SpanOf(to);
  return decision;
}

void FusionRecord::AddNode(const Binding& binding, OpPatternKind kind, std::optional<Reason> cause, int64_t group) {
  const Expr& value = BoundValue(binding);
  Decision decision{.reason = ReasonOf(kind)};
  decision.pass = PassName();
  decision.function = function_;
  decision.subject = binding->var->name_hint;
  decision.object = CalleeName(value);
  decision.subject_span = SpanOf(binding);
  decision.figures.reserve(4);
  decision.figures.emplace_back("node", num_nodes_++);
  if (group >= 0) decision.figures.emplace_back("group", group);
  if (cause) decision.message = SharedCode(*cause);
  if (IsAnyCallTIR(value)) RecordSizes(TrafficOf(value), &decision);
  log_->Add(std::move(decision));
}

void FusionRecord::AddBlock(const BlockRecord& block) {
  const int64_t first = num_nodes_;
  const GroupEmitter& emitter = block.emitter;
  std::vector<uint32_t> last_member;
  for (uint32_t node = 0; node < block.graph.size(); ++node) {
    const uint32_t group = emitter.group_of(node);
    if (group >= last_member.size()) last_member.resize(group + 1);
    last_member[group] = node;
    AddNode(block.bindings[node], block.graph.kind(node), block.causes[node],
            emitter.is_function(group) ? num_groups_ + group : -1);
  }
  for (uint32_t group = 0; group < last_member.size(); ++group) {
    if (!emitter.is_function(group)) continue;
    log_->Add({.pass = PassName(),
               .function = function_,
               .subject = block.bindings[last_member[group]]->var->name_hint,
               .object = emitter.name(group),
               .reason = Reason::kGroup,
               .figures = {{"group", num_groups_ + group}}});
  }
  const Partition& partition = block.partition;
  for (uint32_t node = 0; node < block.graph.size(); ++node) {
    uint32_t last = UINT32_MAX;
    for (const auto& edge : block.graph.outputs(node)) {
      if (edge.to == last) continue;  // the same edge with another kind
      last = edge.to;
      const uint32_t group = emitter.group_of(node);
      const bool together = group == emitter.group_of(edge.to);
      const bool fused = together && emitter.is_function(group);
      Reason verdict = fused ? Reason::kFused : partition.verdict[node];
      if (!fused && (together || verdict == Reason::kFused)) verdict = Reason::kNothingComputed;
      uint32_t at = partition.blocker[node];
      if (verdict == Reason::kOpaqueConsumer) {
        if (block.graph.kind(edge.to) == OpPatternKind::kOpaque) {
          at = edge.to;
        } else {
          verdict = Reason::kPathBlocked;
        }
      }
      Decision decision = Edge(block.bindings[node], block.bindings[edge.to], verdict);
      decision.figures.reserve(fused ? 4 : 3);
      decision.figures.emplace_back("from", first + node);
      decision.figures.emplace_back("to", first + edge.to);
      if (fused) {
        decision.figures.emplace_back("group", num_groups_ + group);
        decision.figures.emplace_back("phase", partition.phase[node]);
        decision.message = emitter.name(group);
      } else if (verdict == Reason::kDepthLimit || verdict == Reason::kArgumentLimit) {
        const bool depth = verdict == Reason::kDepthLimit;
        decision.figures.emplace_back("limit", depth ? block.max_depth : block.max_arguments);
        decision.figures.emplace_back("needed", partition.needed.at(node));
      } else if (at != DominatorTree::kNone) {
        decision.figures.emplace_back("at", first + at);
      }
      if (verdict == Reason::kComplexNeedsElementwise && at != DominatorTree::kNone) {
        decision.message =
            DescribeChange(block.graph.kind(at), block.bindings[node]->var.ty(), block.bindings[at]->var.ty());
      }
      log_->Add(std::move(decision));
    }
  }
  num_groups_ += static_cast<int64_t>(last_member.size());
  AddInputsFromOutside({block.bindings.begin(), block.bindings.end()}, first, true);
}

void FusionRecord::AddPlainBlock(const Array<Binding>& block) {
  // What is computed in branches follows the branch.
  std::vector<Binding> pending;
  const auto push = [&pending](const Array<Binding>& inner) {
    for (size_t i = inner.size(); i-- > 0;) pending.push_back(inner[static_cast<int64_t>(i)]);
  };
  push(block);
  Array<Binding> bindings;
  while (!pending.empty()) {
    const Binding binding = pending.back();
    pending.pop_back();
    bindings.push_back(binding);
    const auto* branch = BoundValue(binding).as<IfNode>();
    if (branch == nullptr) continue;
    for (const SeqExpr& seq : {branch->false_branch, branch->true_branch}) {
      for (size_t i = seq->blocks.size(); i-- > 0;) push(seq->blocks[static_cast<int64_t>(i)]->bindings);
    }
  }
  const int64_t first = num_nodes_;
  for (const Binding& binding : bindings) {
    const bool cast = !binding->IsInstance<VarBindingNode>();
    AddNode(binding, OpPatternKind::kOpaque, cast ? std::optional(Reason::kMatchCast) : std::nullopt, -1);
  }
  AddInputsFromOutside(bindings, first, false);
}

/// The edges into a block from earlier ones, and, of a plain block, those inside.
void FusionRecord::AddInputsFromOutside(const Array<Binding>& bindings, int64_t first, bool is_dataflow) {
  int64_t number = first;
  for (const Binding& binding : bindings) {
    const int64_t to = number++;
    const Object* last = nullptr;
    if (!nodes_.empty()) {
      VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
        const auto it = IsVar(leaf) ? nodes_.find(leaf.get()) : nodes_.end();
        if (it == nodes_.end() || it->first == last) return;
        if (is_dataflow && it->second.number >= first) return;
        last = it->first;
        const bool both = is_dataflow && it->second.is_dataflow;
        Decision decision = Edge(it->second.binding, binding, both ? Reason::kUsedOutside : Reason::kOutsideDataflow);
        decision.figures = {{"from", it->second.number}, {"to", to}};
        log_->Add(std::move(decision));
      });
    }
    if (!is_dataflow || binding->var->kind != RelaxKind::kDataflowVar) {
      nodes_.insert_or_assign(binding->var.get(), Node{binding, to, is_dataflow});
    }
  }
}

}  // namespace deuteron::relax::fusion
