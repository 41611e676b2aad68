/// A window that reaches beyond an image reads zeros there: a sum over it has `if_then_else(inside, image, 0) * weight`
/// in each step. Where all lanes of a vector are inside or outside together, such steps are left out instead, as those
/// of a maximum are whose padding is the least number: the condition moves to the statement, and out of each loop whose
/// variable it does not use. What a padding's zero would do to a weight that is infinite or NaN, it does not do then.
///
/// Where an extent that only the run knows tells which rows of an unrolled tile see padding, each row of each step
/// would branch. There the condition stays in the sum, as a mask of what is loaded, and rows beyond the last are summed
/// up like the others if they load nothing from outside: their sums are not stored.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
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
 public:
  explicit PaddingSkipper(const PrimFunc& func) {
    for (const auto& [param, buffer] : func->buffer_map) {
      for (const PrimExpr& extent : buffer->shape) {
        for (const Var& symbol : FreeVars(extent)) {
          symbols_.insert(symbol.get());
          analyzer_.MarkNonNegative(symbol);
        }
      }
    }
  }

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
    const bool is_tile = !lanes_.empty() && op->buffer->scope == "local" && kind == ExprKind::kAdd;
    const auto stays = [&](const PrimExpr& part) { return is_tile && TellsOpenRows(part); };
    const auto guarded = Unguard(sum->b, kind, stays);
    if (!guarded) return GetRef<Stmt>(op);
    // What holds of some lanes only is left to a mask.
    if (UsesAny(guarded->condition, lanes_) || IsConstInt(guarded->condition, 1)) return GetRef<Stmt>(op);
    PrimExpr value = MakeBinary(kind, sum->a, guarded->value);
    if (lanes != nullptr) value = Call(lanes->dtype, lanes->op, {lanes->args[0], std::move(value), lanes->args[2]});
    return IfThenElse(guarded->condition, BufferStore(op->buffer, std::move(value), op->indices, op->span));
  }

  /// One condition for two, so that either can move out of a loop.
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    Stmt result = WithAllRows(StmtExprMutator::VisitIfThenElse_(op));
    const auto* outer = result.as<IfThenElseNode>();
    const auto* inner = outer == nullptr ? nullptr : outer->then_case.as<IfThenElseNode>();
    if (inner == nullptr || outer->else_case.defined() || inner->else_case.defined() || ReadsMemory(inner->condition))
      return result;
    return IfThenElse(outer->condition && inner->condition, inner->then_case, Stmt(), op->span);
  }

  Stmt VisitFor_(const ForNode* op) override {
    const bool is_vector = op->loop_kind == ForKind::kVectorized, is_unrolled = op->loop_kind == ForKind::kUnrolled;
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    if (is_vector) lanes_.push_back(op->loop_var.get());
    if (is_unrolled) rows_.push_back(op->loop_var.get());
    const Stmt body = VisitStmt(op->body);
    if (is_vector) lanes_.pop_back();
    if (is_unrolled) rows_.pop_back();
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
  /// Whether a part of a condition is about a row of an unrolled tile, and an extent that only the run knows.
  bool TellsOpenRows(const PrimExpr& part) const {
    return UsesAny(part, rows_) && UsesVar(part, [&](const VarNode* var) { return symbols_.count(var) != 0; });
  }
  static bool UsesAny(const PrimExpr& expr, const std::vector<const VarNode*>& vars) {
    return UsesVar(expr, [&](const VarNode* var) { return std::find(vars.begin(), vars.end(), var) != vars.end(); });
  }

  /// A value that changes nothing but where a condition holds; nothing if it is none. If some part of the condition
  /// tells rows of an open tile (`masks`), all parts about rows stay in the value.
  template <typename Masks>
  std::optional<Guarded> Unguard(const PrimExpr& value, ExprKind kind, const Masks& masks) const {
    if (value->kind == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(value.get());
      if (!IsIfThenElse(call) || !IsIdentity(call->args[2], kind)) return std::nullopt;
      const std::vector<PrimExpr> parts = Conjuncts(call->args[0]);
      if (std::none_of(parts.begin(), parts.end(), masks)) {
        // A part of a window that may have fewer lines than others guards them all.
        const auto inner = Unguard(call->args[1], kind, masks);
        if (!inner || ReadsMemory(inner->condition)) return Guarded{call->args[0], call->args[1]};
        return Guarded{call->args[0] && inner->condition, inner->value};
      }
      std::vector<PrimExpr> outside, inside;
      for (const PrimExpr& part : parts) (UsesAny(part, rows_) ? inside : outside).push_back(part);
      const PrimExpr mask = Conjunction(inside);
      return Guarded{Conjunction(outside), Call(call->dtype, call->op, {mask, call->args[1], call->args[2]})};
    }
    if (value->kind == ExprKind::kCast && kind == ExprKind::kAdd) {
      auto guarded = Unguard(static_cast<const CastNode*>(value.get())->value, kind, masks);
      if (guarded) guarded->value = CastTo(value.dtype(), guarded->value);
      return guarded;
    }
    if (value->kind != ExprKind::kMul || kind != ExprKind::kAdd) return std::nullopt;
    const auto* product = static_cast<const BinaryNode*>(value.get());
    if (auto guarded = Unguard(product->a, kind, masks)) {
      guarded->value = guarded->value * product->b;
      return guarded;
    }
    auto guarded = Unguard(product->b, kind, masks);
    if (guarded) guarded->value = product->a * guarded->value;
    return guarded;
  }

  static bool HasMask(const PrimExpr& value) {
    bool found = false;
    deuteron::PostOrderVisit(value, [&](const PrimExpr& node) {
      const auto* call = node.as<CallNode>();
      found = found || (call != nullptr && IsIfThenElse(call));
    });
    return found;
  }

  /// A sum of a tile of masked loads without the condition that its row exists, if it loads nothing from outside then.
  Stmt WithAllRows(const Stmt& stmt) {
    const auto* branch = stmt.as<IfThenElseNode>();
    if (branch == nullptr || branch->else_case.defined()) return stmt;
    std::vector<PrimExpr> others;
    const std::vector<PrimExpr> parts = Conjuncts(branch->condition);
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(others),
                 [&](const PrimExpr& part) { return !TellsOpenRows(part); });
    if (others.size() == parts.size()) return stmt;
    std::vector<PrimExpr> known = others;
    const BufferStoreNode* store = SumWithin(branch->then_case, &known);
    if (store == nullptr || !HasMask(store->value)) return stmt;
    const arith::Analyzer::Constraint holds = analyzer_.Assume(Conjunction(known));
    if (!IsWithin(store->value, store->buffer)) return stmt;
    return others.empty() ? branch->then_case : Stmt(IfThenElse(Conjunction(others), branch->then_case));
  }

  /// The store of a vector of sums that is all a statement does, and the conditions on its way; null if it does more.
  static const BufferStoreNode* SumWithin(const Stmt& stmt, std::vector<PrimExpr>* known) {
    if (const auto* loop = stmt.as<ForNode>()) {
      return loop->loop_kind == ForKind::kVectorized ? SumWithin(loop->body, known) : nullptr;
    }
    if (const auto* branch = stmt.as<IfThenElseNode>()) {
      if (branch->else_case.defined()) return nullptr;
      known->push_back(branch->condition);
      return SumWithin(branch->then_case, known);
    }
    const auto* store = stmt.as<BufferStoreNode>();
    return store != nullptr && store->buffer->scope == "local" && store->value->kind == ExprKind::kAdd ? store
                                                                                                       : nullptr;
  }

  /// Whether all that an expression loads, but for the sums of a tile, lies within its buffer.
  bool IsWithin(const PrimExpr& expr, const Buffer& sums) {
    switch (expr->kind) {
      case ExprKind::kBufferLoad: {
        const auto* load = static_cast<const BufferLoadNode*>(expr.get());
        if (load->buffer.same_as(sums)) return true;
        for (size_t i = 0; i < load->indices.size(); ++i) {
          const auto dim = static_cast<int64_t>(i);
          const PrimExpr& index = load->indices[dim];
          // A tile has a first row, whose other places the rest share.
          if (!UsesAny(index, rows_)) continue;
          if (ReadsMemory(index) || !analyzer_.CanProve(index >= 0)) return false;
          if (!analyzer_.CanProve(index < load->buffer->shape[dim])) return false;
        }
        return true;
      }
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(expr.get());
        if (!IsIfThenElse(call) || ReadsMemory(call->args[0])) return false;
        const arith::Analyzer::Constraint holds = analyzer_.Assume(call->args[0]);
        return IsWithin(call->args[1], sums) && !ReadsMemory(call->args[2]);
      }
      case ExprKind::kCast:
        return IsWithin(static_cast<const CastNode*>(expr.get())->value, sums);
      case ExprKind::kAdd:
      case ExprKind::kMul: {
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        return IsWithin(op->a, sums) && IsWithin(op->b, sums);
      }
      default:
        return !ReadsMemory(expr);
    }
  }

  arith::Analyzer analyzer_;
  std::unordered_set<const Object*> symbols_;
  std::vector<const VarNode*> rows_;
  std::vector<const VarNode*> lanes_;
};

}  // namespace

PrimFunc SkipPadding(PrimFunc func) {
  Stmt body = PaddingSkipper(func).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
