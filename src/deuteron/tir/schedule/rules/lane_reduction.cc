#include "deuteron/tir/schedule/rules/lane_reduction.h"

#include <algorithm>
#include <cmath>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/sum_parts.h"

namespace deuteron::tir {
namespace {

/// Sums in which each lane adds up so many terms are cut into parts.
constexpr int64_t kManySteps = 1024;
/// What is subtracted from each term may be subtracted from what a lane has added up of so many: its own error is
/// little then beside that of what adds up the lanes, as those of all level each other out.
constexpr int64_t kMostTermsOfLane = 32;
/// As many parts as each has steps are best: one of so many times as many is as good, if need be of the second.
constexpr double kLongerParts[] = {2, 8};
/// Shorter ones would pay for what adds them up.
constexpr int64_t kShortestPart = 32;

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
  const std::vector<Loop> steps = schedule_.Split(axis, std::vector<int64_t>{-1, width});
  partials_.push_back(schedule_.RFactor(steps[1]));
  if (extent && *extent <= kMostTermsOfLane * width) SubtractLast(block, *extent, width);
  CutSteps(partials_.back(), steps[0]);
  while (width > 2) {
    const int64_t half = width > lanes_ ? lanes_ : width / 2;
    const Loop rest = schedule_.GetLoops(block).back();
    trees_.push_back(schedule_.RFactor(schedule_.Split(rest, std::vector<int64_t>{-1, half})[1]));
    width = half;
  }
}

/// A sum whose block asks for it, of which lanes have parts: what is subtracted from its terms is not in its steps.
void LaneReductions::SubtractLast(const Block& block, int64_t extent, int64_t width) {
  if (schedule_.Get(block)->annotations.count(kSubtractsLast) == 0) return;
  // Of a sum over another axis as well a lane has more terms.
  PrimExpr steps = I64(1);
  for (const IterVar& iter : schedule_.Get(partials_.back())->iter_vars) {
    if (iter->type == IterVarType::kReduce) steps = steps * iter->dom->extent;
  }
  if (AsConstInt(steps) != (extent + width - 1) / width) return;
  const auto terms_of_lane = [&](const PrimExpr& lane) -> PrimExpr {
    const DataType dtype = DataType::Float(32);
    const PrimExpr fewer = MakeConst(dtype, extent / width);
    if (extent % width == 0) return fewer;
    return SelectExpr(lane < extent % width, MakeConst(dtype, extent / width + 1), fewer);
  };
  try {
    schedule_.SubtractLast(block, partials_.back(), terms_of_lane);
  } catch (const ffi::Error& error) {
    // Where terms are no differences any more, as of constants: they stay as they are.
    if (!IsScheduleError(error)) throw;
  }
}

/// The error of a long sum is not that of one accumulator a lane: parts of it are added up in memory, [part, row,
/// lane].
void LaneReductions::CutSteps(const Block& block, const Loop& steps) {
  const auto extent = schedule_.ConstExtent(steps);
  if (!extent || *extent < kManySteps || !schedule_.WriteBuffer(block)->dtype.is_float()) return;
  const auto cut = [&](int64_t length) {
    parts_.push_back(schedule_.RFactor(schedule_.Split(steps, std::vector<int64_t>{-1, length})[0], 0));
  };
  for (const double longer : kLongerParts) {
    const auto most = static_cast<int64_t>(longer * std::sqrt(static_cast<double>(*extent)));
    const int64_t length = LargestDivisor(*extent, most);
    if (length >= kShortestPart) return cut(length);
  }
  // Of a number without such divisors the last part is shorter.
  cut(LengthOfPart(*extent, static_cast<int64_t>(std::sqrt(static_cast<double>(*extent)))));
}

void LaneReductions::Vectorize(size_t outer) {
  for (const Block& block : parts_) VectorizePartial(block, outer, true);
  for (const Block& block : partials_) VectorizePartial(block, outer, false);
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

/// The partial reduction of a row: the lane goes inside of all steps, vectors of accumulators. RFactor made the last
/// spatial iterators: the lane and, of the parts of one that is cut, which of them it is.
void LaneReductions::VectorizePartial(const Block& block, size_t outer, bool is_part) {
  std::vector<Loop> order = LongLoops(block, outer);
  const SBlockRealize realize = schedule_.GetRealize(block);
  const std::vector<size_t> spatial = SplitIters(realize->block).spatial;
  const auto take = [&](size_t from_last) {
    const PrimExpr value = realize->iter_values[static_cast<int64_t>(spatial.at(spatial.size() - 1 - from_last))];
    const auto loop = std::find_if(order.begin(), order.end(), [&](const Loop& each) { return value.same_as(each); });
    if (loop == order.end()) DEUTERON_SCHEDULE_ERROR << "partial reduction of an unexpected shape";
    const Loop taken = *loop;
    order.erase(loop);
    return taken;
  };
  const Loop lane = take(is_part ? 1 : 0);
  if (is_part) {
    const Loop part = take(0);
    order.insert(order.begin(), part);
  }
  const size_t first = is_part ? 1 : 0;  // of the loops that reduce
  if (order.size() <= first) DEUTERON_SCHEDULE_ERROR << "partial reduction of an unexpected shape";
  order.push_back(lane);
  schedule_.Reorder(order);
  const Block init = schedule_.DecomposeReduction(block, order[first]);
  schedule_.Vectorize(schedule_.GetLoops(init).back());
  schedule_.Vectorize(lane);
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
