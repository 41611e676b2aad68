/// \file
/// Arithmetic of float16 and bfloat16 on CPUs that have none: each operation would widen its operands and round its
/// result. Here an expression widens what it loads, computes in float32, and rounds once, where it is stored. Results
/// are those of more precise arithmetic. A cast in the program, from the narrow type or to it, is of a rounded number,
/// but for those between which a kernel computes something in float32: sums that arithmetic goes on with, erf, and the
/// operands of products that it widens for itself.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/support/element.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/analysis/stepped_buffers.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

class FloatWidener : public StmtExprMutator {
 public:
  FloatWidener(const Target& target, const Stmt& body) : target_(target), body_(body) {}

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
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    own_.insert(op->buffer.get());
    return StmtExprMutator::VisitAllocBuffer_(op);
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto* widening = op->value.as<CastNode>();
    const bool is_kept = widening != nullptr && widening->dtype == WideType(widening->dtype) &&
                         IsNarrow(widening->value->dtype) && own_.count(op->buffer.get()) != 0 &&
                         !IsStepped(op->buffer);
    if (!is_kept) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(VisitBufferUse(op->buffer), WideTerm(widening->value), VisitExprs(op->indices), op->span);
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

  bool IsStepped(const Buffer& buffer) {
    if (!stepped_) stepped_ = SteppedBuffers(body_);
    return stepped_->count(buffer.get()) != 0;
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

  /// Whether of operands that differ by a rounding results differ by little more. Those of comparisons do not.
  static bool IsContinuous(ExprKind kind) {
    switch (kind) {
      case ExprKind::kAdd:
      case ExprKind::kSub:
      case ExprKind::kMul:
      case ExprKind::kDiv:
      case ExprKind::kMin:
      case ExprKind::kMax:
        return true;
      default:
        return false;
    }
  }

  /// What arithmetic goes on with: of a quotient by a number, the product with the reciprocal, which differs from it by
  /// roundings of float32 and takes a fifth of its time.
  static PrimExpr Multiplied(PrimExpr wide) {
    const auto* quotient = wide.as<DivNode>();
    if (quotient == nullptr) return wide;
    const auto* lanes = quotient->b.as<BroadcastNode>();
    const auto* number = (lanes == nullptr ? quotient->b : lanes->value).as<FloatImmNode>();
    if (number == nullptr || !std::isnormal(static_cast<float>(number->value))) return wide;
    const double reciprocal = 1 / number->value;
    return std::isnormal(static_cast<float>(reciprocal)) ? quotient->a * MakeConst(wide->dtype, reciprocal) : wide;
  }

  /// An operand of such arithmetic in float32: what the kernel has summed up in float32 is not rounded first.
  PrimExpr WideTerm(const PrimExpr& expr) {
    const auto* rounding = expr.as<CastNode>();
    const auto* sum = rounding == nullptr ? nullptr : rounding->value.as<BufferLoadNode>();
    const bool is_own = sum != nullptr && sum->dtype == WideType(expr->dtype) && own_.count(sum->buffer.get()) != 0;
    return is_own ? VisitExpr(rounding->value) : Multiplied(Wide(expr));
  }

  /// What `cast` rounds if that is a function without steps of a narrow number, as LegalizeOps writes erf: it is
  /// arithmetic like the functions that are of the narrow type.
  std::optional<PrimExpr> WideFunction(const CastNode* cast) {
    static const Op erf = Op::Get("tir.erf");
    const auto* call = cast->value.as<CallNode>();
    if (call == nullptr || !call->op.same_as(erf)) return std::nullopt;
    const auto* argument = call->args[0].as<CastNode>();
    if (argument == nullptr || argument->value->dtype != cast->dtype) return std::nullopt;
    return Call(call->dtype, call->op, {Multiplied(Wide(argument->value))});
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
        for (const PrimExpr& arg : op->args)
          args.push_back(arg->dtype == op->dtype ? Multiplied(Wide(arg)) : VisitExpr(arg));
        return Call(type, op->op, std::move(args));
      }
      case ExprKind::kCast:
        if (const auto function = WideFunction(static_cast<const CastNode*>(expr.get()))) return *function;
        break;
      default:
        if (!IsBinary(expr->kind)) break;
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        if (IsContinuous(expr->kind)) return MakeBinary(expr->kind, WideTerm(op->a), WideTerm(op->b));
        return MakeBinary(expr->kind, Wide(op->a), Wide(op->b));
    }
    return CastTo(type, VisitExpr(expr));
  }

  const Target& target_;
  const Stmt& body_;
  std::unordered_map<const Object*, Var> wide_;
  /// Buffers that the kernel allocates.
  std::unordered_set<const Object*> own_;
  /// Of all buffers those, once asked for.
  std::optional<std::unordered_set<const Object*>> stepped_;
};

}  // namespace

PrimFunc WidenFloats(PrimFunc func, const Target& target) {
  FloatWidener widener(target, func->body);
  Stmt body = widener.VisitStmt(func->body);
  if (!body.same_as(func->body)) CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
