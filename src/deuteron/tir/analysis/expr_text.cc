#include "deuteron/tir/analysis/expr_text.h"

#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/number_text.h"

namespace deuteron::tir {
namespace {

struct Infix {
  const char* symbol;
  int precedence;
};

/// Null for what is written as a call.
Infix InfixOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kOr:
      return {" or ", 1};
    case ExprKind::kAnd:
      return {" and ", 2};
    case ExprKind::kEQ:
      return {" == ", 4};
    case ExprKind::kNE:
      return {" != ", 4};
    case ExprKind::kLT:
      return {" < ", 4};
    case ExprKind::kLE:
      return {" <= ", 4};
    case ExprKind::kGT:
      return {" > ", 4};
    case ExprKind::kGE:
      return {" >= ", 4};
    case ExprKind::kAdd:
      return {" + ", 5};
    case ExprKind::kSub:
      return {" - ", 5};
    case ExprKind::kMul:
      return {" * ", 6};
    case ExprKind::kDiv:
      return {" / ", 6};
    case ExprKind::kFloorDiv:
      return {" // ", 6};
    case ExprKind::kFloorMod:
      return {" % ", 6};
    default:
      return {nullptr, 0};
  }
}

constexpr int kNegation = 3;
constexpr int kAtom = 9;

class Writer {
 public:
  explicit Writer(size_t limit) : limit_(limit) {}
  std::string Finish() && {
    if (text_.size() > limit_) text_ = text_.substr(0, limit_) + "…";
    return std::move(text_);
  }

  void WriteList(const Array<PrimExpr>& exprs) {
    bool first = true;
    for (const PrimExpr& expr : exprs) {
      if (!first) text_ += ", ";
      first = false;
      Write(expr, 0);
    }
  }

  /// In parentheses if it binds weaker than `precedence`. Past the limit nothing is looked at any more.
  void Write(const PrimExpr& expr, int precedence) {
    if (text_.size() > limit_) return;
    if (!expr.defined()) {
      text_ += "<null>";
      return;
    }
    const int own = Precedence(expr);
    if (own < precedence) text_ += "(";
    WriteBare(expr, own);
    if (own < precedence) text_ += ")";
  }

 private:
  static int Precedence(const PrimExpr& expr) {
    if (expr->kind == ExprKind::kNot) return kNegation;
    const Infix infix = InfixOf(expr->kind);
    return infix.symbol == nullptr ? kAtom : infix.precedence;
  }

  void WriteCall(const std::string& name, const Array<PrimExpr>& args) {
    text_ += name + "(";
    WriteList(args);
    text_ += ")";
  }

  void WriteBare(const PrimExpr& expr, int own) {
    switch (expr->kind) {
      case ExprKind::kVar:
        text_ += std::string(static_cast<const VarNode*>(expr.get())->name_hint);
        return;
      case ExprKind::kIntImm: {
        const int64_t value = static_cast<const IntImmNode*>(expr.get())->value;
        text_ += expr.dtype().is_bool() ? (value != 0 ? "True" : "False") : std::to_string(value);
        return;
      }
      case ExprKind::kFloatImm: {
        text_ += NumberText(static_cast<const FloatImmNode*>(expr.get())->value, "%f");
        return;
      }
      case ExprKind::kStringImm:
        text_ += "\"" + std::string(static_cast<const StringImmNode*>(expr.get())->value) + "\"";
        return;
      case ExprKind::kCast: {
        const auto* op = static_cast<const CastNode*>(expr.get());
        // Between integers it says nothing that a reader of a message needs.
        if (op->dtype.is_integer() && op->value.dtype().is_integer()) return Write(op->value, own);
        return WriteCall(op->dtype.ToString(), {op->value});
      }
      case ExprKind::kMod:
      case ExprKind::kMin:
      case ExprKind::kMax: {
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        const char* name = expr->kind == ExprKind::kMin ? "min" : expr->kind == ExprKind::kMax ? "max" : "truncmod";
        return WriteCall(name, {op->a, op->b});
      }
      case ExprKind::kAdd:
      case ExprKind::kSub:
      case ExprKind::kMul:
      case ExprKind::kDiv:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod:
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kLT:
      case ExprKind::kLE:
      case ExprKind::kGT:
      case ExprKind::kGE:
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        Write(op->a, own);
        text_ += InfixOf(expr->kind).symbol;
        return Write(op->b, own + 1);
      }
      case ExprKind::kNot:
        text_ += "not ";
        return Write(static_cast<const NotNode*>(expr.get())->a, own);
      case ExprKind::kSelect: {
        const auto* op = static_cast<const SelectNode*>(expr.get());
        return WriteCall("select", {op->condition, op->true_value, op->false_value});
      }
      case ExprKind::kLet: {
        const auto* op = static_cast<const LetNode*>(expr.get());
        return WriteCall("let", {op->var, op->value, op->body});
      }
      case ExprKind::kRamp: {
        const auto* op = static_cast<const RampNode*>(expr.get());
        return WriteCall("ramp", {op->base, op->stride, I64(op->lanes)});
      }
      case ExprKind::kBroadcast: {
        const auto* op = static_cast<const BroadcastNode*>(expr.get());
        return WriteCall("broadcast", {op->value, I64(op->lanes)});
      }
      case ExprKind::kShuffle:
        return WriteCall("shuffle", static_cast<const ShuffleNode*>(expr.get())->vectors);
      case ExprKind::kCall: {
        const auto* op = static_cast<const CallNode*>(expr.get());
        std::string name(op->op->name);
        if (const size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
        return WriteCall(name, op->args);
      }
      case ExprKind::kBufferLoad: {
        const auto* op = static_cast<const BufferLoadNode*>(expr.get());
        text_ += std::string(op->buffer->name) + "[";
        WriteList(op->indices);
        text_ += "]";
        return;
      }
      case ExprKind::kProducerLoad:
        return WriteCall("producer", static_cast<const ProducerLoadNode*>(expr.get())->indices);
      case ExprKind::kReduce:
        return WriteCall("reduce", static_cast<const ReduceNode*>(expr.get())->source);
    }
  }

  size_t limit_;
  std::string text_;
};

}  // namespace

std::string ExprText(const PrimExpr& expr, size_t limit) {
  Writer writer(limit);
  writer.Write(expr, 0);
  return std::move(writer).Finish();
}

std::string ExprText(const Array<PrimExpr>& exprs, size_t limit) {
  Writer writer(limit);
  writer.WriteList(exprs);
  return std::move(writer).Finish();
}

std::string RegionText(const Buffer& buffer, const Array<Range>& region) {
  std::string text = std::string(buffer->name) + "[";
  for (size_t axis = 0; axis < region.size(); ++axis) {
    if (axis != 0) text += ", ";
    text += ExprText(region[axis]->min);
    if (!IsOne(region[axis]->extent)) text += ":" + ExprText(region[axis]->min + region[axis]->extent);
  }
  return text + "]";
}

}  // namespace deuteron::tir
