#include "deuteron/tir/analysis/attention_cost.h"

namespace deuteron::tir {
namespace {

/// Each of the three stores or loads scores twice.
constexpr double kMovesOfScores = 6;
/// Bytes of scores that are much memory in any case.
constexpr double kLargeScores = 32 << 20;

}  // namespace

bool AttentionPays(const CostModel& costs, double score_bytes, int64_t calls) {
  if (calls == 0 || score_bytes >= kLargeScores) return true;
  const double saved = kMovesOfScores * costs.SecondsToMove(score_bytes);
  return static_cast<double>(calls) * saved >= kSecondsOfAttention;
}

}  // namespace deuteron::tir
