/// \file
/// What sums of elements are taken relative to, so that a mean that is large beside the deviation is rounded once.
#pragma once

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// A number that the elements of a row are near to, as far as their mean is large beside their deviation: `first`, one
/// of them. The mean is then that of what is left of them, and rounded once: of elements in [3, 4) the sum's own
/// roundings, as large as those of elements of their size, would be twice to three times that of the mean. Of the
/// number's significand 8 bits are kept, so that sums can subtract a few times it, exactly, for as many elements. One
/// that is so large that what is left could be too large is none; nor is there any of `count` 0.
PrimExpr Pivot(const PrimExpr& first, const PrimExpr& count);

/// Sums of elements less a pivot are in float32: those of float64 are precise enough.
inline bool HasPivot(DataType accumulator) { return accumulator == DataType::Float(32); }

/// Of a count: a division by it takes longer, and a row waits for it. What it is multiplied with is little beside the
/// pivot, or under a root.
inline PrimExpr Reciprocal(const PrimExpr& count) { return MakeConst(count.dtype(), 1.0) / count; }

}  // namespace deuteron::topi
