#include "deuteron/relax/op/binary.h"

#include <string>
#include <unordered_map>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::relax {
namespace {

PrimExpr AddOf(PrimExpr a, PrimExpr b) { return std::move(a) + std::move(b); }
PrimExpr SubtractOf(PrimExpr a, PrimExpr b) { return std::move(a) - std::move(b); }
PrimExpr MultiplyOf(PrimExpr a, PrimExpr b) { return std::move(a) * std::move(b); }
PrimExpr DivideOf(PrimExpr a, PrimExpr b) {
  return a.dtype().is_float() ? a / b : TruncDiv(std::move(a), std::move(b));
}
PrimExpr FloorDivideOf(PrimExpr a, PrimExpr b) {
  return a.dtype().is_float() ? CallIntrin("floor", {a / b}) : FloorDiv(std::move(a), std::move(b));
}
PrimExpr ModOf(PrimExpr a, PrimExpr b) {
  return a.dtype().is_float() ? CallIntrin("fmod", {a, b}) : TruncMod(std::move(a), std::move(b));
}
PrimExpr FloorModOf(PrimExpr a, PrimExpr b) {
  return a.dtype().is_float() ? a - CallIntrin("floor", {a / b}) * b : FloorMod(std::move(a), std::move(b));
}
PrimExpr PowerOf(PrimExpr a, PrimExpr b) {
  const DataType dtype = a.dtype();
  if (dtype.is_float()) return CallIntrin("pow", {a, b});
  // Exact up to 2^53, as numpy's for results that fit.
  const DataType wide = DataType::Float(64);
  return CastTo(dtype, CallIntrin("nearbyint", {CallIntrin("pow", {CastTo(wide, a), CastTo(wide, b)})}));
}
PrimExpr Atan2Of(PrimExpr a, PrimExpr b) { return CallIntrin("atan2", {a, b}); }
PrimExpr LogAddExpOf(PrimExpr a, PrimExpr b) {
  // max + log(1 + exp(min - max)): no overflow; equal infinities must not be subtracted.
  const DataType dtype = a.dtype();
  const PrimExpr distance = SelectExpr(deuteron::Equal(a, b), MakeConst(dtype, 0), Min(a, b) - Max(a, b));
  return Max(a, b) + CallIntrin("log", {MakeConst(dtype, 1) + CallIntrin("exp", {distance})});
}
PrimExpr MaximumOf(PrimExpr a, PrimExpr b) { return Max(std::move(a), std::move(b)); }
PrimExpr MinimumOf(PrimExpr a, PrimExpr b) { return Min(std::move(a), std::move(b)); }
PrimExpr EqualOf(PrimExpr a, PrimExpr b) { return deuteron::Equal(std::move(a), std::move(b)); }
PrimExpr NotEqualOf(PrimExpr a, PrimExpr b) { return deuteron::NotEqual(std::move(a), std::move(b)); }
PrimExpr LessOf(PrimExpr a, PrimExpr b) { return std::move(a) < std::move(b); }
PrimExpr LessEqualOf(PrimExpr a, PrimExpr b) { return std::move(a) <= std::move(b); }
PrimExpr GreaterOf(PrimExpr a, PrimExpr b) { return std::move(b) < std::move(a); }
PrimExpr GreaterEqualOf(PrimExpr a, PrimExpr b) { return std::move(b) <= std::move(a); }
PrimExpr AndOf(PrimExpr a, PrimExpr b) { return std::move(a) && std::move(b); }
PrimExpr OrOf(PrimExpr a, PrimExpr b) { return std::move(a) || std::move(b); }
PrimExpr BitwiseAndOf(PrimExpr a, PrimExpr b) { return CallIntrin("bitwise_and", {a, b}); }
PrimExpr BitwiseOrOf(PrimExpr a, PrimExpr b) { return CallIntrin("bitwise_or", {a, b}); }
PrimExpr BitwiseXorOf(PrimExpr a, PrimExpr b) { return CallIntrin("bitwise_xor", {a, b}); }
PrimExpr LeftShiftOf(PrimExpr a, PrimExpr b) { return CallIntrin("shift_left", {a, b}); }
PrimExpr RightShiftOf(PrimExpr a, PrimExpr b) { return CallIntrin("shift_right", {a, b}); }

/// Element types that an operator accepts.
enum class Domain : uint8_t { kNumber, kAny, kFloat, kBool, kBits, kInteger };

struct BinaryRule {
  const char* name;
  Domain domain;
  bool to_bool;
  PrimExpr (*fn)(PrimExpr, PrimExpr);
};

constexpr BinaryRule kRules[] = {
    {"add", Domain::kNumber, false, AddOf},
    {"atan2", Domain::kFloat, false, Atan2Of},
    {"bitwise_and", Domain::kBits, false, BitwiseAndOf},
    {"bitwise_or", Domain::kBits, false, BitwiseOrOf},
    {"bitwise_xor", Domain::kBits, false, BitwiseXorOf},
    {"divide", Domain::kNumber, false, DivideOf},
    {"equal", Domain::kAny, true, EqualOf},
    {"floor_divide", Domain::kNumber, false, FloorDivideOf},
    {"floor_mod", Domain::kNumber, false, FloorModOf},
    {"greater", Domain::kAny, true, GreaterOf},
    {"greater_equal", Domain::kAny, true, GreaterEqualOf},
    {"left_shift", Domain::kInteger, false, LeftShiftOf},
    {"less", Domain::kAny, true, LessOf},
    {"less_equal", Domain::kAny, true, LessEqualOf},
    {"log_add_exp", Domain::kFloat, false, LogAddExpOf},
    {"logical_and", Domain::kBool, false, AndOf},
    {"logical_or", Domain::kBool, false, OrOf},
    {"logical_xor", Domain::kBool, false, BitwiseXorOf},
    {"maximum", Domain::kNumber, false, MaximumOf},
    {"minimum", Domain::kNumber, false, MinimumOf},
    {"mod", Domain::kNumber, false, ModOf},
    {"multiply", Domain::kNumber, false, MultiplyOf},
    {"not_equal", Domain::kAny, true, NotEqualOf},
    {"power", Domain::kNumber, false, PowerOf},
    {"right_shift", Domain::kInteger, false, RightShiftOf},
    {"subtract", Domain::kNumber, false, SubtractOf},
};

const BinaryRule& RuleOf(const Call& call) {
  static const auto* rules = [] {
    auto* by_op = new std::unordered_map<const Object*, const BinaryRule*>();
    for (const BinaryRule& rule : kRules) {
      by_op->emplace(Op::Get(std::string("relax.") + rule.name).get(), &rule);
    }
    return by_op;
  }();
  return *rules->at(call->op.get());
}

bool InDomain(DataType dtype, Domain domain) {
  switch (domain) {
    case Domain::kNumber:
      return dtype.is_float() || dtype.is_integer();
    case Domain::kAny:
      return true;
    case Domain::kFloat:
      return dtype.is_float();
    case Domain::kBool:
      return dtype.is_bool();
    case Domain::kBits:
      return dtype.is_bool() || dtype.is_integer();
    case Domain::kInteger:
      return dtype.is_integer();
  }
  DEUTERON_UNREACHABLE();
}

const char* NameOf(Domain domain) {
  switch (domain) {
    case Domain::kNumber:
      return "numeric";
    case Domain::kAny:
      return "any";
    case Domain::kFloat:
      return "floating-point";
    case Domain::kBool:
      return "boolean";
    case Domain::kBits:
      return "integer or boolean";
    case Domain::kInteger:
      return "integer";
  }
  DEUTERON_UNREACHABLE();
}

Type InferBinary(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const BinaryRule& rule = RuleOf(call);
  const DataType dtype = CommonDType(call, 0, 1);
  if (!dtype.is_void() && !InDomain(dtype, rule.domain)) {
    ThrowOpError(call, std::string("takes ") + NameOf(rule.domain) + " tensors and is given " +
                           Describe(call->args[0].ty()) + " and " + Describe(call->args[1].ty()) + "; cast them first");
  }
  const DataType result = rule.to_bool ? DataType::Bool() : dtype;
  const auto* a = call->args[0].ty().as<TensorTypeNode>();
  const auto* b = call->args[1].ty().as<TensorTypeNode>();
  if (a != nullptr && a == b && result == dtype) return call->args[0].ty();
  return BroadcastType(call, builder, result);
}

Expr LegalizeBinary(BlockBuilder& builder, const Call& call) {
  const BinaryRule& rule = RuleOf(call);
  return CallKernel(builder, call, rule.name, call->args, [&](const Array<te::Tensor>& args) {
    return topi::Zip(args[0], args[1], rule.fn, std::string("T_") + rule.name);
  });
}

Type InferFma(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CommonDType(call, 0, 1);
  const DataType dtype = CommonDType(call, 0, 2);
  for (size_t i = 1; i < 3; ++i) {
    if (!MayBe(call->args[0].ty(), call->args[i].ty(), &builder.analyzer())) {
      ThrowOpError(call, "its arguments must be of one shape and are " + Describe(call->args[0].ty()) + " and " +
                             Describe(call->args[i].ty()));
    }
  }
  const TensorTypeNode* type = TensorArg(call, 0);
  if (type->has_shape()) return TensorType(*type->shape, dtype, CommonVDevice(call));
  return TensorType::WithNDim(type->ndim, dtype, CommonVDevice(call));
}

Expr LegalizeFma(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "ewise_fma", call->args,
                    [](const Array<te::Tensor>& args) { return topi::Add(topi::Multiply(args[0], args[1]), args[2]); });
}

}  // namespace

std::vector<OpInfo> BinaryOps() {
  std::vector<OpInfo> rows;
  for (const BinaryRule& rule : kRules) {
    rows.push_back({rule.name, {"x1", "x2"}, nullptr, InferBinary, LegalizeBinary});
  }
  rows.push_back({"ewise_fma", {"x1", "x2", "x3"}, nullptr, InferFma, LegalizeFma});
  return rows;
}

#define DEUTERON_BINARY_OP(Function, name) \
  Expr Function(Expr a, Expr b) { return MakeCall(name, {std::move(a), std::move(b)}); }
DEUTERON_BINARY_OP(Add, "add")
DEUTERON_BINARY_OP(Subtract, "subtract")
DEUTERON_BINARY_OP(Multiply, "multiply")
DEUTERON_BINARY_OP(Divide, "divide")
DEUTERON_BINARY_OP(FloorDivide, "floor_divide")
DEUTERON_BINARY_OP(Mod, "mod")
DEUTERON_BINARY_OP(FloorMod, "floor_mod")
DEUTERON_BINARY_OP(Power, "power")
DEUTERON_BINARY_OP(Atan2, "atan2")
DEUTERON_BINARY_OP(LogAddExp, "log_add_exp")
DEUTERON_BINARY_OP(Maximum, "maximum")
DEUTERON_BINARY_OP(Minimum, "minimum")
DEUTERON_BINARY_OP(Equal, "equal")
DEUTERON_BINARY_OP(NotEqual, "not_equal")
DEUTERON_BINARY_OP(Less, "less")
DEUTERON_BINARY_OP(LessEqual, "less_equal")
DEUTERON_BINARY_OP(Greater, "greater")
DEUTERON_BINARY_OP(GreaterEqual, "greater_equal")
DEUTERON_BINARY_OP(LogicalAnd, "logical_and")
DEUTERON_BINARY_OP(LogicalOr, "logical_or")
DEUTERON_BINARY_OP(LogicalXor, "logical_xor")
DEUTERON_BINARY_OP(BitwiseAnd, "bitwise_and")
DEUTERON_BINARY_OP(BitwiseOr, "bitwise_or")
DEUTERON_BINARY_OP(BitwiseXor, "bitwise_xor")
DEUTERON_BINARY_OP(LeftShift, "left_shift")
DEUTERON_BINARY_OP(RightShift, "right_shift")
#undef DEUTERON_BINARY_OP

Expr EwiseFma(Expr a, Expr b, Expr c) { return MakeCall("ewise_fma", {std::move(a), std::move(b), std::move(c)}); }

}  // namespace deuteron::relax
