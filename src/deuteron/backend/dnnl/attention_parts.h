/// \file
/// How much of a batch attention computes at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace deuteron::backend::dnnl {

/// Bytes of scores that stay in the caches of a few cores.
constexpr int64_t kMostScores = int64_t{4} << 20;

/// Of a batch whose members have scores of so many bytes each: how many are computed at once, a divisor of `batch`. All
/// of them if they fit, one at least.
inline int64_t AtOnce(int64_t batch, int64_t bytes) {
  int64_t part = std::clamp<int64_t>(kMostScores / std::max<int64_t>(bytes, 1), 1, batch);
  while (batch % part != 0) --part;
  return part;
}

}  // namespace deuteron::backend::dnnl
