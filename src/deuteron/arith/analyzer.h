/// \file
/// Symbolic integer arithmetic: simplification, proofs and bounds of index expressions.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/expr_functor.h"

namespace deuteron::arith {

/// Inclusive bounds; kNegInf and kPosInf where unknown.
struct ConstIntBound {
  static constexpr int64_t kNegInf = INT64_MIN;
  static constexpr int64_t kPosInf = INT64_MAX;
  int64_t min_value = kNegInf;
  int64_t max_value = kPosInf;
};

/// `coeff * k + base` for some integer k; coeff 0 = exactly base; coeff 1 = nothing known.
struct ModularSet {
  int64_t coeff = 1;
  int64_t base = 0;
};

/// What is known of a set of variables, and what follows from it.
///
/// Shape variables bound with `MarkNonNegative` (every symbolic dimension is) are ≥ 0; loop and block
/// variables are bound to their ranges. Index arithmetic is assumed not to overflow (ir/prim_expr.h).
class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  /// `var` is in `range` from now on.
  void Bind(const tir::Var& var, const tir::Range& range);
  /// `var` equals `value` from now on (replaced in simplification).
  void Bind(const tir::Var& var, const PrimExpr& value);
  /// `var` is a dimension of a tensor: ≥ 0.
  void MarkNonNegative(const tir::Var& var);

  /// While the returned guard lives, `condition` is assumed to hold.
  class Constraint {
   public:
    ~Constraint();
    Constraint(Constraint&&) noexcept;

   private:
    friend class Analyzer;
    struct Impl;
    explicit Constraint(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  [[nodiscard]] Constraint Assume(const PrimExpr& condition);

  /// An equal expression, in canonical form where that is shorter. Never longer in operations.
  PrimExpr Simplify(const PrimExpr& expr);
  /// True only if `condition` holds for all values of its variables; false means "not proved".
  bool CanProve(const PrimExpr& condition);
  bool CanProveEqual(const PrimExpr& a, const PrimExpr& b);
  bool CanProveGreaterEqual(const PrimExpr& expr, int64_t lower);
  bool CanProveLess(const PrimExpr& a, const PrimExpr& b);
  ConstIntBound Bound(const PrimExpr& expr);
  ModularSet Modular(const PrimExpr& expr);

  struct Impl;
  /// For the other files of arith/.
  Impl* impl();

 private:
  std::unique_ptr<Impl> impl_;
};

/// Bounds of `expr` while the variables in `domains` range over them, as expressions in the other variables:
/// [min, max] inclusive; a null side is unknown. The base of region inference of compute_at.
struct SymbolicInterval {
  PrimExpr min;
  PrimExpr max;
};
using DomainMap = std::unordered_map<tir::Var, tir::Range, ObjectPtrHash, ObjectPtrEqual>;
SymbolicInterval EvalInterval(const PrimExpr& expr, const DomainMap& domains, Analyzer* analyzer);

/// Coefficients of `expr` as a linear form Σ coeff_i * vars_i + rest, the rest free of `vars`; nothing if it
/// is not linear in `vars`. Coefficients are expressions free of `vars`.
struct LinearForm {
  std::vector<PrimExpr> coeffs;
  PrimExpr rest;
};
std::optional<LinearForm> DetectLinear(const PrimExpr& expr, const std::vector<tir::Var>& vars, Analyzer* analyzer);

}  // namespace deuteron::arith
