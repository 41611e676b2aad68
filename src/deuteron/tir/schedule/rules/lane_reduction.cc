#include "deuteron/tir/schedule/rules/lane_reduction.h"

#include <algorithm>

#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Whether a block divides positions by numbers that the run tells: each lane does, one after the other.
bool DividesByUnknown(const SBlock& block) {
  bool divides = false;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* quotient = node.as<FloorDivNode>();
    const auto* rest = node.as<FloorModNode>();
    if (quotient != nullptr) divides = divides || !AsConstInt(quotient->b);
    if (rest != nullptr) divides = divides || !AsConstInt(rest->b);
  });
  return divides;
}

}  // namespace

size_t LaneReductions::FirstToSplit(const std::vector<Loop>& loops, size_t least) const {
  const int64_t enough = 2 * lanes_;  // as Split asks for
  size_t first = loops.size() - 1;
  int64_t extent = schedule_.ConstExtent(loops[first]).value_or(enough);
  for (; first > least; --first) {
    const auto outer = schedule_.ConstExtent(loops[first - 1]);
    if (!outer && extent >= enough) break;
    extent = outer && extent < enough ? extent * *outer : enough;
  }
  return first;
}

void LaneReductions::Split(const Block& block, const Loop& axis) {
  const auto extent = schedule_.ConstExtent(axis);
  if (extent && *extent < 2 * lanes_) return;
  // Of a sum of few terms most lanes would find their places in vain.
  int64_t accumulators = !extent && DividesByUnknown(schedule_.Get(block)) ? 1 : accumulators_;
  while (extent && accumulators > 1 && *extent < 2 * accumulators * lanes_) accumulators /= 2;
  int64_t width = accumulators * lanes_;
  partials_.push_back(schedule_.RFactor(schedule_.Split(axis, std::vector<int64_t>{-1, width})[1]));
  while (width > 2) {
    const int64_t half = width > lanes_ ? lanes_ : width / 2;
    const Loop rest = schedule_.GetLoops(block).back();
    trees_.push_back(schedule_.RFactor(schedule_.Split(rest, std::vector<int64_t>{-1, half})[1]));
    width = half;
  }
}

void LaneReductions::Vectorize(size_t outer) {
  for (const Block& block : partials_) VectorizePartial(block, outer);
  for (const Block& block : trees_) VectorizeTree(block, outer);
}

std::vector<Loop> LaneReductions::LongLoops(const Block& block, size_t outer) const {
  std::vector<Loop> loops;
  const std::vector<Loop> all = schedule_.GetLoops(block);
  for (size_t i = outer; i < all.size(); ++i) {
    if (schedule_.ConstExtent(all[i]) != 1) loops.push_back(all[i]);
  }
  return loops;
}

/// The partial reduction of a row: the lane goes inside of all steps, vectors of accumulators.
void LaneReductions::VectorizePartial(const Block& block, size_t outer) {
  std::vector<Loop> order = LongLoops(block, outer);
  const SBlockRealize realize = schedule_.GetRealize(block);
  // RFactor made the lane the last spatial iterator.
  const size_t lane_at = SplitIters(realize->block).spatial.back();
  const auto lane = std::find_if(order.begin(), order.end(), [&](const Loop& loop) {
    return realize->iter_values[static_cast<int64_t>(lane_at)].same_as(loop);
  });
  if (lane == order.end() || order.size() < 2) DEUTERON_SCHEDULE_ERROR << "partial reduction of an unexpected shape";
  const Loop inner = *lane;
  order.erase(lane);
  order.push_back(inner);
  schedule_.Reorder(order);
  const Block init = schedule_.DecomposeReduction(block, order.front());
  schedule_.Vectorize(schedule_.GetLoops(init).back());
  schedule_.Vectorize(inner);
}

/// One level of the tree: [lane, part], unrolled.
void LaneReductions::VectorizeTree(const Block& block, size_t outer) {
  const std::vector<Loop> loops = LongLoops(block, outer);
  if (loops.size() != 2) DEUTERON_SCHEDULE_ERROR << "tree of an unexpected shape";
  const Loop part = loops[0];
  const Loop lane = loops[1];
  const Block init = schedule_.DecomposeReduction(block, part);
  schedule_.Vectorize(schedule_.GetLoops(init).back());
  schedule_.Vectorize(lane);
  schedule_.Unroll(part);
}

}  // namespace deuteron::tir
