/// \file
/// Decides which nodes of a forward graph become one kernel.
#pragma once

#include <functional>
#include <vector>

#include "deuteron/relax/transform/fusion/dominator_tree.h"
#include "deuteron/relax/transform/fusion/forward_graph.h"

namespace deuteron::relax::fusion {

/// Why a node was, or was not, fused with its post-dominator. The codes are stable (see ReasonCode).
enum class Verdict : uint8_t {
  kFused,
  kNotTried,
  kDisabled,
  kOutsideDataflow,
  kNothingComputed,
  kOpaqueProducer,
  kOpaqueConsumer,
  kUsedOutside,
  kPathsDiverge,
  kReductionProducer,
  kComplexNeedsElementwise,
  kComplexConsumer,
  kTwoComplex,
  kPathBlocked,
  kTooManyOperators,
  kTooManyArguments,
};
inline constexpr int kVerdictCount = static_cast<int>(Verdict::kTooManyArguments) + 1;
/// "fused", "opaque-producer", …: what the decision log and `explain` print.
const char* ReasonCode(Verdict verdict);
/// One sentence.
const char* ReasonText(Verdict verdict);

struct PartitionOptions {
  /// 0 fuses nothing.
  int opt_level = 2;
  /// Most nodes of one group.
  int64_t max_depth = 256;
  /// Whether the union of the groups of `region` and of `sink` would take too many arguments; may be empty.
  std::function<bool(const std::vector<uint32_t>& members)> exceeds_arguments = {};
};

/// The result: the group of each node and how it came about.
struct Partition {
  /// The representative (the sink) of each node's group.
  std::vector<uint32_t> group;
  /// Verdict on fusing each node with its post-dominator, and the phase it was given in.
  std::vector<Verdict> verdict;
  std::vector<uint8_t> phase;
  /// The node that stands against it (the first opaque one on the way, …), or kNone where there is no single one.
  std::vector<uint32_t> blocker;
};

/// Runs the three phases of the documents (seeds/operator-fusion.rst, semantics.md §2).
Partition PartitionGraph(const ForwardGraph& graph, const DominatorTree& tree, const PartitionOptions& options);

}  // namespace deuteron::relax::fusion
