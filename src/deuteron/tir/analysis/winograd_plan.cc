#include "deuteron/tir/analysis/winograd_plan.h"

#include "deuteron/tir/analysis/cost.h"

namespace deuteron::tir {
namespace {

/// Products whose vectors do not divide into twos or threes read more for a multiplication.
constexpr double kCostOfOddVectors = 1.25;
/// For each vector of elements of transformed tiles: loads, additions and the store in a transform, the load in a
/// product.
constexpr double kCyclesOfVector = 8;
/// It must save so much that it does in spite of what the model cannot tell.
constexpr double kLeastGain = 1.15;

/// Adds tiles, so that those of a plane make the best of vectors.
void FillVectors(int64_t lanes, WinogradPlan* plan) {
  const int64_t down = plan->tiles_down, across = plan->tiles_across;
  double least = 0;
  for (int64_t columns = across; columns < across + lanes; ++columns) {
    int64_t rows = down;
    while (rows * columns % lanes != 0) ++rows;
    const int64_t vectors = rows * columns / lanes;
    const bool divides = vectors % 2 == 0 || vectors % 3 == 0;
    const double cost = static_cast<double>(vectors) * (divides ? 1 : kCostOfOddVectors);
    if (least != 0 && cost >= least) continue;
    least = cost;
    plan->tiles_down = rows;
    plan->tiles_across = columns;
  }
}

}  // namespace

std::optional<WinogradPlan> PlanWinograd(const Machine& machine, const PlaneConv& conv) {
  const std::vector<int64_t> ones = {1, 1};
  if (conv.weights.size() != 4 || conv.weights[2] != 3 || conv.weights[3] != 3 || conv.strides != ones ||
      conv.dilation != ones || conv.groups != 1) {
    return std::nullopt;
  }
  const CostModel costs(machine);
  const int64_t lanes = machine.Lanes(32);
  const bool has_whole_vectors = conv.weights[0] % lanes == 0 && conv.weights[1] % lanes == 0;
  if (conv.channels_last && !has_whole_vectors) return std::nullopt;
  const int64_t down = (conv.height + 1) / 2, across = (conv.width + 1) / 2;
  WinogradPlan plan{.tiles_down = down, .tiles_across = across};
  if (!conv.channels_last) FillVectors(lanes, &plan);
  const auto products = static_cast<double>(conv.weights[0] * conv.weights[1]);
  const auto tiles = static_cast<double>(plan.tiles_down * plan.tiles_across);
  const double depth = static_cast<double>(conv.weights[1]);
  double direct = 2 * 9 * products * static_cast<double>(conv.height * conv.width) / machine.ops.f32;
  plan.cycles = 2 * 16 * products * tiles / machine.ops.f32;
  if (conv.channels_last) {
    direct = static_cast<double>(conv.height) * costs.CyclesOfProduct(conv.width, 9 * depth, conv.weights[0]);
    plan.cycles = static_cast<double>(down) * costs.CyclesOfProduct(across, 16 * depth, conv.weights[0]);
  }
  const double transforms = 16 * tiles * static_cast<double>(conv.weights[0] + conv.weights[1]) * kCyclesOfVector /
                            static_cast<double>(lanes);
  const double more_weights = (16 - 9) * products * sizeof(float) / machine.CopiedBytesPerCycle();
  // Transformed tiles, those of the image and of the result, go to memory and back, one way of which is hidden.
  double moved = 0;
  for (const int64_t channels : {conv.weights[0], conv.weights[1]}) {
    const double bytes = 16 * tiles * static_cast<double>(channels) * sizeof(float);
    moved += costs.SecondsToMove(bytes) / costs.SecondsOfCycles(1);
  }
  plan.cycles += transforms + more_weights + moved;
  if (kLeastGain * plan.cycles >= direct) return std::nullopt;
  return plan;
}

}  // namespace deuteron::tir
