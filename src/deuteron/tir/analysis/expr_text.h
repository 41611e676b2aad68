/// \file
/// Scalar expressions as text, for messages. What is printed to be parsed again comes from script/.
#pragma once

#include <string>

#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

/// `i * 4 + v`, `A[i, j + 1]`, `n // 2`: parentheses where precedence needs them, no types; cut after `limit`
/// characters.
std::string ExprText(const PrimExpr& expr, size_t limit = 120);
/// `i, j + 1`
std::string ExprText(const Array<PrimExpr>& exprs, size_t limit = 120);
/// `A[i, j:j + 4]`, a range an axis.
std::string RegionText(const Buffer& buffer, const Array<Range>& region);

}  // namespace deuteron::tir
