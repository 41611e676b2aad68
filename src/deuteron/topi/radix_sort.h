/// \file
/// Stable sort of positions by the digits of their keys, the last digit first, in the body of an extern op.
#pragma once

#include "deuteron/topi/merge_sort.h"

namespace deuteron::topi {

/// Integers in the order of `value`, whose `bits` (of int64) are those of a number, least first, as unsigned ones: the
/// first digit is the greatest. NaN are greatest, and both zeros one.
struct OrderedBits {
  PrimExpr bits;
  int64_t width;

  OrderedBits(const PrimExpr& value, bool descending);

  /// What is above the lowest `shift` bits: ordered as the numbers are.
  PrimExpr Above(int64_t shift) const { return shift >= 64 ? I64(0) : CallIntrin("shift_right", {bits, I64(shift)}); }
};

/// Bins that a sort by floats of `dtype` counts in.
int64_t BinsOfSort(DataType dtype);

/// Does what MergeSort does, by keys that are floats: of many positions in a time that grows as they do, with `bins`,
/// int64, beside the line.
tir::Stmt SortPositions(const SortBuffers& buffers, const tir::Buffer& bins, const PrimExpr& count,
                        const PrimExpr& most, const IndicesAt& at, const IndicesAt& beside,
                        const std::function<PrimExpr(const PrimExpr& position)>& key_of, bool descending);

}  // namespace deuteron::topi
