/// \file
/// Offsets for blocks of memory whose lifetimes are known.
#pragma once

#include <cstdint>
#include <vector>

namespace deuteron::relax {

/// A block that is needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t size = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct MemoryPlan {
  /// One for each lifetime. Blocks that live at the same time do not overlap.
  std::vector<int64_t> offsets;
  int64_t total = 0;
};

/// Sizes must be non-negative multiples of the alignment wanted; offsets are sums of sizes. Several greedy orders (by
/// size, by size × duration, by time) are tried, and gone on from by simulated annealing. It is within a few percent of
/// the largest live set on networks, and the same each time. Near-linear: orders that compare blocks pairwise are
/// skipped where too many live at once. For `few_runs` of blocks in bytes annealing takes no longer than the system to
/// give what it could save.
MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes, bool few_runs = false);

/// The largest sum of sizes that live at one step: no plan can be smaller.
int64_t LargestLiveSet(const std::vector<Lifetime>& lifetimes);

}  // namespace deuteron::relax
