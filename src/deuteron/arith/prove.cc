/// \file
/// Proofs that a polynomial is not negative.
///
/// Constant bounds first; they forget how terms hang together, so then: variables are replaced, the last
/// bound first, by the end of their symbolic range that makes the polynomial least; assumed facts are
/// subtracted; minima, maxima, selects and floor divisions are split into what they may be.
#include <algorithm>
#include <numeric>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

using tir::BinaryNode;

namespace {

constexpr size_t kMaxTerms = 32;
constexpr int kMaxEliminations = 24;

/// g * x + c >= 0 is x + floor(c / g) >= 0.
Poly Tighten(Poly poly) {
  int64_t g = 0;
  for (const Term& term : poly.terms) g = std::gcd(g, term.coeff);
  if (g <= 1) return poly;
  for (Term& term : poly.terms) term.coeff /= g;
  poly.constant = FloorDivInt(poly.constant, g);
  return poly;
}

}  // namespace

Poly Analyzer::Impl::ReplaceAtom(const Poly& poly, int32_t atom, const Poly& value) {
  PolyBuilder builder;
  builder.AddConstant(poly.constant);
  for (const Term& term : poly.terms) {
    const auto& factors = monos[term.mono];
    if (!std::binary_search(factors.begin(), factors.end(), atom)) {
      builder.Add(term.mono, term.coeff);
      continue;
    }
    PolyBuilder factor;
    AddProduct(MonoWithout(term.mono, atom), term.coeff, &factor);
    builder.Add(MulPoly(factor.Finish(), value), 1);
  }
  return builder.Finish();
}

namespace {

/// The polynomial that multiplies `atom`; false where the atom occurs squared.
bool CoefficientOf(Analyzer::Impl* impl, const Poly& poly, int32_t atom, Poly* coefficient) {
  PolyBuilder builder;
  for (const Term& term : poly.terms) {
    const auto count = std::count(impl->monos[term.mono].begin(), impl->monos[term.mono].end(), atom);
    if (count > 1) return false;
    if (count == 1) impl->AddProduct(impl->MonoWithout(term.mono, atom), term.coeff, &builder);
  }
  *coefficient = builder.Finish();
  return true;
}

/// The atoms of `poly`, each once.
std::vector<int32_t> AtomsOf(const Analyzer::Impl& impl, const Poly& poly) {
  std::vector<int32_t> ids;
  for (const Term& term : poly.terms) {
    ids.insert(ids.end(), impl.monos[term.mono].begin(), impl.monos[term.mono].end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

bool Analyzer::Impl::EliminateOne(Poly* poly) {
  std::vector<int32_t> ids = AtomsOf(*this, *poly);
  const auto order = [&](int32_t id) { return atoms[id].kind == AtomKind::kFloorMod ? INT32_MAX : atoms[id].order; };
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t x, int32_t y) { return order(x) > order(y); });
  for (const int32_t id : ids) {
    const bool is_symbolic_mod = atoms[id].kind == AtomKind::kFloorMod && !atoms[id].b.is_const();
    if (atoms[id].kind != AtomKind::kVar && !is_symbolic_mod) continue;
    const bool inside_other = std::any_of(ids.begin(), ids.end(), [&](int32_t other) {
      const auto& deps = atoms[other].deps;
      return other != id && std::binary_search(deps.begin(), deps.end(), id);
    });
    if (inside_other) continue;
    Poly coefficient;
    if (!CoefficientOf(this, *poly, id, &coefficient)) continue;
    const ConstIntBound sign = BoundOf(coefficient);
    const bool use_lower = sign.min_value >= 0;
    if (!use_lower && sign.max_value > 0) continue;
    Poly end;
    if (is_symbolic_mod) {
      const Poly divisor = atoms[id].b;
      if (BoundOf(divisor).min_value < 0) continue;
      end = use_lower ? ConstPoly(0) : OffsetPoly(divisor, -1);
    } else {
      const Atom& atom = atoms[id];
      if (use_lower && atom.has_lower && !atom.lower.is_const()) {
        end = atom.lower;
      } else if (!use_lower && atom.has_upper && !atom.upper.is_const()) {
        end = atom.upper;
      } else {
        const ConstIntBound bound = BoundOfAtom(id);
        const int64_t value = use_lower ? bound.min_value : bound.max_value;
        if (value == ConstIntBound::kNegInf || value == ConstIntBound::kPosInf) continue;
        end = ConstPoly(value);
      }
    }
    *poly = ReplaceAtom(*poly, id, end);
    return true;
  }
  return false;
}

bool Analyzer::Impl::ProveByElimination(Poly poly) {
  for (int step = 0; step < kMaxEliminations && poly.terms.size() <= kMaxTerms; ++step) {
    if (!EliminateOne(&poly)) return false;
    poly = Tighten(Recombine(poly, DataType::Int(64)));
    if (BoundOf(poly).min_value >= 0) return true;
  }
  return false;
}

bool Analyzer::Impl::ProveByFacts(const Poly& poly, int depth) {
  constexpr size_t kMaxFacts = 16;
  const size_t first = facts.size() > kMaxFacts ? facts.size() - kMaxFacts : 0;
  for (size_t i = facts.size(); i > first; --i) {
    const Poly fact = facts[i - 1];
    int64_t tried = 0;
    for (const Term& term : fact.terms) {
      const int64_t coeff = CoeffOf(poly, term.mono);
      if (coeff == 0 || coeff % term.coeff != 0) continue;
      const int64_t times = coeff / term.coeff;
      if (times <= 0 || times == tried) continue;
      tried = times;
      // poly = times * fact + rest, fact >= 0.
      if (ProveNonNegative(AddPoly(poly, fact, -times), depth - 1)) return true;
    }
  }
  return false;
}

bool Analyzer::Impl::ProveByCases(const Poly& poly, int depth) {
  std::vector<int32_t> ids = AtomsOf(*this, poly);
  int splits = 0;
  for (auto it = ids.rbegin(); it != ids.rend() && splits < 4; ++it) {
    const int32_t id = *it;
    const AtomKind kind = atoms[id].kind;
    if (kind == AtomKind::kVar || kind == AtomKind::kOpaque || atoms[id].is_data) continue;
    const Poly a = atoms[id].a;
    const Poly b = atoms[id].b;
    Poly k;
    if (!CoefficientOf(this, poly, id, &k)) continue;
    const ConstIntBound sign = BoundOf(k);
    const bool positive = sign.min_value >= 0;
    const bool negative = sign.max_value <= 0;
    const auto with = [&](const Poly& value) { return ProveNonNegative(ReplaceAtom(poly, id, value), depth - 1); };
    ++splits;
    switch (kind) {
      case AtomKind::kMin:
      case AtomKind::kMax:
        if ((kind == AtomKind::kMin && negative) || (kind == AtomKind::kMax && positive)) {
          if (with(a) || with(b)) return true;
        } else if (with(a) && with(b)) {
          return true;
        }
        break;
      case AtomKind::kSelect:
        if (with(a) && with(b)) return true;
        break;
      case AtomKind::kFloorMod:
        if (negative && BoundOf(a).min_value >= 0 && with(a)) return true;
        break;
      case AtomKind::kFloorDiv: {
        if (b.is_const()) {
          // a - b + 1 <= b * (a // b) <= a; b * poly >= bound is enough where bound > -b.
          const int64_t c = b.constant;
          if (c <= 0 || (!positive && !negative)) break;
          const Poly scaled = ScalePoly(ReplaceAtom(poly, id, ConstPoly(0)), c);
          const Poly end = positive ? OffsetPoly(a, 1 - c) : a;
          if (ProveNonNegative(OffsetPoly(AddPoly(scaled, MulPoly(k, end)), c - 1), depth - 1)) return true;
          break;
        }
        if (BoundOf(b).min_value < 0 || k.is_const()) break;
        Poly times;
        Poly rest;
        LongDivide(k, b, &times, &rest);
        if (!rest.is_zero()) break;
        const ConstIntBound times_sign = BoundOf(times);
        if (times_sign.min_value < 0 && times_sign.max_value > 0) break;
        const Poly end = times_sign.min_value >= 0 ? OffsetPoly(SubPoly(a, b), 1) : a;
        const Poly left = ReplaceAtom(poly, id, ConstPoly(0));
        if (ProveNonNegative(AddPoly(left, MulPoly(times, end)), depth - 1)) return true;
        break;
      }
      case AtomKind::kVar:
      case AtomKind::kOpaque:
        break;
    }
  }
  return false;
}

/// x // c - y // c is at least (x - y) // c.
bool Analyzer::Impl::ProveByQuotients(const Poly& poly) {
  if (poly.terms.size() != 2 || poly.terms[0].coeff != -poly.terms[1].coeff) return false;
  const bool first_is_added = poly.terms[0].coeff > 0;
  const auto& added = monos[static_cast<size_t>(poly.terms[first_is_added ? 0 : 1].mono)];
  const auto& taken = monos[static_cast<size_t>(poly.terms[first_is_added ? 1 : 0].mono)];
  if (added.size() != 1 || taken.size() != 1) return false;
  const Atom &x = atoms[static_cast<size_t>(added[0])], &y = atoms[static_cast<size_t>(taken[0])];
  if (x.kind != AtomKind::kFloorDiv || y.kind != AtomKind::kFloorDiv || !(x.b == y.b) || !x.b.is_const() ||
      x.b.constant <= 0 || x.is_data || y.is_data)
    return false;
  const Poly difference = SubPoly(x.a, y.a);
  if (!difference.is_const()) return false;
  const int64_t least = FloorDivInt(difference.constant, x.b.constant);
  return OffsetPoly(ConstPoly(poly.constant), std::abs(poly.terms[0].coeff) * least).constant >= 0;
}

/// x // c lies between (x - c + 1) / c and x / c; an integer above -1 is not negative.
bool Analyzer::Impl::ProveByFractions(const Poly& poly) {
  constexpr int64_t kMostCommon = int64_t{1} << 20;
  const auto quotient_of = [&](const Term& term) -> const Atom* {
    const auto& mono = monos[static_cast<size_t>(term.mono)];
    if (mono.size() != 1) return nullptr;
    const Atom& atom = atoms[static_cast<size_t>(mono[0])];
    const bool is_quotient = atom.kind == AtomKind::kFloorDiv && atom.b.is_const() && atom.b.constant > 0;
    return is_quotient && !atom.is_data ? &atom : nullptr;
  };
  int64_t common = 1;
  bool has_quotients = false;
  for (const Term& term : poly.terms) {
    const Atom* quotient = quotient_of(term);
    if (quotient == nullptr) continue;
    has_quotients = true;
    if (quotient->b.constant > kMostCommon) return false;
    common = std::lcm(common, quotient->b.constant);
    if (common > kMostCommon) return false;
  }
  if (!has_quotients) return false;
  // The sum in units of 1 / common.
  Poly least = OffsetPoly(ScalePoly(ConstPoly(poly.constant), common), common - 1);
  for (const Term& term : poly.terms) {
    const Atom* quotient = quotient_of(term);
    if (quotient == nullptr) {
      least = AddPoly(least, Poly{{term}, 0}, common);
    } else {
      const int64_t divisor = quotient->b.constant;
      const Poly end = term.coeff > 0 ? OffsetPoly(quotient->a, 1 - divisor) : quotient->a;
      least = AddPoly(least, ScalePoly(end, common / divisor), term.coeff);
    }
  }
  return BoundOf(least).min_value >= 0;
}

bool Analyzer::Impl::ProveNonNegative(const Poly& original, int depth) {
  if (original.is_const()) return original.constant >= 0;
  if (BoundOf(original).min_value >= 0 || ProveByQuotients(original) || ProveByFractions(original)) return true;
  if (depth <= 0 || IsData(original) || original.terms.size() > kMaxTerms) return false;
  const Poly poly = Tighten(original);
  if (BoundOf(poly).min_value >= 0 || ProveByElimination(poly)) return true;
  if (!facts.empty() && ProveByFacts(poly, depth)) return true;
  return depth > 1 && ProveByCases(poly, depth);
}

int Analyzer::Impl::DecideCompare(ExprKind kind, const Poly& a, const Poly& b, int depth) {
  if (kind == ExprKind::kGT) return DecideCompare(ExprKind::kLT, b, a, depth);
  if (kind == ExprKind::kGE) return DecideCompare(ExprKind::kLE, b, a, depth);
  if (kind == ExprKind::kNE) {
    const int equal = DecideCompare(ExprKind::kEQ, a, b, depth);
    return equal < 0 ? -1 : 1 - equal;
  }
  if (a == b) return kind == ExprKind::kLT ? 0 : 1;
  if (IsData(a) || IsData(b)) {  // differences may wrap around; bounds are true
    const ConstIntBound x = BoundOf(a);
    const ConstIntBound y = BoundOf(b);
    const bool below = x.max_value < y.min_value;
    const bool above = x.min_value > y.max_value;
    if (kind == ExprKind::kEQ) return below || above ? 0 : -1;
    if (kind == ExprKind::kLT) {
      return below ? 1
             : (x.min_value >= y.max_value && y.max_value != ConstIntBound::kPosInf &&
                x.min_value != ConstIntBound::kNegInf)
                 ? 0
                 : -1;
    }
    if (x.max_value <= y.min_value && x.max_value != ConstIntBound::kPosInf && y.min_value != ConstIntBound::kNegInf) {
      return 1;
    }
    return above ? 0 : -1;
  }
  const Poly difference = SubPoly(b, a);
  if (kind == ExprKind::kEQ) {
    if (difference.is_zero()) return 1;
    const ModularSet set = ModularOf(difference);
    if (set.coeff == 0 ? set.base != 0 : set.base % set.coeff != 0) return 0;
    if (ProveNonNegative(OffsetPoly(difference, -1), depth)) return 0;
    if (ProveNonNegative(OffsetPoly(ScalePoly(difference, -1), -1), depth)) return 0;
    if (depth > 1 && ProveNonNegative(difference, depth) && ProveNonNegative(ScalePoly(difference, -1), depth)) {
      return 1;
    }
    return -1;
  }
  const Poly slack = kind == ExprKind::kLT ? OffsetPoly(difference, -1) : difference;
  if (ProveNonNegative(slack, depth)) return 1;
  if (ProveNonNegative(OffsetPoly(ScalePoly(slack, -1), -1), depth)) return 0;
  return -1;
}

bool Analyzer::Impl::Prove(const PrimExpr& condition, int depth) {
  if (const auto value = AsConstInt(condition)) return *value != 0;
  if (condition->kind == ExprKind::kAnd || condition->kind == ExprKind::kOr) {
    const auto* op = static_cast<const BinaryNode*>(condition.get());
    if (condition->kind == ExprKind::kAnd) return Prove(op->a, depth) && Prove(op->b, depth);
    return Prove(op->a, depth) || Prove(op->b, depth);
  }
  bool negated = false;
  PrimExpr inner = condition;
  while (inner->kind == ExprKind::kNot) {
    inner = static_cast<const tir::NotNode*>(inner.get())->a;
    negated = !negated;
  }
  if (IsComparison(inner->kind)) {
    const auto* op = static_cast<const BinaryNode*>(inner.get());
    if (IsIndexType(op->a.dtype())) {
      return DecideCompare(inner->kind, ToPoly(op->a), ToPoly(op->b), depth) == (negated ? 0 : 1);
    }
  }
  return IsConstInt(Rewrite(condition), 1);
}

}  // namespace deuteron::arith
