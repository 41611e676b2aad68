/// \file
/// Vectors of integers lane by lane.
#pragma once

#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

/// One lane of a vector of integers, an int64; null for expressions that no index has. Conversions that narrow integers
/// on the way lose nothing (SimplifyLoops makes them where that is so).
PrimExpr LaneOf(const PrimExpr& vector, const PrimExpr& lane);

}  // namespace deuteron::tir
