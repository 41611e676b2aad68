/// \file
/// Computing a value again in each kernel that uses it.
#pragma once

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

/// Computes pointwise values in all kernels that use them, where that is cheaper than a trip through memory.
transform::Pass RecomputeProducers();

}  // namespace deuteron::relax
