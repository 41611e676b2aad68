#include "deuteron/arith/analyzer.h"

#include <algorithm>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

using tir::BinaryNode;

Analyzer::Impl::Impl() = default;

Analyzer::Impl::Scope::~Scope() {
  if (--impl->nesting == 0) {
    impl->poly_memo.clear();
    impl->expr_memo.clear();
  }
}

void Analyzer::Impl::BindRange(const tir::Var& var, const tir::Range& range) {
  if (!IsIndexType(var.dtype())) return;
  const bool is_new = var_atoms.count(var.get()) == 0;
  Poly lower;
  Poly upper;
  bool known = true;
  try {
    lower = ToPoly(range->min);
    upper = OffsetPoly(AddPoly(lower, ToPoly(range->extent)), -1);
  } catch (const PolyOverflow&) {
    known = false;
  }
  const int32_t id = VarAtom(var);
  Atom& atom = atoms[id];
  atom.order = next_order++;
  if (known && !IsData(lower) && !IsData(upper)) {
    const auto mentions = [&](const Poly& poly) { return DependsOn(poly, id); };
    DEUTERON_CHECK(!mentions(lower) && !mentions(upper))
        << "the range of variable " << Downcast<tir::Var>(atom.expr)->name_hint << " mentions it";
    atom.has_value = lower == upper;
    if (atom.has_value) atom.value = lower;
    atom.has_lower = true;
    atom.has_upper = true;
    atom.lower = std::move(lower);
    atom.upper = std::move(upper);
  }
  if (!is_new) Invalidate();
}

void Analyzer::Impl::AssumeNonNegative(const Poly& poly, Undo* undo) {
  if (poly.is_const() || IsData(poly)) return;
  // A bound of a single atom tightens its interval.
  if (poly.terms.size() == 1 && monos[poly.terms[0].mono].size() == 1) {
    const int32_t id = monos[poly.terms[0].mono][0];
    const int64_t coeff = poly.terms[0].coeff;
    undo->bounds.emplace_back(id, atoms[id].fact);
    ConstIntBound& fact = atoms[id].fact;
    if (coeff > 0) {  // coeff * x + c >= 0
      fact.min_value = std::max(fact.min_value, -FloorDivInt(poly.constant, coeff));
    } else {
      fact.max_value = std::min(fact.max_value, FloorDivInt(poly.constant, -coeff));
    }
    Invalidate();
    return;
  }
  facts.push_back(poly);
  Invalidate();
}

void Analyzer::Impl::Assume(const PrimExpr& condition, Undo* undo) {
  if (!condition.dtype().is_scalar()) return;
  bool negated = false;
  PrimExpr inner = condition;
  while (inner->kind == ExprKind::kNot) {
    inner = PrimExpr(static_cast<const tir::NotNode*>(inner.get())->a);
    negated = !negated;
  }
  if (inner->kind == ExprKind::kAnd || inner->kind == ExprKind::kOr) {
    if ((inner->kind == ExprKind::kAnd) == negated) return;  // a disjunction says nothing simple
    const auto* op = static_cast<const BinaryNode*>(inner.get());
    const auto part = [&](const PrimExpr& expr) { Assume(negated ? PrimExpr(tir::Not(expr)) : expr, undo); };
    part(op->a);
    part(op->b);
    return;
  }
  if (!IsComparison(inner->kind)) return;
  const auto* op = static_cast<const BinaryNode*>(inner.get());
  if (!IsIndexType(op->a.dtype())) return;
  ExprKind kind = negated ? NegatedCompare(inner->kind) : inner->kind;
  try {
    Poly a = ToPoly(op->a);
    Poly b = ToPoly(op->b);
    if (IsData(a) || IsData(b)) return;
    switch (kind) {
      case ExprKind::kLT:
        AssumeNonNegative(OffsetPoly(SubPoly(b, a), -1), undo);
        break;
      case ExprKind::kLE:
        AssumeNonNegative(SubPoly(b, a), undo);
        break;
      case ExprKind::kGT:
        AssumeNonNegative(OffsetPoly(SubPoly(a, b), -1), undo);
        break;
      case ExprKind::kGE:
        AssumeNonNegative(SubPoly(a, b), undo);
        break;
      case ExprKind::kEQ: {
        if (a.is_const()) std::swap(a, b);
        const int32_t id = SingleAtom(a);
        if (id >= 0 && b.is_const() && !atoms[id].has_value) {
          atoms[id].has_value = true;
          atoms[id].value = b;
          undo->values.push_back(id);
          ++num_assumed_values;
        }
        AssumeNonNegative(SubPoly(a, b), undo);
        AssumeNonNegative(SubPoly(b, a), undo);
        break;
      }
      case ExprKind::kNE: {
        // x != c where c is the end of the interval of x.
        if (a.is_const()) std::swap(a, b);
        const Poly difference = SubPoly(a, b);
        const ConstIntBound bound = BoundOf(difference);
        if (bound.min_value == 0) AssumeNonNegative(OffsetPoly(difference, -1), undo);
        if (bound.max_value == 0) AssumeNonNegative(OffsetPoly(ScalePoly(difference, -1), -1), undo);
        break;
      }
      default:
        DEUTERON_UNREACHABLE();
    }
  } catch (const PolyOverflow&) {
  }
}

void Analyzer::Impl::Revert(const Undo& undo) {
  if (facts.size() == undo.num_facts && undo.bounds.empty() && undo.values.empty()) return;
  facts.resize(undo.num_facts);
  for (auto it = undo.bounds.rbegin(); it != undo.bounds.rend(); ++it) atoms[it->first].fact = it->second;
  for (const int32_t id : undo.values) atoms[id].has_value = false;
  num_assumed_values -= static_cast<int>(undo.values.size());
  Invalidate();
}

// --- Public interface ------------------------------------------------------------------------------------

struct Analyzer::Constraint::Impl {
  Analyzer::Impl* analyzer;
  Analyzer::Impl::Undo undo;
};

Analyzer::Constraint::Constraint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Analyzer::Constraint::Constraint(Constraint&&) noexcept = default;
Analyzer::Constraint::~Constraint() {
  if (impl_ != nullptr) impl_->analyzer->Revert(impl_->undo);
}

Analyzer::Analyzer() : impl_(std::make_unique<Impl>()) {}
Analyzer::~Analyzer() = default;

void Analyzer::Bind(const tir::Var& var, const tir::Range& range) {
  Impl::Scope scope(impl_.get());
  impl_->BindRange(var, range);
}

void Analyzer::Bind(const tir::Var& var, const PrimExpr& value) {
  Impl::Scope scope(impl_.get());
  if (!Impl::IsIndexType(var.dtype())) return;
  try {
    Poly poly = impl_->ToPoly(value);
    Atom& atom = impl_->atoms[impl_->VarAtom(var)];
    atom.has_value = true;
    atom.value = std::move(poly);
    atom.is_data = impl_->IsData(atom.value);
    impl_->Invalidate();
  } catch (const PolyOverflow&) {
  }
}

void Analyzer::MarkNonNegative(const tir::Var& var) {
  if (!Impl::IsIndexType(var.dtype())) return;
  ConstIntBound& fact = impl_->atoms[impl_->VarAtom(var)].fact;
  if (fact.min_value >= 0) return;
  fact.min_value = 0;
  impl_->Invalidate();
}

Analyzer::Constraint Analyzer::Assume(const PrimExpr& condition) {
  Impl::Scope scope(impl_.get());
  auto state = std::make_unique<Constraint::Impl>();
  state->analyzer = impl_.get();
  state->undo = impl_->BeginAssume();
  impl_->Assume(condition, &state->undo);
  return Constraint(std::move(state));
}

PrimExpr Analyzer::Simplify(const PrimExpr& expr) {
  Impl::Scope scope(impl_.get());
  return impl_->Rewrite(expr);
}

bool Analyzer::CanProve(const PrimExpr& condition) {
  Impl::Scope scope(impl_.get());
  try {
    return impl_->Prove(condition, 3);
  } catch (const PolyOverflow&) {
    return false;
  }
}

bool Analyzer::CanProveEqual(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_as(b)) return true;
  const auto x = AsConstInt(a);
  const auto y = AsConstInt(b);
  if (x && y) return *x == *y;
  Impl::Scope scope(impl_.get());
  // Shapes and indices of different integer types compare by value.
  if (!Impl::IsIndexType(a.dtype()) || !Impl::IsIndexType(b.dtype())) {
    return ExprEqual(impl_->Rewrite(a), impl_->Rewrite(b));
  }
  try {
    return impl_->DecideCompare(ExprKind::kEQ, impl_->ToPoly(a), impl_->ToPoly(b), 3) == 1;
  } catch (const PolyOverflow&) {
    return false;
  }
}

bool Analyzer::CanProveGreaterEqual(const PrimExpr& expr, int64_t lower) {
  Impl::Scope scope(impl_.get());
  try {
    return Impl::IsIndexType(expr.dtype()) &&
           impl_->DecideCompare(ExprKind::kLE, ConstPoly(lower), impl_->ToPoly(expr), 3) == 1;
  } catch (const PolyOverflow&) {
    return false;
  }
}

bool Analyzer::CanProveLess(const PrimExpr& a, const PrimExpr& b) {
  Impl::Scope scope(impl_.get());
  try {
    return Impl::IsIndexType(a.dtype()) && Impl::IsIndexType(b.dtype()) &&
           impl_->DecideCompare(ExprKind::kLT, impl_->ToPoly(a), impl_->ToPoly(b), 3) == 1;
  } catch (const PolyOverflow&) {
    return false;
  }
}

ConstIntBound Analyzer::Bound(const PrimExpr& expr) {
  Impl::Scope scope(impl_.get());
  if (!Impl::IsIndexType(expr.dtype())) return impl_->BoundOfOpaque(expr);
  try {
    return impl_->BoundOf(impl_->ToPoly(expr));
  } catch (const PolyOverflow&) {
    return {};
  }
}

ModularSet Analyzer::Modular(const PrimExpr& expr) {
  Impl::Scope scope(impl_.get());
  if (!Impl::IsIndexType(expr.dtype())) return {};
  try {
    return impl_->ModularOf(impl_->ToPoly(expr));
  } catch (const PolyOverflow&) {
    return {};
  }
}

Analyzer::Impl* Analyzer::impl() { return impl_.get(); }

}  // namespace deuteron::arith
