#include "deuteron/relax/rewrite/channel_panels.h"

#include <algorithm>
#include <cstring>

namespace deuteron::relax {
namespace {

/// Rows that are moved at a time, so that neither side strides through memory a line an element.
constexpr int64_t kTile = 32;

/// Zeros for the channels that a block has beyond those there are.
void FillRow(char* row, int64_t here, int64_t length, int64_t bytes) {
  if (here < length) std::memset(row + here * bytes, 0, static_cast<size_t>((length - here) * bytes));
}

}  // namespace

void MoveRowsLast(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t window,
                  int64_t bytes) {
  const int64_t depth = rest / std::max<int64_t>(window, 1);
  for (int64_t o0 = 0; o0 < channels; o0 += length) {
    const int64_t here = std::min(length, channels - o0);
    for (int64_t r0 = 0; r0 < rest; r0 += kTile) {
      for (int64_t r = r0; r < std::min(r0 + kTile, rest); ++r) {
        const int64_t at = r % window * depth + r / window;
        char* row = out + (o0 * rest + at * length) * bytes;
        const char* from = in + (o0 * rest + r) * bytes;
        if (bytes == sizeof(float)) {  // a length that is known makes these a load and a store
          for (int64_t o = 0; o < here; ++o) std::memcpy(row + o * 4, from + o * rest * 4, 4);
        } else {
          for (int64_t o = 0; o < here; ++o) std::memcpy(row + o * bytes, from + o * rest * bytes, bytes);
        }
        FillRow(row, here, length, bytes);
      }
    }
  }
}

void SplitColumns(const char* in, char* out, int64_t rows, int64_t columns, int64_t length, int64_t bytes) {
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (int64_t c = 0; c < columns; c += length) {
      const int64_t here = std::min(length, columns - c);
      for (int64_t r = r0; r < std::min(r0 + kTile, rows); ++r) {
        char* row = out + (c * rows + r * length) * bytes;
        std::memcpy(row, in + (r * columns + c) * bytes, static_cast<size_t>(here * bytes));
        FillRow(row, here, length, bytes);
      }
    }
  }
}

}  // namespace deuteron::relax
