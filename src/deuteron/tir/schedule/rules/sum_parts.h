/// \file
/// Sums in parts: rounding errors of a sum are of the size of the sums that its accumulator has on the way, of n terms
/// of one sign they grow with the square root of n; of parts of p terms with that of p + n / p.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// A block that adds up, whose loops are `outer` ones that reduce nothing and, behind them, those of `reduce` among
/// those of a tile. It is cut into parts, and these into others; then the blocks of all are nested.
struct SumInParts {
  /// What adds up parts, and the loop over these, which is behind the outer ones.
  struct Sum {
    Block block;
    Loop part;
  };
  /// What adds up steps, and the loops that do, outermost first.
  Block steps;
  size_t outer;
  std::vector<Loop> reduce;
  /// Outermost first.
  std::vector<Sum> sums;

  /// Cuts what adds up steps into parts of at most so many, if it has more: of floats, where their number is known.
  bool Cut(Schedule* schedule, int64_t most_steps);
  /// Has each part added to the sum as it is complete. The blocks that set the sums to 0.
  std::vector<Block> Nest(Schedule* schedule);
};

/// How many iterations some loops have, if that is known.
std::optional<int64_t> StepsOf(const Schedule& schedule, const std::vector<Loop>& loops);

/// The most steps of parts of a sum that has so many in one accumulator, whose steps wait for each other: outermost
/// first, as many as of each there are in the next.
std::vector<int64_t> StepsOfParts(int64_t steps);

/// One more of so many parts is no loss, if all are of one length then; nor is one more of two or three, as the code of
/// a shorter last one does not ask for what comes next (LengthOfPart).
inline constexpr int64_t kFewerParts = 4;
/// The length of equal parts of `extent`, at most so long, but for the last one, which may be shorter: of that its own
/// code, rather than of some more parts which are all as long.
int64_t LengthOfPart(int64_t extent, int64_t most);

}  // namespace deuteron::tir
