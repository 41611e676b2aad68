/// \file
/// Reductions whose outputs vary along the last axis: pools, depthwise convolutions, sums over other axes. One vector
/// of outputs at a time, accumulated in registers, then the epilogue on that vector.
///
/// What a window slides over (a padded image) is computed a plane at a time, into the cache of the thread that then
/// slides over it, where there are planes enough for the threads and they are small enough for the cache.
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// How many of the block's first spatial axes, all of constant extents, are plain indices of `operand` and no other
/// axis shares an index with them: each of their values has a plane of the operand of its own.
size_t CountPlaneAxes(const SBlock& block, const Buffer& operand) {
  const ExprVarMap unit = UnitReductions(block);
  Array<PrimExpr> indices;
  arith::Analyzer analyzer;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || !load->buffer.same_as(operand)) return;
    indices.clear();
    for (const PrimExpr& index : load->indices) indices.push_back(analyzer.Simplify(Substitute(index, unit)));
  });
  size_t count = 0;
  for (const IterVar& iter : block->iter_vars) {
    const bool plain =
        std::any_of(indices.begin(), indices.end(), [&](const PrimExpr& index) { return index.same_as(iter->var); });
    if (!plain || iter->type != IterVarType::kSpatial || !AsConstInt(iter->dom->extent)) break;
    ++count;
  }
  return count;
}

/// The axes whose iterations each get a plane of the operand, if that pays.
std::optional<size_t> PlaneAxes(const Schedule& schedule, const Block& anchor, const Block& operand,
                                const Target& target) {
  const SBlock block = schedule.Get(anchor);
  const Buffer buffer = schedule.WriteBuffer(operand);
  const auto shape = AsConstInts(buffer->shape);
  const size_t axes = CountPlaneAxes(block, buffer);
  if (!shape || axes == 0 || axes + 1 >= SplitIters(block).spatial.size()) return std::nullopt;
  int64_t planes = 1;
  for (size_t i = 0; i < axes; ++i) planes *= *AsConstInt(block->iter_vars[i]->dom->extent);
  int64_t bytes = buffer->dtype.bytes();
  for (int64_t extent : *shape) bytes *= extent;
  const CostModel costs(target.machine);
  if (planes < costs.EnoughPieces() || bytes / planes > costs.PlaneBytes()) return std::nullopt;
  return axes;
}

}  // namespace

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
  const std::vector<Block> operands = schedule->GetProducers(anchor);
  std::optional<size_t> planes;
  if (operands.size() == 1 && schedule->GetConsumers(operands[0]).size() == 1) {
    planes = PlaneAxes(*schedule, anchor, operands[0], target);
  }
  for (const Block& block : schedule->GetBlocks()) {
    const bool moves = planes && block == operands[0];
    if (block != anchor && block != epilogue && !moves) ScheduleSpatial(schedule, block, target);
  }
  const Loop parallel = ScheduleSpatialReduction(schedule, anchor, epilogue, target, planes);
  if (planes) {
    schedule->ComputeAt(operands[0], parallel);
    const std::vector<Loop> loops = schedule->GetLoops(operands[0]);
    VectorizeInner(schedule, operands[0], loops.size() - 1, Lanes(target));
  }
  return true;
}

}  // namespace deuteron::tir
