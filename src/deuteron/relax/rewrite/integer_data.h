/// \file
/// Constants of int32, or of bytes with sign, as weights that are multiplied as integers.
#pragma once

#include <cstdint>
#include <span>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What `use` makes of the elements of compact int32 or bytes with sign; each is widened where it is used.
template <typename Use>
auto WithIntegers(const Tensor& compact, const Use& use) {
  const auto count = static_cast<size_t>(compact.numel());
  return DataType(compact.dtype()) == DataType::Int(8)
             ? use(std::span(static_cast<const int8_t*>(compact.data_ptr()), count))
             : use(std::span(static_cast<const int32_t*>(compact.data_ptr()), count));
}

/// Whether all elements of a constant of int32 or int8 are within that type, of at least eight bits and with a sign.
bool Fits(const Constant& integers, DataType dtype);
/// Whether products of any bytes with the elements of a constant of int32 or int8, added up by neighbours along `axis`,
/// two of each four, fit int16.
bool FitPairs(const Constant& integers, size_t axis);

}  // namespace deuteron::relax
