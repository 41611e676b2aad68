/// \file
/// Where the sums of a tile are cut (`CutSums`): parts that are added up in memory, and parts of those, in a tile.
#include <algorithm>
#include <cmath>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {
namespace {

/// Steps of a part of a long sum: so many that adding the parts up takes no time to speak of, so few that what they
/// read of both operands stays in the caches of any machine.
constexpr int64_t kDepth = kMostDepth / 2;
/// Steps that the registers of a tile add up: so many that what follows them takes a hundredth of their time, so few
/// that the error of a sum of a thousand terms is that of libraries, which cut sums at such lengths.
constexpr int64_t kTileDepth = 384;

/// Steps of a part, at most so many: fewer where the block asks for more precision.
int64_t StepsOfPart(const SBlock& block, int64_t most) {
  const auto wanted = block->annotations.find(kSumSteps);
  return wanted == block->annotations.end() ? most : std::min(most, (*wanted).second.cast<int64_t>());
}

/// The first axis of a sum that is longer than 1, which is cut: where it is among the block's, its length, and the
/// steps of the others for each of its values.
struct AxisOfSum {
  size_t position;
  int64_t length;
  int64_t inner;
};
std::optional<AxisOfSum> FirstOfSum(const SBlock& block, const MatmulRoles& roles) {
  size_t first = 0;
  while (first + 1 < roles.k.size() && IsOne(block->iter_vars[roles.k[first]]->dom->extent)) ++first;
  AxisOfSum axis{.position = roles.k[first], .length = 1, .inner = 1};
  for (size_t i = first; i < roles.k.size(); ++i) {
    const auto extent = AsConstInt(block->iter_vars[roles.k[i]]->dom->extent);
    if (!extent) return std::nullopt;
    (i == first ? axis.length : axis.inner) *= *extent;
  }
  return axis;
}

/// The length of a part of the axis, a multiple of `unit`, so that a part has about `depth` steps.
int64_t LengthOfPart(const AxisOfSum& axis, int64_t unit, int64_t depth) {
  const int64_t units = axis.length / unit;
  const int64_t parts = std::min((axis.length * axis.inner + depth - 1) / depth, units);
  // Rather a few more parts than one that is short.
  for (int64_t more = parts; more <= 2 * parts; ++more) {
    if (units % more == 0) return units / more * unit;
  }
  return (units + parts - 1) / parts * unit;
}

/// Cuts a long sum into parts that are added up in memory: what a tile reads of B in one part stays in the second cache
/// while the rows pass by, and the error grows with the length of a part and their number, not with that of the sum.
void CutDepth(const SBlock& block, const MatmulRoles& roles, const Target& target, ContractionPlan* plan) {
  if (!plan->contiguous_output) {
    // The sums of a panel are kept beside it until they are transposed.
    double bytes = static_cast<double>(plan->num_vectors * plan->lanes * 4);
    for (const auto* axes : {&roles.m, &roles.n}) {
      if (Contains(*axes, plan->vector)) continue;
      for (const size_t axis : *axes) bytes *= static_cast<double>(AssumedExtent(block->iter_vars[axis]->dom->extent));
    }
    if (bytes > static_cast<double>(CostModel(target.machine).PlaneBytes())) return;
  }
  const auto axis = FirstOfSum(block, roles);
  const int64_t steps = axis ? axis->length * axis->inner : 0;
  if (steps <= kMostDepth) return;
  // Of the longest sums a part has as many steps as there are parts: their error is the least.
  const auto depth = static_cast<int64_t>(std::sqrt(static_cast<double>(steps)));
  // A copy of A is cut between vectors.
  const int64_t unit = plan->copied_for != 0 ? plan->lanes : 1;
  plan->depth = axis->position;
  plan->depth_block = LengthOfPart(*axis, unit, StepsOfPart(block, std::clamp(depth, kDepth, kMostDepth)));
}

/// Cuts a sum that is not cut in memory into parts that the registers of a tile add up: the error of a long one would
/// be that of a single accumulator. Integers have none.
void CutInTile(const SBlock& block, const MatmulRoles& roles, ContractionPlan* plan) {
  const auto axis = FirstOfSum(block, roles);
  const int64_t depth = StepsOfPart(block, kTileDepth);
  if (plan->depth_block != 0 || !axis || axis->length * axis->inner <= depth) return;
  if (!GetReductionUpdate(block)->buffer->dtype.is_float()) return;
  const int64_t unit = plan->copied_for != 0 ? plan->lanes : 1;
  const int64_t length = LengthOfPart(*axis, unit, depth);
  // Steps that are none would take the time of others.
  if (length >= axis->length || axis->length % length != 0) return;
  plan->depth = axis->position;
  plan->tile_depth = length;
}

}  // namespace

void CutSums(const SBlock& block, const MatmulRoles& roles, const Target& target, ContractionPlan* plan) {
  if (roles.k.empty()) return;
  // Loops that sum are behind all others.
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if ((i >= roles.k[0]) != (block->iter_vars[i]->type == IterVarType::kReduce)) return;
  }
  CutDepth(block, roles, target, plan);
  CutInTile(block, roles, plan);
}

}  // namespace deuteron::tir
