/// \file
/// Reductions whose outputs vary along the last axis: pools, depthwise convolutions, sums over other axes. One vector
/// of outputs at a time, accumulated in registers, then the epilogue on that vector.
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

bool ScheduleWindow(Schedule* schedule, const Target& target) {
  InlineInjective(schedule, [&](const Block& block) { return IsCopy(*schedule, block); });
  Block anchor;
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) return false;
    const BlockClass kind = ClassifyBlock(schedule->Get(block)).kind;
    if (kind == BlockClass::kInjective) continue;
    if (kind == BlockClass::kOpaque || !anchor.empty()) return false;
    anchor = block;
  }
  if (anchor.empty()) return false;
  // What the anchor reads directly stays a stage of its own: it would be recomputed for every window.
  const auto feeds_anchor = [&](const Block& block) {
    const auto producers = schedule->GetProducers(anchor);
    return std::find(producers.begin(), producers.end(), block) != producers.end();
  };
  InlineInjective(schedule, [&](const Block& block) { return block != anchor && !feeds_anchor(block); });
  Block epilogue;
  if (!WritesParameter(*schedule, anchor)) {
    epilogue = SoleInjectiveConsumer(*schedule, anchor);
    if (epilogue.empty()) return false;
  }
  for (const Block& block : schedule->GetBlocks()) {
    if (block != anchor && block != epilogue) ScheduleSpatial(schedule, block, target);
  }
  ScheduleSpatialReduction(schedule, anchor, epilogue, target);
  return true;
}

}  // namespace deuteron::tir
