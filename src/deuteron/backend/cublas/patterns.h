/// \file
/// What cuBLAS computes in one call: products with bias and activation.
#pragma once

#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"

namespace deuteron::backend::cublas {

/// The lowest priority first, as for RegisterPatterns.
std::vector<relax::FusionPattern> Patterns();

}  // namespace deuteron::backend::cublas

namespace deuteron::backend {

/// `module` with what cuBLAS takes in functions with the attribute Codegen = "cublas".
IRModule PartitionForCublas(IRModule module, bool bind_constants = false);

}  // namespace deuteron::backend
