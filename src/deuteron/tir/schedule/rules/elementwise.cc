/// \file
/// Injective functions: no reduction anywhere. Everything is inlined into the blocks that write the outputs, each
/// value bound once an element; what remains are loops limited by memory.
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

bool ScheduleElementwise(Schedule* schedule, const Target& target) {
  for (const Block& block : schedule->GetBlocks()) {
    if (ClassifyBlock(schedule->Get(block)).kind != BlockClass::kInjective || !HasPlainLoops(*schedule, block)) return false;
  }
  InlineInjective(schedule, [](const Block&) { return true; });
  for (const Block& block : schedule->GetBlocks()) ScheduleSpatial(schedule, block, target);
  return true;
}

}  // namespace deuteron::tir
