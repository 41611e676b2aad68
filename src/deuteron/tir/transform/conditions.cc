#include "deuteron/tir/transform/conditions.h"

#include <utility>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Removes comparisons that are known to hold.
class ConditionRemover : public StmtExprMutator {
 public:
  explicit ConditionRemover(const std::unordered_set<const Object*>& known) : known_(known) {}

 protected:
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    if (known_.count(op)) return True();
    if (op->kind == ExprKind::kAnd) return VisitExpr(op->a) && VisitExpr(op->b);
    return StmtExprMutator::VisitBinary_(op);
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    if (!IsIfThenElse(op)) return StmtExprMutator::VisitCall_(op);
    PrimExpr condition = VisitExpr(op->args[0]);
    if (IsConstInt(condition, 1)) return VisitExpr(op->args[1]);
    return Call(op->dtype, op->op, {condition, VisitExpr(op->args[1]), VisitExpr(op->args[2])});
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    if (IsConstInt(condition, 1)) return VisitStmt(op->then_case);
    return IfThenElse(std::move(condition), VisitStmt(op->then_case),
                      op->else_case.defined() ? VisitStmt(op->else_case) : Stmt(), op->span);
  }

 private:
  const std::unordered_set<const Object*>& known_;
};

}  // namespace

bool IsIfThenElse(const CallNode* op) {
  static const Op if_then_else = Op::Get("tir.if_then_else");
  return op->op.same_as(if_then_else);
}

bool IsIntegerComparison(const PrimExpr& condition) {
  switch (condition->kind) {
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE: {
      const DataType type = static_cast<const BinaryNode*>(condition.get())->a.dtype();
      return type.is_int() && type.lanes() == 1;
    }
    default:
      return false;
  }
}

bool Uses(const PrimExpr& expr, const Var& var) {
  return UsesVar(expr, [&](const VarNode* used) { return used == var.get(); });
}

bool Uses(const Array<PrimExpr>& exprs, const Var& var) {
  return std::any_of(exprs.begin(), exprs.end(), [&](const PrimExpr& expr) { return Uses(expr, var); });
}

bool AddsUp(const BufferStoreNode* store) {
  bool loads = false;
  deuteron::PostOrderVisit(store->value, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    loads = loads || (load != nullptr && load->buffer.same_as(store->buffer));
  });
  return loads;
}

bool ReadsMemory(const PrimExpr& expr) {
  bool reads = false;
  deuteron::PostOrderVisit(expr, [&](const PrimExpr& node) {
    reads = reads || node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kCall;
  });
  return reads;
}

Stmt WithoutConditions(const Stmt& stmt, const std::unordered_set<const Object*>& known) {
  return ConditionRemover(known).VisitStmt(stmt);
}

Stmt CopyOf(const Stmt& stmt) { return RenewDefs(PrimFunc({}, {}, stmt))->body; }

Stmt Iterations(const ForNode* op, int64_t begin, int64_t end, const Stmt& body) {
  const DataType type = op->loop_var.dtype();
  if (end == begin + 1) return Substitute(body, {{op->loop_var, MakeConst(type, begin)}});
  const Var var(op->loop_var->name_hint, type);
  return For(var, MakeConst(type, begin), MakeConst(type, end - begin), op->loop_kind,
             Substitute(body, {{op->loop_var, var}}), op->thread_tag, op->annotations, op->span);
}

}  // namespace deuteron::tir
