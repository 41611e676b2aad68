/// \file
/// Canonicalisation of one function, for passes that leave aliases behind.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What the pass CanonicalizeBindings does to a function.
Function Canonicalize(const Function& function);

}  // namespace deuteron::relax
