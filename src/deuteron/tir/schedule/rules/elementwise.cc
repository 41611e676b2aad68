/// \file
/// Injective functions: no reduction anywhere. What is left are loops limited by memory.
///
/// One result: everything is inlined into the block that writes it, each value bound once an element. Several results
/// over the same extents: they are computed together, a stretch of the last axis at a time, so that what they share is
/// loaded, and what is dear computed, once.
#include <algorithm>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// Loops of a block that have more than one iteration.
std::vector<Loop> LongLoops(const Schedule& schedule, const Block& block) {
  std::vector<Loop> loops;
  for (const Loop& loop : schedule.GetLoops(block)) {
    if (schedule.ConstExtent(loop) != 1) loops.push_back(loop);
  }
  return loops;
}

bool SameExtents(const Schedule& schedule, const Block& a, const Block& b) {
  const auto mine = LongLoops(schedule, a);
  const auto theirs = LongLoops(schedule, b);
  return mine.size() == theirs.size() &&
         std::equal(mine.begin(), mine.end(), theirs.begin(), [&](const Loop& x, const Loop& y) {
           return ExprEqual(schedule.GetLoop(x)->extent, schedule.GetLoop(y)->extent);
         });
}

/// All blocks in one nest, stretch by stretch. False if their extents differ or there is only one.
bool ScheduleTogether(Schedule* schedule, const Target& target) {
  Recomputation recomputation(schedule, target);
  for (const Block& block : LastFirst(*schedule)) {
    if (MayInline(*schedule, block)) recomputation.InlineIfCheap(block);
  }
  const std::vector<Block> blocks = schedule->GetBlocks();
  if (blocks.size() < 2) return false;
  // The longest stretch of one axis that blocks work on in turn.
  const int64_t longest = CostModel(target.machine).StretchBytes() / static_cast<int64_t>(sizeof(float));
  std::vector<std::vector<Loop>> chains;
  for (const Block& block : blocks) {
    if (!SameExtents(*schedule, block, blocks[0])) return false;
    std::vector<Loop> chain = LongLoops(*schedule, block);
    if (chain.empty()) return false;
    const auto last = schedule->ConstExtent(chain.back());
    // Short axes are better made one with their neighbours, each result by itself.
    if (!last || *last < 4 * Lanes(target)) return false;
    std::vector<Loop> order = chain;
    if (*last > longest) {
      // Uneven stretches would need conditions; the divisor is rarely far from the best.
      const int64_t stretch = LargestDivisor(*last, longest);
      if (stretch < longest / 8) return false;
      const std::vector<Loop> parts = schedule->Split(chain.back(), std::vector<int64_t>{-1, stretch});
      chain.back() = parts[0];
      order = chain;
      order.push_back(parts[1]);
    } else {
      chain.pop_back();
    }
    if (chain.empty()) return false;
    schedule->Reorder(order);
    // Loops of one iteration stay inside.
    chains.push_back(std::move(chain));
  }
  // Those of one iteration may stand before the others.
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::vector<Loop> order = chains[i];
    for (const Loop& loop : schedule->GetLoops(blocks[i])) {
      if (std::none_of(order.begin(), order.end(), [&](const Loop& other) { return other.same_as(loop); }))
        order.push_back(loop);
    }
    schedule->Reorder(order);
  }
  schedule->MergeLoops(chains);
  const Loop outer = FuseAll(schedule, chains[0]);
  for (const Block& block : blocks) VectorizeInner(schedule, block, 1, Lanes(target));
  schedule->Parallel(outer);
  return true;
}

}  // namespace

bool ScheduleElementwise(Schedule* schedule, const Target& target) {
  for (const Block& block : schedule->GetBlocks()) {
    if (ClassifyBlock(schedule->Get(block)).kind != BlockClass::kInjective || !HasPlainLoops(*schedule, block))
      return false;
  }
  const auto results = schedule->GetBlocks();
  if (std::count_if(results.begin(), results.end(), [&](const Block& b) { return WritesParameter(*schedule, b); }) >
      1) {
    const Schedule before = *schedule;
    try {
      if (ScheduleTogether(schedule, target)) return true;
    } catch (const ffi::Error& error) {
      if (!IsScheduleError(error)) throw;
    }
    *schedule = before;
  }
  InlineInjective(schedule, [](const Block&) { return true; });
  for (const Block& block : schedule->GetBlocks()) ScheduleSpatial(schedule, block, target);
  return true;
}

}  // namespace deuteron::tir
