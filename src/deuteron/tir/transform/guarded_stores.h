/// \file
/// Whether a statement has an effect where conditions in it do not hold (partition_loops.cc).
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// What is left out where a condition does not hold, and the statements around, outermost first.
struct LeftOut {
  const Stmt& stmt;
  const PrimExpr& chance;
  const std::vector<Stmt>& around;
};

/// Whether a statement stores only under one of some conditions, or in what it allocates.
bool StoresOnlyUnder(const std::unordered_set<const Object*>& conditions, const Stmt& stmt);

/// The same of what is left out for a chance that does not hold. It may fill, in the first iterations of loops, what
/// later ones load (FillOnce) and nothing else does, if the chance never comes to hold in these: a panel of a product
/// whose first tile has no rows.
bool StoresOnlyUnder(const std::unordered_set<const Object*>& conditions, const LeftOut& part,
                     arith::Analyzer* analyzer);

/// A statement, and the condition for it.
struct Conditional {
  PrimExpr condition;
  Stmt stmt;
};

/// A statement that computes what it would fill, in first iterations for all, where it loads that, and the condition
/// for these iterations; nothing if it fills nothing, or may be followed by ones that load of it: `chance`, the
/// condition for them to have an effect, must cease to hold with the iteration that comes next.
std::optional<Conditional> WithoutFills(const Stmt& stmt, const PrimExpr& chance, arith::Analyzer* analyzer);

}  // namespace deuteron::tir
