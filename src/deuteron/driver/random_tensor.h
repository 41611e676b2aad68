/// \file
/// Random inputs, the same for the same seed on every machine of one standard library.
#pragma once

#include <random>
#include <vector>

#include "deuteron/ir/dtype.h"

namespace deuteron {

/// Floats standard normal, integers uniform in [0, 100) (so that they index), booleans 0 or 1. An
/// UnsupportedError for other dtypes.
Tensor RandomTensor(const std::vector<int64_t>& shape, DataType dtype, std::mt19937_64* random);

}  // namespace deuteron
