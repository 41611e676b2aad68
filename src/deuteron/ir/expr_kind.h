/// \file
/// Kinds of expressions that are treated alike.
#pragma once

#include "deuteron/ir/prim_expr.h"

namespace deuteron {

/// A quotient or a remainder, whichever way it rounds.
constexpr bool IsDivision(ExprKind kind) {
  return kind == ExprKind::kDiv || kind == ExprKind::kMod || kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
}

}  // namespace deuteron
