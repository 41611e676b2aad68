/// \file
/// Arithmetic of float16 and bfloat16 on CPUs that have none: each operation would widen its operands and round its
/// result. Here an expression widens what it loads, computes in float32, and rounds once, where it is stored. Results
/// are those of more precise arithmetic; a cast in the program, from the narrow type or to it, is of a rounded number.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "deuteron/support/element.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

class FloatWidener : public StmtExprMutator {
 public:
  explicit FloatWidener(const Target& target) : target_(target) {}

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto wide = wide_.find(op);
    return wide == wide_.end() ? GetRef<PrimExpr>(op) : CastTo(op->dtype, wide->second);
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    if (IsNarrow(op->dtype)) return Rounded(op->dtype, Wide(GetRef<PrimExpr>(op)));
    if (IsNarrow(op->a->dtype)) return MakeBinary(op->kind, Wide(op->a), Wide(op->b));
    return StmtExprMutator::VisitBinary_(op);
  }
  PrimExpr VisitSelect_(const SelectNode* op) override {
    if (IsNarrow(op->dtype)) return Rounded(op->dtype, Wide(GetRef<PrimExpr>(op)));
    return StmtExprMutator::VisitSelect_(op);
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    if (IsNarrow(op->dtype) && IsArithmetic(op)) return Rounded(op->dtype, Wide(GetRef<PrimExpr>(op)));
    return StmtExprMutator::VisitCall_(op);
  }
  PrimExpr VisitLet_(const LetNode* op) override {
    if (IsNarrow(op->dtype)) return Rounded(op->dtype, Wide(GetRef<PrimExpr>(op)));
    if (!IsNarrow(op->var.dtype())) return StmtExprMutator::VisitLet_(op);
    const PrimExpr value = Wide(op->value);
    const Var var = Widened(op->var);
    return Let(var, value, VisitExpr(op->body));
  }
  Stmt VisitBind_(const BindNode* op) override {
    if (!IsNarrow(op->var.dtype())) return StmtExprMutator::VisitBind_(op);
    const PrimExpr value = Wide(op->value);
    return Bind(Widened(op->var), value, op->span);
  }

 private:
  bool IsNarrow(DataType dtype) const { return IsNarrowFloat(dtype, target_); }
  static DataType WideType(DataType dtype) { return DataType::Float(32).with_lanes(dtype.lanes()); }

  /// A choice, or a function of numbers of its own type.
  static bool IsArithmetic(const CallNode* op) {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    return op->op.same_as(if_then_else) ||
           std::all_of(op->args.begin(), op->args.end(), [&](const PrimExpr& arg) { return arg->dtype == op->dtype; });
  }

  Var Widened(const Var& var) {
    const Var wide(var->name_hint, WideType(var.dtype()));
    wide_.insert_or_assign(var.get(), wide);
    return wide;
  }

  /// `wide`, rounded once: greatest and least numbers of rounded ones are, too, and which is which rounding keeps.
  static PrimExpr Rounded(DataType type, const PrimExpr& wide) {
    const bool is_choice = wide->kind == ExprKind::kMax || wide->kind == ExprKind::kMin;
    const auto exact = is_choice ? BeforeRounding(type, wide) : std::nullopt;
    return CastTo(type, exact.value_or(wide));
  }
  /// What becomes the expression, whose numbers are of the narrow type, when it is rounded to that.
  static std::optional<PrimExpr> BeforeRounding(DataType type, const PrimExpr& expr) {
    if (expr->kind == ExprKind::kFloatImm) {
      const double value = static_cast<const FloatImmNode*>(expr.get())->value;
      const FloatFormat& format = *FindFloatFormat(type.element());
      return format.Decode(format.Encode(value)) == value ? std::optional(expr) : std::nullopt;
    }
    if (expr->kind == ExprKind::kCast) {
      const PrimExpr narrow = static_cast<const CastNode*>(expr.get())->value;
      if (narrow->dtype != type) return std::nullopt;
      const auto* rounding = narrow.as<CastNode>();
      return rounding != nullptr && rounding->value->dtype == expr->dtype ? rounding->value : expr;
    }
    if (expr->kind != ExprKind::kMax && expr->kind != ExprKind::kMin) return std::nullopt;
    const auto* op = static_cast<const BinaryNode*>(expr.get());
    const auto a = BeforeRounding(type, op->a), b = BeforeRounding(type, op->b);
    return a && b ? std::optional(MakeBinary(expr->kind, *a, *b)) : std::nullopt;
  }

  /// A narrow expression in float32.
  PrimExpr Wide(const PrimExpr& expr) {
    const DataType type = WideType(expr->dtype);
    switch (expr->kind) {
      case ExprKind::kVar: {
        const auto wide = wide_.find(expr.get());
        return wide == wide_.end() ? CastTo(type, expr) : wide->second;
      }
      case ExprKind::kSelect: {
        const auto* op = static_cast<const SelectNode*>(expr.get());
        return Select(VisitExpr(op->condition), Wide(op->true_value), Wide(op->false_value));
      }
      case ExprKind::kLet: {
        const auto* op = static_cast<const LetNode*>(expr.get());
        const bool is_narrow = IsNarrow(op->var.dtype());
        const PrimExpr value = is_narrow ? Wide(op->value) : VisitExpr(op->value);
        const Var var = is_narrow ? Widened(op->var) : op->var;
        return Let(var, value, Wide(op->body));
      }
      case ExprKind::kCall: {
        const auto* op = static_cast<const CallNode*>(expr.get());
        if (!IsArithmetic(op)) break;
        Array<PrimExpr> args;
        for (const PrimExpr& arg : op->args) args.push_back(arg->dtype == op->dtype ? Wide(arg) : VisitExpr(arg));
        return Call(type, op->op, std::move(args));
      }
      default:
        if (!IsBinary(expr->kind)) break;
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        return MakeBinary(expr->kind, Wide(op->a), Wide(op->b));
    }
    return CastTo(type, VisitExpr(expr));
  }

  const Target& target_;
  std::unordered_map<const Object*, Var> wide_;
};

}  // namespace

PrimFunc WidenFloats(PrimFunc func, const Target& target) {
  FloatWidener widener(target);
  Stmt body = widener.VisitStmt(func->body);
  if (!body.same_as(func->body)) CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
