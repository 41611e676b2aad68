/// \file
/// Constants of int32, or of bytes with sign, as weights that are multiplied as integers. All elements are looked at,
/// by several threads where there are many.
#pragma once

#include <cstdint>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Whether all elements of a constant of int32 or int8 are within that type, of at least eight bits and with a sign.
bool Fits(const Constant& integers, DataType dtype);
/// Whether products of any bytes with the elements of a constant of int32 or int8, added up by neighbours along `axis`,
/// two of each four, fit int16.
bool FitPairs(const Constant& integers, size_t axis);
/// Of a constant of int32 or int8, the sums over all axes but `axis`, modulo 2^32.
std::vector<int32_t> SumsBut(const Constant& integers, size_t axis);
/// `count` neighbours each along `axis` of a constant of int32, int8 or bfloat16, 2 or 4, as parts of an element of
/// int32, the first in the lowest bits; zeros beyond the end. Those that lie like that already are seen as such,
/// wherever they lie.
Tensor PackNeighbours(const Constant& integers, size_t axis, int64_t count);
/// The same of `count` rows each of an int8 (rows, columns), in panels of `length` columns:
/// out[c / length, r / count, c % length]; zeros for the columns that the last panel has beyond those there are.
void PackRowsInPanels(const Constant& bytes, int64_t count, int64_t length, uint32_t* out);
/// The same of `count` channels each of an int8 (results, channels, window…), in panels of `length` results:
/// out[r / length, window…, c / count, r % length], with such zeros.
void PackWindowsInPanels(const Constant& bytes, int64_t count, int64_t length, uint32_t* out);

}  // namespace deuteron::relax
