/// \file
/// What a scalar type can hold.
#pragma once

#include <cstdint>

#include "deuteron/ir/dtype.h"

namespace deuteron {

/// `value` as a float of that type holds it: rounded to nearest even, infinite where it is too large. Types that are no
/// floats, and formats below 16 bits, leave it as it is.
double RoundToFormat(DataType dtype, double value);
/// `value` in two's complement of that type's width; of booleans, whether it is not 0.
int64_t WrapToWidth(DataType dtype, int64_t value);

}  // namespace deuteron
