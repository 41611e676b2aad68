/// \file
/// Going through the elements of a tensor.
#pragma once

#include <cstdint>
#include <vector>

namespace deuteron {

/// Calls `visit` with the index of each element of `shape` in row-major order: once if it has no axes.
template <typename Visit>
void ForEachIndex(const std::vector<int64_t>& shape, Visit visit) {
  for (const int64_t extent : shape) {
    if (extent <= 0) return;
  }
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace deuteron
