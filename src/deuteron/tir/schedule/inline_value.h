/// \file
/// Putting the computation of a buffer's elements where they are read. Internal to schedule/.
#pragma once

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir::schedule {

/// How an element of a buffer is computed: buffer[vars...] = value. A null variable is a dimension of extent 1.
struct ElementValue {
  Buffer buffer;
  std::vector<Var> vars;
  PrimExpr value;
  PrimExpr At(const Array<PrimExpr>& indices) const;
};

/// `expr` with loads of the buffer replaced by their values. Loads at the same indices are computed once, by a
/// Let around the smallest expression that holds all of them and evaluates them unconditionally.
PrimExpr InlineElements(const PrimExpr& expr, const ElementValue& element);
/// The same in all expressions of a statement, each for itself.
Stmt InlineElements(const Stmt& stmt, const ElementValue& element);
/// A copy of `expr` whose Lets bind variables of their own.
PrimExpr RenewLets(const PrimExpr& expr);

}  // namespace deuteron::tir::schedule
