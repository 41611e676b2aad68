/// \file
/// Removes what a rewrite left unused.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// `func` without the pure bindings that nothing uses. `module` holds the functions that it calls: a call of a function
/// that is not there is taken to have side effects.
Function RemoveAllUnused(const Function& func, const IRModule& module = IRModule::Empty());

}  // namespace deuteron::relax
