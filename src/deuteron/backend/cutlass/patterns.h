/// \file
/// What CUTLASS computes in one kernel: convolutions and products with bias, activation and residual blocks, products
/// with packed weights, attention, layer norm, RMS norm.
#pragma once

#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"

namespace deuteron::backend::cutlass {

/// The lowest priority first, as for RegisterPatterns.
std::vector<relax::FusionPattern> Patterns();

/// `function` with attention that is written out (products, softmax, transpositions) as calls of nn.attention.
/// `use_flash_mqa`: also where keys and values are repeated for several queries.
relax::Function RewriteAttention(relax::Function function, bool use_flash_mqa = true);

}  // namespace deuteron::backend::cutlass

namespace deuteron::backend {

/// `module` with what CUTLASS takes in functions with the attribute Codegen = "cutlass" (without `annotate_codegen`:
/// Composite alone); those that need it get a workspace.
IRModule PartitionForCutlass(IRModule module, bool annotate_codegen = true, bool use_flash_mqa = true);

}  // namespace deuteron::backend
