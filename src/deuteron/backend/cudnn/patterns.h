/// \file
/// What cuDNN computes in one call: convolutions with bias and activation, attention on stacked operands.
#pragma once

#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"

namespace deuteron::backend::cudnn {

/// The lowest priority first, as for RegisterPatterns. Convolutions in NCHW are taken under the names of those in NHWC,
/// as TVM does.
std::vector<relax::FusionPattern> Patterns();

}  // namespace deuteron::backend::cudnn

namespace deuteron::backend {

/// `module` with what cuDNN takes in functions with the attribute Codegen = "cudnn"; those that need it get a
/// workspace.
IRModule PartitionForCudnn(IRModule module);

}  // namespace deuteron::backend
