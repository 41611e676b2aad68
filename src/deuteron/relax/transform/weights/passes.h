/// \file
/// The passes that separate what is computed from weights alone.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

using transform::Pass;

/// Moves what functions with the attribute num_input compute from weights alone to `<name>_transform_params`. With
/// `shared_transform`, to one `transform_params` for all of them, or for those in `functions`.
Pass LiftTransformParams(bool shared_transform = false, std::vector<std::string> functions = {});

}  // namespace deuteron::relax
