/// \file
/// The back end `dnnl`: convolutions, products, pooling, softmax and layer norm on CPUs by oneDNN.
#pragma once

#include "deuteron/relax/transform/library_passes.h"

namespace deuteron::backend::dnnl {

/// Puts what oneDNN computes into Composite functions, constants inside of them.
relax::Pass Partition();

/// Translates a function with the attribute Codegen = "dnnl" for the plugin of that name.
relax::ExternalFunction Generate(const relax::CodegenRequest& request);

}  // namespace deuteron::backend::dnnl
