#include "deuteron/tir/analysis/index_eval.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/ir/scalar_format.h"

namespace deuteron::tir {
namespace {

using Value = std::optional<int64_t>;

Value CheckedAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? Value() : Value(result);
}
Value CheckedSub(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? Value() : Value(result);
}
Value CheckedMul(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Value() : Value(result);
}

bool IsIndexLike(DataType dtype) { return dtype.is_int() || dtype.is_uint() || dtype.is_bool(); }

const Op& IfThenElseOp() {
  static const Op op = Op::Get("tir.if_then_else");
  return op;
}
const Op& LikelyOp() {
  static const Op op = Op::Get("tir.likely");
  return op;
}

}  // namespace

void IndexEvaluator::Set(const Var& var, std::optional<int64_t> value) {
  if (value) {
    values_[var.get()] = *value;
  } else {
    values_.erase(var.get());
  }
}

std::optional<int64_t> IndexEvaluator::Eval(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kVar: {
      const auto it = values_.find(expr.get());
      return it == values_.end() ? Value() : Value(it->second);
    }
    case ExprKind::kIntImm:
      return static_cast<const IntImmNode*>(expr.get())->value;
    case ExprKind::kCast: {
      const auto* op = static_cast<const CastNode*>(expr.get());
      if (!IsIndexLike(op->dtype) || !IsIndexLike(op->value.dtype())) return std::nullopt;
      const Value value = Eval(op->value);
      if (value && op->dtype.is_bool()) return *value != 0;
      return value;
    }
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
      return EvalBinary(static_cast<const BinaryNode*>(expr.get()));
    case ExprKind::kNot: {
      const Value value = Eval(static_cast<const NotNode*>(expr.get())->a);
      return value ? Value(*value == 0) : Value();
    }
    case ExprKind::kSelect: {
      const auto* op = static_cast<const SelectNode*>(expr.get());
      const Value condition = Eval(op->condition);
      return condition ? Eval(*condition != 0 ? op->true_value : op->false_value) : Value();
    }
    case ExprKind::kLet: {
      const auto* op = static_cast<const LetNode*>(expr.get());
      Set(op->var, Eval(op->value));
      return Eval(op->body);
    }
    case ExprKind::kRamp: {
      const auto* op = static_cast<const RampNode*>(expr.get());
      const Value base = Eval(op->base);
      const Value stride = Eval(op->stride);
      if (!base || !stride) return std::nullopt;
      const Value offset = CheckedMul(*stride, lane_);
      return offset ? CheckedAdd(*base, *offset) : Value();
    }
    case ExprKind::kBroadcast:
      return Eval(static_cast<const BroadcastNode*>(expr.get())->value);
    case ExprKind::kCall:
      return EvalCall(static_cast<const CallNode*>(expr.get()));
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
    case ExprKind::kShuffle:
    case ExprKind::kBufferLoad:
    case ExprKind::kProducerLoad:
    case ExprKind::kReduce:
      return std::nullopt;
  }
  DEUTERON_UNREACHABLE();
}

std::optional<int64_t> IndexEvaluator::EvalCall(const CallNode* op) {
  if (op->op.same_as(LikelyOp())) return Eval(op->args[0]);
  if (!op->op.same_as(IfThenElseOp())) return std::nullopt;
  const Value condition = Eval(op->args[0]);
  return condition ? Eval(op->args[*condition != 0 ? 1 : 2]) : Value();
}

std::optional<int64_t> IndexEvaluator::EvalBinary(const BinaryNode* op) {
  if (!IsIndexLike(op->a.dtype())) return std::nullopt;
  const Value left = Eval(op->a);
  // One side may decide alone.
  if (op->kind == ExprKind::kAnd && left && *left == 0) return 0;
  if (op->kind == ExprKind::kOr && left && *left != 0) return 1;
  const Value right = Eval(op->b);
  if (!left || !right) return std::nullopt;
  const int64_t a = *left;
  const int64_t b = *right;
  switch (op->kind) {
    case ExprKind::kAdd:
      return CheckedAdd(a, b);
    case ExprKind::kSub:
      return CheckedSub(a, b);
    case ExprKind::kMul:
      return CheckedMul(a, b);
    case ExprKind::kDiv:
      return b == 0 || b == -1 ? Value() : Value(a / b);
    case ExprKind::kMod:
      return b == 0 || b == -1 ? Value() : Value(a % b);
    case ExprKind::kFloorDiv:
      return b == 0 || b == -1 ? Value() : Value(FloorDivInt(a, b));
    case ExprKind::kFloorMod:
      return b == 0 || b == -1 ? Value() : Value(FloorModInt(a, b));
    case ExprKind::kMin:
      return std::min(a, b);
    case ExprKind::kMax:
      return std::max(a, b);
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
    case ExprKind::kGE:
      return a >= b;
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return b != 0;
    default:
      DEUTERON_UNREACHABLE();
  }
}

void IntervalEvaluator::Set(const Var& var, std::optional<Interval> interval) {
  const auto [it, inserted] = intervals_.try_emplace(var.get(), interval);
  if (inserted || !it->second) return;
  if (!interval) {
    it->second = interval;
  } else {
    it->second = Interval{std::min(it->second->min, interval->min), std::max(it->second->max, interval->max)};
  }
}

std::optional<Interval> IntervalEvaluator::Eval(const PrimExpr& expr) {
  const auto hull = [this](const PrimExpr& a, const PrimExpr& b) -> std::optional<Interval> {
    const auto x = Eval(a);
    const auto y = Eval(b);
    if (!x || !y) return std::nullopt;
    return Interval{std::min(x->min, y->min), std::max(x->max, y->max)};
  };
  if (!IsIndexLike(expr.dtype())) return std::nullopt;
  switch (expr->kind) {
    case ExprKind::kVar: {
      const auto it = intervals_.find(expr.get());
      return it == intervals_.end() ? std::nullopt : it->second;
    }
    case ExprKind::kIntImm: {
      const int64_t value = static_cast<const IntImmNode*>(expr.get())->value;
      return Interval{value, value};
    }
    case ExprKind::kCast: {
      const auto* op = static_cast<const CastNode*>(expr.get());
      return op->dtype.is_bool() ? std::nullopt : Eval(op->value);
    }
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
      return EvalBinary(static_cast<const BinaryNode*>(expr.get()));
    case ExprKind::kSelect: {
      const auto* op = static_cast<const SelectNode*>(expr.get());
      return hull(op->true_value, op->false_value);
    }
    case ExprKind::kLet: {
      const auto* op = static_cast<const LetNode*>(expr.get());
      Set(op->var, Eval(op->value));
      return Eval(op->body);
    }
    case ExprKind::kRamp: {
      const auto* op = static_cast<const RampNode*>(expr.get());
      const auto base = Eval(op->base);
      const auto stride = Eval(op->stride);
      if (!base || !stride) return std::nullopt;
      const Value low = CheckedMul(std::min<int64_t>(stride->min, 0), op->lanes - 1);
      const Value high = CheckedMul(std::max<int64_t>(stride->max, 0), op->lanes - 1);
      if (!low || !high) return std::nullopt;
      const Value min = CheckedAdd(base->min, *low);
      const Value max = CheckedAdd(base->max, *high);
      if (!min || !max) return std::nullopt;
      return Interval{*min, *max};
    }
    case ExprKind::kBroadcast:
      return Eval(static_cast<const BroadcastNode*>(expr.get())->value);
    case ExprKind::kCall: {
      const auto* op = static_cast<const CallNode*>(expr.get());
      if (op->op.same_as(LikelyOp())) return Eval(op->args[0]);
      if (op->op.same_as(IfThenElseOp())) return hull(op->args[1], op->args[2]);
      return std::nullopt;
    }
    case ExprKind::kEQ:
    case ExprKind::kNE:
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return Interval{0, 1};
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
    case ExprKind::kShuffle:
    case ExprKind::kBufferLoad:
    case ExprKind::kProducerLoad:
    case ExprKind::kReduce:
      return std::nullopt;
  }
  DEUTERON_UNREACHABLE();
}

std::optional<Interval> IntervalEvaluator::EvalBinary(const BinaryNode* op) {
  const auto a = Eval(op->a);
  const auto b = Eval(op->b);
  if (!a || !b) return std::nullopt;
  const auto make = [](Value min, Value max) {
    return min && max ? std::optional<Interval>(Interval{*min, *max}) : std::nullopt;
  };
  switch (op->kind) {
    case ExprKind::kAdd:
      return make(CheckedAdd(a->min, b->min), CheckedAdd(a->max, b->max));
    case ExprKind::kSub:
      return make(CheckedSub(a->min, b->max), CheckedSub(a->max, b->min));
    case ExprKind::kMul: {
      const Value ends[] = {CheckedMul(a->min, b->min), CheckedMul(a->min, b->max), CheckedMul(a->max, b->min),
                            CheckedMul(a->max, b->max)};
      if (std::any_of(std::begin(ends), std::end(ends), [](const Value& end) { return !end; })) return std::nullopt;
      const auto [min, max] = std::minmax_element(std::begin(ends), std::end(ends));
      return Interval{**min, **max};
    }
    case ExprKind::kFloorDiv:
      if (b->min != b->max || b->min <= 0) return std::nullopt;
      return Interval{FloorDivInt(a->min, b->min), FloorDivInt(a->max, b->min)};
    case ExprKind::kDiv:
      if (b->min != b->max || b->min <= 0) return std::nullopt;
      return Interval{a->min / b->min, a->max / b->min};
    case ExprKind::kMod:
      if (a->min < 0) return std::nullopt;
      [[fallthrough]];
    case ExprKind::kFloorMod:
      if (b->min <= 0) return std::nullopt;
      if (a->min >= 0 && a->max < b->min) return a;
      return Interval{0, b->max - 1};
    case ExprKind::kMin:
      return Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
    case ExprKind::kMax:
      return Interval{std::max(a->min, b->min), std::max(a->max, b->max)};
    default:
      return std::nullopt;
  }
}

namespace {

/// StepAlong of sums and multiples, which most indices are; nothing of what must be simplified first.
Value StepOfSum(const PrimExpr& index, const VarNode* var) {
  switch (index->kind) {
    case ExprKind::kVar:
      return index.get() == var ? 1 : 0;
    case ExprKind::kIntImm:
      return 0;
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul: {
      const auto* op = static_cast<const BinaryNode*>(index.get());
      const Value a = StepOfSum(op->a, var), b = a ? StepOfSum(op->b, var) : Value();
      if (!b) return std::nullopt;
      if (index->kind == ExprKind::kAdd) return CheckedAdd(*a, *b);
      if (index->kind == ExprKind::kSub) return CheckedSub(*a, *b);
      if (*a == 0 && *b == 0) return 0;
      const Value factor = AsConstInt(*a == 0 ? op->a : op->b);
      return factor ? CheckedMul(*a + *b, *factor) : Value();
    }
    default:
      return UsesVar(index, [var](const VarNode* used) { return used == var; }) ? Value() : Value(0);
  }
}

}  // namespace

std::optional<int64_t> StepAlong(const PrimExpr& index, const Var& var) {
  if (index.dtype().lanes() == 1) {
    if (const Value step = StepOfSum(index, var.get())) return step;
  }
  const PrimExpr next = Substitute(index, ExprVarMap{{var, var + MakeConst(var.dtype(), 1)}});
  return AsConstInt(arith::Analyzer().Simplify(next - index));
}

}  // namespace deuteron::tir
