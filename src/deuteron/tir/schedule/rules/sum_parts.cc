#include "deuteron/tir/schedule/rules/sum_parts.h"

#include <algorithm>
#include <cmath>

namespace deuteron::tir {
namespace {

/// Sums of more steps are cut, those of more than this into parts of parts.
constexpr int64_t kLeastCut = 32;
constexpr int64_t kLeastCutTwice = 512;
/// Shorter ones would take longer to add up than their steps.
constexpr int64_t kShortestPartOfOne = 16;

/// Whether a block adds up floats: what is greatest or least of them is not rounded.
bool AddsFloats(const SBlock& block) {
  const auto update = GetReductionUpdate(block);
  return update && update->combiner == ExprKind::kAdd && update->buffer->dtype.is_float();
}

}  // namespace

int64_t LengthOfPart(int64_t extent, int64_t most) {
  const int64_t count = std::max<int64_t>(most, 1);
  const int64_t parts = (extent + count - 1) / count;
  const int64_t most_parts = parts + (parts == 1 ? 0 : std::max<int64_t>(1, parts / kFewerParts));
  for (int64_t more = parts; more <= most_parts; ++more) {
    if (extent % more == 0) return extent / more;
  }
  return (extent + parts - 1) / parts;
}

std::optional<int64_t> StepsOf(const Schedule& schedule, const std::vector<Loop>& loops) {
  int64_t steps = 1;
  for (const Loop& loop : loops) {
    const auto extent = schedule.ConstExtent(loop);
    if (!extent) return std::nullopt;
    steps *= *extent;
  }
  return steps;
}

bool SumInParts::Cut(Schedule* schedule, int64_t most_steps) {
  const auto count = StepsOf(*schedule, reduce);
  if (!count || *count <= most_steps || !AddsFloats(schedule->Get(steps))) return false;
  size_t cut = 0;
  int64_t inner = *count;
  for (;; ++cut) {
    const int64_t extent = *schedule->ConstExtent(reduce[cut]);
    inner /= extent;
    if (extent > 1 && inner <= most_steps) break;
  }
  const int64_t length = LengthOfPart(*schedule->ConstExtent(reduce[cut]), most_steps / inner);
  const auto split = schedule->Split(reduce[cut], std::vector<int64_t>{-1, length});
  std::vector<Loop> parts(reduce.begin(), reduce.begin() + static_cast<int64_t>(cut));
  parts.push_back(split[0]);
  reduce.erase(reduce.begin(), reduce.begin() + static_cast<int64_t>(cut));
  reduce.front() = split[1];
  // Around all others: else the two blocks would share loops.
  std::vector<Loop> order = parts;
  const std::vector<Loop> loops = schedule->GetLoops(steps);
  const auto around = static_cast<int64_t>(outer + sums.size());
  order.insert(order.end(), loops.begin(), loops.begin() + around);
  schedule->Reorder(order);
  const Loop part = FuseAll(schedule, parts);
  sums.push_back({steps, part});
  steps = schedule->RFactor(part, 0);
  schedule->SetScope(schedule->WriteBuffer(steps), "local");
  order.assign(loops.begin(), loops.begin() + around);
  order.push_back(part);
  schedule->Reorder(order);
  return true;
}

std::vector<Block> SumInParts::Nest(Schedule* schedule) {
  for (size_t i = sums.size(); i-- > 0;) schedule->ReverseComputeAt(sums[i].block, sums[i].part);
  std::vector<Block> inits;
  for (const Sum& sum : sums) inits.push_back(schedule->DecomposeReduction(sum.block, sum.part));
  inits.push_back(schedule->DecomposeReduction(steps, reduce.front()));
  return inits;
}

std::vector<int64_t> StepsOfParts(int64_t steps) {
  const auto root = [&](double of) { return static_cast<int64_t>(std::pow(static_cast<double>(steps), of)); };
  if (steps <= kLeastCut) return {};
  if (steps <= kLeastCutTwice) return {std::max(root(1.0 / 2), kShortestPartOfOne)};
  return {root(2.0 / 3), root(1.0 / 3)};
}

}  // namespace deuteron::tir
