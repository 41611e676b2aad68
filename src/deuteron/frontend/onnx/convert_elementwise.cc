#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/narrow.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

using UnaryOp = Expr (*)(Expr);
using BinaryOp = Expr (*)(Expr, Expr);

Expr Fold(const NodeContext& node, BinaryOp op) {
  const std::vector<Expr> operands = BroadcastOperands(node, node.AllInputs());
  Expr result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) result = node.Emit(op(result, operands[i]));
  return result;
}

/// Both operands of one dtype; ONNX promises it.
void CheckSameDType(const NodeContext& node, const Expr& a, const Expr& b) {
  if (node.DType(a) != node.DType(b)) {
    node.Fail("its operands are of different dtypes: " + node.DType(a).ToString() + " and " + node.DType(b).ToString());
  }
}

/// The operands of a binary operator, of one dtype, as it can broadcast them.
std::pair<Expr, Expr> TwoOperands(const NodeContext& node) {
  const auto operands = BroadcastOperands(node, {node.X(0), node.X(1)});
  CheckSameDType(node, operands[0], operands[1]);
  return {operands[0], operands[1]};
}

/// Constants of one element among them as scalars, where another operand has as many axes: code has their numbers, and
/// what is recognised of code, as a guard of attention, has none to load. Those of masks and guards are the same in all
/// layers; sums and products, whose are often learned, do not ask for this, so that kernels that differ in one number
/// are one.
std::vector<Expr> WithScalars(const NodeContext& node, std::vector<Expr> operands) {
  const auto is_number = [](const Expr& operand) {
    const auto* constant = operand.as<relax::ConstantNode>();
    return constant != nullptr && constant->data.numel() == 1;
  };
  int64_t rank = -1;
  for (const Expr& operand : operands) {
    if (!is_number(operand)) rank = std::max(rank, node.Rank(operand));
  }
  for (Expr& operand : operands) {
    if (is_number(operand) && node.Rank(operand) <= rank) operand = node.Reshaped(operand, {});
  }
  return operands;
}

}  // namespace

Results ConvertUnary(const NodeContext& node) {
  static const std::unordered_map<std::string_view, UnaryOp> kOps = {
      {"Abs", relax::Abs},      {"Acos", relax::Acos},       {"Acosh", relax::Acosh},
      {"Asin", relax::Asin},    {"Asinh", relax::Asinh},     {"Atan", relax::Atan},
      {"Atanh", relax::Atanh},  {"Ceil", relax::Ceil},       {"Cos", relax::Cos},
      {"Cosh", relax::Cosh},    {"Erf", relax::Erf},         {"Exp", relax::Exp},
      {"Floor", relax::Floor},  {"IsNaN", relax::IsNan},     {"Log", relax::Log},
      {"Neg", relax::Negative}, {"Not", relax::LogicalNot},  {"Relu", relax::nn::Relu},
      {"Round", relax::Round},  {"Sigmoid", relax::Sigmoid}, {"Sign", relax::Sign},
      {"Sin", relax::Sin},      {"Sinh", relax::Sinh},       {"Sqrt", relax::Sqrt},
      {"Tan", relax::Tan},      {"Tanh", relax::Tanh},       {"BitwiseNot", relax::BitwiseNot},
  };
  return {node.Emit(kOps.at(node.node().op_type)(node.X(0)))};
}

Results ConvertBinary(const NodeContext& node) {
  static const std::unordered_map<std::string_view, BinaryOp> kOps = {
      {"Add", relax::Add},
      {"Sub", relax::Subtract},
      {"Mul", relax::Multiply},
      {"Div", relax::Divide},
      {"And", relax::LogicalAnd},
      {"Or", relax::LogicalOr},
      {"Xor", relax::LogicalXor},
      {"BitwiseAnd", relax::BitwiseAnd},
      {"BitwiseOr", relax::BitwiseOr},
      {"BitwiseXor", relax::BitwiseXor},
  };
  const auto [a, b] = TwoOperands(node);
  return {node.Emit(kOps.at(node.node().op_type)(a, b))};
}

Results ConvertCompare(const NodeContext& node) {
  static const std::unordered_map<std::string_view, BinaryOp> kOps = {
      {"Equal", relax::Equal}, {"Greater", relax::Greater},       {"GreaterOrEqual", relax::GreaterEqual},
      {"Less", relax::Less},   {"LessOrEqual", relax::LessEqual},
  };
  const auto [a, b] = TwoOperands(node);
  const std::vector<Expr> operands = WithScalars(node, {a, b});
  return {node.Emit(kOps.at(node.node().op_type)(operands[0], operands[1]))};
}

Results ConvertVariadic(const NodeContext& node) {
  const std::string_view op = node.node().op_type;
  if (op == "Max") return {Fold(node, relax::Maximum)};
  if (op == "Min") return {Fold(node, relax::Minimum)};
  const Expr sum = Fold(node, relax::Add);
  if (op == "Sum" || node.NumInputs() == 1) return {sum};
  const auto count = static_cast<double>(node.NumInputs());
  return {node.Emit(relax::Divide(sum, node.Scalar(node.DType(sum), count)))};
}

Results ConvertMod(const NodeContext& node) {
  const auto [a, b] = TwoOperands(node);
  // fmod has the sign of the dividend.
  if (node.Flag("fmod", false)) return {node.Emit(relax::Mod(a, b))};
  if (node.DType(a).is_float()) node.Fail("of floats needs fmod=1");
  return {node.Emit(relax::FloorMod(a, b))};
}

Results ConvertPow(const NodeContext& node) {
  const Expr base = node.X(0);
  const DataType dtype = node.DType(base);
  const auto exponent = node.ConstFloat(1);
  // Small exponents in full: as exact as the powers, and cheaper.
  if (exponent && dtype.is_float() && node.Rank(1) <= node.Rank(base)) {
    if (*exponent == 1.0) return {base};
    if (*exponent == 2.0) return {node.Emit(relax::Multiply(base, base))};
    if (*exponent == 3.0) {
      const Expr square = node.Emit(relax::Multiply(base, base));
      return {node.Emit(relax::Multiply(square, base))};
    }
    if (*exponent == 0.5) return {node.Emit(relax::Sqrt(base))};
  }
  const auto operands = BroadcastOperands(node, {base, node.X(1)});
  if (dtype.is_float() || node.DType(operands[1]) == dtype) {
    return {node.Emit(relax::Power(operands[0], node.CastTo(operands[1], dtype)))};
  }
  // Integers to a float power: computed in float64, which holds what int32 can.
  const DataType wide = DataType::Float(64);
  const Expr power = node.Emit(relax::Power(node.CastTo(operands[0], wide), node.CastTo(operands[1], wide)));
  return {node.CastTo(power, dtype)};
}

Results ConvertBitShift(const NodeContext& node) {
  const std::string direction = node.Str("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") node.Fail("direction '" + direction + "' is neither LEFT nor RIGHT");
  const auto operands = BroadcastOperands(node, {node.X(0), node.X(1)});
  return {node.Emit(direction == "LEFT" ? relax::LeftShift(operands[0], operands[1])
                                        : relax::RightShift(operands[0], operands[1]))};
}

Results ConvertReciprocal(const NodeContext& node) {
  const Expr x = node.X(0);
  return {node.Emit(relax::Divide(node.Scalar(node.DType(x), 1.0), x))};
}

Results ConvertIsInf(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool positive = node.Flag("detect_positive", true);
  const bool negative = node.Flag("detect_negative", true);
  const DataType dtype = node.DType(x);
  if (positive && negative) return {node.Emit(relax::IsInf(x))};
  const double infinity = std::numeric_limits<double>::infinity();
  if (positive) return {node.Emit(relax::Equal(x, node.Scalar(dtype, infinity)))};
  if (negative) return {node.Emit(relax::Equal(x, node.Scalar(dtype, -infinity)))};
  return {node.Emit(relax::NotEqual(node.Emit(relax::IsInf(x)), node.Emit(relax::IsInf(x))))};
}

Results ConvertClip(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  Expr result = x;
  if (node.opset() < 11) {
    if (node.HasAttr("min")) result = node.Emit(relax::Maximum(result, node.Scalar(dtype, node.Float("min", 0))));
    if (node.HasAttr("max")) result = node.Emit(relax::Minimum(result, node.Scalar(dtype, node.Float("max", 0))));
    return {result};
  }
  const auto bound = [&](size_t index) {
    const auto value = node.ConstFloat(index);
    return value && dtype.is_float() ? node.Scalar(dtype, *value) : node.Reshaped(node.X(index), {});
  };
  if (node.Has(1)) result = node.Emit(relax::Maximum(result, bound(1)));
  if (node.Has(2)) result = node.Emit(relax::Minimum(result, bound(2)));
  return {result};
}

Results ConvertCast(const NodeContext& node) {
  const DataType to = ToDataType(node.RequiredInt("to"), "the target of the cast");
  return {Converted(node, node.X(0), to, NarrowingOf(node))};
}

Results ConvertCastLike(const NodeContext& node) {
  return {Converted(node, node.X(0), node.KnownDType(1), NarrowingOf(node))};
}

Results ConvertWhere(const NodeContext& node) {
  CheckSameDType(node, node.X(1), node.X(2));
  const auto operands = WithScalars(node, BroadcastOperands(node, {node.X(0), node.X(1), node.X(2)}));
  return {node.Emit(relax::Where(operands[0], operands[1], operands[2]))};
}

Results ConvertIdentity(const NodeContext& node) { return {node.In(0)}; }

}  // namespace deuteron::onnx
