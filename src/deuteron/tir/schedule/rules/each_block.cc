/// \file
/// The rule that always applies to blocks in plain loops: each block by itself.
#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {
namespace {

/// Spatial loops before the first reduction loop are one parallel loop.
void ParallelOuter(Schedule* schedule, const Block& block) {
  const SBlock body = schedule->Get(block);
  const std::vector<Loop> loops = schedule->GetLoops(block);
  std::vector<Loop> outer;
  for (size_t i = 0; i < loops.size() && body->iter_vars[i]->type == IterVarType::kSpatial; ++i) {
    outer.push_back(loops[i]);
  }
  if (!outer.empty()) schedule->Parallel(FuseAll(schedule, outer));
}

}  // namespace

bool ScheduleEachBlock(Schedule* schedule, const Target& target) {
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) continue;
    const Schedule before = *schedule;
    try {
      const BlockClass kind = ClassifyBlock(schedule->Get(block)).kind;
      if (kind == BlockClass::kInjective) {
        ScheduleSpatial(schedule, block, target);
      } else if (kind != BlockClass::kMatmul || !ScheduleContractionAlone(schedule, block, target)) {
        ParallelOuter(schedule, block);
      }
    } catch (const ffi::Error& error) {
      if (!IsScheduleError(error)) throw;
      *schedule = before;
    }
  }
  return true;
}

}  // namespace deuteron::tir
