#include "deuteron/tir/analysis/stepped_buffers.h"

#include <string>
#include <unordered_map>

#include "deuteron/ir/expr_kind.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Functions that jump, or ask what kind of number one is.
bool HasSteps(const ObjectRef& op) {
  static const std::unordered_set<const Object*> ops = [] {
    std::unordered_set<const Object*> result;
    for (const char* name : {"floor", "ceil", "trunc", "round", "nearbyint", "fmod", "isnan", "isinf", "isfinite"}) {
      result.insert(Op::Get(std::string("tir.") + name).get());
    }
    return result;
  }();
  return ops.count(op.get()) != 0;
}

class StepFinder : public StmtExprVisitor {
 public:
  std::unordered_set<const Object*> Find(const Stmt& body) {
    VisitStmt(body);
    return std::move(found_);
  }

 protected:
  void VisitCast_(const CastNode* op) override {
    if (!op->dtype.is_float() && !op->dtype.is_bfloat16()) Step(op->value);
    StmtExprVisitor::VisitCast_(op);
  }
  void VisitBinary_(const BinaryNode* op) override {
    if (IsComparison(op->kind) || (IsDivision(op->kind) && op->kind != ExprKind::kDiv)) {
      Step(op->a);
      Step(op->b);
    }
    StmtExprVisitor::VisitBinary_(op);
  }
  void VisitCall_(const CallNode* op) override {
    if (HasSteps(op->op)) {
      for (const PrimExpr& arg : op->args) Step(arg);
    }
    StmtExprVisitor::VisitCall_(op);
  }
  void VisitLet_(const LetNode* op) override {
    values_[op->var.get()] = op->value;
    StmtExprVisitor::VisitLet_(op);
  }
  void VisitBind_(const BindNode* op) override {
    values_[op->var.get()] = op->value;
    StmtExprVisitor::VisitBind_(op);
  }

 private:
  /// Looks through what leaves numbers as they are.
  void Step(const PrimExpr& expr) {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    switch (expr->kind) {
      case ExprKind::kBufferLoad:
        found_.insert(static_cast<const BufferLoadNode*>(expr.get())->buffer.get());
        return;
      case ExprKind::kCast:
        return Step(static_cast<const CastNode*>(expr.get())->value);
      case ExprKind::kVar:
        if (const auto value = values_.find(expr.get()); value != values_.end()) Step(value->second);
        return;
      case ExprKind::kLet: {
        const auto* op = static_cast<const LetNode*>(expr.get());
        values_[op->var.get()] = op->value;
        return Step(op->body);
      }
      case ExprKind::kMin:
      case ExprKind::kMax: {
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        Step(op->a);
        return Step(op->b);
      }
      case ExprKind::kSelect: {
        const auto* op = static_cast<const SelectNode*>(expr.get());
        Step(op->true_value);
        return Step(op->false_value);
      }
      case ExprKind::kCall: {
        const auto* op = static_cast<const CallNode*>(expr.get());
        if (!op->op.same_as(if_then_else)) return;
        Step(op->args[1]);
        return Step(op->args[2]);
      }
      default:
        return;
    }
  }

  std::unordered_set<const Object*> found_;
  /// What variables stand for.
  std::unordered_map<const Object*, PrimExpr> values_;
};

}  // namespace

std::unordered_set<const Object*> SteppedBuffers(const Stmt& body) { return StepFinder().Find(body); }

}  // namespace deuteron::tir
