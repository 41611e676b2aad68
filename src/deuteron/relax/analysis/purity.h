/// \file
/// Which expressions may be removed, repeated or moved.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Whether evaluating `value` (the value of a binding) does more than give a result: calls of impure
/// functions and operators, also inside of the branches of an `if`.
bool HasSideEffect(const Expr& value, const IRModule& module);

}  // namespace deuteron::relax
