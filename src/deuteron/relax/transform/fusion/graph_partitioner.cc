/// \file
/// The fusion decision.
///
/// Purpose: to group nodes so that each group can be one kernel. A node is fused with its immediate
/// post-dominator, together with everything on the paths between, if the kinds on the way allow it:
///
///  - phase 0: a complex node (convolution, matmul) with an elementwise post-dominator;
///  - phase 1: injective nodes and tuples along injective paths, after complex nodes have had their turn;
///  - phase 2: injective nodes into tuples that phase 1 absorbed;
///  - elementwise and broadcast nodes in phases 0 and 1, into injective nodes, reductions, and groups of a
///    complex node.
///
/// What it must not do: let a reduction or an opaque node start a group, put two complex nodes in one, or
/// exceed the limits.
///
/// Cost: a candidate region (the nodes between a node and its post-dominator) is walked once, for the size,
/// the kinds and the commit together. Regions overlap on dense skip connections, which makes the plain
/// walk quadratic. Two memos prevent it; both are exact, since regions toward a farther post-dominator only
/// grow and a blocking kind never becomes harmless to the injective test:
///  - `least_size_`: a lower bound of the region's size, from the longest path, refuses without a walk;
///  - `blocked_at_`: when a walk fails, each node on the way remembers the sink it cannot reach.
#include "deuteron/relax/transform/fusion/graph_partitioner.h"

#include <algorithm>
#include <numeric>

namespace deuteron::relax::fusion {
namespace {

constexpr uint32_t kNone = DominatorTree::kNone;

/// Union-find whose representative carries the kind of the whole group.
class Groups {
 public:
  explicit Groups(const ForwardGraph& graph) : parent_(graph.size()), kind_(graph.size()), size_(graph.size(), 1) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (uint32_t i = 0; i < graph.size(); ++i) {
      kind_[i] = graph.kind(i);
      has_anchor_.push_back(kind_[i] == OpPatternKind::kOutEWiseFusable);
    }
  }
  uint32_t Find(uint32_t node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  /// The kind that the node's own entry holds: that of its group as long as it is the representative.
  OpPatternKind own_kind(uint32_t node) const { return kind_[node]; }
  OpPatternKind kind(uint32_t node) { return kind_[Find(node)]; }
  int64_t own_size(uint32_t node) const { return size_[node]; }
  int64_t size(uint32_t node) { return size_[Find(node)]; }

  void Merge(uint32_t child, uint32_t into) {
    child = Find(child);
    into = Find(into);
    if (child == into) return;
    size_[into] += size_[child];
    parent_[child] = into;
    if (has_anchor_[child]) {
      DEUTERON_CHECK(!has_anchor_[into]) << "two complex operators in one group";
      has_anchor_[into] = true;
      kind_[into] = std::max(kind_[into], kind_[child]);
    }
  }

 private:
  std::vector<uint32_t> parent_;
  std::vector<OpPatternKind> kind_;
  std::vector<int64_t> size_;
  std::vector<bool> has_anchor_;
};

/// Which kinds a path may pass (`through`) and end in (`sink`), as bit sets over kinds.
struct PathRule {
  uint32_t through;
  uint32_t sink;
  static constexpr uint32_t Bit(OpPatternKind kind) { return 1U << static_cast<int>(kind); }
  bool Through(OpPatternKind kind) const { return (through & Bit(kind)) != 0; }
  bool Sink(OpPatternKind kind) const { return (sink & Bit(kind)) != 0; }
};
constexpr uint32_t kUpToBroadcast = PathRule::Bit(OpPatternKind::kElemWise) | PathRule::Bit(OpPatternKind::kBroadcast);
constexpr uint32_t kUpToInjective = kUpToBroadcast | PathRule::Bit(OpPatternKind::kInjective);
constexpr PathRule kComplexRule{kUpToBroadcast, kUpToBroadcast};
constexpr PathRule kPointwiseRule{kUpToInjective, kUpToInjective | PathRule::Bit(OpPatternKind::kCommReduce) |
                                                      PathRule::Bit(OpPatternKind::kOutEWiseFusable)};
constexpr PathRule kInjectiveRule{kUpToInjective, kUpToInjective};

class Partitioner {
 public:
  Partitioner(const ForwardGraph& graph, const DominatorTree& tree, const PartitionOptions& options)
      : graph_(graph),
        tree_(tree),
        options_(options),
        groups_(graph),
        height_(graph.size(), 1),
        seen_(graph.size(), 0),
        blocked_at_(graph.size(), kNone) {
    result_.verdict.assign(graph.size(), Verdict::kNotTried);
    result_.phase.assign(graph.size(), 0);
    result_.blocker.assign(graph.size(), kNone);
    blocked_by_.assign(graph.size(), kNone);
    for (uint32_t node = graph.size(); node-- > 0;) {
      for (const auto& edge : graph.outputs(node)) height_[node] = std::max(height_[node], height_[edge.to] + 1);
    }
  }

  Partition Run() {
    for (int phase = 0; phase < 3 && options_.opt_level > 0; ++phase) {
      // A tuple blocks until phase 1 has fused it, after all nodes before it have been visited.
      std::fill(blocked_at_.begin(), blocked_at_.end(), kNone);
      for (uint32_t node = 0; node < graph_.size(); ++node) {
        blocker_ = kNone;
        const Verdict verdict = Visit(node, phase);
        if (verdict == Verdict::kNotTried) continue;
        result_.blocker[node] = blocker_;
        result_.verdict[node] = verdict;
        if (verdict == Verdict::kFused) {
          // What lay on the way came along; its own post-dominator may be tried later and refused.
          for (const uint32_t member : region_) {
            if (result_.verdict[member] != Verdict::kFused) result_.phase[member] = static_cast<uint8_t>(phase);
          }
        }
        result_.phase[node] = static_cast<uint8_t>(phase);
      }
    }
    result_.group.resize(graph_.size());
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      result_.group[node] = groups_.Find(node);
      if (options_.opt_level == 0) result_.verdict[node] = Verdict::kDisabled;
    }
    return std::move(result_);
  }

 private:
  /// Tries to fuse `node` with its post-dominator. kNotTried: nothing new to say in this phase.
  Verdict Visit(uint32_t node, int phase) {
    const OpPatternKind kind = groups_.own_kind(node);
    if (kind == OpPatternKind::kOpaque) return phase == 0 ? Verdict::kOpaqueProducer : Verdict::kNotTried;
    const uint32_t sink = tree_.parent(node);
    if (sink == kNone) {
      if (phase > 0) return Verdict::kNotTried;
      return graph_.extern_ref(node) ? Verdict::kUsedOutside : Verdict::kPathsDiverge;
    }
    const OpPatternKind sink_kind = groups_.own_kind(sink);
    if (phase == 2) {
      if (kind > OpPatternKind::kInjective || sink_kind != OpPatternKind::kTuple) return Verdict::kNotTried;
      if (groups_.kind(sink) > OpPatternKind::kInjective) return Verdict::kNotTried;
      return Fuse(node, sink, kInjectiveRule);
    }
    if (groups_.Find(node) == groups_.Find(sink)) return Verdict::kNotTried;
    if (sink_kind == OpPatternKind::kTuple) return Verdict::kNotTried;
    const OpPatternKind path = tree_.kind_to_parent(node);
    if (kind == OpPatternKind::kOutEWiseFusable) {
      if (phase != 0) return Verdict::kNotTried;
      if (path != OpPatternKind::kElemWise) {
        blocker_ = FirstOnPaths(node, sink, [path](OpPatternKind kind) { return kind == path; });
        if (path == OpPatternKind::kOutEWiseFusable) return Verdict::kTwoComplex;
        return path == OpPatternKind::kOpaque ? Verdict::kOpaqueConsumer : Verdict::kComplexNeedsElementwise;
      }
      return Fuse(node, sink, kComplexRule);
    }
    if (kind <= OpPatternKind::kBroadcast) {
      if (path > OpPatternKind::kCommReduce) {
        blocker_ = FirstOnPaths(node, sink, [path](OpPatternKind kind) { return kind == path; });
        return path == OpPatternKind::kOutEWiseFusable ? Verdict::kComplexConsumer : Verdict::kOpaqueConsumer;
      }
      return Fuse(node, sink, kPointwiseRule);
    }
    if (kind == OpPatternKind::kInjective || kind == OpPatternKind::kTuple) {
      return phase == 1 ? Fuse(node, sink, kInjectiveRule) : Verdict::kNotTried;
    }
    return Verdict::kReductionProducer;
  }

  Verdict Fuse(uint32_t node, uint32_t sink, const PathRule& rule) {
    const OpPatternKind sink_kind = groups_.kind(sink);
    if (!rule.Sink(sink_kind)) {
      blocker_ = sink;
      switch (sink_kind) {
        case OpPatternKind::kOpaque:
          return Verdict::kOpaqueConsumer;
        case OpPatternKind::kOutEWiseFusable:
          return rule.through == kUpToBroadcast ? Verdict::kTwoComplex : Verdict::kComplexConsumer;
        case OpPatternKind::kElemWise:
        case OpPatternKind::kBroadcast:
        case OpPatternKind::kInjective:
        case OpPatternKind::kCommReduce:
        case OpPatternKind::kTuple:
          return Verdict::kPathBlocked;
      }
    }
    const int64_t limit = options_.max_depth - groups_.size(sink);
    if (height_[node] - height_[sink] > limit) return Verdict::kTooManyOperators;
    const Verdict verdict = WalkRegion(node, sink, rule, limit);
    if (verdict != Verdict::kFused) return verdict;
    if (options_.exceeds_arguments) {
      std::vector<uint32_t> members = region_;
      members.push_back(sink);
      if (options_.exceeds_arguments(MembersOfGroups(members))) return Verdict::kTooManyArguments;
    }
    for (const uint32_t member : region_) groups_.Merge(member, sink);
    return Verdict::kFused;
  }

  /// Collects into `region_` the nodes on the paths from `node` to `sink`, `sink` excluded. Fails at the first
  /// kind that `rule` does not let through or when their sizes exceed `limit`.
  Verdict WalkRegion(uint32_t node, uint32_t sink, const PathRule& rule, int64_t limit) {
    const bool remember = rule.through == kUpToInjective;
    ++stamp_;
    region_.clear();
    stack_.clear();
    int64_t size = 0;
    const auto enter = [&](uint32_t member) {
      seen_[member] = stamp_;
      region_.push_back(member);
      stack_.push_back({member, 0});
      size += groups_.own_size(member);
    };
    enter(node);
    if (size > limit) return Verdict::kTooManyOperators;
    while (!stack_.empty()) {
      auto& [member, next] = stack_.back();
      const auto outputs = graph_.outputs(member);
      if (next == outputs.size()) {
        stack_.pop_back();
        continue;
      }
      const uint32_t to = outputs[next++].to;
      if (to == sink || seen_[to] == stamp_) continue;
      const bool blocked =
          !rule.Through(groups_.kind(to)) || (remember && blocked_at_[to] != kNone && blocked_at_[to] <= sink);
      if (blocked) {
        blocker_ = rule.Through(groups_.kind(to)) ? blocked_by_[to] : to;
        if (remember) {
          for (const auto& [on_path, unused] : stack_) {
            if (blocked_at_[on_path] <= sink) continue;
            blocked_at_[on_path] = sink;
            blocked_by_[on_path] = blocker_;
          }
        }
        return Verdict::kPathBlocked;
      }
      enter(to);
      if (size > limit) return Verdict::kTooManyOperators;
    }
    return Verdict::kFused;
  }

  /// The first node after `node`, breadth first, that is reached by an edge of a kind that `is_culprit` holds of, on
  /// the way to `sink`. Only for the record: gives up (kNone) after a few hundred nodes, to stay linear.
  template <typename Predicate>
  uint32_t FirstOnPaths(uint32_t node, uint32_t sink, const Predicate& is_culprit) {
    constexpr size_t kMostVisited = 256;
    ++stamp_;
    region_.assign(1, node);
    for (size_t i = 0; i < region_.size() && region_.size() < kMostVisited; ++i) {
      for (const auto& edge : graph_.outputs(region_[i])) {
        if (is_culprit(edge.kind)) return edge.to;
        if (edge.to == sink || seen_[edge.to] == stamp_) continue;
        seen_[edge.to] = stamp_;
        region_.push_back(edge.to);
        if (region_.size() >= kMostVisited) break;
      }
    }
    return kNone;
  }

  /// All nodes of the groups that `members` belong to. Only computed under an argument limit.
  std::vector<uint32_t> MembersOfGroups(const std::vector<uint32_t>& members) {
    std::vector<uint32_t> roots;
    for (const uint32_t member : members) roots.push_back(groups_.Find(member));
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    const uint32_t last = *std::max_element(members.begin(), members.end());
    const uint32_t span = static_cast<uint32_t>(std::min<int64_t>(last, 16 * options_.max_depth));
    std::vector<uint32_t> all;
    for (uint32_t i = last - span; i < graph_.size() && i <= last + span; ++i) {
      if (std::binary_search(roots.begin(), roots.end(), groups_.Find(i))) all.push_back(i);
    }
    return all;
  }

  const ForwardGraph& graph_;
  const DominatorTree& tree_;
  const PartitionOptions& options_;
  Groups groups_;
  /// Nodes on the longest path from each node to an end.
  std::vector<int64_t> height_;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  std::vector<uint32_t> blocked_at_;
  /// Who blocked there.
  std::vector<uint32_t> blocked_by_;
  /// Who stands against the fusion that is being tried.
  uint32_t blocker_ = kNone;
  std::vector<uint32_t> region_;
  std::vector<std::pair<uint32_t, uint32_t>> stack_;
  Partition result_;
};

}  // namespace

const char* ReasonCode(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFused:
      return "fused";
    case Verdict::kNotTried:
      return "not-on-a-fusable-path";
    case Verdict::kDisabled:
      return "fusion-disabled";
    case Verdict::kOutsideDataflow:
      return "outside-dataflow";
    case Verdict::kNothingComputed:
      return "nothing-computed";
    case Verdict::kOpaqueProducer:
      return "opaque-producer";
    case Verdict::kOpaqueConsumer:
      return "opaque-consumer";
    case Verdict::kUsedOutside:
      return "used-outside";
    case Verdict::kPathsDiverge:
      return "paths-never-meet";
    case Verdict::kReductionProducer:
      return "reduction-cannot-feed-forward";
    case Verdict::kComplexNeedsElementwise:
      return "complex-needs-elementwise";
    case Verdict::kComplexConsumer:
      return "complex-consumer";
    case Verdict::kTwoComplex:
      return "two-complex-operators";
    case Verdict::kPathBlocked:
      return "path-blocked";
    case Verdict::kTooManyOperators:
      return "depth-limit";
    case Verdict::kTooManyArguments:
      return "argument-limit";
  }
  DEUTERON_UNREACHABLE();
}

const char* ReasonText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFused:
      return "computed in one kernel";
    case Verdict::kNotTried:
      return "no phase of fusion applies to this edge";
    case Verdict::kDisabled:
      return "fusion is switched off (fuse_opt_level 0)";
    case Verdict::kOutsideDataflow:
      return "one end lies outside of a dataflow block, or in a branch: order and side effects count there";
    case Verdict::kNothingComputed:
      return "the group holds only projections of tuples: there is nothing to compute";
    case Verdict::kOpaqueProducer:
      return "the producer is opaque: its loops cannot be combined with others";
    case Verdict::kOpaqueConsumer:
      return "a consumer on the way is opaque: its loops cannot be combined with others";
    case Verdict::kUsedOutside:
      return "the value leaves the dataflow block, so it has to be stored";
    case Verdict::kPathsDiverge:
      return "the uses of the value never come together again";
    case Verdict::kReductionProducer:
      return "a reduction is complete only after its last input: it can only end a kernel";
    case Verdict::kComplexNeedsElementwise:
      return "a convolution or matmul accepts only elementwise followers, and a consumer on the way is not";
    case Verdict::kComplexConsumer:
      return "the consumer is a convolution or matmul: its operands are used many times";
    case Verdict::kTwoComplex:
      return "both kernels hold a convolution or matmul, and one kernel holds only one";
    case Verdict::kPathBlocked:
      return "an operator on a parallel path does not allow it";
    case Verdict::kTooManyOperators:
      return "the kernel would exceed relax.FuseOps.max_depth";
    case Verdict::kTooManyArguments:
      return "the kernel would exceed relax.FuseOps.max_function_args";
  }
  DEUTERON_UNREACHABLE();
}

Partition PartitionGraph(const ForwardGraph& graph, const DominatorTree& tree, const PartitionOptions& options) {
  return Partitioner(graph, tree, options).Run();
}

}  // namespace deuteron::relax::fusion
