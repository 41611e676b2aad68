/// \file
/// The back end `csource`: matrix products and element-wise operators as plain C, compiled by the machine's compiler.
/// It is the worked example of docs/adding-a-backend.md rather than a fast library.
#pragma once

#include <vector>

#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend::csource {

/// What it computes, the highest priority first: products of matrices with or without ReLU, add, subtract, multiply,
/// ReLU; float32 and static shapes only.
std::vector<relax::FusionPattern> Patterns();
/// Translates a function with the attribute Codegen = "csource".
relax::ExternalFunction Generate(const relax::CodegenRequest& request);
/// Why it cannot be used: there is no C compiler. Empty if there is.
std::string Missing();

}  // namespace deuteron::backend::csource
