/// \file
/// Simplification of whole expressions: comparisons, booleans, floats (exact identities only), vectors, lets.
/// Index arithmetic goes through polynomials.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

using tir::BinaryNode;
using tir::FloatImmNode;

ExprKind NegatedCompare(ExprKind kind) {
  switch (kind) {
    case ExprKind::kEQ:
      return ExprKind::kNE;
    case ExprKind::kNE:
      return ExprKind::kEQ;
    case ExprKind::kLT:
      return ExprKind::kGE;
    case ExprKind::kLE:
      return ExprKind::kGT;
    case ExprKind::kGT:
      return ExprKind::kLE;
    default:
      return ExprKind::kLT;
  }
}

namespace {

bool IsFloatConst(const PrimExpr& expr, double value) {
  const auto* imm = expr.as<FloatImmNode>();
  return imm != nullptr && imm->value == value && std::signbit(imm->value) == std::signbit(value);
}

/// Identities that hold for every float, NaN, infinities and the sign of zero included.
PrimExpr FoldFloat(const BinaryNode* op, const PrimExpr& a, const PrimExpr& b) {
  switch (op->kind) {
    case ExprKind::kAdd:
      if (IsFloatConst(b, -0.0)) return a;
      if (IsFloatConst(a, -0.0)) return b;
      break;
    case ExprKind::kSub:
      if (IsFloatConst(b, 0.0)) return a;
      break;
    case ExprKind::kMul:
      if (IsFloatConst(b, 1.0)) return a;
      if (IsFloatConst(a, 1.0)) return b;
      break;
    case ExprKind::kDiv:
      if (IsFloatConst(b, 1.0)) return a;
      if (const auto* imm = b.as<FloatImmNode>(); imm != nullptr && imm->value != 0) {
        // Division by a power of two is multiplication by its exact reciprocal.
        int exponent = 0;
        const bool is_power = std::fabs(std::frexp(imm->value, &exponent)) == 0.5;
        const int limit = op->dtype.bits() == 64 ? 1000 : op->dtype.bits() == 32 ? 120 : 0;
        if (is_power && std::abs(exponent) < limit) {
          return tir::Mul(a, tir::FloatImm(op->dtype, 1.0 / imm->value));
        }
      }
      break;
    case ExprKind::kMin:
    case ExprKind::kMax:
      if (ExprEqual(a, b)) return a;
      break;
    default:
      break;
  }
  return PrimExpr();
}

/// base + stride * lane; a broadcast has stride 0.
struct Lanes {
  PrimExpr base;
  PrimExpr stride;
  int64_t lanes = 0;
};
std::optional<Lanes> AsLanes(const PrimExpr& expr) {
  if (const auto* ramp = expr.as<tir::RampNode>()) return Lanes{ramp->base, ramp->stride, ramp->lanes};
  if (const auto* splat = expr.as<tir::BroadcastNode>()) {
    return Lanes{splat->value, MakeConst(splat->value.dtype(), 0), splat->lanes};
  }
  return std::nullopt;
}

/// Rewrites the children of a node, then the node.
class Rewriter : public ExprMutator {
 public:
  explicit Rewriter(Analyzer::Impl* impl) : impl_(impl) {}
  PrimExpr VisitExpr(const PrimExpr& expr) override { return impl_->Rewrite(expr); }
  PrimExpr RewriteNode(const PrimExpr& expr) { return ExprMutator::VisitExpr(expr); }

 protected:
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    PrimExpr a = VisitExpr(op->a);
    PrimExpr b = VisitExpr(op->b);
    PrimExpr result = FoldBinary(op->kind, a, b);
    if (!result.defined() && op->dtype.is_float() && op->dtype.is_scalar()) result = FoldFloat(op, a, b);
    if (!result.defined() && op->a.dtype().is_vector()) result = FoldVector(op, a, b);
    if (result.defined()) return result;
    if (a.same_as(op->a) && b.same_as(op->b)) return GetRef<PrimExpr>(op);
    return MakeBinary(op->kind, std::move(a), std::move(b));
  }

  PrimExpr VisitSelect_(const tir::SelectNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    if (const auto value = AsConstInt(condition)) return VisitExpr(*value != 0 ? op->true_value : op->false_value);
    PrimExpr true_value = SelectBranch(condition, op->true_value);
    PrimExpr false_value = SelectBranch(Negate(condition), op->false_value);
    if (ExprEqual(true_value, false_value)) return true_value;
    if (condition.same_as(op->condition) && true_value.same_as(op->true_value) &&
        false_value.same_as(op->false_value)) {
      return GetRef<PrimExpr>(op);
    }
    return tir::Select(std::move(condition), std::move(true_value), std::move(false_value));
  }

  PrimExpr VisitCall_(const tir::CallNode* op) override {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    if (!op->op.same_as(if_then_else)) return ExprMutator::VisitCall_(op);
    PrimExpr condition = VisitExpr(op->args[0]);
    if (const auto value = AsConstInt(condition)) return VisitExpr(op->args[*value != 0 ? 1 : 2]);
    PrimExpr true_value = UnderAssumption(condition, op->args[1]);
    PrimExpr false_value = UnderAssumption(Negate(condition), op->args[2]);
    if (ExprEqual(true_value, false_value)) return true_value;
    if (condition.same_as(op->args[0]) && true_value.same_as(op->args[1]) && false_value.same_as(op->args[2])) {
      return GetRef<PrimExpr>(op);
    }
    return tir::Call(op->dtype, op->op, {condition, true_value, false_value});
  }

  PrimExpr VisitLet_(const tir::LetNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    if (value->kind == ExprKind::kVar || value->kind == ExprKind::kIntImm || value->kind == ExprKind::kFloatImm) {
      return VisitExpr(Substitute(op->body, {{op->var, value}}));
    }
    if (Analyzer::Impl::IsIndexType(value.dtype())) {
      const Poly poly = impl_->ToPoly(value);
      const ConstIntBound bound = impl_->BoundOf(poly);
      Atom& atom = impl_->atoms[impl_->VarAtom(op->var)];
      atom.fact = bound;
      atom.is_data = impl_->IsData(poly);
      impl_->Invalidate();
    }
    PrimExpr body = VisitExpr(op->body);
    const auto is_bound_var = [&](const tir::VarNode* var) { return var == op->var.get(); };
    if (!UsesVar(body, is_bound_var)) return body;
    if (value.same_as(op->value) && body.same_as(op->body)) return GetRef<PrimExpr>(op);
    return tir::Let(op->var, std::move(value), std::move(body));
  }

  PrimExpr VisitReduce_(const tir::ReduceNode* op) override {
    for (const tir::IterVar& axis : op->axis) impl_->BindRange(axis->var, axis->dom);
    return ExprMutator::VisitReduce_(op);
  }

 private:
  static PrimExpr Negate(const PrimExpr& condition) {
    if (const auto* op = condition.as<tir::NotNode>()) return op->a;
    return tir::Not(condition);
  }

  /// Both branches of a select are computed, whatever its condition: guards inside, and indices of loads, must hold
  /// without it.
  PrimExpr SelectBranch(const PrimExpr& condition, const PrimExpr& expr) {
    return MayFault(expr) ? VisitExpr(expr) : UnderAssumption(condition, expr);
  }

  PrimExpr UnderAssumption(const PrimExpr& condition, const PrimExpr& expr) {
    if (!condition.dtype().is_scalar() || expr->kind == ExprKind::kFloatImm || expr->kind == ExprKind::kIntImm ||
        expr->kind == ExprKind::kVar) {
      return VisitExpr(expr);
    }
    auto undo = impl_->BeginAssume();
    impl_->Assume(condition, &undo);
    PrimExpr result = VisitExpr(expr);
    impl_->Revert(undo);
    return result;
  }

  /// Operations on ramps and broadcasts of indices.
  PrimExpr FoldVector(const BinaryNode* op, const PrimExpr& a, const PrimExpr& b) {
    const auto x = AsLanes(a);
    const auto y = AsLanes(b);
    if (!x || !y) return PrimExpr();
    const auto scalar = [&](ExprKind kind, const PrimExpr& p, const PrimExpr& q) {
      PrimExpr folded = FoldBinary(kind, p, q);
      return VisitExpr(folded.defined() ? folded : MakeBinary(kind, p, q));
    };
    const auto splat = [&](PrimExpr value) -> PrimExpr { return tir::Broadcast(std::move(value), x->lanes); };
    if (IsZero(x->stride) && IsZero(y->stride)) return splat(scalar(op->kind, x->base, y->base));
    if (!Analyzer::Impl::IsIndexType(op->a.dtype().element())) return PrimExpr();
    switch (op->kind) {
      case ExprKind::kAdd:
      case ExprKind::kSub:
        return MakeLanes(scalar(op->kind, x->base, y->base), scalar(op->kind, x->stride, y->stride), x->lanes);
      case ExprKind::kMul: {
        if (!IsZero(x->stride) && !IsZero(y->stride)) return PrimExpr();
        const PrimExpr& factor = IsZero(x->stride) ? x->base : y->base;
        const PrimExpr& stride = IsZero(x->stride) ? y->stride : x->stride;
        return MakeLanes(scalar(op->kind, x->base, y->base), scalar(op->kind, stride, factor), x->lanes);
      }
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod: {
        const auto divisor = AsConstInt(y->base);
        const auto stride = AsConstInt(x->stride);
        if (!IsZero(y->stride) || !divisor || *divisor <= 0 || !stride) return PrimExpr();
        const bool is_div = op->kind == ExprKind::kFloorDiv;
        if (*stride % *divisor == 0) {
          PrimExpr base = scalar(op->kind, x->base, y->base);
          return is_div ? MakeLanes(base, MakeConst(base.dtype(), *stride / *divisor), x->lanes) : splat(base);
        }
        // All lanes in one block of the divisor.
        const Poly rest = impl_->FloorModPoly(impl_->ToPoly(x->base), ConstPoly(*divisor), x->base.dtype());
        if (*stride <= 0 ||
            !impl_->ProveNonNegative(OffsetPoly(ScalePoly(rest, -1), *divisor - 1 - *stride * (x->lanes - 1)), 1)) {
          return PrimExpr();
        }
        PrimExpr base = scalar(op->kind, x->base, y->base);
        return is_div ? splat(base) : MakeLanes(base, x->stride, x->lanes);
      }
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kLT:
      case ExprKind::kLE:
      case ExprKind::kGT:
      case ExprKind::kGE: {
        if (op->kind == ExprKind::kEQ || op->kind == ExprKind::kNE) return PrimExpr();
        // Monotone in the lane: decided by the first and the last.
        const auto last = [&](const Lanes& l) {
          return AddPoly(impl_->ToPoly(l.base), impl_->ToPoly(l.stride), l.lanes - 1);
        };
        const int first_lane = impl_->DecideCompare(op->kind, impl_->ToPoly(x->base), impl_->ToPoly(y->base), 1);
        if (first_lane < 0 || impl_->DecideCompare(op->kind, last(*x), last(*y), 1) != first_lane) return PrimExpr();
        return splat(first_lane == 1 ? True() : False());
      }
      default:
        return PrimExpr();
    }
  }

  static PrimExpr MakeLanes(PrimExpr base, PrimExpr stride, int64_t lanes) {
    if (IsZero(stride)) return tir::Broadcast(std::move(base), lanes);
    return tir::Ramp(std::move(base), std::move(stride), lanes);
  }

  Analyzer::Impl* impl_;
};

bool IsIndexArithmetic(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kVar:
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kSelect:
      return true;
    case ExprKind::kCall: {
      static const Op if_then_else = Op::Get("tir.if_then_else");
      return static_cast<const tir::CallNode*>(expr.get())->op.same_as(if_then_else);
    }
    default:
      return false;
  }
}

void FlattenLogic(ExprKind kind, const PrimExpr& expr, std::vector<PrimExpr>* parts) {
  // Left spines of conjunctions are long where a kernel has many guards: a loop, then reversed.
  std::vector<PrimExpr> right;
  PrimExpr cursor = expr;
  while (cursor->kind == kind) {
    const auto* op = static_cast<const BinaryNode*>(cursor.get());
    right.push_back(op->b);
    cursor = PrimExpr(op->a);
  }
  parts->push_back(cursor);
  for (auto it = right.rbegin(); it != right.rend(); ++it) {
    if ((*it)->kind == kind) {
      FlattenLogic(kind, *it, parts);
    } else {
      parts->push_back(*it);
    }
  }
}

}  // namespace

PrimExpr Analyzer::Impl::Rewrite(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
      return expr;
    case ExprKind::kVar:
      if (!IsIndexType(expr.dtype())) return expr;
      break;
    default:
      break;
  }
  const bool shared = !expr.unique();
  if (shared) {
    if (auto it = expr_memo.find(expr.get()); it != expr_memo.end() && it->second.epoch == epoch) {
      return it->second.expr;
    }
  }
  const int64_t start = epoch;
  PrimExpr result;
  if (expr.dtype().is_bool() &&
      (expr->kind == ExprKind::kAnd || expr->kind == ExprKind::kOr || expr->kind == ExprKind::kNot) &&
      expr.dtype().is_scalar()) {
    result = RewriteLogic(expr);
  } else if (IsIndexType(expr.dtype()) && IsIndexArithmetic(expr)) {
    result = RewriteIndex(expr);
  } else if (IsComparison(expr->kind) && IsIndexType(static_cast<const BinaryNode*>(expr.get())->a.dtype())) {
    try {
      result = RewriteCompare(static_cast<const BinaryNode*>(expr.get()));
    } catch (const PolyOverflow&) {
      result = expr;
    }
  } else {
    result = Rewriter(this).RewriteNode(expr);
  }
  // Assumptions made on the way were taken back: the result holds for the state at the start.
  if (shared && start == epoch) expr_memo[expr.get()] = MemoEntry{expr, epoch, Poly(), result};
  return result;
}

PrimExpr Analyzer::Impl::RewriteIndex(const PrimExpr& expr) {
  const Poly poly = ToPoly(expr);
  if (poly.is_const() || expr->kind == ExprKind::kVar || Cost(poly) <= CostOf(expr)) {
    PrimExpr result = Emit(poly, expr.dtype());
    return ExprEqual(result, expr) ? expr : result;
  }
  return Rewriter(this).RewriteNode(expr);
}

PrimExpr Analyzer::Impl::RewriteCompare(const BinaryNode* op) {
  const DataType dtype = op->a.dtype();
  const Poly a = ToPoly(op->a);
  const Poly b = ToPoly(op->b);
  const int decided = DecideCompare(op->kind, a, b, 1);
  if (decided >= 0) return decided == 1 ? True() : False();
  const auto as_it_was = [&]() -> PrimExpr {
    PrimExpr x = Rewrite(op->a);
    PrimExpr y = Rewrite(op->b);
    if (x.same_as(op->a) && y.same_as(op->b)) return GetRef<PrimExpr>(op);
    PrimExpr folded = FoldBinary(op->kind, x, y);
    return folded.defined() ? folded : MakeBinary(op->kind, x, y);
  };
  if (IsData(a) || IsData(b)) return as_it_was();
  const bool swap = op->kind == ExprKind::kGT || op->kind == ExprKind::kGE;
  const bool strict = op->kind == ExprKind::kLT || op->kind == ExprKind::kGT;
  const bool is_equality = op->kind == ExprKind::kEQ || op->kind == ExprKind::kNE;
  // slack >= 0, or slack == 0.
  Poly slack = swap ? SubPoly(a, b) : SubPoly(b, a);
  int64_t g = 0;
  for (const Term& term : slack.terms) g = std::gcd(g, term.coeff);
  if (strict) slack = OffsetPoly(std::move(slack), -1);
  if (g > 1) {
    for (Term& term : slack.terms) term.coeff /= g;
    if (is_equality && slack.constant % g != 0) return op->kind == ExprKind::kNE ? True() : False();
    slack.constant = FloorDivInt(slack.constant, g);
  }
  if (!is_equality) {
    // g * high + low >= 0 with 0 <= low < g is high >= 0. Any factor will do: the terms' own.
    int64_t product = 1;
    for (const Term& term : slack.terms) {
      const int64_t magnitude = term.coeff < 0 ? -term.coeff : term.coeff;
      if (magnitude < (int64_t{1} << 31)) product = std::max(product, magnitude);
    }
    int64_t factor = 1;
    Poly high;
    Poly low;
    if (product > 1 && SplitByFactor(slack, product, &factor, &high, &low)) slack = std::move(high);
  }
  // Terms to the side where they are positive.
  Poly left;
  Poly right;
  for (const Term& term : slack.terms) {
    if (term.coeff < 0) {
      left.terms.push_back({term.mono, -term.coeff});
    } else {
      right.terms.push_back(term);
    }
  }
  int64_t constant = slack.constant;
  // x <= 4 is written x < 5 where it was: and x < n rather than x <= n - 1.
  const bool less = !is_equality && (strict || constant == -1);
  if (less) ++constant;
  (constant < 0 ? left : right).constant = constant < 0 ? -constant : constant;
  ExprKind kind = is_equality ? op->kind : less ? ExprKind::kLT : ExprKind::kLE;
  if (is_equality && left.is_const()) std::swap(left, right);
  if (Cost(left) + Cost(right) > CostOf(op->a) + CostOf(op->b)) return as_it_was();
  PrimExpr result = MakeBinary(kind, Emit(left, dtype), Emit(right, dtype));
  return ExprEqual(result, GetRef<PrimExpr>(op)) ? GetRef<PrimExpr>(op) : result;
}

PrimExpr Analyzer::Impl::RewriteLogic(const PrimExpr& expr) {
  if (expr->kind == ExprKind::kNot) {
    const auto* op = static_cast<const tir::NotNode*>(expr.get());
    PrimExpr a = Rewrite(op->a);
    if (const auto value = AsConstInt(a)) return *value != 0 ? False() : True();
    if (const auto* inner = a.as<tir::NotNode>()) return inner->a;
    if (IsComparison(a->kind)) {
      const auto* compare = static_cast<const BinaryNode*>(a.get());
      if (compare->a.dtype().is_integer()) return MakeBinary(NegatedCompare(a->kind), compare->a, compare->b);
    }
    return a.same_as(op->a) ? expr : PrimExpr(tir::Not(a));
  }
  const bool is_and = expr->kind == ExprKind::kAnd;
  std::vector<PrimExpr> parts;
  FlattenLogic(expr->kind, expr, &parts);
  // Each part may use that those before it did not decide.
  Undo undo = BeginAssume();
  std::vector<PrimExpr> kept;
  std::unordered_multimap<size_t, size_t> seen;
  bool changed = false;
  bool decided = false;
  for (const PrimExpr& part : parts) {
    PrimExpr simple = Rewrite(part);
    changed = changed || !simple.same_as(part);
    if (const auto value = AsConstInt(simple)) {
      changed = true;
      if ((*value != 0) == is_and) continue;
      decided = true;
      break;
    }
    const size_t hash = ExprHash(simple);
    bool duplicate = false;
    for (auto [it, end] = seen.equal_range(hash); it != end; ++it) {
      duplicate = duplicate || ExprEqual(kept[it->second], simple);
    }
    if (duplicate) {
      changed = true;
      continue;
    }
    seen.emplace(hash, kept.size());
    kept.push_back(simple);
    Assume(is_and ? simple : PrimExpr(tir::Not(simple)), &undo);
  }
  Revert(undo);
  if (decided) return is_and ? False() : True();
  if (!changed) return expr;
  if (kept.empty()) return is_and ? True() : False();
  PrimExpr result = kept[0];
  for (size_t i = 1; i < kept.size(); ++i) result = MakeBinary(expr->kind, result, kept[i]);
  return result;
}

}  // namespace deuteron::arith
