/// \file
/// Which symbolic variables a binding waits for.
#pragma once

#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The symbolic variables that a binding mentions: in its variable's type, in shapes and scalars among the operands,
/// and in the types that a call is given (a call_tir's results may have a symbol that the variable's type has lost). It
/// has to stay behind the match_casts that define them. With repetitions.
std::vector<tir::Var> UsedSymbols(const Binding& binding);

}  // namespace deuteron::relax
