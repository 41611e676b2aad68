/// \file
/// Reductions along the last axes (softmax, norms, means): all stages of one row run together while the row is in the
/// first cache; rows run in parallel.
///
/// A reduction is done in as many partial results as a vector has lanes, which are combined at the end: the order of
/// a floating-point sum changes (`RFactor`).
#include <algorithm>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

bool IsReduction(const Schedule& schedule, const Block& block) {
  return !SplitIters(schedule.Get(block)).reduce.empty();
}

/// Whether the reduction runs along the last dimension of what it reads: it is the last index of some operand, and
/// no operand slides a window along its last dimension (an index of spatial and reduction iterators together).
bool ReducesLastAxis(const SBlock& block) {
  const IterSplit iters = SplitIters(block);
  const auto update = GetReductionUpdate(block);
  if (!update || iters.reduce.empty()) return false;
  const Var last = block->iter_vars[iters.reduce.back()]->var;
  bool found = false;
  bool window = false;
  PostOrderVisit(update->source, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || load->indices.empty()) return;
    const PrimExpr& index = load->indices.back();
    if (index.same_as(last)) {
      found = true;
    } else if (UsesVar(index, [&](const VarNode* var) { return var == last.get(); })) {
      window = true;
    }
  });
  return found && !window;
}

/// How many leading axes of `final_block` are rows: axes over which every reduction is spatial, with the same extents.
size_t CountRowAxes(const Schedule& schedule, const Block& final_block) {
  const SBlock last = schedule.Get(final_block);
  const std::vector<size_t> axes = SplitIters(last).spatial;
  size_t rows = axes.size();
  for (const Block& block : schedule.GetBlocks()) {
    if (!IsReduction(schedule, block)) continue;
    const SBlock reduction = schedule.Get(block);
    const std::vector<size_t> spatial = SplitIters(reduction).spatial;
    size_t common = 0;
    while (common < std::min(rows, spatial.size()) &&
           ExprEqual(reduction->iter_vars[spatial[common]]->dom->extent, last->iter_vars[axes[common]]->dom->extent)) {
      ++common;
    }
    rows = common;
  }
  return rows;
}

/// Splits a reduction into one partial result a lane; the blocks that then make it, in order.
std::vector<Block> Vectorizable(Schedule* schedule, const Block& block, int64_t lanes) {
  const IterSplit iters = SplitIters(schedule->Get(block));
  const std::vector<Loop> loops = schedule->GetLoops(block);
  std::vector<Loop> reduce;
  for (size_t position : iters.reduce) reduce.push_back(loops[position]);
  const Loop axis = FuseAll(schedule, reduce);
  const auto extent = schedule->ConstExtent(axis);
  if (extent && *extent < 2 * lanes) return {block};
  const Block partial = schedule->RFactor(schedule->Split(axis, std::vector<int64_t>{-1, lanes})[1]);
  return {partial, block};
}

/// Inner loops of an injective stage: one axis, in vectors.
void VectorizeStage(Schedule* schedule, const Block& block, size_t first_inner, int64_t lanes) {
  const std::vector<Loop> loops = schedule->GetLoops(block);
  if (loops.size() <= first_inner) return;
  const Loop axis = FuseAll(schedule, {loops.begin() + static_cast<int64_t>(first_inner), loops.end()});
  const auto extent = schedule->ConstExtent(axis);
  if (extent && *extent == 1) return;
  if (extent && *extent <= lanes) {
    schedule->Vectorize(axis);
    return;
  }
  schedule->Vectorize(schedule->Split(axis, std::vector<int64_t>{-1, lanes})[1]);
}

/// Inner loops of the partial reduction of a row: [lane, step] becomes [step, lane], a vector accumulator.
void VectorizePartial(Schedule* schedule, const Block& block, size_t first_inner) {
  const std::vector<Loop> loops = schedule->GetLoops(block);
  if (loops.size() != first_inner + 2) DEUTERON_SCHEDULE_ERROR << "partial reduction of an unexpected shape";
  const Loop lane = loops[first_inner];
  const Loop step = loops[first_inner + 1];
  schedule->Reorder({step, lane});
  const Block init = schedule->DecomposeReduction(block, step);
  schedule->Vectorize(schedule->GetLoops(init).back());
  schedule->Vectorize(lane);
}

}  // namespace

bool ScheduleRows(Schedule* schedule, const Target& target) {
  bool any = false;
  Block final_block;
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) return false;
    const BlockClass kind = ClassifyBlock(schedule->Get(block)).kind;
    if (kind == BlockClass::kOpaque) return false;
    if (kind != BlockClass::kInjective) {
      if (!ReducesLastAxis(schedule->Get(block))) return false;
      any = true;
    }
    if (WritesParameter(*schedule, block)) {
      if (!final_block.empty()) return false;
      final_block = block;
    }
  }
  if (!any || final_block.empty()) return false;
  // A stage that several read is kept for the row; one that a single consumer reads is computed where it is read.
  InlineInjective(schedule, [&](const Block& block) {
    const auto consumers = schedule->GetConsumers(block);
    return consumers.size() == 1 ||
           std::none_of(consumers.begin(), consumers.end(), [&](const Block& c) { return IsReduction(*schedule, c); });
  });
  const int64_t lanes = Lanes(target);
  const size_t rows = CountRowAxes(*schedule, final_block);
  if (rows == 0) return false;

  // Partial reductions first, while the loops are plain; `order` is the order of execution.
  std::vector<Block> order;
  std::vector<Block> partials;
  for (const Block& block : schedule->GetBlocks()) {
    if (!IsReduction(*schedule, block)) {
      order.push_back(block);
      continue;
    }
    const std::vector<Block> made = Vectorizable(schedule, block, lanes);
    order.insert(order.end(), made.begin(), made.end());
    if (made.size() == 2) partials.push_back(made[0]);
  }
  const std::vector<Loop> loops = schedule->GetLoops(final_block);
  const Loop row = FuseAll(schedule, {loops.begin(), loops.begin() + static_cast<int64_t>(rows)});
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    if (*block != final_block) schedule->ComputeAt(*block, row);
  }
  for (const Block& block : order) {
    if (std::find(partials.begin(), partials.end(), block) != partials.end()) {
      VectorizePartial(schedule, block, 1);
    } else if (!IsReduction(*schedule, block)) {
      VectorizeStage(schedule, block, 1, lanes);
    }
  }
  schedule->Parallel(row);
  return true;
}

}  // namespace deuteron::tir
