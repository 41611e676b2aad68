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
///  - `height_`: of two nodes on a path, the difference is a lower bound of the region's size, and refuses without a
///    walk;
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
    result_.verdict.assign(graph.size(), Reason::kNotTried);
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
        const Reason verdict = Visit(node, phase);
        if (verdict == Reason::kNotTried) continue;
        result_.blocker[node] = blocker_;
        result_.verdict[node] = verdict;
        if (verdict == Reason::kDepthLimit || verdict == Reason::kArgumentLimit) result_.needed[node] = needed_;
        if (verdict == Reason::kFused) {
          // What lay on the way came along; its own post-dominator may be tried later and refused.
          for (const uint32_t member : region_) {
            if (result_.verdict[member] != Reason::kFused) result_.phase[member] = static_cast<uint8_t>(phase);
          }
        }
        result_.phase[node] = static_cast<uint8_t>(phase);
      }
    }
    result_.group.resize(graph_.size());
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      result_.group[node] = groups_.Find(node);
      if (options_.opt_level == 0) result_.verdict[node] = Reason::kFusionDisabled;
    }
    return std::move(result_);
  }

 private:
  /// Tries to fuse `node` with its post-dominator. kNotTried: nothing new to say in this phase.
  Reason Visit(uint32_t node, int phase) {
    const OpPatternKind kind = groups_.own_kind(node);
    if (kind == OpPatternKind::kOpaque) return phase == 0 ? Reason::kOpaqueProducer : Reason::kNotTried;
    const uint32_t sink = tree_.parent(node);
    if (sink == kNone) {
      if (phase > 0) return Reason::kNotTried;
      return graph_.extern_ref(node) ? Reason::kUsedOutside : Reason::kPathsDiverge;
    }
    const OpPatternKind sink_kind = groups_.own_kind(sink);
    if (phase == 2) {
      if (kind > OpPatternKind::kInjective || sink_kind != OpPatternKind::kTuple) return Reason::kNotTried;
      if (groups_.kind(sink) > OpPatternKind::kInjective) return Reason::kNotTried;
      return Fuse(node, sink, kInjectiveRule);
    }
    if (groups_.Find(node) == groups_.Find(sink)) return Reason::kNotTried;
    if (sink_kind == OpPatternKind::kTuple) return Reason::kNotTried;
    const OpPatternKind path = tree_.kind_to_parent(node);
    if (kind == OpPatternKind::kOutEWiseFusable) {
      if (phase != 0) return Reason::kNotTried;
      if (path != OpPatternKind::kElemWise) {
        blocker_ = FirstOnPaths(node, sink, [path](OpPatternKind kind) { return kind == path; });
        if (path == OpPatternKind::kOutEWiseFusable) return Reason::kTwoComplex;
        return path == OpPatternKind::kOpaque ? Reason::kOpaqueConsumer : Reason::kComplexNeedsElementwise;
      }
      return Fuse(node, sink, kComplexRule);
    }
    if (kind <= OpPatternKind::kBroadcast) {
      if (path > OpPatternKind::kCommReduce) {
        blocker_ = FirstOnPaths(node, sink, [path](OpPatternKind kind) { return kind == path; });
        return path == OpPatternKind::kOutEWiseFusable ? Reason::kComplexConsumer : Reason::kOpaqueConsumer;
      }
      return Fuse(node, sink, kPointwiseRule);
    }
    if (kind == OpPatternKind::kInjective || kind == OpPatternKind::kTuple) {
      return phase == 1 ? Fuse(node, sink, kInjectiveRule) : Reason::kNotTried;
    }
    return Reason::kReductionProducer;
  }

  Reason Fuse(uint32_t node, uint32_t sink, const PathRule& rule) {
    const OpPatternKind sink_kind = groups_.kind(sink);
    if (!rule.Sink(sink_kind)) {
      blocker_ = sink;
      switch (sink_kind) {
        case OpPatternKind::kOpaque:
          return Reason::kOpaqueConsumer;
        case OpPatternKind::kOutEWiseFusable:
          return rule.through == kUpToBroadcast ? Reason::kTwoComplex : Reason::kComplexConsumer;
        case OpPatternKind::kElemWise:
        case OpPatternKind::kBroadcast:
        case OpPatternKind::kInjective:
        case OpPatternKind::kCommReduce:
        case OpPatternKind::kTuple:
          return Reason::kPathBlocked;
      }
    }
    const int64_t limit = options_.max_depth - groups_.size(sink);
    if (const int64_t least = height_[node] - height_[sink]; least > limit) {
      needed_ = groups_.size(sink) + std::max(least, groups_.own_size(node));
      return Reason::kDepthLimit;
    }
    const Reason verdict = WalkRegion(node, sink, rule, limit);
    if (verdict != Reason::kFused) return verdict;
    if (options_.max_arguments > 0) {
      std::vector<uint32_t> members = region_;
      members.push_back(sink);
      needed_ = options_.count_arguments(MembersOfGroups(members));
      if (needed_ > options_.max_arguments) return Reason::kArgumentLimit;
    }
    for (const uint32_t member : region_) groups_.Merge(member, sink);
    return Reason::kFused;
  }

  /// Collects into `region_` the nodes on the paths from `node` to `sink`, `sink` excluded. Fails at the first
  /// kind that `rule` does not let through or when their sizes exceed `limit`.
  Reason WalkRegion(uint32_t node, uint32_t sink, const PathRule& rule, int64_t limit) {
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
    const auto exceeds = [&] {
      needed_ = options_.max_depth - limit + size;
      return size > limit;
    };
    enter(node);
    if (exceeds()) return Reason::kDepthLimit;
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
        return Reason::kPathBlocked;
      }
      enter(to);
      if (exceeds()) return Reason::kDepthLimit;
    }
    return Reason::kFused;
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
  /// What the limit that stands against it would have to be.
  int64_t needed_ = 0;
  std::vector<uint32_t> region_;
  std::vector<std::pair<uint32_t, uint32_t>> stack_;
  Partition result_;
};

}  // namespace

Partition PartitionGraph(const ForwardGraph& graph, const DominatorTree& tree, const PartitionOptions& options) {
  return Partitioner(graph, tree, options).Run();
}

}  // namespace deuteron::relax::fusion
