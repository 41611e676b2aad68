/// \file
/// Where the sums of a tile are cut (`CutSums`): parts that registers add up, of which some are added up in a tile, and
/// long sums of those in memory. Rounding errors of a sum are of the size of the sums that its accumulator has on the
/// way: of n terms of one sign they grow with the square root of n, of parts of p terms with that of p + n / p at most.
/// The axes of a window's sum are cut as one, those before the one that is cut with it.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/contraction_plan.h"
#include "deuteron/tir/schedule/rules/sum_parts.h"

namespace deuteron::tir {
namespace {

/// Steps of a part of a long sum: so many that adding the parts up takes no time to speak of, so few that what they
/// read of both operands stays in the caches of any machine.
constexpr int64_t kDepth = kMostDepth / 2;
/// Steps that the registers of a tile add up: so many that what follows them takes a hundredth of their time, so few
/// that the error of a sum is that of libraries, which cut sums at such lengths. Windows of 3 × 3 have 16 channels.
constexpr int64_t kTileDepth = 160;
/// The same of products of few rows, and of one, which wait for what their steps load. Libraries sum those up in lanes.
constexpr int64_t kFewRows = 3;
constexpr int64_t kDepthOfFewRows = 64;
constexpr int64_t kDepthOfRow = 32;
/// The same where sums wait for each other: those of several parts do not, which have code of their own for each step.
constexpr int64_t kDepthOfFewSums = 8;

/// Libraries sum up the channels of windows one by one where they are few. So do two parts, unless these are shorter.
constexpr int64_t kFewSteps = 20;

/// An axis of a sum: where it is among the block's, its length, and the steps of those before and behind it.
struct AxisOfSum {
  size_t position;
  int64_t length;
  int64_t outer;
  int64_t inner;
};

/// The first axis of a sum that is longer than 1 and behind which there are so few steps, or the last one.
std::optional<AxisOfSum> AxisToCut(const SBlock& block, const MatmulRoles& roles, int64_t most_inner) {
  AxisOfSum axis{.position = 0, .length = 1, .outer = 1, .inner = 1};
  for (const size_t position : roles.k) {
    const auto extent = AsConstInt(block->iter_vars[position]->dom->extent);
    if (!extent) return std::nullopt;
    axis.inner *= *extent;
  }
  for (const size_t position : roles.k) {
    const int64_t extent = *AsConstInt(block->iter_vars[position]->dom->extent);
    if (extent == 1) continue;
    axis = {position, extent, axis.outer * axis.length, axis.inner / extent};
    if (axis.inner <= most_inner) break;
  }
  return axis;
}

/// Rows of a product, of one of a batch.
int64_t RowsOf(const SBlock& block, const MatmulRoles& roles, const ContractionPlan& plan) {
  int64_t rows = 1;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    const IterVar& iter = block->iter_vars[i];
    if (iter->type == IterVarType::kSpatial && i != plan.vector && !Contains(roles.batch, i))
      rows *= AssumedExtent(iter->dom->extent);
  }
  return rows;
}

/// Steps that the registers of a tile add up, at most: fewer where the block asks for more precision.
int64_t StepsOfTile(const SBlock& block, const MatmulRoles& roles, const ContractionPlan& plan) {
  const auto wanted = block->annotations.find(kSumSteps);
  if (wanted != block->annotations.end()) return (*wanted).second.cast<int64_t>();
  if (plan.unrolls_parts) return kDepthOfFewSums;
  const int64_t rows = RowsOf(block, roles, plan);
  if (rows <= kFewRows) return rows == 1 ? kDepthOfRow : kDepthOfFewRows;
  // Of one axis libraries sum up as many steps.
  const auto axis = AxisToCut(block, roles, kTileDepth);
  if (!axis || axis->inner == 1) return kTileDepth;
  const int64_t half = CeilDiv(axis->length, 2) * axis->inner;
  return axis->length * axis->inner <= kTileDepth && half >= kFewSteps ? half : kTileDepth;
}

/// Whether a tile has so few sums that they wait for each other, and registers for those of a part beside them.
bool HasFewSums(const ContractionPlan& plan, const Machine& machine) {
  const int64_t rows = plan.num_rows * plan.num_lines, sums = rows * plan.num_vectors;
  const int64_t loaded = rows == 1 ? 1 : 1 + plan.num_vectors;
  return sums <= machine.latency * machine.vector_pipes && 2 * sums + loaded <= machine.vector_registers;
}

/// Whether code of their own for the steps of a part, of a tile with few sums, takes less time to make than these would
/// wait for each other.
bool IsWorthItsCode(const SBlock& block, const ContractionPlan& plan, const CostModel& costs) {
  const auto rows = static_cast<double>(plan.num_rows * plan.num_lines),
             vectors = static_cast<double>(plan.num_vectors);
  double steps = 1 / (rows * vectors * static_cast<double>(plan.lanes));
  for (const IterVar& iter : block->iter_vars) steps *= static_cast<double>(AssumedExtent(iter->dom->extent));
  const Machine& machine = costs.machine();
  const double waiting =
      static_cast<double>(machine.latency) - rows * vectors / static_cast<double>(machine.vector_pipes);
  return steps * waiting >= costs.CyclesToMake(kDepthOfFewSums * (rows * vectors + rows + vectors));
}

/// Whether parts of a sum may be added up in memory: the sums of a panel whose result is not contiguous are kept beside
/// it until they are transposed.
bool MayKeepSums(const SBlock& block, const MatmulRoles& roles, const Target& target, const ContractionPlan& plan) {
  if (plan.contiguous_output) return true;
  double bytes = static_cast<double>(plan.num_vectors * plan.lanes * 4);
  for (const auto* axes : {&roles.m, &roles.n}) {
    if (Contains(*axes, plan.vector)) continue;
    for (const size_t axis : *axes) bytes *= static_cast<double>(AssumedExtent(block->iter_vars[axis]->dom->extent));
  }
  return bytes <= static_cast<double>(CostModel(target.machine).PlaneBytes());
}

/// Rows of a panel that the first tile fills, so many that the first cache holds them beside the rows of A, a few at a
/// time.
int64_t RowsOfFilled(const ContractionPlan& plan, const Machine& machine) {
  return machine.l1.Share() * 2 / 3 / (plan.num_vectors * machine.vector_bits / 8);
}

}  // namespace

void CutSums(const SBlock& block, const MatmulRoles& roles, const Target& target, ContractionPlan* plan) {
  if (roles.k.empty()) return;
  // Loops that sum are behind all others.
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if ((i >= roles.k[0]) != (block->iter_vars[i]->type == IterVarType::kReduce)) return;
  }
  const bool is_float = GetReductionUpdate(block)->buffer->dtype.is_float();
  plan->unrolls_parts = is_float && plan->copied_for == 0 && block->annotations.count(kSumSteps) == 0 &&
                        HasFewSums(*plan, target.machine) && IsWorthItsCode(block, *plan, CostModel(target.machine));
  const int64_t in_tile = StepsOfTile(block, roles, *plan);
  const auto axis = AxisToCut(block, roles, is_float ? in_tile + in_tile / kFewerParts : INT64_MAX);
  const int64_t steps = axis ? axis->outer * axis->length * axis->inner : 1;
  // Of the longest sums a part in memory has as many steps as there are parts: their error is the least. Small tiles,
  // at the end of a line of a window's pixels or of one row, are added up sooner: parts are rather long.
  const bool is_small = plan->num_rows * plan->num_lines == 1 || (axis && axis->outer > 1);
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(steps)));
  const int64_t in_memory = std::clamp(root, is_small ? kMostDepth : kDepth, kMostDepth);
  // What a tile reads of B in one part stays in the second cache while the rows pass by; what the first tile fills, in
  // the first, from which it would have to drive out as much.
  const int64_t most = plan->fills_panels ? std::min(RowsOfFilled(*plan, target.machine), kMostDepth) : kMostDepth;
  const bool is_kept = axis && steps > most && MayKeepSums(block, roles, target, *plan);
  // The error of a long sum would be that of a single accumulator. Integers have none.
  if (!is_kept && (steps <= in_tile || !is_float)) return;
  // A copy of A is cut between vectors.
  const int64_t unit = plan->copied_for != 0 && !plan->widens_copy ? plan->lanes : 1;
  const int64_t length =
      unit * LengthOfPart(CeilDiv(axis->length, unit), (is_float ? in_tile : in_memory) / (axis->inner * unit));
  const int64_t parts = axis->outer * CeilDiv(axis->length, length);
  if (parts == 1) return;
  plan->cut = axis->position;
  plan->tile_depth = length;
  if (!is_kept) return;
  plan->parts_in_memory = LengthOfPart(parts, std::min(most, in_memory) / (axis->inner * length));
}

}  // namespace deuteron::tir
