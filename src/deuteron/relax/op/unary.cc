#include "deuteron/relax/op/unary.h"

#include <string>
#include <unordered_map>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::relax {
namespace {

using topi::AxisNames;

bool IsInteger(const PrimExpr& x) { return x.dtype().is_integer() || x.dtype().is_bool(); }
PrimExpr Zero(const PrimExpr& x) { return MakeConst(x.dtype(), 0); }

/// A function that integers already satisfy (they are their own floor).
PrimExpr RoundBy(const char* name, PrimExpr x) { return IsInteger(x) ? x : CallIntrin(name, {std::move(x)}); }

PrimExpr AbsOf(PrimExpr x) {
  if (x.dtype().is_uint() || x.dtype().is_bool()) return x;
  if (x.dtype().is_int()) return SelectExpr(Zero(x) <= x, x, Zero(x) - x);
  return CallIntrin("fabs", {std::move(x)});
}
PrimExpr SignOf(PrimExpr x) {
  const DataType dtype = x.dtype();
  const PrimExpr negative = SelectExpr(x < Zero(x), MakeConst(dtype, dtype.is_uint() ? 0 : -1), Zero(x));
  return SelectExpr(Zero(x) < x, MakeConst(dtype, 1), negative);
}
PrimExpr ErfOf(PrimExpr x) {
  const DataType dtype = x.dtype();
  return CastTo(dtype, CallIntrin("erf", {CastTo(topi::AccumulatorType(dtype), std::move(x))}));
}
PrimExpr NegativeOf(PrimExpr x) { return x * MakeConst(x.dtype(), -1); }
PrimExpr SquareOf(PrimExpr x) { return x * x; }
PrimExpr NotOf(PrimExpr x) { return !std::move(x); }
PrimExpr BitwiseNotOf(PrimExpr x) {
  return x.dtype().is_bool() ? !std::move(x) : CallIntrin("bitwise_not", {std::move(x)});
}
PrimExpr IsNanOf(PrimExpr x) { return IsInteger(x) ? False() : CallIntrin("isnan", DataType::Bool(), {std::move(x)}); }
PrimExpr IsInfOf(PrimExpr x) {
  if (IsInteger(x)) return False();
  return deuteron::Equal(CallIntrin("fabs", {x}), Infinity(x.dtype())) && !IsNanOf(x);
}
PrimExpr IsFiniteOf(PrimExpr x) {
  if (IsInteger(x)) return True();
  return (deuteron::NotEqual(CallIntrin("fabs", {x}), Infinity(x.dtype())) || IsNanOf(x)) && !IsNanOf(x);
}

/// What an operator takes and gives.
enum class Domain : uint8_t { kAny, kFloat, kBool, kInteger };

struct UnaryRule {
  const char* name;
  /// Name of the kernel.
  const char* kernel;
  /// Name of its block.
  const char* block;
  AxisNames axes;
  Domain domain;
  bool to_bool;
  PrimExpr (*fn)(PrimExpr);
};

#define DEUTERON_INTRINSIC(Name)                                          \
  {                                                                       \
#Name, "tir_" #Name, "compute", AxisNames::kI, Domain::kFloat, false, \
        [](PrimExpr x) { return CallIntrin(#Name, {std::move(x)}); }      \
  }
#define DEUTERON_ROUNDING(Name, Intrinsic)                              \
  {                                                                     \
#Name, "tir_" #Name, "compute", AxisNames::kI, Domain::kAny, false, \
        [](PrimExpr x) { return RoundBy(Intrinsic, std::move(x)); }     \
  }

constexpr UnaryRule kRules[] = {
    {"abs", "tir_abs", "compute", AxisNames::kI, Domain::kAny, false, AbsOf},
    DEUTERON_INTRINSIC(acos),
    DEUTERON_INTRINSIC(acosh),
    DEUTERON_INTRINSIC(asin),
    DEUTERON_INTRINSIC(asinh),
    DEUTERON_INTRINSIC(atan),
    DEUTERON_INTRINSIC(atanh),
    {"bitwise_not", "tir_bitwise_not", "T_bitwise_not", AxisNames::kAx, Domain::kInteger, false, BitwiseNotOf},
    DEUTERON_ROUNDING(ceil, "ceil"),
    DEUTERON_INTRINSIC(cos),
    DEUTERON_INTRINSIC(cosh),
    {"erf", "erf", "compute", AxisNames::kI, Domain::kFloat, false, ErfOf},
    DEUTERON_INTRINSIC(exp),
    DEUTERON_ROUNDING(floor, "floor"),
    {"isfinite", "tir_isfinite", "compute", AxisNames::kI, Domain::kAny, true, IsFiniteOf},
    {"isinf", "tir_isinf", "compute", AxisNames::kI, Domain::kAny, true, IsInfOf},
    {"isnan", "tir_isnan", "compute", AxisNames::kI, Domain::kAny, true, IsNanOf},
    DEUTERON_INTRINSIC(log),
    {"logical_not", "tir_logical_not", "T_logical_not", AxisNames::kAx, Domain::kBool, false, NotOf},
    {"negative", "tir_negative", "compute", AxisNames::kI, Domain::kAny, false, NegativeOf},
    DEUTERON_ROUNDING(round, "nearbyint"),
    DEUTERON_INTRINSIC(rsqrt),
    DEUTERON_INTRINSIC(sigmoid),
    {"sign", "tir_sign", "T_sign", AxisNames::kAx, Domain::kAny, false, SignOf},
    DEUTERON_INTRINSIC(sin),
    DEUTERON_INTRINSIC(sinh),
    DEUTERON_INTRINSIC(sqrt),
    {"square", "tir_square", "T_multiply", AxisNames::kAx, Domain::kAny, false, SquareOf},
    DEUTERON_INTRINSIC(tan),
    DEUTERON_INTRINSIC(tanh),
    DEUTERON_ROUNDING(trunc, "trunc"),
};
#undef DEUTERON_INTRINSIC
#undef DEUTERON_ROUNDING

const UnaryRule& RuleOf(const Call& call) {
  static const auto* rules = [] {
    auto* by_op = new std::unordered_map<const Object*, const UnaryRule*>();
    for (const UnaryRule& rule : kRules) {
      by_op->emplace(Op::Get(std::string("relax.") + rule.name).get(), &rule);
    }
    return by_op;
  }();
  return *rules->at(call->op.get());
}

bool InDomain(DataType dtype, Domain domain) {
  switch (domain) {
    case Domain::kAny:
      return true;
    case Domain::kFloat:
      return dtype.is_float();
    case Domain::kBool:
      return dtype.is_bool();
    case Domain::kInteger:
      return dtype.is_integer() || dtype.is_bool();
  }
  DEUTERON_UNREACHABLE();
}

const char* NameOf(Domain domain) {
  switch (domain) {
    case Domain::kAny:
      return "any";
    case Domain::kFloat:
      return "floating-point";
    case Domain::kBool:
      return "boolean";
    case Domain::kInteger:
      return "integer or boolean";
  }
  DEUTERON_UNREACHABLE();
}

Type InferUnary(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const UnaryRule& rule = RuleOf(call);
  const TensorTypeNode* type = TensorArg(call, 0);
  if (!type->dtype.is_void() && !InDomain(type->dtype, rule.domain)) {
    ThrowOpError(call, std::string("takes a ") + NameOf(rule.domain) + " tensor and is given " +
                           Describe(GetRef<Type>(type)) + "; cast it first");
  }
  if (!rule.to_bool || type->dtype.is_bool()) return GetRef<Type>(type);
  if (type->has_shape()) return TensorType(*type->shape, DataType::Bool(), type->vdevice);
  return TensorType::WithNDim(type->ndim, DataType::Bool(), type->vdevice);
}

Expr LegalizeUnary(BlockBuilder& builder, const Call& call) {
  const UnaryRule& rule = RuleOf(call);
  return CallKernel(builder, call, rule.kernel, call->args,
                    [&](const Array<te::Tensor>& args) { return topi::Map(args[0], rule.fn, rule.block, rule.axes); });
}

Type InferClip(const Call& call, const BlockBuilder&) {
  CheckArity(call, 3, 3);
  PrimArgType(call, 1);
  PrimArgType(call, 2);
  return GetRef<Type>(TensorArg(call, 0));
}

Expr LegalizeClip(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call) || !PrimArgsKnown(call, 1)) return call;
  const PrimExpr low = PrimArg(call, 1);
  const PrimExpr high = PrimArg(call, 2);
  return builder.CallTE("tir_clip", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    const DataType dtype = args[0].dtype();
    return Array<te::Tensor>{topi::Map(
        args[0], [&](PrimExpr x) { return Max(Min(std::move(x), CastTo(dtype, high)), CastTo(dtype, low)); })};
  });
}

}  // namespace

std::vector<OpInfo> UnaryOps() {
  std::vector<OpInfo> rows;
  for (const UnaryRule& rule : kRules) rows.push_back({rule.name, {"x"}, nullptr, InferUnary, LegalizeUnary});
  rows.push_back({"clip", {"x", "min", "max"}, nullptr, InferClip, LegalizeClip});
  return rows;
}

#define DEUTERON_UNARY(Function, name) \
  Expr Function(Expr x) { return MakeCall(name, {std::move(x)}); }
DEUTERON_UNARY(Abs, "abs")
DEUTERON_UNARY(Acos, "acos")
DEUTERON_UNARY(Acosh, "acosh")
DEUTERON_UNARY(Asin, "asin")
DEUTERON_UNARY(Asinh, "asinh")
DEUTERON_UNARY(Atan, "atan")
DEUTERON_UNARY(Atanh, "atanh")
DEUTERON_UNARY(BitwiseNot, "bitwise_not")
DEUTERON_UNARY(Ceil, "ceil")
DEUTERON_UNARY(Cos, "cos")
DEUTERON_UNARY(Cosh, "cosh")
DEUTERON_UNARY(Erf, "erf")
DEUTERON_UNARY(Exp, "exp")
DEUTERON_UNARY(Floor, "floor")
DEUTERON_UNARY(Log, "log")
DEUTERON_UNARY(LogicalNot, "logical_not")
DEUTERON_UNARY(Negative, "negative")
DEUTERON_UNARY(Round, "round")
DEUTERON_UNARY(Rsqrt, "rsqrt")
DEUTERON_UNARY(Sigmoid, "sigmoid")
DEUTERON_UNARY(Sign, "sign")
DEUTERON_UNARY(Sin, "sin")
DEUTERON_UNARY(Sinh, "sinh")
DEUTERON_UNARY(Sqrt, "sqrt")
DEUTERON_UNARY(Square, "square")
DEUTERON_UNARY(Tan, "tan")
DEUTERON_UNARY(Tanh, "tanh")
DEUTERON_UNARY(Trunc, "trunc")
DEUTERON_UNARY(IsFinite, "isfinite")
DEUTERON_UNARY(IsInf, "isinf")
DEUTERON_UNARY(IsNan, "isnan")
#undef DEUTERON_UNARY

Expr Clip(Expr x, Expr min, Expr max) { return MakeCall("clip", {std::move(x), std::move(min), std::move(max)}); }
Expr Clip(Expr x, double min, double max) {
  return Clip(std::move(x), PrimValue(MakeConst(DataType::Float(32), min)),
              PrimValue(MakeConst(DataType::Float(32), max)));
}

}  // namespace deuteron::relax
