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
  // Of the products with the greatest byte the sum of those of one sign, 128 * 255, is the greatest that fits: neither
  // a weight nor the sum of both is more than 128 away from 0.
  constexpr uint32_t kMost = std::numeric_limits<int16_t>::max() / std::numeric_limits<uint8_t>::max();
  const auto exceeds = [](uint32_t value) { return static_cast<uint32_t>(value + kMost > 2 * kMost); };
  const auto shape = integers->data.shape();
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t extent = shape[axis];
  return WithIntegers(CompactData(integers), [&](const auto& values) {
    const auto count = static_cast<int64_t>(values.size());
    const auto at = [&](int64_t i) { return static_cast<uint32_t>(int32_t{values[static_cast<size_t>(i)]}); };
    uint32_t excess = 0;
    for (int64_t first = 0; first < count && excess == 0; first += extent * inner) {
      for (int64_t pair = 0; pair + 1 < extent; pair += 2) {
        const int64_t begin = first + pair * inner;
        for (int64_t i = begin; i < begin + inner; ++i) {
          excess |= exceeds(at(i)) | exceeds(at(i + inner)) | exceeds(at(i) + at(i + inner));
        }
      }
      // One that has no neighbour.
      const int64_t begin = first + (extent - 1) * inner;
      for (int64_t i = begin; extent % 2 != 0 && i < begin + inner; ++i) excess |= exceeds(at(i));
    }
    return excess == 0;
  });
}

}  // namespace deuteron::relax
