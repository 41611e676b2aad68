/// \file
/// Functions that compute little in all the calls that are expected of them: to make code of vectors, tiles and threads
/// would take longer than all these calls take without. They are left in plain loops over scalars, of which a kernel
/// has few instructions, and those the ones that the quickest way of a code generator knows.
#include <algorithm>

#include "deuteron/tir/analysis/node_count.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// A function whose blocks visit so many nodes of their statements in all calls is left as it is: they take about half
/// a nanosecond each, and to make the code takes LLVM one to five milliseconds less.
constexpr double kMostNodes = 1e6;

}  // namespace

bool SchedulePlain(Schedule* schedule, const Target& target) {
  const int64_t calls = target.machine.expected_calls;
  if (calls == 0) return false;
  const NodeCount nodes = CountNodes(schedule->func()->body);
  if (!nodes.is_bounded || nodes.executed * static_cast<double>(calls) > kMostNodes) return false;
  const std::vector<Block> blocks = schedule->GetBlocks();
  const bool is_injective = std::all_of(blocks.begin(), blocks.end(), [&](const Block& block) {
    return ClassifyBlock(schedule->Get(block)).kind == BlockClass::kInjective;
  });
  if (is_injective) InlineInjective(schedule, [](const Block&) { return true; });
  return true;
}

}  // namespace deuteron::tir
