#include "deuteron/relax/rewrite/channel_panels.h"

#include <algorithm>
#include <cstring>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron::relax {
namespace {

/// Rows that are moved at a time, so that neither side strides through memory a line an element.
constexpr int64_t kTile = 32;

/// Channels that are moved at a time: each is a line of its own, and of a matrix with long rows a page. Those of the
/// next rows must still be there.
constexpr int64_t kRun = 64;

/// Zeros for the channels that a block has beyond those there are.
void FillRow(char* row, int64_t here, int64_t length, int64_t bytes) {
  if (here < length) std::memset(row + here * bytes, 0, static_cast<size_t>((length - here) * bytes));
}

}  // namespace

void MoveRowsLast(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t window,
                  int64_t bytes) {
  const int64_t depth = rest / std::max<int64_t>(window, 1);
  const int64_t tiles = (rest + kTile - 1) / kTile;
  const int64_t panels = (channels + length - 1) / std::max<int64_t>(length, 1);
  MakeInParallel(panels * tiles, channels * rest * bytes, [&](int64_t begin, int64_t end) {
    ReadOnce read(in + begin / tiles * length * rest * bytes);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o0 = i / tiles * length, r0 = i % tiles * kTile;
      const int64_t here = std::min(length, channels - o0);
      if (r0 == 0) read.DoneUntil(in + o0 * rest * bytes);
      for (int64_t begin_of_run = 0; begin_of_run < here; begin_of_run += kRun) {
        const int64_t end_of_run = std::min(begin_of_run + kRun, here);
        for (int64_t r = r0; r < std::min(r0 + kTile, rest); ++r) {
          const int64_t at = r % window * depth + r / window;
          char* row = out + (o0 * rest + at * length) * bytes;
          const char* from = in + (o0 * rest + r) * bytes;
          if (bytes == sizeof(float)) {  // a length that is known makes these a load and a store
            for (int64_t o = begin_of_run; o < end_of_run; ++o) std::memcpy(row + o * 4, from + o * rest * 4, 4);
          } else {
            for (int64_t o = begin_of_run; o < end_of_run; ++o)
              std::memcpy(row + o * bytes, from + o * rest * bytes, bytes);
          }
          if (end_of_run == here) FillRow(row, here, length, bytes);
        }
      }
    }
  });
}

void SplitColumns(const char* in, char* out, int64_t rows, int64_t columns, int64_t length, int64_t bytes) {
  const int64_t tiles = (rows + kTile - 1) / kTile;
  MakeInParallel(tiles, rows * columns * bytes, [&](int64_t begin, int64_t end) {
    ReadOnce read(in + begin * kTile * columns * bytes);
    for (int64_t r0 = begin * kTile; r0 < std::min(end * kTile, rows); r0 += kTile) {
      read.DoneUntil(in + r0 * columns * bytes);
      for (int64_t c = 0; c < columns; c += length) {
        const int64_t here = std::min(length, columns - c);
        for (int64_t r = r0; r < std::min(r0 + kTile, rows); ++r) {
          char* row = out + (c * rows + r * length) * bytes;
          std::memcpy(row, in + (r * columns + c) * bytes, static_cast<size_t>(here * bytes));
          FillRow(row, here, length, bytes);
        }
      }
    }
  });
}

}  // namespace deuteron::relax
