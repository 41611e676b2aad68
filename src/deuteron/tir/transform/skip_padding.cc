/// A window that reaches beyond an image reads zeros there: a sum over it has `if_then_else(inside, image, 0) * weight`
/// in each step. Where all lanes of a vector are inside or outside together, such steps are left out instead, as those
/// of a maximum are whose padding is the least number: the condition moves to the statement, and out of each loop whose
/// variable it does not use. What a padding's zero would do to a weight that is infinite or NaN, it does not do then.
#include <algorithm>
#include <cmath>
#include <optional>

#include "deuteron/ir/expr_kind.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// Whether it is that, or the infinity beyond.
bool IsExtreme(const PrimExpr& expr, const PrimExpr& extreme) {
  const auto* value = expr.as<FloatImmNode>();
  return StructuralEqual()(expr, extreme) ||
         (value != nullptr && std::isinf(value->value) &&
          std::signbit(value->value) == std::signbit(extreme.as<FloatImmNode>()->value));
}

/// Whether adding `expr`, or taking the greater or the less of it, changes nothing.
bool IsIdentity(const PrimExpr& expr, ExprKind kind) {
  const DataType dtype = expr.dtype();
  switch (kind) {
    case ExprKind::kAdd:
      return StructuralEqual()(expr, MakeConst(dtype, 0));
    case ExprKind::kMax:
      return IsExtreme(expr, MinValue(dtype));
    case ExprKind::kMin:
      return IsExtreme(expr, MaxValue(dtype));
    default:
      return false;
  }
}

/// What an accumulator takes in, behind a condition.
struct Guarded {
  PrimExpr condition;
  PrimExpr value;
};

class PaddingSkipper : public StmtExprMutator {
 protected:
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    // Lanes beyond the end of a row may hold anything.
    const auto* lanes = op->value.as<CallNode>();
    if (lanes != nullptr && !(IsIfThenElse(lanes) && IsUndef(lanes->args[2]))) lanes = nullptr;
    const PrimExpr& whole = lanes == nullptr ? op->value : lanes->args[1];
    const ExprKind kind = whole->kind;
    if (kind != ExprKind::kAdd && kind != ExprKind::kMax && kind != ExprKind::kMin) return GetRef<Stmt>(op);
    const auto* sum = static_cast<const BinaryNode*>(whole.get());
    const auto* load = sum->a.as<BufferLoadNode>();
    if (load == nullptr || !load->buffer.same_as(op->buffer) || !ExprEqual(load->indices, op->indices))
      return GetRef<Stmt>(op);
    const auto guarded = Unguard(sum->b, kind);
    if (!guarded) return GetRef<Stmt>(op);
    const bool differs = UsesVar(guarded->condition, [&](const VarNode* var) {
      return std::find(lanes_.begin(), lanes_.end(), var) != lanes_.end();
    });
    // What holds of some lanes only is left to a mask.
    if (differs) return GetRef<Stmt>(op);
    PrimExpr value = MakeBinary(kind, sum->a, guarded->value);
    if (lanes != nullptr) value = Call(lanes->dtype, lanes->op, {lanes->args[0], std::move(value), lanes->args[2]});
    return IfThenElse(guarded->condition, BufferStore(op->buffer, std::move(value), op->indices, op->span));
  }

  /// One condition for two, so that either can move out of a loop.
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    Stmt result = StmtExprMutator::VisitIfThenElse_(op);
    const auto* outer = result.as<IfThenElseNode>();
    const auto* inner = outer == nullptr ? nullptr : outer->then_case.as<IfThenElseNode>();
    if (inner == nullptr || outer->else_case.defined() || inner->else_case.defined() || ReadsMemory(inner->condition))
      return result;
    return IfThenElse(outer->condition && inner->condition, inner->then_case, Stmt(), op->span);
  }

  Stmt VisitFor_(const ForNode* op) override {
    const bool is_vector = op->loop_kind == ForKind::kVectorized;
    if (is_vector) lanes_.push_back(op->loop_var.get());
    const Stmt body = VisitStmt(op->body);
    if (is_vector) lanes_.pop_back();
    if (body.same_as(op->body)) return GetRef<Stmt>(op);
    const auto loop = [&](Stmt inner) {
      return For(op->loop_var, op->min, op->extent, op->loop_kind, std::move(inner), op->thread_tag, op->annotations,
                 op->span);
    };
    const auto* branch = body.as<IfThenElseNode>();
    const bool may_move = op->loop_kind != ForKind::kParallel && op->loop_kind != ForKind::kThreadBinding;
    if (branch == nullptr || branch->else_case.defined() || !may_move) return loop(body);
    std::vector<PrimExpr> outside, inside;
    for (const PrimExpr& part : Conjuncts(branch->condition)) {
      const bool uses = UsesVar(part, [&](const VarNode* var) { return var == op->loop_var.get(); });
      (uses ? inside : outside).push_back(part);
    }
    if (outside.empty()) return loop(body);
    Stmt rest = branch->then_case;
    if (!inside.empty()) rest = IfThenElse(Conjunction(inside), rest);
    return IfThenElse(Conjunction(outside), loop(rest));
  }

 private:
  /// A value that changes nothing but where a condition holds; nothing if it is none.
  static std::optional<Guarded> Unguard(const PrimExpr& value, ExprKind kind) {
    if (value->kind == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(value.get());
      if (!IsIfThenElse(call) || !IsIdentity(call->args[2], kind)) return std::nullopt;
      return Guarded{call->args[0], call->args[1]};
    }
    if (value->kind == ExprKind::kCast && kind == ExprKind::kAdd) {
      auto guarded = Unguard(static_cast<const CastNode*>(value.get())->value, kind);
      if (guarded) guarded->value = CastTo(value.dtype(), guarded->value);
      return guarded;
    }
    if (value->kind != ExprKind::kMul || kind != ExprKind::kAdd) return std::nullopt;
    const auto* product = static_cast<const BinaryNode*>(value.get());
    if (auto guarded = Unguard(product->a, kind)) {
      guarded->value = guarded->value * product->b;
      return guarded;
    }
    auto guarded = Unguard(product->b, kind);
    if (guarded) guarded->value = product->a * guarded->value;
    return guarded;
  }

  std::vector<const VarNode*> lanes_;
};

}  // namespace

PrimFunc SkipPadding(PrimFunc func) {
  Stmt body = PaddingSkipper().VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
