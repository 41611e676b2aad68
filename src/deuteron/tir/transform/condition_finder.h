/// \file
/// The conditions in the body of a loop, and what must hold for them to go (partition_loops.cc).
#pragma once

#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {

/// The worst cases of the conditions in the body of a loop.
class ConditionFinder : public StmtExprVisitor {
 public:
  ConditionFinder(const ForNode* loop, arith::Analyzer* analyzer) : loop_(*loop), analyzer_(*analyzer) {}

  /// Of `stmt`, the loop's body or a part of it.
  void Find(const Stmt& stmt);

  /// Comparisons that go where `tests` hold.
  std::unordered_set<const Object*> removable;
  std::vector<PrimExpr> tests;
  /// Where none of these hold, none of the comparisons does for any iteration of the loops further in.
  std::vector<PrimExpr> chances;

 protected:
  void VisitFor_(const ForNode* op) override;
  void VisitBind_(const BindNode* op) override;
  void VisitLet_(const LetNode* op) override;
  void VisitIfThenElse_(const IfThenElseNode* op) override;
  void VisitCall_(const CallNode* op) override;

 private:
  void Consider(const PrimExpr& condition);
  /// A condition of the variables outside of the inner loops that implies `part`; null if there is none of use.
  PrimExpr WorstCase(const PrimExpr& part);
  template <typename End>
  PrimExpr Extreme(const PrimExpr& part, const End& end);

  const ForNode& loop_;
  arith::Analyzer& analyzer_;
  std::vector<const ForNode*> loops_;
  /// Loops further in that choose for themselves.
  std::unordered_set<const ForNode*> choosing_;
  std::unordered_set<const Object*> opaque_;
  std::unordered_set<const Object*> rejected_;
};

/// How often some conditions are asked in one run of a statement; those of lanes count as any number.
double TimesAsked(const Stmt& stmt, const std::unordered_set<const Object*>& conditions);

/// The conditions in a statement that are about one variable alone.
class OwnConditions : public StmtExprVisitor {
 public:
  explicit OwnConditions(const Var& var) : var_(var) {}

  /// Those of branches.
  std::vector<PrimExpr> found;
  /// Those of choices between vectors beside which others differ from lane to lane.
  std::vector<PrimExpr> beside_lanes;

 protected:
  void VisitFor_(const ForNode* op) override;
  void VisitIfThenElse_(const IfThenElseNode* op) override;
  void VisitCall_(const CallNode* op) override;

 private:
  bool IsOwn(const PrimExpr& part) const;

  const Var& var_;
  std::unordered_set<const VarNode*> lanes_;
};

}  // namespace deuteron::tir
