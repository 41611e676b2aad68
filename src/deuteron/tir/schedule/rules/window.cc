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
  InlineAllButOperands(schedule, anchor);
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
