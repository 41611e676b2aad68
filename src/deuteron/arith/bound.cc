/// \file
/// Constant bounds by interval arithmetic that saturates at the infinities, and modular sets.
#include <algorithm>
#include <numeric>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

namespace {

constexpr int64_t kNegInf = ConstIntBound::kNegInf;
constexpr int64_t kPosInf = ConstIntBound::kPosInf;

bool IsInf(int64_t value) { return value == kNegInf || value == kPosInf; }

/// For sums of two lower (or two upper) ends: an infinity wins.
int64_t AddEnds(int64_t a, int64_t b) {
  if (IsInf(a)) return a;
  if (IsInf(b)) return b;
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? kNegInf : kPosInf;
  return sum;
}

int64_t MulEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t product = 0;
  if (IsInf(a) || IsInf(b) || __builtin_mul_overflow(a, b, &product)) {
    return (a < 0) != (b < 0) ? kNegInf : kPosInf;
  }
  return product;
}

ConstIntBound AddBounds(const ConstIntBound& a, const ConstIntBound& b) {
  return {AddEnds(a.min_value, b.min_value), AddEnds(a.max_value, b.max_value)};
}

ConstIntBound MulBounds(const ConstIntBound& a, const ConstIntBound& b) {
  const auto [lo, hi] = std::minmax({MulEnds(a.min_value, b.min_value), MulEnds(a.min_value, b.max_value),
                                     MulEnds(a.max_value, b.min_value), MulEnds(a.max_value, b.max_value)});
  return {lo, hi};
}

int64_t DivEnds(int64_t a, int64_t b) {
  if (IsInf(a)) return a;  // divisors here are positive
  if (b == kPosInf) return a < 0 ? -1 : 0;
  return FloorDivInt(a, b);
}

/// Positive divisors only.
ConstIntBound DivBounds(const ConstIntBound& a, const ConstIntBound& b) {
  const auto [lo, hi] = std::minmax({DivEnds(a.min_value, b.min_value), DivEnds(a.min_value, b.max_value),
                                     DivEnds(a.max_value, b.min_value), DivEnds(a.max_value, b.max_value)});
  return {lo, hi};
}

ConstIntBound Intersect(const ConstIntBound& a, const ConstIntBound& b) {
  return {std::max(a.min_value, b.min_value), std::min(a.max_value, b.max_value)};
}
ConstIntBound Union(const ConstIntBound& a, const ConstIntBound& b) {
  return {std::min(a.min_value, b.min_value), std::max(a.max_value, b.max_value)};
}

/// What a type can hold; int32 and int64 count as unbounded (indices do not overflow).
ConstIntBound BoundOfType(DataType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_uint()) return {0, dtype.bits() >= 63 ? kPosInf : (int64_t{1} << dtype.bits()) - 1};
  if (dtype.is_int() && dtype.bits() < 32) {
    return {-(int64_t{1} << (dtype.bits() - 1)), (int64_t{1} << (dtype.bits() - 1)) - 1};
  }
  return {};
}

}  // namespace

ConstIntBound Analyzer::Impl::BoundOf(const Poly& poly) {
  ConstIntBound sum{poly.constant, poly.constant};
  if (poly.is_const()) return sum;
  if (IsData(poly) && SingleAtom(poly) < 0) return {};  // may have wrapped around
  for (const Term& term : poly.terms) {
    sum = AddBounds(sum, MulBounds(BoundOfMono(term.mono), {term.coeff, term.coeff}));
    if (sum.min_value == kNegInf && sum.max_value == kPosInf) break;
  }
  return sum;
}

ConstIntBound Analyzer::Impl::BoundOfMono(int32_t mono) {
  ConstIntBound product{1, 1};
  const size_t size = monos[mono].size();
  for (size_t i = 0; i < size; ++i) {
    ConstIntBound factor = BoundOfAtom(monos[mono][i]);
    if (i + 1 < size && monos[mono][i] == monos[mono][i + 1]) {  // a square
      factor = MulBounds(factor, factor);
      factor.min_value = std::max<int64_t>(factor.min_value, 0);
      ++i;
    }
    product = MulBounds(product, factor);
  }
  return product;
}

ConstIntBound Analyzer::Impl::BoundOfAtom(int32_t id) {
  if (atoms[id].bound_epoch == epoch) return atoms[id].bound;
  if (atoms[id].in_progress) return atoms[id].fact;
  atoms[id].in_progress = true;
  const ConstIntBound bound = Intersect(ComputeAtomBound(id), atoms[id].fact);
  Atom& atom = atoms[id];
  atom.in_progress = false;
  atom.bound = bound;
  atom.bound_epoch = epoch;
  return bound;
}

ConstIntBound Analyzer::Impl::ComputeAtomBound(int32_t id) {
  const AtomKind kind = atoms[id].kind;
  const bool is_op = kind != AtomKind::kVar && kind != AtomKind::kOpaque;
  const Poly a = is_op ? atoms[id].a : Poly();
  const Poly b = is_op ? atoms[id].b : Poly();
  switch (kind) {
    case AtomKind::kVar: {
      ConstIntBound bound = BoundOfType(atoms[id].expr.dtype());
      if (atoms[id].has_lower) {
        const Poly lower = atoms[id].lower;
        bound.min_value = std::max(bound.min_value, BoundOf(lower).min_value);
      }
      if (atoms[id].has_upper) {
        const Poly upper = atoms[id].upper;
        bound.max_value = std::min(bound.max_value, BoundOf(upper).max_value);
      }
      return bound;
    }
    case AtomKind::kFloorDiv: {
      ConstIntBound divisor = BoundOf(b);
      if (divisor.min_value < 0) return {};
      divisor.min_value = std::max<int64_t>(divisor.min_value, 1);  // division by zero is an error
      if (divisor.max_value < divisor.min_value) return {};
      return DivBounds(BoundOf(a), divisor);
    }
    case AtomKind::kFloorMod: {
      const ConstIntBound divisor = BoundOf(b);
      if (divisor.min_value < 0) return {};
      ConstIntBound bound{0, divisor.max_value == kPosInf ? kPosInf : std::max<int64_t>(divisor.max_value - 1, 0)};
      const ConstIntBound value = BoundOf(a);
      if (value.min_value >= 0) bound.max_value = std::min(bound.max_value, value.max_value);
      return bound;
    }
    case AtomKind::kMin: {
      const ConstIntBound x = BoundOf(a);
      const ConstIntBound y = BoundOf(b);
      return {std::min(x.min_value, y.min_value), std::min(x.max_value, y.max_value)};
    }
    case AtomKind::kMax: {
      const ConstIntBound x = BoundOf(a);
      const ConstIntBound y = BoundOf(b);
      return {std::max(x.min_value, y.min_value), std::max(x.max_value, y.max_value)};
    }
    case AtomKind::kSelect:
      return Union(BoundOf(a), BoundOf(b));
    case AtomKind::kOpaque:
      return BoundOfOpaque(atoms[id].expr);
  }
  DEUTERON_UNREACHABLE();
}

ConstIntBound Analyzer::Impl::BoundOfOpaque(const PrimExpr& expr) {
  const DataType dtype = expr.dtype();
  if (expr->kind == ExprKind::kCast) {
    const PrimExpr& value = static_cast<const tir::CastNode*>(expr.get())->value;
    const DataType from = value.dtype();
    if (!from.is_scalar() || (!from.is_integer() && !from.is_bool())) return BoundOfType(dtype);
    ConstIntBound bound = BoundOfType(from);
    if (IsIndexType(from)) bound = BoundOf(ToPoly(value));
    if (!dtype.is_int() && !dtype.is_uint()) return BoundOfType(dtype);
    // A cast that may wrap says nothing.
    const ConstIntBound limits =
        dtype.is_int() && dtype.bits() == 32 ? ConstIntBound{INT32_MIN, INT32_MAX} : BoundOfType(dtype);
    const bool widens = dtype.bits() >= from.bits() && (dtype.is_int() || !from.is_int());
    const bool fits = bound.min_value >= limits.min_value && bound.max_value <= limits.max_value;
    return (widens && (dtype.bits() > from.bits() || dtype.is_int() == from.is_int())) || fits
               ? Intersect(bound, limits)
               : BoundOfType(dtype);
  }
  if (const auto value = AsConstInt(expr)) return {*value, *value};
  return BoundOfType(dtype);
}

ModularSet Analyzer::Impl::ModularOf(const Poly& poly) {
  ModularSet set{0, poly.constant};
  for (const Term& term : poly.terms) {
    set.coeff = std::gcd(set.coeff, term.coeff);
  }
  if (IsData(poly)) return {1, 0};
  if (set.coeff != 0) set.base = FloorModInt(set.base, set.coeff);
  return set;
}

}  // namespace deuteron::arith
