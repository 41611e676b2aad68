/// \file
/// Rows that are quantised to bytes a block of elements at a time, and their products with weights of few bits whose
/// scales are those of the same blocks.
#pragma once

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// What (..., k) become in blocks of `block` elements of the last axis, zeros behind the last, without regard to sign:
///     scale = max|x| / 127        byte = round(x / scale), half to even
/// A block without an element of 1e-30 or more is zeros, one with an element that is no finite number has NaN as its
/// scale.
struct BlockBytes {
  /// int8, (blocks, ..., block).
  te::Tensor bytes;
  /// float32, (blocks, ...): of each block its scale, and `factor` times the sum of its bytes.
  te::Tensor scales;
  te::Tensor sums;
};
BlockBytes QuantizeBlocks(const te::Tensor& x, int64_t block, double factor);

/// The numbers that such bytes stand for, in the shape and type of `x`.
te::Tensor FakeQuantize(const te::Tensor& x, int64_t block);

/// A weight of `columns` columns in integers without sign, or int8 (`has_sign`), in panels of some of them. Blocks of
/// `block` rows share a scale and a zero point each.
struct BlockWeight {
  /// int32, (panels, rows / 4, length): four rows of a column, the first in the lowest byte. Of 4 bits, of
  /// (panels, rows / 8, length) the lower half of each byte is of the first four rows, the upper of the next.
  te::Tensor numbers;
  bool has_halves = false;
  bool has_sign = false;
  int64_t block = 0;
  /// float32, (panels, blocks, length).
  te::Tensor scales;
  /// uint8 or float32, of that shape or of one block; null: all are the factor by which `sums` are multiplied.
  te::Tensor zeros;
};
/// Data in words of four bytes (blocks, ..., block / 4) times the weight, in float32:
///     Σ_b (Σ_k byte · number - zero · Σ_k byte) · scale of the row · scale of the column
te::Tensor DenseBlocks(const te::Tensor& words, const te::Tensor& scales, const te::Tensor& sums,
                       const BlockWeight& weight, int64_t columns);

}  // namespace deuteron::topi
