#include "deuteron/tir/transform/condition_finder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/transform/conditions.h"

namespace deuteron::tir {
namespace {

/// A condition for so many stores at once, of vectors where there are some, takes no time beside them.
constexpr double kManyStores = 8;

/// An expression that is ≥ 0 exactly where the comparison of integers holds; null if it is not one.
PrimExpr Slack(const PrimExpr& condition) {
  if (!IsIntegerComparison(condition)) return PrimExpr();
  const auto* op = static_cast<const BinaryNode*>(condition.get());
  switch (condition->kind) {
    case ExprKind::kLT:
      return op->b - op->a - 1;
    case ExprKind::kLE:
      return op->b - op->a;
    case ExprKind::kGT:
      return op->a - op->b - 1;
    default:
      return op->a - op->b;
  }
}

/// Stores that a statement does, its conditions taken to hold.
class StoreCounter : public StmtExprVisitor {
 public:
  static double Of(const Stmt& stmt) {
    StoreCounter counter;
    counter.VisitStmt(stmt);
    return counter.stores_;
  }

 protected:
  void VisitFor_(const ForNode* op) override {
    const double times = times_;
    if (op->loop_kind != ForKind::kVectorized) times_ *= static_cast<double>(AsConstInt(op->extent).value_or(1));
    StmtExprVisitor::VisitFor_(op);
    times_ = times;
  }
  void VisitBufferStore_(const BufferStoreNode*) override { stores_ += times_; }

 private:
  double times_ = 1;
  double stores_ = 0;
};

bool IsAmong(const std::vector<PrimExpr>& exprs, const PrimExpr& expr) {
  return std::any_of(exprs.begin(), exprs.end(), [&](const PrimExpr& other) { return StructuralEqual()(other, expr); });
}

bool Uses(const PrimExpr& expr, const ForNode* loop) {
  return UsesVar(expr, [&](const VarNode* var) { return var == loop->loop_var.get(); });
}

/// The innermost of the serial loops whose variables an expression uses; their number if there is none.
size_t InnermostUsed(const std::vector<const ForNode*>& loops, const PrimExpr& expr) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (loops[i]->loop_kind == ForKind::kSerial && Uses(expr, loops[i])) return i;
  }
  return loops.size();
}

/// Loops that best choose between copies with and without conditions by themselves: another serial loop stands between
/// them and the condition, beside which the test takes no time, which is about loops further in, too.
class ChoosingLoops : public StmtExprVisitor {
 public:
  std::unordered_set<const ForNode*> found;

 protected:
  void VisitFor_(const ForNode* op) override {
    loops_.push_back(op);
    StmtExprVisitor::VisitFor_(op);
    loops_.pop_back();
  }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    Consider(op->condition);
    StmtExprVisitor::VisitIfThenElse_(op);
  }
  void VisitCall_(const CallNode* op) override {
    if (IsIfThenElse(op)) Consider(op->args[0]);
    StmtExprVisitor::VisitCall_(op);
  }

 private:
  void Consider(const PrimExpr& condition) {
    for (const PrimExpr& part : Conjuncts(condition)) {
      const size_t at = InnermostUsed(loops_, part);
      if (at == loops_.size()) continue;
      const auto inner = loops_.begin() + static_cast<int64_t>(at) + 1;
      const bool is_outside = std::any_of(inner, loops_.end(), [](const ForNode* loop) {
        return loop->loop_kind == ForKind::kSerial && !IsOne(loop->extent);
      });
      const bool may_choose = std::any_of(inner, loops_.end(), [&](const ForNode* loop) { return Uses(part, loop); });
      if (is_outside && may_choose) found.insert(loops_[at]);
    }
  }

  std::vector<const ForNode*> loops_;
};

/// More make a condition that hardly ever holds, and takes long to find.
constexpr size_t kMostTests = 64;

class ConditionCounter : public StmtExprVisitor {
 public:
  explicit ConditionCounter(const std::unordered_set<const Object*>& conditions) : conditions_(conditions) {}

  double asked() const { return asked_; }
  void VisitStmt(const Stmt& stmt) override { StmtExprVisitor::VisitStmt(stmt); }

 protected:
  void VisitFor_(const ForNode* op) override {
    const bool are_lanes = op->loop_kind == ForKind::kVectorized;
    const double trips =
        are_lanes ? std::numeric_limits<double>::infinity() : static_cast<double>(AssumedExtent(op->extent));
    const double outside = std::exchange(times_, times_ * trips);
    StmtExprVisitor::VisitFor_(op);
    times_ = outside;
  }
  void VisitExpr(const PrimExpr& expr) override {
    if (conditions_.count(expr.get()) != 0) asked_ += times_;
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  const std::unordered_set<const Object*>& conditions_;
  double times_ = 1;
  double asked_ = 0;
};

}  // namespace

void ConditionFinder::Find(const Stmt& stmt) {
  // Of a loop whose length is known parts are split off at its ends; one that threads share stays one.
  if (!AsConstInt(loop_.extent) || loop_.loop_kind == ForKind::kParallel) {
    ChoosingLoops choosing;
    choosing.VisitStmt(stmt);
    choosing_ = std::move(choosing.found);
  }
  VisitStmt(stmt);
}

void ConditionFinder::VisitFor_(const ForNode* op) {
  analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
  loops_.push_back(op);
  VisitStmt(op->body);
  loops_.pop_back();
}

void ConditionFinder::VisitBind_(const BindNode* op) {
  opaque_.insert(op->var.get());
  StmtExprVisitor::VisitBind_(op);
}

void ConditionFinder::VisitLet_(const LetNode* op) {
  opaque_.insert(op->var.get());
  StmtExprVisitor::VisitLet_(op);
}

void ConditionFinder::VisitIfThenElse_(const IfThenElseNode* op) {
  // Between the copies that unrolled loops make, it keeps them from sharing what they load.
  const bool is_between = std::any_of(loops_.begin(), loops_.end(),
                                      [](const ForNode* loop) { return loop->loop_kind == ForKind::kUnrolled; });
  if (is_between || StoreCounter::Of(op->then_case) < kManyStores) Consider(op->condition);
  StmtExprVisitor::VisitIfThenElse_(op);
}

void ConditionFinder::VisitCall_(const CallNode* op) {
  if (IsIfThenElse(op)) Consider(op->args[0]);
  StmtExprVisitor::VisitCall_(op);
}

void ConditionFinder::Consider(const PrimExpr& condition) {
  for (const PrimExpr& part : Conjuncts(condition)) {
    if (rejected_.count(part.get())) continue;
    PrimExpr test = WorstCase(part);
    const bool known = test.defined() && (IsConstInt(test, 1) || IsAmong(tests, test));
    if (!known && tests.size() == kMostTests) test = PrimExpr();
    if (!test.defined()) {
      rejected_.insert(part.get());
      removable.erase(part.get());
      continue;
    }
    removable.insert(part.get());
    if (!known) tests.push_back(test);
    const PrimExpr slack = Extreme(part, [](const arith::SymbolicInterval& interval) { return interval.max; });
    const PrimExpr chance = slack.defined() ? analyzer_.Simplify(slack >= 0) : True();
    if (!IsAmong(chances, chance)) chances.push_back(chance);
  }
}

/// That end of a comparison's slack over the loops further in; null if it is not known without their variables.
template <typename End>
PrimExpr ConditionFinder::Extreme(const PrimExpr& part, const End& end) {
  PrimExpr slack = analyzer_.Simplify(Slack(part));
  for (size_t i = loops_.size(); i-- > 0;) {
    const arith::DomainMap domain = {{loops_[i]->loop_var, Range::FromMinExtent(loops_[i]->min, loops_[i]->extent)}};
    slack = end(arith::EvalInterval(slack, domain, &analyzer_));
    if (!slack.defined()) return PrimExpr();
  }
  const bool left = std::any_of(loops_.begin(), loops_.end(), [&](const ForNode* loop) { return Uses(slack, loop); });
  return left ? PrimExpr() : slack;
}

PrimExpr ConditionFinder::WorstCase(const PrimExpr& part) {
  PrimExpr slack = Slack(part);
  if (!slack.defined()) return PrimExpr();
  if (const size_t at = InnermostUsed(loops_, part); at < loops_.size() && choosing_.count(loops_[at]) != 0)
    return PrimExpr();
  bool depends = false;
  bool inner = false;
  bool pure = !ReadsMemory(slack);
  deuteron::PostOrderVisit(slack, [&](const PrimExpr& node) {
    if (node->kind != ExprKind::kVar) return;
    if (node.get() == loop_.loop_var.get()) depends = true;
    if (opaque_.count(node.get())) pure = false;
    for (const ForNode* loop : loops_) inner = inner || loop->loop_var.get() == node.get();
  });
  if (!depends || !inner || !pure) return PrimExpr();
  slack = Extreme(part, [](const arith::SymbolicInterval& interval) { return interval.min; });
  if (!slack.defined()) return PrimExpr();
  PrimExpr test = analyzer_.Simplify(slack >= 0);
  if (IsZero(test) || analyzer_.CanProve(!test)) return PrimExpr();
  return test;
}

void OwnConditions::VisitFor_(const ForNode* op) {
  if (op->loop_kind == ForKind::kVectorized) lanes_.insert(op->loop_var.get());
  StmtExprVisitor::VisitFor_(op);
}

void OwnConditions::VisitIfThenElse_(const IfThenElseNode* op) {
  for (const PrimExpr& part : Conjuncts(op->condition)) {
    if (IsOwn(part)) found.push_back(part);
  }
  StmtExprVisitor::VisitIfThenElse_(op);
}

void OwnConditions::VisitCall_(const CallNode* op) {
  if (IsIfThenElse(op)) {
    std::vector<PrimExpr> own;
    bool differs = false;
    for (const PrimExpr& part : Conjuncts(op->args[0])) {
      if (IsOwn(part)) own.push_back(part);
      differs = differs || UsesVar(part, [&](const VarNode* var) { return lanes_.count(var) != 0; });
    }
    if (differs) beside_lanes.insert(beside_lanes.end(), own.begin(), own.end());
  }
  StmtExprVisitor::VisitCall_(op);
}

bool OwnConditions::IsOwn(const PrimExpr& part) const {
  const auto vars = FreeVars(part);
  return vars.size() == 1 && vars[0].same_as(var_) && !ReadsMemory(part);
}

double TimesAsked(const Stmt& stmt, const std::unordered_set<const Object*>& conditions) {
  ConditionCounter counter(conditions);
  counter.VisitStmt(stmt);
  return counter.asked();
}

}  // namespace deuteron::tir
