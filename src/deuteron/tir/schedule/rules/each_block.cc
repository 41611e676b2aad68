/// \file
/// The rule that always applies to blocks in plain loops: each block by itself.
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/contraction_plan.h"
#include "deuteron/tir/schedule/rules/lane_reduction.h"
#include "deuteron/tir/schedule/rules/sum_parts.h"

namespace deuteron::tir {
namespace {

/// Spatial loops before the first reduction loop are one parallel loop, a long sum is added up in parts.
void ParallelOuter(Schedule* schedule, const Block& block) {
  const Array<IterVar> iters = schedule->Get(block)->iter_vars;
  std::vector<Loop> loops = schedule->GetLoops(block);
  const auto is_spatial = [](const IterVar& iter) { return iter->type == IterVarType::kSpatial; };
  const auto first = std::find_if_not(iters.begin(), iters.end(), is_spatial);
  const auto outer = first - iters.begin();
  if (std::none_of(first, iters.end(), is_spatial)) {
    SumInParts sum = {block, static_cast<size_t>(outer), {loops.begin() + outer, loops.end()}};
    for (const int64_t most : StepsOfParts(StepsOf(*schedule, sum.reduce).value_or(1))) sum.Cut(schedule, most);
    if (!sum.sums.empty()) sum.Nest(schedule);
    loops = schedule->GetLoops(sum.steps);
  }
  loops.resize(static_cast<size_t>(outer));
  if (!loops.empty()) schedule->Parallel(FuseAll(schedule, loops));
}

/// Whether `iter` is the last index of all that is read along it.
bool IsLastIndex(const SBlock& block, const IterVar& iter) {
  bool is_last = true;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr) return;
    for (size_t i = 0; i < load->indices.size(); ++i) {
      const PrimExpr& index = load->indices[static_cast<int64_t>(i)];
      const bool uses = UsesVar(index, [&](const VarNode* var) { return var == iter->var.get(); });
      if (uses && !(i + 1 == load->indices.size() && index.same_as(iter->var))) is_last = false;
    }
  });
  return is_last;
}

/// A reduction to one number, in as many partial results as a few vectors have lanes; false if it is none, or not along
/// a contiguous axis.
bool ReduceInVectors(Schedule* schedule, const Block& block, const Target& target) {
  const SBlock body = schedule->Get(block);
  const auto is_reduced = [](const IterVar& iter) { return iter->type == IterVarType::kReduce; };
  const std::vector<Loop> loops = schedule->GetLoops(block);
  if (loops.empty() || !std::all_of(body->iter_vars.begin(), body->iter_vars.end(), is_reduced)) return false;
  size_t contiguous = loops.size() - 1;
  if (!IsLastIndex(body, body->iter_vars[contiguous])) return false;
  while (contiguous > 0 && AreContiguous(body, body->iter_vars[contiguous - 1], body->iter_vars[contiguous])) {
    --contiguous;
  }
  LaneReductions reductions(schedule, target);
  const size_t first = reductions.FirstToSplit(loops, contiguous);
  reductions.Split(block, FuseAll(schedule, {loops.begin() + static_cast<int64_t>(first), loops.end()}));
  reductions.Vectorize(0);
  return true;
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
      } else if (kind == BlockClass::kMatmul
                     ? !ScheduleContractionAlone(schedule, block, target)
                     : kind != BlockClass::kReduction || !ReduceInVectors(schedule, block, target)) {
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
