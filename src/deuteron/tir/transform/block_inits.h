/// \file
/// Where the inits of reduction blocks run. Internal.
///
/// An init runs before the first of its instance's reductions. Moved out of the reduction's loops it runs once for each
/// spatial instance, also where there is nothing to reduce: the sum of no elements is 0.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// The init of a reduction block, to be run in loops of its own before the outermost of its reduction loops.
struct HoistedInit {
  const SBlockRealizeNode* realize;
  std::vector<const ForNode*> spatial_loops;
  PrimExpr predicate;

  /// Copies of the block's spatial loops around its init, in variables of the scope that they are put into.
  Stmt Loops() const;
  /// Whether there is nothing to reduce.
  PrimExpr ReducesNothing() const;
};

/// The inits that may be moved out of their reduction loops: those of blocks whose spatial loops can be repeated, and
/// whose results no other block inside of the reduction loops uses.
struct InitPlan {
  /// By the loop that they run before.
  std::unordered_map<const ForNode*, std::vector<HoistedInit>> before;
  std::unordered_set<const SBlockRealizeNode*> hoisted;
};
InitPlan PlanInits(const Stmt& body);

/// The same with the inits of `PlanInits` run in addition where there is nothing to reduce.
Stmt RunInitsOfEmptyReductions(const Stmt& body);

}  // namespace deuteron::tir
