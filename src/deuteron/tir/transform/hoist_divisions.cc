/// Axes that are one loop are told apart again by divisions: `i % n` is the column of element i of rows of n. Where n
/// is known by the run alone each takes as long as dozens of multiply-adds, and no compiler moves one out of a loop or
/// a branch, since division by zero traps. Here each is done once, at the beginning of the body of the innermost loop
/// whose variable it uses.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/ir/expr_kind.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

class DivisionHoister : public StmtExprMutator {
 public:
  Stmt Hoist(const Stmt& body) {
    scopes_.emplace_back();
    return Close(VisitStmt(body));
  }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    const PrimExpr min = VisitExpr(op->min);
    const PrimExpr extent = VisitExpr(op->extent);
    scopes_.emplace_back();
    scope_of_[op->loop_var.get()] = scopes_.size() - 1;
    Stmt body = Close(VisitStmt(op->body));
    if (min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body)) return GetRef<Stmt>(op);
    return For(op->loop_var, min, extent, op->loop_kind, std::move(body), op->thread_tag, op->annotations, op->span);
  }
  Stmt VisitBind_(const BindNode* op) override {
    is_bound_inside_.insert(op->var.get());
    return StmtExprMutator::VisitBind_(op);
  }
  PrimExpr VisitLet_(const LetNode* op) override {
    is_bound_inside_.insert(op->var.get());
    return StmtExprMutator::VisitLet_(op);
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    PrimExpr result = StmtExprMutator::VisitBinary_(op);
    return IsDivision(op->kind) ? Hoisted(result) : result;
  }

 private:
  /// What is to be computed at the beginning of a scope.
  using Divisions = std::vector<std::pair<Var, PrimExpr>>;

  /// A division, or the variable that it has become.
  PrimExpr Hoisted(const PrimExpr& division) {
    const auto* op = static_cast<const BinaryNode*>(division.get());
    if (!op->dtype.is_int() || op->dtype.lanes() != 1 || AsConstInt(op->b)) return division;
    size_t scope = 0;
    bool may_move = true;
    PostOrderVisit(division, [&](const PrimExpr& node) {
      if (node->kind == ExprKind::kVar) {
        may_move = may_move && !is_bound_inside_.count(node.get());
        if (const auto it = scope_of_.find(node.get()); it != scope_of_.end()) scope = std::max(scope, it->second);
        return;
      }
      // Of what else an index is made of.
      const bool is_plain = node->kind == ExprKind::kIntImm || node->kind == ExprKind::kAdd ||
                            node->kind == ExprKind::kSub || node->kind == ExprKind::kMul ||
                            node->kind == ExprKind::kMin || node->kind == ExprKind::kMax || IsDivision(node->kind);
      // What is divided by zero stands where nothing runs.
      const bool is_void = IsDivision(node->kind) && IsZero(static_cast<const BinaryNode*>(node.get())->b);
      may_move = may_move && is_plain && !is_void;
    });
    if (!may_move) return division;
    for (const auto& [var, value] : scopes_[scope]) {
      if (ExprEqual(value, division)) return var;
    }
    Var var("part", op->dtype);
    scope_of_[var.get()] = scope;
    scopes_[scope].emplace_back(var, division);
    return var;
  }

  /// The body of the innermost scope, behind the divisions that belong there. A branch may have kept one from a divisor
  /// of zero.
  Stmt Close(Stmt body) {
    const Divisions divisions = std::move(scopes_.back());
    scopes_.pop_back();
    if (divisions.empty()) return body;
    Array<Stmt> parts;
    for (const auto& [var, value] : divisions) {
      const auto* op = static_cast<const BinaryNode*>(value.get());
      const PrimExpr one = MakeConst(op->dtype, 1);
      const PrimExpr divisor = SelectExpr(Equal(op->b, 0), one, op->b);
      parts.push_back(Bind(var, MakeBinary(op->kind, op->a, divisor)));
    }
    parts.push_back(std::move(body));
    return SeqStmt::Flatten(parts);
  }

  std::vector<Divisions> scopes_;
  std::unordered_map<const Object*, size_t> scope_of_;
  std::unordered_set<const Object*> is_bound_inside_;
};

}  // namespace

PrimFunc HoistDivisions(PrimFunc func) {
  Stmt body = DivisionHoister().Hoist(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
