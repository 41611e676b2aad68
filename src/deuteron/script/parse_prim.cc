/// \file
/// Reads scalar expressions.
#include <limits>

#include "deuteron/script/parser_impl.h"

namespace deuteron::script {
namespace {

ExprKind KindOfOperator(std::string_view op) {
  if (op == "+") return ExprKind::kAdd;
  if (op == "-") return ExprKind::kSub;
  if (op == "*") return ExprKind::kMul;
  if (op == "/") return ExprKind::kDiv;
  if (op == "//") return ExprKind::kFloorDiv;
  if (op == "%") return ExprKind::kFloorMod;
  if (op == "==") return ExprKind::kEQ;
  if (op == "!=") return ExprKind::kNE;
  if (op == "<") return ExprKind::kLT;
  if (op == "<=") return ExprKind::kLE;
  if (op == ">") return ExprKind::kGT;
  if (op == ">=") return ExprKind::kGE;
  if (op == "and") return ExprKind::kAnd;
  if (op == "or") return ExprKind::kOr;
  return ExprKind::kReduce;
}

const char* IntrinsicOfOperator(std::string_view op) {
  if (op == "&") return "tir.bitwise_and";
  if (op == "|") return "tir.bitwise_or";
  if (op == "^") return "tir.bitwise_xor";
  if (op == "<<") return "tir.shift_left";
  if (op == ">>") return "tir.shift_right";
  if (op == "**") return "tir.pow";
  return nullptr;
}

/// Brings two operands to one type; see prim_ops.h for the rule.
void Promote(PrimExpr* a, PrimExpr* b) {
  const DataType ta = (*a)->dtype;
  const DataType tb = (*b)->dtype;
  if (ta == tb) return;
  if (ta.lanes() != tb.lanes() && (ta.is_scalar() || tb.is_scalar())) {
    if (ta.is_scalar()) {
      *a = tir::Broadcast(*a, tb.lanes());
    } else {
      *b = tir::Broadcast(*b, ta.lanes());
    }
    return Promote(a, b);
  }
  if (ta.lanes() != tb.lanes() || ta.is_handle() || tb.is_handle()) {
    DEUTERON_THROW(ModelError) << "operands of types " << ta << " and " << tb;
  }
  const auto wins = [](DataType x, DataType y) {
    if (x.is_float() != y.is_float()) return x.is_float();
    if (x.is_bool() != y.is_bool()) return y.is_bool();
    return x.bits() >= y.bits();
  };
  if (wins(ta, tb)) {
    *b = CastTo(ta, *b);
  } else {
    *a = CastTo(tb, *a);
  }
}

}  // namespace

PrimExpr Parser::PrimName(const Syntax& node) {
  const Object* value = Find(node.text);
  if (value == nullptr) {
    if (const DataType* dtype = type_vars_.Find(node.text)) return Symbol(node.text, *dtype);
    if (const DataType* dtype = in_signature_ ? declared_.Find(node.text) : nullptr) return Symbol(node.text, *dtype);
    if (in_signature_) return Symbol(node.text, default_int_.bits() == 64 ? default_int_ : DataType::Int(64));
    FailUndefined(node);
  }
  if (const auto* expr = AsNode<PrimExprNode>(value)) return GetRef<PrimExpr>(expr);
  const std::string name(node.text);
  if (const auto* buffer = AsNode<tir::BufferNode>(value)) {
    if (buffer->shape.empty() && matched_.count(buffer) == 0) return tir::BufferLoad(GetRef<tir::Buffer>(buffer), {});
    Fail(node, "`" + name + "` is a buffer; an element of it is `" + name + "[…]`");
  }
  Fail(node, "`" + name + "` is no scalar");
}

PrimExpr Parser::FloatLiteral(DataType dtype, double value) {
  if (dtype.is_vector()) return MakeConst(dtype, value);
  // The number as it is written: whoever computes with it rounds it to its dtype, whoever prints it wants all of it.
  tir::FloatImm imm(dtype, value);
  if (imm->value != value) CopyOnWrite(&imm)->value = value;
  return imm;
}

PrimExpr Parser::PrimLiteral(const Syntax& node, DataType dtype) {
  const bool negative = node.Is(SyntaxKind::kUnary);
  const Syntax& number = negative ? *node.base : node;
  if (dtype.is_float() || number.Is(SyntaxKind::kFloat)) {
    if (!dtype.is_float()) dtype = DataType::Float(32, dtype.lanes());
    return FloatLiteral(dtype, negative ? -number.float_value : number.float_value);
  }
  const int64_t value = negative ? static_cast<int64_t>(-static_cast<uint64_t>(number.int_value)) : number.int_value;
  if (dtype.is_bool() || dtype.is_handle() || dtype.is_void()) dtype = default_int_;
  if (dtype == DataType::Int(32) &&
      (value > std::numeric_limits<int32_t>::max() || value < std::numeric_limits<int32_t>::min())) {
    dtype = DataType::Int(64);
  }
  return MakeConst(dtype, value);
}

PrimExpr Parser::PrimAs(const Syntax& node, DataType dtype) {
  return node.IsLiteral() ? PrimLiteral(node, dtype) : Prim(node);
}

std::pair<PrimExpr, PrimExpr> Parser::Operands(const Syntax& a, const Syntax& b) {
  PrimExpr left;
  PrimExpr right;
  if (a.IsLiteral() && !b.IsLiteral()) {
    right = Prim(b);
    left = PrimLiteral(a, right.dtype());
  } else {
    left = Prim(a);
    right = b.IsLiteral() ? PrimLiteral(b, left.dtype()) : Prim(b);
  }
  if (left->dtype != right->dtype) {
    Located(b.at, [&] { Promote(&left, &right); });
  }
  return {std::move(left), std::move(right)};
}

PrimExpr Parser::PrimOperator(const Syntax& node) {
  if (node.Is(SyntaxKind::kUnary)) {
    if (node.IsLiteral()) return PrimLiteral(node, default_int_);
    PrimExpr value = Prim(*node.base);
    return Located(node.at, [&]() -> PrimExpr {
      if (node.text == "not") return tir::Not(CastTo(DataType::Bool(value.dtype().lanes()), value));
      if (node.text == "~") return tir::Call(value.dtype(), Op::Get("tir.bitwise_not"), {value});
      return MakeBinary(ExprKind::kMul, value, MakeConst(value.dtype(), -1));
    });
  }
  const Syntax& a = *node.items[0];
  const Syntax& b = *node.items[1];
  if (const char* intrinsic = IntrinsicOfOperator(node.text)) {
    auto [left, right] = Operands(a, b);
    return tir::Call(left.dtype(), Op::Get(intrinsic), {left, right});
  }
  const ExprKind kind = KindOfOperator(node.text);
  if (kind == ExprKind::kReduce) Fail(node, "the operator " + Quote(node.text) + " has no meaning on scalars");
  if (kind == ExprKind::kAnd || kind == ExprKind::kOr) {
    PrimExpr left = Prim(a);
    PrimExpr right = Prim(b);
    return Located(node.at, [&] {
      return MakeBinary(kind, CastTo(DataType::Bool(left.dtype().lanes()), left),
                        CastTo(DataType::Bool(right.dtype().lanes()), right));
    });
  }
  auto [left, right] = Operands(a, b);
  if (kind == ExprKind::kDiv && !left.dtype().is_float()) {
    Fail(node, "`/` divides floats; of integers say `//` (toward minus infinity) or `T.truncdiv` (toward zero)");
  }
  return Located(node.at, [&, l = left, r = right] { return MakeBinary(kind, l, r); });
}

PrimExpr Parser::PrimConditional(const Syntax& node) {
  const PrimExpr condition = Prim(*node.items[0]);
  if (const auto known = AsConstInt(condition)) return Prim(*node.items[*known != 0 ? 1 : 2]);
  auto [left, right] = Operands(*node.items[1], *node.items[2]);
  const DataType dtype = left.dtype();
  return Located(node.at, [&, l = left, r = right]() -> PrimExpr {
    return tir::Call(dtype, Op::Get("tir.if_then_else"), {CastTo(TruthFor(condition, dtype), condition), l, r});
  });
}

PrimExpr Parser::TypedValue(const Syntax& node, DataType dtype) {
  if (node.items.empty()) Fail(node, "a variable is declared by assigning it: `n = T." + dtype.ToString() + "()`");
  const Syntax& arg = *node.items[0];
  if (arg.IsLiteral()) {
    if (dtype.is_bool()) return MakeConst(dtype, IntOf(arg, "a boolean") != 0 ? 1 : 0);
    return PrimLiteral(arg, dtype);
  }
  if (arg.Is(SyntaxKind::kBool)) return MakeConst(dtype, arg.int_value);
  if (arg.Is(SyntaxKind::kString)) {
    const std::string text = StringOf(arg, "a value");
    double value = 0;
    if (text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (text == "-inf") {
      value = -std::numeric_limits<double>::infinity();
    } else if (text == "nan" || text == "-nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      Fail(arg, "expected \"inf\", \"-inf\" or \"nan\"");
    }
    if (!dtype.is_float()) Fail(arg, "only floats are infinite");
    return MakeConst(dtype, value);
  }
  const PrimExpr value = Prim(arg);
  return Located(arg.at, [&] { return CastTo(dtype, value); });
}

bool Parser::IsScalar(const Syntax& node) const {
  switch (node.kind) {
    case SyntaxKind::kInt:
    case SyntaxKind::kFloat:
    case SyntaxKind::kBool:
      return true;
    case SyntaxKind::kName: {
      const Object* value = Find(node.text);
      return value == nullptr ? type_vars_.Find(node.text) != nullptr : AsNode<PrimExprNode>(value) != nullptr;
    }
    case SyntaxKind::kUnary:
      return IsScalar(*node.base);
    case SyntaxKind::kBinary:
      return IsScalar(*node.items[0]) && IsScalar(*node.items[1]);
    case SyntaxKind::kConditional:
      return IsScalar(*node.items[0]) && IsScalar(*node.items[1]) && IsScalar(*node.items[2]);
    case SyntaxKind::kCall:
      return node.dotted.starts_with("T.") || node.dotted.starts_with("tir.") || node.dotted == "R.prim_value" ||
             node.dotted == "relax.prim_value" || node.dotted == "float";
    default:
      return false;
  }
}

PrimExpr Parser::Prim(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kName:
      return PrimName(node);
    case SyntaxKind::kInt:
    case SyntaxKind::kFloat:
      return PrimLiteral(node, default_int_);
    case SyntaxKind::kBool:
      return MakeConst(DataType::Bool(), node.int_value);
    case SyntaxKind::kString:
      return tir::StringImm(StringValue(source_, node.token));
    case SyntaxKind::kUnary:
    case SyntaxKind::kBinary:
      return PrimOperator(node);
    case SyntaxKind::kConditional:
      return PrimConditional(node);
    case SyntaxKind::kCall:
      return PrimCall(node);
    case SyntaxKind::kSubscript: {
      auto [buffer, indices] = ElementOf(node);
      return Located(node.at, [&, b = buffer, i = indices]() -> PrimExpr { return tir::BufferLoad(b, i); });
    }
    case SyntaxKind::kAttribute:
      if (node.text == "data") return FindBuffer(*node.base)->data;
      if (node.text == "elem_offset") return OffsetOf(FindBuffer(*node.base));
      Fail(node, (node.dotted.empty() ? "this" : Quote(node.dotted)) + " is no scalar");
    default:
      Fail(node, "expected a scalar expression");
  }
}

}  // namespace deuteron::script
