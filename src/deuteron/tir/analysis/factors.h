/// \file
/// What products multiply.
#pragma once

#include <optional>

#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

/// The operands of a product, or of a dot product of pairs (`dot_i16x2`).
struct Factors {
  PrimExpr lhs;
  PrimExpr rhs;
};
/// Nothing if `expr` is neither.
std::optional<Factors> FindFactors(const PrimExpr& expr);

}  // namespace deuteron::tir
