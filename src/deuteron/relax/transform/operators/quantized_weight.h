/// \file
/// Constant weights in integers of few bits with scales and zero points, and how kernels hold them
/// (quantized_weights.cc).
#pragma once

#include <array>
#include <optional>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// A constant matrix, each element of which stands for `repeats` rows and columns of a larger one. Of one row, or one
/// column, or a scalar: for all.
struct Spread {
  Constant data;
  /// Of these elements, those of the data or the first of them.
  std::array<int64_t, 2> shape{1, 1};
  std::array<int64_t, 2> repeats{1, 1};
  bool is_transposed = false;
  /// Elements of a row of the data.
  int64_t row_length = 1;

  void Transpose();
  /// Only the first `length` of the larger one's rows (0) or columns (1).
  void Shorten(size_t axis, int64_t length);
  /// Whether it covers a matrix of that shape.
  bool Covers(const std::array<int64_t, 2>& whole) const;
  /// Its element at a place of the larger one.
  int64_t At(int64_t row, int64_t column) const {
    const int64_t i = shape[0] == 1 ? 0 : row / repeats[0], j = shape[1] == 1 ? 0 : column / repeats[1];
    return is_transposed ? j * row_length + i : i * row_length + j;
  }
};

/// A weight as numbers of (depth, columns), what is subtracted of them and what multiplies the rest.
struct Quantized {
  Spread numbers, scales;
  std::optional<Spread> zeros;

  void Transpose();
};

/// Whether kernels read a weight of that form.
bool IsHeld(const Quantized& weight);

/// An element of a tensor.
double NumberAt(const Tensor& tensor, int64_t at);
/// The zero point, where all are the same.
std::optional<double> ZeroOf(const Spread& zeros);
/// Whether bytes hold numbers of 4 bits.
bool AreHalves(const Constant& numbers);

/// (blocks of columns, `groups` of `rows` rows, `length` columns) of what is spread, `least` less, as float32, or bytes
/// (`are_bytes`); zeros beyond the columns.
Constant ByBlocks(const Spread& spread, int64_t groups, int64_t rows, int64_t columns, int64_t length,
                  bool are_bytes = false, int64_t least = 0);
/// The numbers in such blocks, `least` less: of 4 bits two a byte.
Constant PackNumbers(const Spread& numbers, int64_t length, bool has_halves, int64_t least);

/// The numbers of a weight as a target multiplies them by bytes, `least` less, in blocks of so many rows.
struct WeightBytes {
  bool has_halves;
  bool has_sign;
  int64_t least;
  int64_t block;
  /// What sums of bytes are multiplied by: the zero point, where all are the same; 0: they are not needed.
  double factor;
};
/// Nothing where the current target does not, or scales are of other blocks.
std::optional<WeightBytes> AsBytes(const Quantized& weight, int64_t block);
/// The numbers four rows a word in panels of `length` columns; of 4 bits, eight (topi/block_quantized.h).
Constant PackWords(const Spread& numbers, const WeightBytes& bytes, int64_t length);

}  // namespace deuteron::relax
