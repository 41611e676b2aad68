#include "deuteron/relax/rewrite/channel_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron::relax {
namespace {

/// Rows that are moved at a time, so that neither side strides through memory a line an element.
constexpr int64_t kTile = 32;

/// Channels that are moved at a time: each is a line of its own, and of a matrix with long rows a page. Those of the
/// next rows must still be there.
constexpr int64_t kRun = 64;

// Vectors of 16 bytes, of elements of each size.
using Bytes = uint8_t __attribute__((vector_size(16)));
using Halves = uint16_t __attribute__((vector_size(16)));
using Words = uint32_t __attribute__((vector_size(16)));
using Longs = uint64_t __attribute__((vector_size(16)));

/// A square of elements of which each row is a vector.
template <typename Row>
struct Square {
  static constexpr int64_t kBytes = sizeof(std::declval<Row>()[0]);
  static constexpr int64_t kExtent = sizeof(Row) / kBytes;
  using Rows = std::array<Row, kExtent>;

  /// Exchanges rows and columns of the square whose rows begin `stride` bytes apart: its i-th column comes to
  /// `to[i] + offset`. One round after the other puts the elements of the first half of the rows between those of the
  /// second, which turns the bits of a place, row before column, by one; half as many turns exchange both.
  static void Transpose(const char* from, int64_t stride, const std::array<char*, kExtent>& to, int64_t offset) {
    Rows rows;
    for (Row& row : rows) {
      std::memcpy(&row, from, sizeof row);
      from += stride;
    }
    for (int64_t turn = 1; turn < kExtent; turn *= 2) rows = Interleaved(rows, std::make_index_sequence<kExtent>());
    for (size_t i = 0; i < rows.size(); ++i) std::memcpy(to[i] + offset, &rows[i], sizeof rows[i]);
  }

 private:
  template <size_t... i>
  static Rows Interleaved(const Rows& rows, std::index_sequence<i...>) {
    constexpr size_t kHalf = kExtent / 2;
    Rows turned;
    for (size_t row = 0; row < kHalf; ++row) {
      const Row &a = rows[row], &b = rows[row + kHalf];
      turned[2 * row] = __builtin_shufflevector(a, b, (i / 2 + i % 2 * kExtent)...);
      turned[2 * row + 1] = __builtin_shufflevector(a, b, (i / 2 + kHalf + i % 2 * kExtent)...);
    }
    return turned;
  }
};

/// Zeros for the channels that a block has beyond those there are.
void FillRow(char* row, int64_t here, int64_t length, int64_t bytes) {
  if (here < length) std::memset(row + here * bytes, 0, static_cast<size_t>((length - here) * bytes));
}

/// Elements `begin` to `end` of the channels of one panel, of which a vector is a `Row`: `here` of `length` are there,
/// their elements `apart` from those of the next one.
template <typename Row>
void MoveTile(const char* in, int64_t apart, char* out, int64_t here, int64_t length, int64_t depth, int64_t window,
              int64_t begin, int64_t end) {
  constexpr int64_t kBytes = Square<Row>::kBytes, kExtent = Square<Row>::kExtent;
  const auto row_at = [&](int64_t r) { return out + (r % window * depth + r / window) * length * kBytes; };
  for (int64_t begin_of_run = 0; begin_of_run < here; begin_of_run += kRun) {
    const int64_t end_of_run = std::min(begin_of_run + kRun, here);
    const auto move_row = [&](int64_t r, int64_t first) {
      char* row = row_at(r);
      const char* from = in + r * kBytes;
      for (int64_t o = first; o < end_of_run; ++o) std::memcpy(row + o * kBytes, from + o * apart * kBytes, kBytes);
      if (end_of_run == here) FillRow(row, here, length, kBytes);
    };
    int64_t r = begin;
    for (; r + kExtent <= end; r += kExtent) {
      std::array<char*, kExtent> rows;
      for (int64_t i = 0; i < kExtent; ++i) rows[static_cast<size_t>(i)] = row_at(r + i);
      int64_t o = begin_of_run;
      for (; o + kExtent <= end_of_run; o += kExtent) {
        Square<Row>::Transpose(in + (o * apart + r) * kBytes, apart * kBytes, rows, o * kBytes);
      }
      for (int64_t i = 0; i < kExtent; ++i) move_row(r + i, o);
    }
    for (; r < end; ++r) move_row(r, begin_of_run);
  }
}

/// MoveRowsLast of elements of which a vector is a `Row`.
template <typename Row>
void MoveElements(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t window) {
  constexpr int64_t kBytes = Square<Row>::kBytes;
  const int64_t tiles = (rest + kTile - 1) / kTile;
  const int64_t panels = (channels + length - 1) / std::max<int64_t>(length, 1);
  MakeInParallel(panels * tiles, channels * rest * kBytes, [&](int64_t begin, int64_t end) {
    ReadOnce read(in + begin / tiles * length * rest * kBytes);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o0 = i / tiles * length, r0 = i % tiles * kTile;
      const int64_t at = o0 * rest * kBytes;
      if (r0 == 0) read.DoneUntil(in + at);
      MoveTile<Row>(in + at, rest, out + at, std::min(length, channels - o0), length, rest / window, window, r0,
                    std::min(r0 + kTile, rest));
    }
  });
}

}  // namespace

void MoveRowsLast(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t window,
                  int64_t bytes) {
  switch (bytes) {
    case 1:
      return MoveElements<Bytes>(in, out, channels, length, rest, window);
    case 2:
      return MoveElements<Halves>(in, out, channels, length, rest, window);
    case 4:
      return MoveElements<Words>(in, out, channels, length, rest, window);
    case 8:
      return MoveElements<Longs>(in, out, channels, length, rest, window);
    default:
      DEUTERON_UNREACHABLE();
  }
}

void MoveBytesLast(const int8_t* in, int64_t apart, int8_t* out, int64_t here, int64_t length, int64_t depth,
                   int64_t window) {
  for (int64_t r = 0; r < depth * window; r += kTile) {
    MoveTile<Bytes>(reinterpret_cast<const char*>(in), apart, reinterpret_cast<char*>(out), here, length, depth, window,
                    r, std::min(r + kTile, depth * window));
  }
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
