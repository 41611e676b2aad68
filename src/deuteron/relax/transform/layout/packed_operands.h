/// \file
/// Operands of products in the packings (topi::Packing) that CPUs multiply and add up in one instruction.
#pragma once

#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/relax/rewrite/byte_operands.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {

/// Whether no element of a constant of float16 is infinite.
bool AreFiniteHalves(const Constant& halves);
/// Which elements of padded data are those of the data, (1, …, h, w) with channels first; null if sizes are not
/// known.
Constant InsideOf(const Type& data, const std::vector<int64_t>& pad_width);
/// Neighbours along `axis` of a weight in that packing: of int32 that fit int16 or int8, of int8, or of float32 or
/// bfloat16.
Constant PackWeight(const Constant& weight, size_t axis, const topi::Packing& packing);
/// What makes bytes of that type signed ones, or ones without a sign, where it is added.
inline int64_t ShiftOfBytes(DataType dtype, bool to_signed) {
  return dtype.is_int() == to_signed ? 0 : to_signed ? -128 : 128;
}

}  // namespace deuteron::relax
