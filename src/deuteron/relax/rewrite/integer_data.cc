#include "deuteron/relax/rewrite/integer_data.h"

#include <algorithm>
#include <limits>

#include "deuteron/relax/rewrite/constant_data.h"

namespace deuteron::relax {

bool Fits(const Constant& integers, DataType dtype) {
  const DataType held(integers->data.dtype());
  if (held == DataType::Int(8)) return true;
  if (held != DataType::Int(32)) return false;
  const int64_t least = *AsConstInt(MinValue(dtype)), greatest = *AsConstInt(MaxValue(dtype));
  return WithIntegers(CompactData(integers), [&](const auto& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](int64_t value) { return value >= least && value <= greatest; });
  });
}

bool FitPairs(const Constant& integers, size_t axis) {
  // Of the products with the greatest byte the sum of those of one sign, 128 * 255, is the greatest that fits.
  constexpr int32_t kMost = std::numeric_limits<int16_t>::max() / std::numeric_limits<uint8_t>::max();
  const auto shape = integers->data.shape();
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t extent = shape[axis];
  return WithIntegers(CompactData(integers), [&](const auto& values) {
    const auto count = static_cast<int64_t>(values.size());
    int32_t excess = 0;
    for (int64_t first = 0; first < count; first += extent * inner) {
      for (int64_t at = 0; at < extent; at += 2) {
        const auto* row = values.data() + first + at * inner;
        const auto* next = at + 1 < extent ? row + inner : nullptr;
        for (int64_t i = 0; i < inner; ++i) {
          const int32_t x = row[i], y = next == nullptr ? 0 : int32_t{next[i]};
          const int32_t above = std::max(x, 0) + std::max(y, 0), below = std::max(-x, 0) + std::max(-y, 0);
          excess |= static_cast<int32_t>(std::max(above, below) > kMost);
        }
      }
    }
    return excess == 0;
  });
}

}  // namespace deuteron::relax
