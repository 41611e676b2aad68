/// \file
/// Prints scalar expressions.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "deuteron/script/printer_impl.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::script {
namespace {

struct Infix {
  const char* text;  // null: printed as a call
  Precedence precedence;
};

Infix InfixOf(ExprKind kind, bool is_float) {
  switch (kind) {
    case ExprKind::kAdd:
      return {" + ", Precedence::kSum};
    case ExprKind::kSub:
      return {" - ", Precedence::kSum};
    case ExprKind::kMul:
      return {" * ", Precedence::kProduct};
    case ExprKind::kDiv:
      return {is_float ? " / " : nullptr, Precedence::kProduct};
    case ExprKind::kFloorDiv:
      return {" // ", Precedence::kProduct};
    case ExprKind::kFloorMod:
      return {" % ", Precedence::kProduct};
    case ExprKind::kEQ:
      return {" == ", Precedence::kCompare};
    case ExprKind::kNE:
      return {" != ", Precedence::kCompare};
    case ExprKind::kLT:
      return {" < ", Precedence::kCompare};
    case ExprKind::kLE:
      return {" <= ", Precedence::kCompare};
    case ExprKind::kGT:
      return {" > ", Precedence::kCompare};
    case ExprKind::kGE:
      return {" >= ", Precedence::kCompare};
    case ExprKind::kAnd:
      return {" and ", Precedence::kAnd};
    case ExprKind::kOr:
      return {" or ", Precedence::kOr};
    default:
      return {nullptr, Precedence::kAtom};
  }
}

const char* CallNameOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kDiv:
      return "T.Div(";
    case ExprKind::kMod:
      return "T.truncmod(";
    case ExprKind::kMin:
      return "T.min(";
    case ExprKind::kMax:
      return "T.max(";
    default:
      DEUTERON_UNREACHABLE();
  }
}

/// As a call that makes exactly this node.
const char* NodeNameOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return "T.Add(";
    case ExprKind::kSub:
      return "T.Sub(";
    case ExprKind::kMul:
      return "T.Mul(";
    case ExprKind::kDiv:
      return "T.Div(";
    case ExprKind::kMod:
      return "T.Mod(";
    case ExprKind::kFloorDiv:
      return "T.FloorDiv(";
    case ExprKind::kFloorMod:
      return "T.FloorMod(";
    case ExprKind::kMin:
      return "T.Min(";
    case ExprKind::kMax:
      return "T.Max(";
    case ExprKind::kEQ:
      return "T.EQ(";
    case ExprKind::kNE:
      return "T.NE(";
    case ExprKind::kLT:
      return "T.LT(";
    case ExprKind::kLE:
      return "T.LE(";
    case ExprKind::kGT:
      return "T.GT(";
    case ExprKind::kGE:
      return "T.GE(";
    case ExprKind::kAnd:
      return "T.And(";
    case ExprKind::kOr:
      return "T.Or(";
    default:
      DEUTERON_UNREACHABLE();
  }
}

/// The value of an immediate number, if it is one.
std::optional<double> ImmediateOf(const PrimExpr& expr) {
  if (expr->kind == ExprKind::kIntImm)
    return static_cast<double>(static_cast<const tir::IntImmNode*>(expr.get())->value);
  if (expr->kind == ExprKind::kFloatImm) return static_cast<const tir::FloatImmNode*>(expr.get())->value;
  return std::nullopt;
}

/// Whether TVM, reading the infix form, would simplify it: an operation on two numbers, or with a neutral one.
bool IsSimplifiedWhenRead(const tir::BinaryNode* expr) {
  const auto a = ImmediateOf(expr->a);
  const auto b = ImmediateOf(expr->b);
  if (a && b) return true;
  switch (expr->kind) {
    case ExprKind::kAdd:
      return a == 0.0 || b == 0.0;
    case ExprKind::kSub:
      return b == 0.0;
    case ExprKind::kMul:
      return a == 0.0 || a == 1.0 || b == 0.0 || b == 1.0;
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
      return a == 0.0 || b == 1.0;
    case ExprKind::kMin:
    case ExprKind::kMax:
      return expr->a.same_as(expr->b);
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return a || b;
    default:
      return false;
  }
}

Infix InfixIntrinsic(std::string_view name) {
  if (name == "tir.bitwise_and") return {" & ", Precedence::kBitAnd};
  if (name == "tir.bitwise_or") return {" | ", Precedence::kBitOr};
  if (name == "tir.bitwise_xor") return {" ^ ", Precedence::kBitXor};
  if (name == "tir.shift_left") return {" << ", Precedence::kShift};
  if (name == "tir.shift_right") return {" >> ", Precedence::kShift};
  return {nullptr, Precedence::kAtom};
}

}  // namespace

void Printer::PutInt(int64_t value) {
  std::array<char, 24> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text_.append(digits.data(), result.ptr);
}

void Printer::PutDtype(DataType dtype) {
  if (dtype.is_scalar()) {
    if (dtype.is_float() && dtype.code() == kDLFloat) {
      Put("float");
      return PutInt(dtype.bits());
    }
    if (dtype.is_int()) {
      Put("int");
      return PutInt(dtype.bits());
    }
  }
  text_ += dtype.ToString();
}

void Printer::PutDigits(std::string_view digits) {
  Put(digits);
  if (digits.find_first_of(".e") == std::string_view::npos) Put(".0");
}

void Printer::PrintFloat(double value) {
  if (std::isnan(value)) return Put("\"nan\"");
  if (std::isinf(value)) return Put(value > 0 ? "\"inf\"" : "\"-inf\"");
  // The shortest digits that every reader takes for this double: TVM compares immediates as doubles, whatever their
  // dtype.
  std::array<char, 40> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  PutDigits({digits.data(), static_cast<size_t>(result.ptr - digits.data())});
}

void Printer::PrintImm(const PrimExprNode* expr) {
  if (const auto* imm = expr->IsInstance<tir::IntImmNode>() ? static_cast<const tir::IntImmNode*>(expr) : nullptr) {
    if (imm->dtype.is_bool()) return Put(imm->value != 0 ? "T.bool(True)" : "T.bool(False)");
    const bool bare = imm->dtype == DataType::Int(graph_level_ ? 64 : 32);
    if (!bare) {
      Put("T.");
      PutDtype(imm->dtype);
      Put('(');
    }
    if (imm->dtype.is_uint() && imm->dtype.bits() == 64) {
      text_ += std::to_string(static_cast<uint64_t>(imm->value));
    } else {
      PutInt(imm->value);
    }
    if (!bare) Put(')');
    return;
  }
  const auto* imm = static_cast<const tir::FloatImmNode*>(expr);
  Put("T.");
  PutDtype(imm->dtype);
  Put('(');
  PrintFloat(imm->value);
  Put(')');
}

void Printer::PrintVar(const tir::VarNode* var) {
  ++names_used_;
  if (const std::string* name = names_.Find(var)) return Put(*name);
  const std::string_view hint(var->name_hint.data(), var->name_hint.size());
  if (later_params_.count(var) != 0) return Put(names_.Define(var, hint));
  // Not defined by anything printed so far: a symbol. What stands above the class must mean one thing in all of it.
  const bool is_int64 = var->dtype == DataType::Int(64);
  const bool above = in_signature_ && is_int64 && function_depth_ <= 1;
  const auto& others = above ? body_symbol_set_ : type_var_set_;
  std::string name;
  do {
    name = names_.Define(var, hint);
  } while (others.count(name) != 0);
  if (in_signature_) signature_symbols_.insert(var);
  if (above) {
    if (type_var_set_.insert(name).second) type_vars_.push_back(name);
  } else {
    body_symbol_set_.insert(name);
    if (in_signature_ && is_int64) {
      inner_type_vars_.push_back(name);
    } else {
      body_symbols_.emplace_back(name, var->dtype);
    }
  }
  Put(name);
}

void Printer::PrintBinary(const tir::BinaryNode* expr, Precedence context) {
  const Infix infix = InfixOf(expr->kind, expr->a.dtype().is_float());
  const bool by_name = IsSimplifiedWhenRead(expr);
  if (infix.text == nullptr || by_name) {
    Put(by_name ? NodeNameOf(expr->kind) : CallNameOf(expr->kind));
    Prim(expr->a);
    Put(", ");
    Prim(expr->b);
    return Put(')');
  }
  const bool parenthesise = infix.precedence < context;
  if (parenthesise) Put('(');
  const auto tighter = static_cast<Precedence>(static_cast<int>(infix.precedence) + 1);
  Prim(expr->a, infix.precedence == Precedence::kCompare ? tighter : infix.precedence);
  Put(infix.text);
  Prim(expr->b, tighter);
  if (parenthesise) Put(')');
}

void Printer::PrintIntrinsic(const tir::CallNode* call, Precedence context) {
  const std::string_view name(call->op->name.data(), call->op->name.size());
  const Infix infix = InfixIntrinsic(name);
  if (infix.text != nullptr && call->args.size() == 2) {
    const bool parenthesise = infix.precedence < context;
    if (parenthesise) Put('(');
    Prim(call->args[0], infix.precedence);
    Put(infix.text);
    Prim(call->args[1], static_cast<Precedence>(static_cast<int>(infix.precedence) + 1));
    if (parenthesise) Put(')');
    return;
  }
  if (name == "tir.bitwise_not" && call->args.size() == 1) {
    Put('~');
    return Prim(call->args[0], Precedence::kUnary);
  }
  const auto arguments = [&] { Joined(call->args, [&](const PrimExpr& arg) { Prim(arg); }); };
  const auto* info = tir::FindIntrinsicInfo(call->op);
  using tir::IntrinKind;
  const bool says_dtype =
      info != nullptr && (info->kind == IntrinKind::kReinterpret || info->kind == IntrinKind::kConstant ||
                          info->kind == IntrinKind::kExternCall);
  const bool inferable =
      says_dtype || (info == nullptr && name == "tir.call_packed" && call->dtype == DataType::Int(32)) ||
      (info != nullptr && !call->args.empty() &&
       (info->kind == IntrinKind::kPredicate  ? call->dtype == DataType::Bool(call->args[0].dtype().lanes())
        : info->kind == IntrinKind::kFloatDot ? call->dtype == DataType::Float(32, call->args[0].dtype().lanes())
        : info->kind == IntrinKind::kFloatPair
            ? call->dtype == DataType::Int(32, call->args[0].dtype().lanes())
            : call->dtype == call->args[name == "tir.if_then_else" && call->args.size() == 3 ? 1 : 0].dtype()));
  if (!inferable || name.substr(0, 4) != "tir.") {
    Put("T.call(\"");
    PutDtype(call->dtype);
    Put("\", ");
    Quoted(name);
    for (const PrimExpr& arg : call->args) {
      Put(", ");
      Prim(arg);
    }
    return Put(')');
  }
  Put("T.");
  Put(name.substr(4));
  Put('(');
  if (says_dtype) {
    Put('"');
    PutDtype(call->dtype);
    Put('"');
    if (!call->args.empty()) Put(", ");
  }
  arguments();
  Put(')');
}

void Printer::PrintIndices(const Array<PrimExpr>& indices) {
  Put('[');
  if (indices.empty()) Put("()");
  Joined(indices, [&](const PrimExpr& index) {
    const auto* ramp = index.as<tir::RampNode>();
    if (ramp == nullptr) return Prim(index);
    Prim(ramp->base);
    Put(':');
    const PrimExpr length = MakeConst(ramp->stride.dtype(), ramp->lanes) * ramp->stride;
    Prim(ramp->base + length);
    if (!IsOne(ramp->stride)) {
      Put(':');
      Prim(ramp->stride);
    }
  });
  Put(']');
}

void Printer::Prim(const PrimExpr& expr, Precedence context) {
  switch (expr->kind) {
    case ExprKind::kVar:
      return PrintVar(static_cast<const tir::VarNode*>(expr.get()));
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
      return PrintImm(expr.get());
    case ExprKind::kStringImm: {
      const auto* imm = static_cast<const tir::StringImmNode*>(expr.get());
      return Quoted(std::string_view(imm->value.data(), imm->value.size()));
    }
    case ExprKind::kCast:
      Put("T.Cast(\"");
      PutDtype(expr->dtype);
      Put("\", ");
      Prim(static_cast<const tir::CastNode*>(expr.get())->value);
      return Put(')');
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kEQ:
    case ExprKind::kNE:
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return PrintBinary(static_cast<const tir::BinaryNode*>(expr.get()), context);
    case ExprKind::kNot: {
      if (static_cast<const tir::NotNode*>(expr.get())->a->kind == ExprKind::kIntImm) {
        Put("T.Not(");
        Prim(static_cast<const tir::NotNode*>(expr.get())->a);
        return Put(')');
      }
      const bool parenthesise = context > Precedence::kNot;
      Put(parenthesise ? "(not " : "not ");
      Prim(static_cast<const tir::NotNode*>(expr.get())->a, Precedence::kNot);
      if (parenthesise) Put(')');
      return;
    }
    case ExprKind::kSelect: {
      const auto* select = static_cast<const tir::SelectNode*>(expr.get());
      Put("T.Select(");
      Prim(select->condition);
      Put(", ");
      Prim(select->true_value);
      Put(", ");
      Prim(select->false_value);
      return Put(')');
    }
    case ExprKind::kLet: {
      const auto* let = static_cast<const tir::LetNode*>(expr.get());
      // Declared before the statement, but in places that are no statements (a buffer's shape).
      const bool is_declared = names_.Find(let->var.get()) != nullptr;
      names_.Push();
      if (!is_declared) {
        names_.Define(let->var.get(), std::string_view(let->var->name_hint.data(), let->var->name_hint.size()));
      }
      Put("T.Let(");
      Prim(let->body);
      Put(", where={");
      Prim(let->var);
      names_.Pop();
      Put(": ");
      Prim(let->value);
      return Put("})");
    }
    case ExprKind::kRamp: {
      const auto* ramp = static_cast<const tir::RampNode*>(expr.get());
      Put("T.Ramp(");
      Prim(ramp->base);
      Put(", ");
      Prim(ramp->stride);
      Put(", ");
      PutInt(ramp->lanes);
      return Put(')');
    }
    case ExprKind::kBroadcast: {
      const auto* broadcast = static_cast<const tir::BroadcastNode*>(expr.get());
      Put("T.Broadcast(");
      Prim(broadcast->value);
      Put(", ");
      PutInt(broadcast->lanes);
      return Put(')');
    }
    case ExprKind::kShuffle: {
      const auto* shuffle = static_cast<const tir::ShuffleNode*>(expr.get());
      Put("T.Shuffle([");
      Joined(shuffle->vectors, [&](const PrimExpr& item) { Prim(item); });
      Put("], [");
      Joined(shuffle->indices, [&](const PrimExpr& item) { Prim(item); });
      return Put("])");
    }
    case ExprKind::kCall:
      return PrintIntrinsic(static_cast<const tir::CallNode*>(expr.get()), context);
    case ExprKind::kBufferLoad: {
      const auto* load = static_cast<const tir::BufferLoadNode*>(expr.get());
      BufferName(load->buffer);
      // TVM reads slices where elements are stored alone.
      Put('[');
      if (load->indices.empty()) Put("()");
      Joined(load->indices, [&](const PrimExpr& index) { Prim(index); });
      return Put(']');
    }
    case ExprKind::kProducerLoad: {
      const auto* load = static_cast<const tir::ProducerLoadNode*>(expr.get());
      Put("T.ProducerLoad(");
      Joined(load->indices, [&](const PrimExpr& item) { Prim(item); });
      return Put(')');
    }
    case ExprKind::kReduce: {
      const auto* reduce = static_cast<const tir::ReduceNode*>(expr.get());
      names_.Push();
      for (const IterVar& axis : reduce->axis) {
        names_.Define(axis->var.get(), std::string_view(axis->var->name_hint.data(), axis->var->name_hint.size()));
      }
      Put("T.Reduce([");
      Joined(reduce->source, [&](const PrimExpr& item) { Prim(item); });
      Put("], [");
      Joined(reduce->axis, [&](const IterVar& axis) { Prim(axis->var); });
      names_.Pop();
      Put("], ");
      PutInt(reduce->value_index);
      return Put(')');
    }
  }
  DEUTERON_UNREACHABLE();
}

void Printer::SignatureDim(const PrimExpr& dim) {
  if (dim->kind == ExprKind::kIntImm) return Prim(dim);
  // The signature of an inner function is read where its symbols are values.
  if (function_depth_ > 1) return Prim(dim);
  if (dim->kind == ExprKind::kVar && later_params_.count(dim.get()) == 0 &&
      (dim->dtype == DataType::Int(64) || names_.Find(dim.get()) != nullptr))
    return Prim(dim);
  bool known = true;
  PostOrderVisit(dim, [&](const PrimExpr& node) {
    if (node->kind == ExprKind::kVar) {
      if (names_.Find(node.get()) == nullptr || signature_symbols_.count(node.get()) != 0 ||
          later_params_.count(node.get()) != 0) {
        known = false;
      }
    }
  });
  if (known) return Prim(dim);
  Put('"');
  const size_t begin = text_.size();
  Prim(dim);
  // Types that it names are in quotes of the other kind.
  std::replace(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.end(), '"', '\'');
  Put('"');
}

void Printer::Dim(const PrimExpr& dim) {
  if (in_signature_) return SignatureDim(dim);
  Prim(dim);
}

void Printer::Dims(const Array<PrimExpr>& dims) {
  Put('(');
  Joined(dims, [&](const PrimExpr& dim) { Dim(dim); });
  if (dims.size() == 1) Put(',');
  Put(')');
}

}  // namespace deuteron::script
