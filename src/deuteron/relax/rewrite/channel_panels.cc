#include "deuteron/relax/rewrite/channel_panels.h"

#include <algorithm>
#include <array>
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

/// Elements of four bytes of which a vector has as many as there are rows in a tile of a transposition.
using Quad = float __attribute__((vector_size(16)));
constexpr int64_t kQuad = 4;

Quad LoadQuad(const char* from) {
  Quad quad;
  std::memcpy(&quad, from, sizeof quad);
  return quad;
}

/// Exchanges rows and columns of four runs of four elements that begin `stride` bytes apart: element i of each comes to
/// `rows[i]`.
void MoveQuads(const char* from, int64_t stride, const std::array<char*, kQuad>& rows, int64_t offset) {
  const Quad a = LoadQuad(from), b = LoadQuad(from + stride);
  const Quad c = LoadQuad(from + 2 * stride), d = LoadQuad(from + 3 * stride);
  const Quad low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const std::array<Quad, kQuad> moved = {
      __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5), __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
      __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5), __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
  for (size_t i = 0; i < moved.size(); ++i) std::memcpy(rows[i] + offset, &moved[i], sizeof moved[i]);
}

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
      const auto row_at = [&](int64_t r) {
        return out + (o0 * rest + (r % window * depth + r / window) * length) * bytes;
      };
      for (int64_t begin_of_run = 0; begin_of_run < here; begin_of_run += kRun) {
        const int64_t end_of_run = std::min(begin_of_run + kRun, here);
        const auto move_row = [&](int64_t r, int64_t first) {
          char* row = row_at(r);
          const char* from = in + (o0 * rest + r) * bytes;
          if (bytes == sizeof(float)) {  // a length that is known makes these a load and a store
            for (int64_t o = first; o < end_of_run; ++o) std::memcpy(row + o * 4, from + o * rest * 4, 4);
          } else {
            for (int64_t o = first; o < end_of_run; ++o) std::memcpy(row + o * bytes, from + o * rest * bytes, bytes);
          }
          if (end_of_run == here) FillRow(row, here, length, bytes);
        };
        const int64_t end_of_tile = std::min(r0 + kTile, rest);
        int64_t r = r0;
        for (; bytes == sizeof(float) && r + kQuad <= end_of_tile; r += kQuad) {
          const std::array<char*, kQuad> rows = {row_at(r), row_at(r + 1), row_at(r + 2), row_at(r + 3)};
          int64_t o = begin_of_run;
          for (; o + kQuad <= end_of_run; o += kQuad) {
            MoveQuads(in + ((o0 + o) * rest + r) * bytes, rest * bytes, rows, o * bytes);
          }
          for (int64_t i = 0; i < kQuad; ++i) move_row(r + i, o);
        }
        for (; r < end_of_tile; ++r) move_row(r, begin_of_run);
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
