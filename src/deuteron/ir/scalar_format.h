/// \file
/// What a scalar type can hold, and division that rounds down.
#pragma once

#include <cstdint>

#include "deuteron/ir/dtype.h"

namespace deuteron {

/// `value` as a float of that type holds it: rounded to nearest even, and what is too large as the format has it
/// (support/element.h). Types that are no floats leave it as it is.
double RoundToFormat(DataType dtype, double value);
/// `value` in two's complement of that type's width; of booleans, whether it is not 0.
int64_t WrapToWidth(DataType dtype, int64_t value);

/// Quotient rounded toward minus infinity. The divisor is neither 0, nor -1 of the least integer.
inline int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}
inline int64_t FloorModInt(int64_t a, int64_t b) { return a - FloorDivInt(a, b) * b; }

}  // namespace deuteron
