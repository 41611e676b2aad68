/// \file
/// Conditions as lists of what must hold.
#pragma once

#include <vector>

#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

/// The conjuncts of a condition; none for True.
std::vector<PrimExpr> Conjuncts(const PrimExpr& condition);
/// The condition that all of `parts` hold; True if there are none.
PrimExpr Conjunction(const std::vector<PrimExpr>& parts);

}  // namespace deuteron::tir
