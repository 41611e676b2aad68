/// \file
/// How far a row of an attention sees: which keys of a row weigh nothing whatever their scores are.
///
/// What the softmax reads holds a comparison of the key with the row (exporters' triangles become such, ComputeMasks).
/// Where it is decided for keys beyond a diagonal, what is left of the expression shows whether such scores are masked:
///
///  - by -inf, chosen or added: their exponentials are 0 beside any other, and where a row has no others, the sum of
///  the
///    row is 0 as it is without them;
///  - by a number so low that beside a score it weighs nothing: the same, if there is a score, which then must not be
///    masked otherwise: nothing but the products is read, and each row sees a key.
///
/// That a score which is not finite is masked by an addition, or a value that is not finite is multiplied by 0, gives
/// NaN where all keys are computed; those that are not seen are not read here.
#include <algorithm>
#include <cmath>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_plan.h"

namespace deuteron::tir {
namespace {

/// Added to any score of less than a tenth of it, it is so far below another that its exponential is 0.
constexpr double kLowest = -1e30;

/// Integers without their casts: positions are the same numbers in any type that holds them.
class CastRemover : public ExprMutator {
 protected:
  PrimExpr VisitCast_(const CastNode* op) override {
    const bool is_index = op->dtype.is_int() && op->value->dtype.is_int();
    return is_index ? CastTo(DataType::Int(64), VisitExpr(op->value)) : ExprMutator::VisitCast_(op);
  }
};

/// A comparison that says which keys a row sees: those up to `offset` after its own number.
struct Diagonal {
  PrimExpr comparison;
  PrimExpr offset;
  /// What the comparison is beyond.
  bool beyond = false;
};

bool IsOrder(ExprKind kind) {
  return kind == ExprKind::kLT || kind == ExprKind::kLE || kind == ExprKind::kGT || kind == ExprKind::kGE;
}

std::optional<Diagonal> AsDiagonal(const PrimExpr& expr, const Var& row, const Var& key) {
  if (!IsOrder(expr->kind)) return std::nullopt;
  const auto* comparison = static_cast<const BinaryNode*>(expr.get());
  if (!comparison->a->dtype.is_int()) return std::nullopt;
  bool loads = false;
  PostOrderVisit(expr, [&](const PrimExpr& node) { loads |= node->kind == ExprKind::kBufferLoad; });
  if (loads) return std::nullopt;
  CastRemover plain;
  arith::Analyzer analyzer;
  const PrimExpr difference = CastTo(DataType::Int(64), plain.VisitExpr(comparison->a)) -
                              CastTo(DataType::Int(64), plain.VisitExpr(comparison->b));
  const PrimExpr beyond = PrimExpr(key) - PrimExpr(row);
  const auto is_free = [&](const PrimExpr& rest) {
    return !UsesVar(rest, [&](const VarNode* var) { return var == key.get() || var == row.get(); });
  };
  const bool is_less = expr->kind == ExprKind::kLT || expr->kind == ExprKind::kLE;
  const bool is_strict = expr->kind == ExprKind::kLT || expr->kind == ExprKind::kGT;
  if (const PrimExpr rest = analyzer.Simplify(difference - beyond); is_free(rest)) {
    // key - row + rest ? 0
    const PrimExpr offset = is_less == is_strict ? I64(-1) - rest : I64(0) - rest;
    return Diagonal{expr, analyzer.Simplify(offset), !is_less};
  }
  if (const PrimExpr rest = analyzer.Simplify(difference + beyond); is_free(rest)) {
    // rest - (key - row) ? 0
    const PrimExpr offset = is_less == is_strict ? rest : rest - I64(1);
    return Diagonal{expr, analyzer.Simplify(offset), is_less};
  }
  return std::nullopt;
}

/// How a score is masked.
enum class Mask : uint8_t { kNone, kNumber, kInfinite };

/// The value of expressions beyond a diagonal.
class Beyond {
 public:
  explicit Beyond(const Diagonal& diagonal) : diagonal_(diagonal) {}

  Mask MaskOf(const PrimExpr& value) const {
    switch (value->kind) {
      case ExprKind::kFloatImm: {
        const double number = static_cast<const FloatImmNode*>(value.get())->value;
        return std::isinf(number) && number < 0 ? Mask::kInfinite : number <= kLowest ? Mask::kNumber : Mask::kNone;
      }
      case ExprKind::kCast:
        return value->dtype.is_float() ? MaskOf(static_cast<const CastNode*>(value.get())->value) : Mask::kNone;
      case ExprKind::kSelect: {
        const auto* choice = static_cast<const SelectNode*>(value.get());
        return OfChoice(choice->condition, choice->true_value, choice->false_value);
      }
      case ExprKind::kAdd: {
        const auto* sum = static_cast<const BinaryNode*>(value.get());
        return std::max(MaskOf(sum->a), MaskOf(sum->b));
      }
      case ExprKind::kCall: {
        static const Op if_then_else = Op::Get("tir.if_then_else");
        const auto* call = static_cast<const CallNode*>(value.get());
        return call->op.same_as(if_then_else) ? OfChoice(call->args[0], call->args[1], call->args[2]) : Mask::kNone;
      }
      default:
        return Mask::kNone;
    }
  }

 private:
  Mask OfChoice(const PrimExpr& condition, const PrimExpr& if_true, const PrimExpr& if_false) const {
    if (const auto known = TruthOf(condition)) return MaskOf(*known ? if_true : if_false);
    return std::min(MaskOf(if_true), MaskOf(if_false));
  }

  std::optional<bool> TruthOf(const PrimExpr& condition) const {
    if (ExprEqual(condition, diagonal_.comparison)) return diagonal_.beyond;
    switch (condition->kind) {
      case ExprKind::kNot: {
        const auto inner = TruthOf(static_cast<const NotNode*>(condition.get())->a);
        return inner ? std::optional(!*inner) : std::nullopt;
      }
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        const auto* both = static_cast<const BinaryNode*>(condition.get());
        const auto a = TruthOf(both->a), b = TruthOf(both->b);
        const bool decisive = condition->kind == ExprKind::kOr;
        if (a == decisive || b == decisive) return decisive;
        return a && b ? std::optional(!decisive) : std::nullopt;
      }
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kLT:
      case ExprKind::kLE:
      case ExprKind::kGT:
      case ExprKind::kGE: {
        const auto* both = static_cast<const BinaryNode*>(condition.get());
        const auto a = NumberOf(both->a), b = NumberOf(both->b);
        return a && b ? std::optional(Compare(condition->kind, *a, *b)) : std::nullopt;
      }
      case ExprKind::kIntImm:
      case ExprKind::kCast:
      case ExprKind::kSelect:
      case ExprKind::kCall: {
        const auto number = NumberOf(condition);
        return number ? std::optional(*number != 0) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  static bool Compare(ExprKind kind, double a, double b) {
    switch (kind) {
      case ExprKind::kEQ:
        return a == b;
      case ExprKind::kNE:
        return a != b;
      case ExprKind::kLT:
        return a < b;
      case ExprKind::kLE:
        return a <= b;
      case ExprKind::kGT:
        return a > b;
      default:
        return a >= b;
    }
  }

  /// The number that an expression is beyond the diagonal, booleans 0 or 1.
  std::optional<double> NumberOf(const PrimExpr& value) const {
    switch (value->kind) {
      case ExprKind::kIntImm:
        return static_cast<double>(static_cast<const IntImmNode*>(value.get())->value);
      case ExprKind::kFloatImm:
        return static_cast<const FloatImmNode*>(value.get())->value;
      case ExprKind::kCast:
        return NumberOf(static_cast<const CastNode*>(value.get())->value);
      case ExprKind::kSelect: {
        const auto* choice = static_cast<const SelectNode*>(value.get());
        return OfKnown(choice->condition, choice->true_value, choice->false_value);
      }
      case ExprKind::kCall: {
        static const Op if_then_else = Op::Get("tir.if_then_else");
        const auto* call = static_cast<const CallNode*>(value.get());
        return call->op.same_as(if_then_else) ? OfKnown(call->args[0], call->args[1], call->args[2]) : std::nullopt;
      }
      case ExprKind::kNot:
      case ExprKind::kAnd:
      case ExprKind::kOr:
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kGT:
      case ExprKind::kLT:
      case ExprKind::kGE:
      case ExprKind::kLE: {
        const auto truth = TruthOf(value);
        return truth ? std::optional<double>(*truth) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }
  std::optional<double> OfKnown(const PrimExpr& condition, const PrimExpr& if_true, const PrimExpr& if_false) const {
    const auto known = TruthOf(condition);
    return known ? NumberOf(*known ? if_true : if_false) : std::nullopt;
  }

  const Diagonal& diagonal_;
};

/// The iterator of a block that counts an axis; null if it has none.
Var IterOf(const SBlock& block, const AttentionAxes& axes, int axis) {
  const auto at = std::find(axes.begin(), axes.end(), axis);
  return at == axes.end() ? Var() : block->iter_vars[at - axes.begin()]->var;
}

}  // namespace

PrimExpr AttentionPlan::VisibleKeys(const Schedule& schedule, const PrimExpr& last_row) const {
  if (masked.empty()) return keys;
  const SBlock block = schedule.Get(masked);
  const Var row = IterOf(block, iters.at(masked), AttentionAxis::kRow);
  const Var key = IterOf(block, iters.at(masked), AttentionAxis::kKey);
  const auto stored = GetStoredValue(block->body);
  if (!row.defined() || !key.defined() || !stored) return keys;
  PrimExpr value = stored->value;
  while (const auto* let = value.as<LetNode>()) value = Substitute(let->body, {{let->var, let->value}});
  const Buffer products = schedule.WriteBuffer(scores);
  std::vector<Diagonal> diagonals;
  bool reads_others = false;
  PostOrderVisit(value, [&](const PrimExpr& node) {
    if (const auto* load = node.as<BufferLoadNode>()) reads_others |= !load->buffer.same_as(products);
    if (auto diagonal = AsDiagonal(node, row, key)) diagonals.push_back(std::move(*diagonal));
  });
  const auto is_of_block = [&](const VarNode* var) {
    return std::any_of(block->iter_vars.begin(), block->iter_vars.end(),
                       [&](const IterVar& iter) { return iter->var.get() == var; });
  };
  PrimExpr visible = keys;
  for (const Diagonal& diagonal : diagonals) {
    const Mask mask = Beyond(diagonal).MaskOf(value);
    if (mask == Mask::kNone || (mask == Mask::kNumber && reads_others) || UsesVar(diagonal.offset, is_of_block))
      continue;
    const PrimExpr own = Max(Min(keys, last_row + diagonal.offset + I64(1)), I64(0));
    // Without a key that the first row sees, numbers are all that it has.
    visible = Min(visible, mask == Mask::kInfinite ? own : SelectExpr(diagonal.offset >= I64(0), own, keys));
  }
  return visible;
}

}  // namespace deuteron::tir
