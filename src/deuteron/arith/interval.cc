/// \file
/// Symbolic intervals and linear forms.
#include <algorithm>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

namespace {

using Impl = Analyzer::Impl;

struct Interval {
  std::optional<Poly> min;
  std::optional<Poly> max;
};

/// Evaluates polynomials over a box of variables. Variables that are not in the box are constants.
class IntervalEvaluator {
 public:
  IntervalEvaluator(Impl* impl, const DomainMap& domains) : impl_(impl) {
    for (const auto& [var, range] : domains) {
      if (!Impl::IsIndexType(var.dtype())) continue;
      Poly lower = impl->ToPoly(range->min);
      Poly upper = OffsetPoly(AddPoly(lower, impl->ToPoly(range->extent)), -1);
      domains_.emplace(impl->VarAtom(var), Interval{std::move(lower), std::move(upper)});
    }
  }

  Interval Eval(const Poly& poly, DataType dtype) {
    Interval sum{ConstPoly(poly.constant), ConstPoly(poly.constant)};
    // Terms with the same varying atom are taken together, so that x * 4 - x stays exact.
    std::vector<int32_t> varying;
    for (const Term& term : poly.terms) {
      int32_t found = -1;
      int count = 0;
      for (const int32_t atom : impl_->monos[term.mono]) {
        if (Varies(atom)) {
          found = atom;
          ++count;
        }
      }
      if (count > 1) return {};
      if (count == 0) {
        Accumulate(&sum, Poly{{term}, 0}, Poly{{term}, 0});
      } else if (std::find(varying.begin(), varying.end(), found) == varying.end()) {
        varying.push_back(found);
      }
    }
    for (const int32_t atom : varying) {
      PolyBuilder builder;
      for (const Term& term : poly.terms) {
        const std::vector<int32_t> factors = impl_->monos[term.mono];
        if (std::find(factors.begin(), factors.end(), atom) == factors.end()) continue;
        impl_->AddProduct(impl_->MonoWithout(term.mono, atom), term.coeff, &builder);
      }
      const Poly coeff = builder.Finish();
      const bool positive = impl_->ProveNonNegative(coeff, 2);
      if (!positive && !impl_->ProveNonNegative(ScalePoly(coeff, -1), 2)) return {};
      Interval value = EvalAtom(atom, dtype);
      if (!positive) std::swap(value.min, value.max);
      Accumulate(&sum, value.min ? std::optional<Poly>(impl_->MulPoly(coeff, *value.min)) : std::nullopt,
                 value.max ? std::optional<Poly>(impl_->MulPoly(coeff, *value.max)) : std::nullopt);
    }
    if (sum.min) sum.min = impl_->Recombine(*sum.min, dtype);
    if (sum.max) sum.max = impl_->Recombine(*sum.max, dtype);
    return sum;
  }

 private:
  bool Varies(int32_t atom) const {
    const auto& deps = impl_->atoms[atom].deps;
    return std::any_of(deps.begin(), deps.end(), [&](int32_t dep) { return domains_.count(dep) != 0; });
  }
  bool Varies(const Poly& poly) const {
    return std::any_of(poly.terms.begin(), poly.terms.end(), [&](const Term& term) {
      const auto& factors = impl_->monos[term.mono];
      return std::any_of(factors.begin(), factors.end(), [&](int32_t atom) { return Varies(atom); });
    });
  }

  static void Accumulate(Interval* sum, const std::optional<Poly>& min, const std::optional<Poly>& max) {
    const auto add = [](std::optional<Poly>* a, const std::optional<Poly>& b) {
      if (*a && b) {
        *a = AddPoly(**a, *b);
      } else {
        a->reset();
      }
    };
    add(&sum->min, min);
    add(&sum->max, max);
  }

  Interval EvalAtom(int32_t id, DataType dtype) {
    const Atom atom = impl_->atoms[id];
    if (atom.kind == AtomKind::kVar) return domains_.at(id);
    if (atom.is_data) return {};
    if (atom.kind == AtomKind::kOpaque) return EvalOpaque(atom);
    const Interval a = Eval(atom.a, dtype);
    const Interval b = Eval(atom.b, dtype);
    const auto both = [](const std::optional<Poly>& x, const std::optional<Poly>& y, auto&& combine) {
      return x && y ? std::optional<Poly>(combine(*x, *y)) : std::nullopt;
    };
    const auto min = [&](const Poly& x, const Poly& y) { return impl_->MinMax(true, x, y, dtype); };
    const auto max = [&](const Poly& x, const Poly& y) { return impl_->MinMax(false, x, y, dtype); };
    switch (atom.kind) {
      case AtomKind::kMin: {
        Interval result{both(a.min, b.min, min), both(a.max, b.max, min)};
        if (!result.max) result.max = a.max ? a.max : b.max;
        return result;
      }
      case AtomKind::kMax: {
        Interval result{both(a.min, b.min, max), both(a.max, b.max, max)};
        if (!result.min) result.min = a.min ? a.min : b.min;
        return result;
      }
      case AtomKind::kSelect:
        return {both(a.min, b.min, min), both(a.max, b.max, max)};
      case AtomKind::kFloorDiv: {
        if (Varies(atom.b) || impl_->BoundOf(atom.b).min_value < 0) return {};
        const auto divide = [&](const std::optional<Poly>& x) {
          return x ? std::optional<Poly>(impl_->FloorDivPoly(*x, atom.b, dtype)) : std::nullopt;
        };
        return {divide(a.min), divide(a.max)};
      }
      case AtomKind::kFloorMod: {
        if (Varies(atom.b) || impl_->BoundOf(atom.b).min_value < 0) return {};
        if (a.min && a.max) {
          const Poly low = impl_->FloorDivPoly(*a.min, atom.b, dtype);
          if (low == impl_->FloorDivPoly(*a.max, atom.b, dtype)) {
            const Poly base = impl_->MulPoly(low, atom.b);
            return {SubPoly(*a.min, base), SubPoly(*a.max, base)};
          }
        }
        return {ConstPoly(0), OffsetPoly(atom.b, -1)};
      }
      default:
        return {};
    }
  }

  /// A cast between index types is monotone; anything else may have constant bounds.
  Interval EvalOpaque(const Atom& atom) {
    if (const auto* cast = atom.expr.as<tir::CastNode>();
        cast != nullptr && Impl::IsIndexType(cast->value.dtype()) && cast->dtype.bits() >= cast->value.dtype().bits()) {
      const DataType from = cast->value.dtype();
      const Interval inner = Eval(impl_->ToPoly(cast->value), from);
      const auto convert = [&](const std::optional<Poly>& x) {
        return x ? std::optional<Poly>(impl_->ToPoly(CastTo(cast->dtype, impl_->Emit(*x, from)))) : std::nullopt;
      };
      return {convert(inner.min), convert(inner.max)};
    }
    const ConstIntBound bound = impl_->BoundOfOpaque(atom.expr);
    Interval result;
    if (bound.min_value != ConstIntBound::kNegInf) result.min = ConstPoly(bound.min_value);
    if (bound.max_value != ConstIntBound::kPosInf) result.max = ConstPoly(bound.max_value);
    return result;
  }

  Impl* impl_;
  std::unordered_map<int32_t, Interval> domains_;
};

}  // namespace

SymbolicInterval EvalInterval(const PrimExpr& expr, const DomainMap& domains, Analyzer* analyzer) {
  Impl* impl = analyzer->impl();
  Impl::Scope scope(impl);
  if (!Impl::IsIndexType(expr.dtype())) return {};
  try {
    IntervalEvaluator evaluator(impl, domains);
    const Interval result = evaluator.Eval(impl->ToPoly(expr), expr.dtype());
    SymbolicInterval interval;
    if (result.min) interval.min = impl->Emit(*result.min, expr.dtype());
    if (result.max) interval.max = impl->Emit(*result.max, expr.dtype());
    return interval;
  } catch (const PolyOverflow&) {
    return {};
  }
}

std::optional<LinearForm> DetectLinear(const PrimExpr& expr, const std::vector<tir::Var>& vars, Analyzer* analyzer) {
  Impl* impl = analyzer->impl();
  Impl::Scope scope(impl);
  if (!Impl::IsIndexType(expr.dtype())) return std::nullopt;
  try {
    const Poly poly = impl->ToPoly(expr);
    std::vector<int32_t> ids;
    for (const tir::Var& var : vars) ids.push_back(impl->VarAtom(var));
    std::vector<PolyBuilder> coeffs(vars.size());
    PolyBuilder rest;
    rest.AddConstant(poly.constant);
    for (const Term& term : poly.terms) {
      int position = -1;
      for (const int32_t atom : impl->monos[term.mono]) {
        const auto it = std::find(ids.begin(), ids.end(), atom);
        if (it != ids.end()) {
          if (position >= 0) return std::nullopt;
          position = static_cast<int>(it - ids.begin());
          continue;
        }
        const auto& deps = impl->atoms[atom].deps;
        const auto inside = [&](int32_t id) { return std::binary_search(deps.begin(), deps.end(), id); };
        if (std::any_of(ids.begin(), ids.end(), inside)) return std::nullopt;
      }
      if (position < 0) {
        rest.Add(term.mono, term.coeff);
      } else {
        impl->AddProduct(impl->MonoWithout(term.mono, ids[position]), term.coeff, &coeffs[position]);
      }
    }
    LinearForm form;
    for (PolyBuilder& builder : coeffs) form.coeffs.push_back(impl->Emit(builder.Finish(), expr.dtype()));
    form.rest = impl->Emit(rest.Finish(), expr.dtype());
    return form;
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

}  // namespace deuteron::arith
