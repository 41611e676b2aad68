/// \file
/// When two expressions are sure to give the same value.
#pragma once

#include <cstddef>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Whether two values of bindings are written alike: the same operator, attributes and type arguments on the same
/// variables, equal literals and equal constants. Branches and local functions are compared whole, up to the names of
/// what they bind. Whether repeating them gives the same value is for the caller to know (purity.h).
bool SameValue(const Expr& a, const Expr& b);
/// A hash that agrees with SameValue. Reads a bounded part of a constant's data.
size_t ValueHash(const Expr& expr);

}  // namespace deuteron::relax
