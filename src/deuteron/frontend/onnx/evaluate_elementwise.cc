#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "deuteron/frontend/onnx/evaluate.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/interpreter/scalar.h"

namespace deuteron::onnx {
namespace {

using interpreter::Scalar;

/// The results of an operation are of `dtype`, each made by `apply` of two elements. Null where one is null.
template <typename Apply>
Symbolic Elementwise(const Symbolic& a, const Symbolic& b, DataType dtype, Apply apply) {
  const auto shape = BroadcastStatic(a->shape, b->shape);
  if (!shape || !SmallCount(*shape)) return nullptr;
  const auto left = BroadcastElements(*a, *shape);
  const auto right = BroadcastElements(*b, *shape);
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < left.size(); ++i) {
    values.push_back(apply(left[i], right[i]));
    if (!values.back().defined()) return nullptr;
  }
  return MakeSymbolic(dtype, *shape, std::move(values));
}

bool IsFloatArithmetic(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kSub || kind == ExprKind::kMul || kind == ExprKind::kDiv ||
         kind == ExprKind::kMod || kind == ExprKind::kMin || kind == ExprKind::kMax;
}

/// Operands of one dtype. Literals are computed as the interpreter does, in every dtype.
PrimExpr Apply(const NodeContext& node, ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
  const auto x = LiteralScalar(a);
  const auto y = LiteralScalar(b);
  if (x && y) {
    const DataType result = IsComparison(kind) ? DataType::Bool() : a.dtype();
    return ScalarLiteral(result, interpreter::ApplyBinary(kind, a.dtype(), *x, *y));
  }
  if (a.dtype().is_float())
    return IsFloatArithmetic(kind) && kind != ExprKind::kMod ? MakeBinary(kind, a, b) : PrimExpr();
  const PrimExpr folded = FoldBinary(kind, a, b);
  if (folded.defined()) return folded;
  const PrimExpr result = node.Simplify(MakeBinary(kind, a, b));
  if (!IsComparison(kind) || AsConstInt(result)) return result;
  if (node.analyzer().CanProve(result)) return True();
  return node.analyzer().CanProve(!result) ? False() : result;
}

/// Integer division truncates; of what is not negative it is the floor, which the prover knows more of.
PrimExpr Divide(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  if (a.dtype().is_float()) return Apply(node, ExprKind::kDiv, a, b);
  if (IsZero(b)) return PrimExpr();
  if (AsConstInt(a) && AsConstInt(b)) return Apply(node, ExprKind::kDiv, a, b);
  auto& analyzer = node.analyzer();
  if (analyzer.CanProveGreaterEqual(a, 0) && analyzer.CanProveGreaterEqual(b, 0)) return DivideProducts(node, {a}, {b});
  return TruncDiv(a, b);
}

PrimExpr Modulo(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  const bool truncates = node.Flag("fmod", false);
  if (a.dtype().is_float() ? !truncates : IsZero(b)) return PrimExpr();
  return Apply(node, truncates ? ExprKind::kMod : ExprKind::kFloorMod, a, b);
}

PrimExpr Power(const NodeContext& node, const PrimExpr& base, const PrimExpr& exponent) {
  const auto x = LiteralScalar(base);
  const auto y = LiteralScalar(exponent);
  if (!y) return PrimExpr();
  const double power = exponent.dtype().is_float() ? y->f : static_cast<double>(y->i);
  if (power == 1) return base;
  if (power == 2) return Apply(node, ExprKind::kMul, base, base);
  if (!x || !base.dtype().is_float() || base.dtype().bits() < 32) return PrimExpr();
  return ScalarLiteral(base.dtype(), Scalar::Float(std::pow(x->f, power)));
}

PrimExpr ApplyOperator(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  static const std::unordered_map<std::string_view, ExprKind> kKinds = {
      {"Add", ExprKind::kAdd},  {"Sub", ExprKind::kSub},        {"Mul", ExprKind::kMul},
      {"And", ExprKind::kAnd},  {"Or", ExprKind::kOr},          {"Xor", ExprKind::kNE},
      {"Equal", ExprKind::kEQ}, {"Greater", ExprKind::kGT},     {"GreaterOrEqual", ExprKind::kGE},
      {"Less", ExprKind::kLT},  {"LessOrEqual", ExprKind::kLE}, {"Max", ExprKind::kMax},
      {"Min", ExprKind::kMin},  {"Sum", ExprKind::kAdd},
  };
  const std::string_view op = node.node().op_type;
  if (op == "Div") return Divide(node, a, b);
  if (op == "Mod") return Modulo(node, a, b);
  if (op == "Pow") return Power(node, a, b);
  return Apply(node, kKinds.at(op), a, b);
}

}  // namespace

Known EvaluateBinary(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  if (in[0]->dtype != in[1]->dtype && op != "Pow") return {};
  const bool is_truth = op == "Equal" || op == "Greater" || op == "GreaterOrEqual" || op == "Less" ||
                        op == "LessOrEqual" || op == "And" || op == "Or" || op == "Xor";
  return {Elementwise(in[0], in[1], is_truth ? DataType::Bool() : in[0]->dtype,
                      [&](const PrimExpr& a, const PrimExpr& b) { return ApplyOperator(node, a, b); })};
}

Known EvaluateVariadic(const NodeContext& node, const Known& in) {
  Symbolic result = in[0];
  for (size_t i = 1; i < in.size() && result != nullptr; ++i) {
    if (in[i] == nullptr || in[i]->dtype != result->dtype) return {};
    result = Elementwise(result, in[i], result->dtype,
                         [&](const PrimExpr& a, const PrimExpr& b) { return ApplyOperator(node, a, b); });
  }
  return {result};
}

Known EvaluateClip(const NodeContext& node, const Known& in) {
  if (node.opset() < 11) return {};
  Symbolic result = in[0];
  for (size_t i = 1; i < in.size() && result != nullptr; ++i) {
    if (in[i] == nullptr) continue;
    if (in[i]->values.size() != 1 || in[i]->dtype != result->dtype) return {};
    const ExprKind kind = i == 1 ? ExprKind::kMax : ExprKind::kMin;
    const Symbolic bound = MakeSymbolic(result->dtype, {}, in[i]->values);
    result = Elementwise(result, bound, result->dtype,
                         [&](const PrimExpr& a, const PrimExpr& b) { return Apply(node, kind, a, b); });
  }
  return {result};
}

Known EvaluateWhere(const NodeContext& node, const Known& in) {
  if (in[1]->dtype != in[2]->dtype) return {};
  auto shape = BroadcastStatic(in[1]->shape, in[2]->shape);
  if (shape) shape = BroadcastStatic(in[0]->shape, *shape);
  if (!shape || !SmallCount(*shape)) return {};
  const auto condition = BroadcastElements(*in[0], *shape);
  const auto a = BroadcastElements(*in[1], *shape);
  const auto b = BroadcastElements(*in[2], *shape);
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(SelectExpr(condition[i], a[i], b[i]));
  return {MakeSymbolic(in[1]->dtype, *shape, std::move(values))};
}

namespace {

/// Of one symbolic element.
PrimExpr ApplySymbolic(const NodeContext& node, std::string_view op, const PrimExpr& x) {
  const bool is_float = x.dtype().is_float();
  if (op == "Neg") return is_float ? -x : node.Simplify(-x);
  if (op == "Not") return !x;
  if (op == "Floor" && is_float) return CallIntrin("floor", {x});
  if (op == "Ceil" && is_float) return CallIntrin("ceil", {x});
  if (op == "Sqrt" && is_float) return CallIntrin("sqrt", {x});
  if (op == "Reciprocal" && is_float) return MakeConst(x.dtype(), 1) / x;
  if (op == "Abs" && !is_float) return node.Simplify(Max(x, -x));
  if (op == "Sign" && !is_float) return node.Simplify(Max(Min(x, MakeConst(x.dtype(), 1)), MakeConst(x.dtype(), -1)));
  return PrimExpr();
}

/// Of one literal, as the interpreter computes it.
PrimExpr ApplyLiteral(std::string_view op, DataType dtype, const Scalar& x) {
  static const std::unordered_map<std::string_view, const char*> kIntrinsics = {
      {"Abs", "tir.fabs"}, {"Floor", "tir.floor"}, {"Ceil", "tir.ceil"},       {"Sqrt", "tir.sqrt"},
      {"Exp", "tir.exp"},  {"Log", "tir.log"},     {"Round", "tir.nearbyint"},
  };
  if (op == "Not") return x.i == 0 ? True() : False();
  if (!dtype.is_float()) {
    const bool negative = !dtype.is_uint() && x.i < 0;
    if (op == "Neg" || (op == "Abs" && negative)) {
      return ScalarLiteral(dtype, interpreter::ApplyBinary(ExprKind::kSub, dtype, Scalar::Int(0), x));
    }
    if (op == "Abs") return ScalarLiteral(dtype, x);
    return op == "Sign" ? ScalarLiteral(dtype, Scalar::Int(negative ? -1 : x.i != 0)) : PrimExpr();
  }
  if (op == "Neg") return ScalarLiteral(dtype, Scalar::Float(-x.f));
  if (op == "Sign") return ScalarLiteral(dtype, Scalar::Float(std::isnan(x.f) ? x.f : (x.f > 0) - (x.f < 0)));
  if (op == "Reciprocal") {
    return ScalarLiteral(dtype, interpreter::ApplyBinary(ExprKind::kDiv, dtype, Scalar::Float(1), x));
  }
  const auto name = kIntrinsics.find(op);
  const interpreter::Intrinsic function =
      name == kIntrinsics.end() ? nullptr : interpreter::FindIntrinsic(name->second);
  return function == nullptr ? PrimExpr() : ScalarLiteral(dtype, function(dtype, &x));
}

}  // namespace

Known EvaluateUnary(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  std::vector<PrimExpr> values;
  for (const PrimExpr& value : in[0]->values) {
    const auto literal = LiteralScalar(value);
    values.push_back(literal ? ApplyLiteral(op, in[0]->dtype, *literal) : ApplySymbolic(node, op, value));
    if (!values.back().defined()) return {};
  }
  return {MakeSymbolic(in[0]->dtype, in[0]->shape, std::move(values))};
}

namespace {

PrimExpr CastElement(DataType from, DataType to, const PrimExpr& value) {
  if (const auto literal = LiteralScalar(value)) return ScalarLiteral(to, interpreter::ApplyCast(from, to, *literal));
  if (!from.is_float() || to.is_float()) return CastTo(to, value);
  const PrimExpr floor = to.is_integer() && !to.is_bool() ? FloorToInteger(value) : PrimExpr();
  return floor.defined() ? CastTo(to, floor) : PrimExpr();
}

/// None in types below 8 bits and 8-bit floats: what these do not hold depends on the node.
Known CastElements(const Symbolic& source, DataType to) {
  if (to.bits() < 8 || (to.is_float() && to.bits() == 8)) return {};
  std::vector<PrimExpr> values;
  for (const PrimExpr& value : source->values) {
    values.push_back(CastElement(source->dtype, to, value));
    if (!values.back().defined()) return {};
  }
  return {MakeSymbolic(to, source->shape, std::move(values))};
}

}  // namespace

Known EvaluateCast(const NodeContext& node, const Known& in) {
  return CastElements(in[0], ToDataType(node.RequiredInt("to"), "the target of the cast"));
}

Known EvaluateCastLike(const NodeContext& /*node*/, const Known& in) { return CastElements(in[0], in[1]->dtype); }

}  // namespace deuteron::onnx
