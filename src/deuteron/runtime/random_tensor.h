/// \file
/// Random inputs, the same for the same seed, however many threads draw them.
#pragma once

#include <random>
#include <vector>

#include "deuteron/runtime/tensor.h"

namespace deuteron {

/// Floats standard normal, integers of 32 and 64 bits 0 or 1 (so that they index), others uniform in [0, 100), booleans
/// 0 or 1: of one number of `random`, whatever the shape. An UnsupportedError for other dtypes.
Tensor RandomTensor(const std::vector<int64_t>& shape, DLDataType dtype, std::mt19937_64* random);

}  // namespace deuteron
