#include "deuteron/ir/prim_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "deuteron/ir/expr_kind.h"
#include "deuteron/ir/scalar_format.h"
#include "deuteron/support/element.h"

namespace deuteron {

using tir::FloatImmNode;
using tir::IntImmNode;

namespace {

PrimExpr SplatIfVector(DataType dtype, PrimExpr scalar) {
  if (dtype.is_scalar()) return scalar;
  return tir::Broadcast(std::move(scalar), dtype.lanes());
}

/// Brings both operands to one type; see prim_ops.h.
void Promote(PrimExpr* a, PrimExpr* b) {
  DataType ta = a->dtype();
  DataType tb = b->dtype();
  if (ta == tb) return;
  if (ta.lanes() != tb.lanes()) {
    if (ta.is_scalar()) {
      *a = tir::Broadcast(*a, tb.lanes());
    } else {
      DEUTERON_CHECK(tb.is_scalar()) << "operands have " << ta.lanes() << " and " << tb.lanes() << " lanes";
      *b = tir::Broadcast(*b, ta.lanes());
    }
    ta = a->dtype();
    tb = b->dtype();
    if (ta == tb) return;
  }
  DataType common = ta;
  if (ta.is_float() != tb.is_float()) {
    common = ta.is_float() ? ta : tb;
  } else if (ta.bits() != tb.bits()) {
    common = ta.bits() > tb.bits() ? ta : tb;
  } else if (ta.is_bool() || tb.is_bool()) {
    common = ta.is_bool() ? tb : ta;
  } else if (ta.is_uint() != tb.is_uint()) {
    common = ta.is_uint() ? ta : tb;
  } else {
    DEUTERON_THROW(InternalError) << "no common type of " << ta << " and " << tb;
  }
  *a = CastTo(common, std::move(*a));
  *b = CastTo(common, std::move(*b));
}

PrimExpr Arithmetic(ExprKind kind, PrimExpr a, PrimExpr b) {
  Promote(&a, &b);
  PrimExpr folded = FoldBinary(kind, a, b);
  return folded.defined() ? folded : MakeBinary(kind, std::move(a), std::move(b));
}

PrimExpr FoldInts(ExprKind kind, DataType dtype, int64_t a, int64_t b) {
  const auto wrap = [](uint64_t value) { return static_cast<int64_t>(value); };
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  const bool is_unsigned = dtype.is_uint();
  if (IsDivision(kind) && (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))) return PrimExpr();
  const auto make = [&](int64_t value) -> PrimExpr { return tir::IntImm(dtype, value); };
  const auto truth = [](bool value) -> PrimExpr { return value ? True() : False(); };
  const bool less = is_unsigned ? ua < ub : a < b;
  switch (kind) {
    case ExprKind::kAdd:
      return make(wrap(ua + ub));
    case ExprKind::kSub:
      return make(wrap(ua - ub));
    case ExprKind::kMul:
      return make(wrap(ua * ub));
    case ExprKind::kDiv:
      return make(is_unsigned ? wrap(ua / ub) : a / b);
    case ExprKind::kMod:
      return make(is_unsigned ? wrap(ua % ub) : a % b);
    case ExprKind::kFloorDiv:
      return make(is_unsigned ? wrap(ua / ub) : FloorDivInt(a, b));
    case ExprKind::kFloorMod:
      return make(is_unsigned ? wrap(ua % ub) : FloorModInt(a, b));
    case ExprKind::kMin:
      return make(less ? a : b);
    case ExprKind::kMax:
      return make(less ? b : a);
    case ExprKind::kEQ:
      return truth(a == b);
    case ExprKind::kNE:
      return truth(a != b);
    case ExprKind::kLT:
      return truth(less);
    case ExprKind::kLE:
      return truth(less || a == b);
    case ExprKind::kGT:
      return truth(!less && a != b);
    case ExprKind::kGE:
      return truth(!less);
    case ExprKind::kAnd:
      return truth(a != 0 && b != 0);
    case ExprKind::kOr:
      return truth(a != 0 || b != 0);
    default:
      return PrimExpr();
  }
}

PrimExpr FoldFloats(ExprKind kind, DataType dtype, double a, double b) {
  if (dtype.bits() != 32 && dtype.bits() != 64) return PrimExpr();  // double rounding would differ
  const bool is_single = dtype.bits() == 32;
  const auto make = [&](double value) -> PrimExpr { return tir::FloatImm(dtype, value); };
  const auto truth = [](bool value) -> PrimExpr { return value ? True() : False(); };
  const auto fa = static_cast<float>(a);
  const auto fb = static_cast<float>(b);
  switch (kind) {
    case ExprKind::kAdd:
      return make(is_single ? fa + fb : a + b);
    case ExprKind::kSub:
      return make(is_single ? fa - fb : a - b);
    case ExprKind::kMul:
      return make(is_single ? fa * fb : a * b);
    case ExprKind::kDiv:
      return make(is_single ? fa / fb : a / b);
    case ExprKind::kMin:
      return make(std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b));
    case ExprKind::kMax:
      return make(std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b));
    case ExprKind::kEQ:
      return truth(a == b);
    case ExprKind::kNE:
      return truth(a != b);
    case ExprKind::kLT:
      return truth(a < b);
    case ExprKind::kLE:
      return truth(a <= b);
    case ExprKind::kGT:
      return truth(a > b);
    case ExprKind::kGE:
      return truth(a >= b);
    default:
      return PrimExpr();
  }
}

/// x + 0, x * 1 and the like, exact for integers only (x * 0 of floats may be NaN or -0).
PrimExpr FoldIdentity(ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
  if (!a.dtype().is_integer() || !a.dtype().is_scalar()) {
    if (kind == ExprKind::kAnd) {
      if (IsConstInt(a, 1)) return b;
      if (IsConstInt(b, 1)) return a;
      if (IsConstInt(a, 0)) return a;
    } else if (kind == ExprKind::kOr) {
      if (IsConstInt(a, 0)) return b;
      if (IsConstInt(b, 0)) return a;
      if (IsConstInt(a, 1)) return a;
    }
    return PrimExpr();
  }
  switch (kind) {
    case ExprKind::kAdd:
      if (IsZero(a)) return b;
      if (IsZero(b)) return a;
      break;
    case ExprKind::kSub:
      if (IsZero(b)) return a;
      break;
    case ExprKind::kMul:
      if (IsOne(a) || IsZero(b)) return b;
      if (IsOne(b) || IsZero(a)) return a;
      break;
    case ExprKind::kDiv:
    case ExprKind::kFloorDiv:
      if (IsOne(b)) return a;
      if (IsZero(a)) return a;
      break;
    case ExprKind::kMod:
    case ExprKind::kFloorMod:
      if (IsOne(b)) return MakeConst(a.dtype(), 0);
      if (IsZero(a)) return a;
      break;
    case ExprKind::kMin:
    case ExprKind::kMax:
      if (a.same_as(b)) return a;
      break;
    default:
      break;
  }
  return PrimExpr();
}

}  // namespace

PrimExpr MakeConst(DataType dtype, int64_t value) {
  if (dtype.is_float()) return MakeConst(dtype, static_cast<double>(value));
  return SplatIfVector(dtype, tir::IntImm(dtype.element(), value));
}

PrimExpr MakeConst(DataType dtype, double value) {
  if (!dtype.is_float()) return MakeConst(dtype, static_cast<int64_t>(value));
  return SplatIfVector(dtype, tir::FloatImm(dtype.element(), value));
}

PrimExpr MinValue(DataType dtype) {
  if (dtype.is_float()) {
    if (dtype.code() == kDLFloat8_e8m0fnu) return tir::FloatImm(dtype, FindFloatFormat(dtype)->Decode(0));
    const double max = AsConstInt(MaxValue(dtype)) ? 0 : MaxValue(dtype).as<FloatImmNode>()->value;
    return tir::FloatImm(dtype, -max);
  }
  if (dtype.is_bool() || dtype.is_uint()) return tir::IntImm(dtype, 0);
  return tir::IntImm(dtype,
                     dtype.bits() == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (dtype.bits() - 1)));
}

PrimExpr MaxValue(DataType dtype) {
  if (dtype.is_float()) {
    if (dtype.bits() == 64) return tir::FloatImm(dtype, std::numeric_limits<double>::max());
    if (dtype.bits() == 32) return tir::FloatImm(dtype, std::numeric_limits<float>::max());
    const FloatFormat* format = FindFloatFormat(dtype);
    DEUTERON_CHECK(format != nullptr) << "greatest value of " << dtype;
    return tir::FloatImm(dtype, format->Decode(format->greatest()));
  }
  if (dtype.is_bool()) return tir::IntImm(dtype, 1);
  if (dtype.bits() == 64) return tir::IntImm(dtype, dtype.is_int() ? std::numeric_limits<int64_t>::max() : -1);
  return tir::IntImm(dtype, (int64_t{1} << (dtype.bits() - (dtype.is_int() ? 1 : 0))) - 1);
}

PrimExpr Infinity(DataType dtype) { return tir::FloatImm(dtype, std::numeric_limits<double>::infinity()); }

bool IsBinary(ExprKind kind) { return kind >= ExprKind::kAdd && kind <= ExprKind::kOr; }
bool IsComparison(ExprKind kind) { return kind >= ExprKind::kEQ && kind <= ExprKind::kGE; }

PrimExpr MakeBinary(ExprKind kind, PrimExpr a, PrimExpr b) {
  switch (kind) {
#define DEUTERON_CASE(Name) \
  case ExprKind::k##Name:   \
    return tir::Name(std::move(a), std::move(b));
    DEUTERON_CASE(Add)
    DEUTERON_CASE(Sub)
    DEUTERON_CASE(Mul)
    DEUTERON_CASE(Div)
    DEUTERON_CASE(Mod)
    DEUTERON_CASE(FloorDiv)
    DEUTERON_CASE(FloorMod)
    DEUTERON_CASE(Min)
    DEUTERON_CASE(Max)
    DEUTERON_CASE(EQ)
    DEUTERON_CASE(NE)
    DEUTERON_CASE(LT)
    DEUTERON_CASE(LE)
    DEUTERON_CASE(GT)
    DEUTERON_CASE(GE)
    DEUTERON_CASE(And)
    DEUTERON_CASE(Or)
#undef DEUTERON_CASE
    default:
      DEUTERON_UNREACHABLE();
  }
}

PrimExpr FoldBinary(ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
  if (a->kind == ExprKind::kIntImm && b->kind == ExprKind::kIntImm) {
    return FoldInts(kind, a.dtype(), static_cast<const IntImmNode*>(a.get())->value,
                    static_cast<const IntImmNode*>(b.get())->value);
  }
  if (a->kind == ExprKind::kFloatImm && b->kind == ExprKind::kFloatImm) {
    return FoldFloats(kind, a.dtype(), static_cast<const FloatImmNode*>(a.get())->value,
                      static_cast<const FloatImmNode*>(b.get())->value);
  }
  return FoldIdentity(kind, a, b);
}

PrimExpr operator+(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kAdd, std::move(a), std::move(b)); }
PrimExpr operator-(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kSub, std::move(a), std::move(b)); }
PrimExpr operator*(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kMul, std::move(a), std::move(b)); }
PrimExpr operator-(PrimExpr a) {
  const DataType dtype = a.dtype();
  // -0.0 as the left operand keeps the sign of zero.
  if (dtype.is_float()) return Arithmetic(ExprKind::kSub, MakeConst(dtype, -0.0), std::move(a));
  return Arithmetic(ExprKind::kSub, MakeConst(dtype, 0), std::move(a));
}
PrimExpr operator<(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kLT, std::move(a), std::move(b)); }
PrimExpr operator<=(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kLE, std::move(a), std::move(b)); }
PrimExpr operator>(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kGT, std::move(a), std::move(b)); }
PrimExpr operator>=(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kGE, std::move(a), std::move(b)); }
PrimExpr Equal(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kEQ, std::move(a), std::move(b)); }
PrimExpr NotEqual(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kNE, std::move(a), std::move(b)); }
PrimExpr operator&&(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kAnd, std::move(a), std::move(b)); }
PrimExpr operator||(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kOr, std::move(a), std::move(b)); }
PrimExpr operator!(PrimExpr a) {
  if (const auto value = AsConstInt(a)) return *value != 0 ? False() : True();
  return tir::Not(std::move(a));
}
PrimExpr operator/(PrimExpr a, PrimExpr b) {
  DEUTERON_CHECK(a.dtype().is_float() || b.dtype().is_float())
      << "division of integers is ambiguous; use FloorDiv or TruncDiv";
  return Arithmetic(ExprKind::kDiv, std::move(a), std::move(b));
}
PrimExpr TruncDiv(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kDiv, std::move(a), std::move(b)); }
PrimExpr TruncMod(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kMod, std::move(a), std::move(b)); }
PrimExpr FloorDiv(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kFloorDiv, std::move(a), std::move(b)); }
PrimExpr FloorMod(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kFloorMod, std::move(a), std::move(b)); }
PrimExpr CeilDiv(PrimExpr a, PrimExpr b) { return FloorDiv(a + b - 1, b); }
PrimExpr Min(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kMin, std::move(a), std::move(b)); }
PrimExpr Max(PrimExpr a, PrimExpr b) { return Arithmetic(ExprKind::kMax, std::move(a), std::move(b)); }

PrimExpr CastTo(DataType dtype, PrimExpr value) {
  const DataType from = value.dtype();
  if (from == dtype) return value;
  if (from.lanes() == 1 && dtype.lanes() > 1) {
    return tir::Broadcast(CastTo(dtype.element(), std::move(value)), dtype.lanes());
  }
  if (const auto* imm = value.as<IntImmNode>()) {
    if (dtype.is_float()) {
      return tir::FloatImm(dtype, from.is_uint() ? static_cast<double>(static_cast<uint64_t>(imm->value))
                                                 : static_cast<double>(imm->value));
    }
    if (!dtype.is_handle()) return tir::IntImm(dtype, imm->value);
  }
  if (const auto* imm = value.as<FloatImmNode>(); imm != nullptr && dtype.is_float()) {
    return tir::FloatImm(dtype, imm->value);
  }
  if (const auto* splat = value.as<tir::BroadcastNode>()) {
    return tir::Broadcast(CastTo(dtype.element(), splat->value), splat->lanes);
  }
  return tir::Cast(dtype, std::move(value));
}

PrimExpr SelectExpr(PrimExpr condition, PrimExpr true_value, PrimExpr false_value) {
  Promote(&true_value, &false_value);
  if (const auto value = AsConstInt(condition)) return *value != 0 ? true_value : false_value;
  return tir::Select(std::move(condition), std::move(true_value), std::move(false_value));
}

PrimExpr IfThenElse(PrimExpr condition, PrimExpr true_value, PrimExpr false_value) {
  Promote(&true_value, &false_value);
  if (const auto value = AsConstInt(condition)) return *value != 0 ? true_value : false_value;
  const DataType dtype = true_value.dtype();
  static const Op op = Op::Get("tir.if_then_else");
  return tir::Call(dtype, op, {std::move(condition), std::move(true_value), std::move(false_value)});
}

PrimExpr CallIntrin(const char* name, DataType dtype, Array<PrimExpr> args) {
  return tir::Call(dtype, Op::Get(std::string("tir.") + name), std::move(args));
}
PrimExpr CallIntrin(const char* name, Array<PrimExpr> args) {
  const DataType dtype = args[0].dtype();
  return CallIntrin(name, dtype, std::move(args));
}

std::optional<int64_t> AsConstInt(const PrimExpr& expr) {
  if (!expr.defined() || expr->kind != ExprKind::kIntImm) return std::nullopt;
  return static_cast<const IntImmNode*>(expr.get())->value;
}
bool IsConstInt(const PrimExpr& expr, int64_t value) {
  return expr.defined() && expr->kind == ExprKind::kIntImm &&
         static_cast<const IntImmNode*>(expr.get())->value == value;
}
std::optional<std::vector<int64_t>> AsConstInts(const Array<PrimExpr>& exprs) {
  std::vector<int64_t> values;
  values.reserve(exprs.size());
  for (const PrimExpr& expr : exprs) {
    const auto value = AsConstInt(expr);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

bool MayBeNegative(const PrimExpr& extent) {
  if (const auto value = AsConstInt(extent)) return *value < 0;
  switch (extent->kind) {
    case ExprKind::kVar:
      return false;
    case ExprKind::kCast:
      return MayBeNegative(static_cast<const tir::CastNode*>(extent.get())->value);
    case ExprKind::kSelect: {
      const auto* choice = static_cast<const tir::SelectNode*>(extent.get());
      return MayBeNegative(choice->true_value) || MayBeNegative(choice->false_value);
    }
    default:
      break;
  }
  if (!IsBinary(extent->kind)) return true;
  const auto* binary = static_cast<const tir::BinaryNode*>(extent.get());
  switch (extent->kind) {
    case ExprKind::kAdd:
    case ExprKind::kMul:
    case ExprKind::kMin:
    case ExprKind::kDiv:
    case ExprKind::kFloorDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorMod:
      return MayBeNegative(binary->a) || MayBeNegative(binary->b);
    case ExprKind::kMax:
      return MayBeNegative(binary->a) && MayBeNegative(binary->b);
    default:
      return true;
  }
}

}  // namespace deuteron
