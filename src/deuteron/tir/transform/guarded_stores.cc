#include "deuteron/tir/transform/guarded_stores.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"

namespace deuteron::tir {
namespace {

/// Whether a store to a buffer is not missed that other conditions guard.
using MayMiss = std::function<bool(const Buffer&, const std::vector<PrimExpr>&)>;

class GuardCheck : public StmtExprVisitor {
 public:
  GuardCheck(const std::unordered_set<const Object*>& conditions, const MayMiss& may_miss)
      : conditions_(conditions), may_miss_(may_miss) {}
  bool holds = true;

 protected:
  void VisitAllocBuffer_(const AllocBufferNode* op) override {
    own_.insert(op->buffer.get());
    StmtExprVisitor::VisitAllocBuffer_(op);
  }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    const std::vector<PrimExpr> parts = Conjuncts(op->condition);
    const bool is_guard = !op->else_case.defined() &&
                          std::any_of(parts.begin(), parts.end(),
                                      [&](const PrimExpr& part) { return conditions_.count(part.get()) != 0; });
    if (is_guard) return;
    others_.insert(others_.end(), parts.begin(), parts.end());
    VisitStmt(op->then_case);
    others_.resize(others_.size() - parts.size());
    if (!op->else_case.defined()) return;
    others_.push_back(!op->condition);
    VisitStmt(op->else_case);
    others_.pop_back();
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    holds = holds && (own_.count(op->buffer.get()) != 0 || may_miss_(op->buffer, others_));
  }
  void VisitEvaluate_(const EvaluateNode*) override { holds = false; }

 private:
  const std::unordered_set<const Object*>& conditions_;
  const MayMiss& may_miss_;
  std::unordered_set<const Object*> own_;
  /// Conditions on the way that are none of `conditions_`.
  std::vector<PrimExpr> others_;
};

/// The variable that a condition says is at the first of its values; nothing if it says anything else.
std::optional<Var> AtFirst(const PrimExpr& condition, arith::Analyzer* analyzer) {
  if (condition->kind != ExprKind::kEQ) return std::nullopt;
  const auto* op = static_cast<const BinaryNode*>(condition.get());
  const auto value = AsConstInt(op->b);
  if (op->a->kind != ExprKind::kVar || !value || analyzer->Bound(op->a).min_value != *value) return std::nullopt;
  return Downcast<Var>(op->a);
}

/// By how much what a comparison leaves shrinks from one value of a variable to the next; nothing where that is not
/// constant.
std::optional<int64_t> ShrinksBy(const PrimExpr& comparison, const Var& var) {
  if (!IsIntegerComparison(comparison)) return std::nullopt;
  const auto* op = static_cast<const BinaryNode*>(comparison.get());
  const auto a = StepAlong(op->a, var), b = StepAlong(op->b, var);
  if (!a || !b) return std::nullopt;
  const bool is_less = comparison->kind == ExprKind::kLT || comparison->kind == ExprKind::kLE;
  return is_less ? *a - *b : *b - *a;
}

int64_t LoadsIn(const Stmt& stmt, const Buffer& buffer) {
  int64_t loads = 0;
  PostOrderVisit(stmt, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    loads += load != nullptr && load->buffer.same_as(buffer);
  });
  return loads;
}

bool IsAllocatedIn(const Stmt& stmt, const Buffer& buffer) {
  bool found = false;
  PostOrderVisit(stmt, [&](const ObjectRef& node) {
    const auto* alloc = node.as<AllocBufferNode>();
    found = found || (alloc != nullptr && alloc->buffer.same_as(buffer));
  });
  return found;
}

/// Whether nothing but a part of what is around it loads from a buffer.
bool LoadsAlone(const LeftOut& part, const Buffer& buffer) {
  for (auto outer = part.around.rbegin(); outer != part.around.rend(); ++outer) {
    if (IsAllocatedIn(*outer, buffer)) return LoadsIn(*outer, buffer) == LoadsIn(part.stmt, buffer);
  }
  return false;
}

/// Computes what is filled in first iterations where it is loaded.
class FillInliner : public StmtExprMutator {
 public:
  FillInliner(const PrimExpr& chance, arith::Analyzer* analyzer) : chance_(chance), analyzer_(*analyzer) {}
  std::vector<PrimExpr> conditions;
  bool holds = true;

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    loops_.push_back(op);
    Stmt result = StmtExprMutator::VisitFor_(op);
    loops_.pop_back();
    return result;
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    const auto* store = op->then_case.as<BufferStoreNode>();
    const std::vector<PrimExpr> parts = Conjuncts(op->condition);
    const auto is_first = [&](const PrimExpr& part) {
      const auto var = AtFirst(part, &analyzer_);
      return var && ShrinksBy(chance_, *var).value_or(0) > 0;
    };
    if (store == nullptr || op->else_case.defined() || !std::all_of(parts.begin(), parts.end(), is_first))
      return StmtExprMutator::VisitIfThenElse_(op);
    holds = holds && fills_.count(store->buffer.get()) == 0;
    fills_[store->buffer.get()] = {store, loops_};
    for (const PrimExpr& part : parts) {
      const auto is_same = [&](const PrimExpr& other) { return StructuralEqual()(part, other); };
      if (std::none_of(conditions.begin(), conditions.end(), is_same)) conditions.push_back(part);
    }
    return Evaluate(I64(0));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    holds = holds && fills_.count(op->buffer.get()) == 0;
    return StmtExprMutator::VisitBufferStore_(op);
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto fill = fills_.find(op->buffer.get());
    if (fill == fills_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    const PrimExpr value = ValueAt(fill->second, op->indices);
    holds = holds && value.defined();
    return value.defined() ? value : StmtExprMutator::VisitBufferLoad_(op);
  }

 private:
  struct Fill {
    const BufferStoreNode* store;
    std::vector<const ForNode*> loops;
  };

  /// What a fill stores at `indices`, if some of the loops around them, in their order, are as long as its own and say
  /// the same element; else null.
  PrimExpr ValueAt(const Fill& fill, const Array<PrimExpr>& indices) const {
    size_t common = 0;
    while (common < std::min(fill.loops.size(), loops_.size()) && fill.loops[common] == loops_[common]) ++common;
    ExprVarMap same;
    return ValueAt(fill, indices, common, common, &same);
  }

  /// The same, when `same` has a loop for each of the fill's before `stored`, all before `loaded`.
  PrimExpr ValueAt(const Fill& fill, const Array<PrimExpr>& indices, size_t stored, size_t loaded,
                   ExprVarMap* same) const {
    if (stored == fill.loops.size()) {
      for (int64_t dim = 0; dim < std::ssize(indices); ++dim) {
        if (!analyzer_.CanProveEqual(Substitute(fill.store->indices[dim], *same), indices[dim])) return PrimExpr();
      }
      return Substitute(fill.store->value, *same);
    }
    const ForNode* own = fill.loops[stored];
    for (size_t i = loaded; i < loops_.size(); ++i) {
      const ForNode* other = loops_[i];
      if (!StructuralEqual()(own->min, other->min) || !StructuralEqual()(own->extent, other->extent)) continue;
      (*same)[own->loop_var] = other->loop_var;
      const PrimExpr value = ValueAt(fill, indices, stored + 1, i + 1, same);
      if (value.defined()) return value;
    }
    return PrimExpr();
  }

  const PrimExpr& chance_;
  arith::Analyzer& analyzer_;
  std::vector<const ForNode*> loops_;
  std::unordered_map<const Object*, Fill> fills_;
};

}  // namespace

std::optional<Conditional> WithoutFills(const Stmt& stmt, const PrimExpr& chance, arith::Analyzer* analyzer) {
  FillInliner inliner(chance, analyzer);
  Stmt result = inliner.VisitStmt(stmt);
  if (!inliner.holds || inliner.conditions.empty()) return std::nullopt;
  return Conditional{Conjunction(inliner.conditions), std::move(result)};
}

bool StoresOnlyUnder(const std::unordered_set<const Object*>& conditions, const Stmt& stmt) {
  const MayMiss none = [](const Buffer&, const std::vector<PrimExpr>&) { return false; };
  GuardCheck check(conditions, none);
  check.VisitStmt(stmt);
  return check.holds;
}

bool StoresOnlyUnder(const std::unordered_set<const Object*>& conditions, const LeftOut& part,
                     arith::Analyzer* analyzer) {
  const MayMiss fills = [&](const Buffer& buffer, const std::vector<PrimExpr>& others) {
    const auto is_first = [&](const PrimExpr& condition) {
      const auto var = AtFirst(condition, analyzer);
      return var && ShrinksBy(part.chance, *var).value_or(-1) >= 0;
    };
    return !others.empty() && std::all_of(others.begin(), others.end(), is_first) && LoadsAlone(part, buffer);
  };
  GuardCheck check(conditions, fills);
  check.VisitStmt(part.stmt);
  return check.holds;
}

}  // namespace deuteron::tir
