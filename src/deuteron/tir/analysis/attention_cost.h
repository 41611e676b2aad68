/// \file
/// Whether attention is worth a kernel of its own where it is computed few times.
#pragma once

#include <cstdint>

#include "deuteron/tir/analysis/cost.h"

namespace deuteron::tir {

/// Seconds that two products and the softmax between them take longer to fuse and compile as one kernel than as three,
/// that executes little or much (measured on a core, 20 to 40 ms).
inline constexpr double kSecondsOfAttention = 30e-3;

/// Whether one kernel of them saves that in so many calls (0: in any number), by not storing and loading scores of so
/// many bytes, or saves much memory.
bool AttentionPays(const CostModel& costs, double score_bytes, int64_t calls);

}  // namespace deuteron::tir
