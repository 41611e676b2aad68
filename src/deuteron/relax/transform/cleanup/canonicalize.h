/// \file
/// Canonicalisation of one function, for passes that leave aliases behind.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What the pass CanonicalizeBindings does to a function of `module`.
Function Canonicalize(const Function& function, const IRModule& module);

}  // namespace deuteron::relax
