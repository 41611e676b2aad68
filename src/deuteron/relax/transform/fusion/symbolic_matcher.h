/// \file
/// Binding the symbolic variables of a kernel to the expressions of its caller.
#pragma once

#include <string>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"
#include "deuteron/tir/functor.h"

namespace deuteron::relax::fusion {

/// Collects equations `kernel's expression == caller's expression` and solves them for the kernel's variables.
///
/// A plain variable takes the caller's expression. What is left is unwound operator by operator (`n - 1`
/// against 7, `2 * n` against `2 * m`); everything that has no unknown any more must be proved.
class SymbolicMatcher {
 public:
  void Match(const PrimExpr& pattern, const PrimExpr& value) { equations_.push_back({pattern, value}); }
  void Match(const Array<PrimExpr>& pattern, const Array<PrimExpr>& value);
  /// The dimensions of two tensors or the values of two shapes, as far as both are known.
  void Match(const Type& pattern, const Type& value);

  /// Solves. On failure returns false and says in `why()` which equation does not hold or has no solution.
  bool Solve(arith::Analyzer* analyzer);
  const tir::VarMap& values() const { return values_; }
  const std::string& why() const { return why_; }

 private:
  struct Equation {
    PrimExpr pattern;
    PrimExpr value;
  };
  bool Reduce(Equation equation, arith::Analyzer* analyzer, bool* progress);
  bool Bind(const tir::Var& var, const PrimExpr& value, arith::Analyzer* analyzer);
  bool IsKnown(const PrimExpr& pattern) const;

  std::vector<Equation> equations_;
  tir::VarMap values_;
  std::string why_;
};

}  // namespace deuteron::relax::fusion
