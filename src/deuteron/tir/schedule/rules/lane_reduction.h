/// \file
/// Reductions along a contiguous axis, in vectors.
#pragma once

#include <vector>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// Splits reductions into as many partial results as a few vectors have lanes, combined in a tree at the end: the order
/// of a floating-point sum changes (`RFactor`). First `Split` each block, then, its outer loops where they belong,
/// `Vectorize` all.
class LaneReductions {
 public:
  LaneReductions(Schedule* schedule, const Target& target)
      : schedule_(*schedule), lanes_(Lanes(target)), accumulators_(CostModel(target.machine).LeastAccumulators()) {}

  /// The position of the first of `loops`, not before `least`, that as one are long enough to be split, without one
  /// around a length that the run tells: each lane would divide by that to find its place.
  size_t FirstToSplit(const std::vector<Loop>& loops, size_t least) const;
  /// `axis`: the block's innermost reduction loop. Leaves a short one as it is.
  void Split(const Block& block, const Loop& axis);
  /// `outer`: how many loops around each of the blocks are none of theirs.
  void Vectorize(size_t outer);

 private:
  std::vector<Loop> LongLoops(const Block& block, size_t outer) const;
  void SubtractLast(const Block& block, int64_t extent, int64_t width);
  void CutSteps(const Block& block, const Loop& steps);
  void VectorizePartial(const Block& block, size_t outer, bool is_part);
  void VectorizeTree(const Block& block, size_t outer);

  Schedule& schedule_;
  const int64_t lanes_;
  const int64_t accumulators_;
  std::vector<Block> partials_;
  /// What partial results that are cut are made of.
  std::vector<Block> parts_;
  std::vector<Block> trees_;
};

}  // namespace deuteron::tir
