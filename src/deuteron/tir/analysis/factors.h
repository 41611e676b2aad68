/// \file
/// What products multiply.
#pragma once

#include <optional>

#include "deuteron/ir/prim_expr.h"
#include "deuteron/target/machine.h"

namespace deuteron::tir {

/// The operands of a product, or of a dot product of pairs (`dot_i16x2`).
struct Factors {
  PrimExpr lhs;
  PrimExpr rhs;
};
/// Nothing if `expr` is neither.
std::optional<Factors> FindFactors(const PrimExpr& expr);

/// The machine that tiles of dot products of pairs find: the sum of a pair is added to the others by an instruction of
/// its own, and takes a register until then.
Machine MachineOfPairs(Machine machine);

}  // namespace deuteron::tir
