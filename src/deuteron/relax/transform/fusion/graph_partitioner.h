/// \file
/// Decides which nodes of a forward graph become one kernel.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/transform/reason.h"
#include "deuteron/relax/transform/fusion/dominator_tree.h"
#include "deuteron/relax/transform/fusion/forward_graph.h"

namespace deuteron::relax::fusion {

using transform::Reason;

struct PartitionOptions {
  /// 0 fuses nothing.
  int opt_level = 2;
  /// Most nodes of one group.
  int64_t max_depth = 256;
  /// Most arguments of one group; unlimited if 0.
  int64_t max_arguments = 0;
  /// How many the kernel of these nodes would take; only asked for under a limit.
  std::function<int64_t(const std::vector<uint32_t>& members)> count_arguments = {};
};

/// The result: the group of each node and how it came about.
struct Partition {
  /// The representative (the sink) of each node's group.
  std::vector<uint32_t> group;
  /// Verdict on fusing each node with its post-dominator, and the phase it was given in.
  std::vector<Reason> verdict;
  std::vector<uint8_t> phase;
  /// The node that stands against it (the first opaque one on the way, …), or kNone where there is no single one.
  std::vector<uint32_t> blocker;
  /// By node that a limit stands against: what the limit would have to be. Of depths a lower bound.
  std::unordered_map<uint32_t, int64_t> needed;
};

/// Runs the three phases (docs/fusion.md).
Partition PartitionGraph(const ForwardGraph& graph, const DominatorTree& tree, const PartitionOptions& options);

}  // namespace deuteron::relax::fusion
