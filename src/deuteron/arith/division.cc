/// \file
/// Floor division and modulo of polynomials, and the way back: quotient * divisor + remainder → the whole.
///
/// All rules hold for every integer value of the atoms; divisors are assumed not to be zero.
#include <algorithm>
#include <numeric>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

namespace {

bool FitsType(int64_t value, DataType dtype) {
  return dtype.bits() >= 64 || (value >= INT32_MIN && value <= INT32_MAX);
}

bool IsUnbounded(const ConstIntBound& bound) {
  return bound.min_value == ConstIntBound::kNegInf || bound.max_value == ConstIntBound::kPosInf;
}

}  // namespace

Poly Analyzer::Impl::FloorDivPoly(const Poly& a, const Poly& b, DataType dtype) {
  if (!b.is_const()) return DivSymbolic(a, b, dtype);
  if (b.constant == 0 || b.constant == INT64_MIN) return AtomPoly(OpAtom(AtomKind::kFloorDiv, a, b, dtype));
  if (b.constant < 0) return DivConst(ScalePoly(a, -1), -b.constant, dtype);
  return DivConst(a, b.constant, dtype);
}

Poly Analyzer::Impl::FloorModPoly(const Poly& a, const Poly& b, DataType dtype) {
  if (!b.is_const()) return ModSymbolic(a, b, dtype);
  if (b.constant <= 0) {
    if (a.is_const() && b.constant != 0) return ConstPoly(FloorModInt(a.constant, b.constant));
    return AtomPoly(OpAtom(AtomKind::kFloorMod, a, b, dtype));
  }
  return ModConst(a, b.constant, dtype);
}

bool Analyzer::Impl::SplitByFactor(const Poly& a, int64_t divisor, int64_t* factor, Poly* high, Poly* low) {
  std::vector<int64_t> candidates;
  for (const Term& term : a.terms) {
    const int64_t g = std::gcd(term.coeff, divisor);
    if (g > 1) candidates.push_back(g);
  }
  std::sort(candidates.rbegin(), candidates.rend());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (const int64_t g : candidates) {
    Poly rest;
    Poly multiple;
    for (const Term& term : a.terms) (term.coeff % g == 0 ? multiple : rest).terms.push_back(term);
    rest.constant = FloorModInt(a.constant, g);
    const ConstIntBound bound = BoundOf(rest);
    if (IsUnbounded(bound)) continue;
    const int64_t block = FloorDivInt(bound.min_value, g);
    if (block != FloorDivInt(bound.max_value, g)) continue;
    for (Term& term : multiple.terms) term.coeff /= g;
    multiple.constant = FloorDivInt(a.constant, g) + block;
    *factor = g;
    *high = std::move(multiple);
    *low = OffsetPoly(std::move(rest), -block * g);
    return true;
  }
  return false;
}

Poly Analyzer::Impl::DivConst(const Poly& a, int64_t divisor, DataType dtype) {
  if (divisor == 1) return a;
  Poly quotient = ConstPoly(FloorDivInt(a.constant, divisor));
  Poly rest = ConstPoly(FloorModInt(a.constant, divisor));
  for (const Term& term : a.terms) {
    if (term.coeff % divisor == 0) {
      quotient.terms.push_back({term.mono, term.coeff / divisor});
    } else {
      rest.terms.push_back(term);
    }
  }
  if (rest.is_const()) return quotient;
  const ConstIntBound bound = BoundOf(rest);
  if (!IsUnbounded(bound) && FloorDivInt(bound.min_value, divisor) == FloorDivInt(bound.max_value, divisor)) {
    return OffsetPoly(std::move(quotient), FloorDivInt(bound.min_value, divisor));
  }
  int64_t factor = 1;
  Poly high;
  Poly low;
  if (SplitByFactor(rest, divisor, &factor, &high, &low)) {
    return AddPoly(quotient, DivConst(high, divisor / factor, dtype));
  }
  if (rest.terms.size() == 1 && rest.terms[0].coeff == 1 && monos[rest.terms[0].mono].size() == 1) {
    const Atom atom = atoms[monos[rest.terms[0].mono][0]];
    if (atom.kind == AtomKind::kFloorDiv && atom.b.is_const() && atom.b.constant > 0 && !atom.is_data) {
      // floor((floor(x / d) + k) / c) = floor((x + k d) / (c d))
      int64_t product = 0;
      if (!__builtin_mul_overflow(atom.b.constant, divisor, &product) && FitsType(product, dtype)) {
        const Poly inner = OffsetPoly(atom.a, rest.constant * atom.b.constant);
        return AddPoly(quotient, DivConst(inner, product, dtype));
      }
    }
    if (atom.kind == AtomKind::kFloorDiv && rest.constant == 0 && !atom.b.is_const() && !atom.is_data &&
        BoundOf(atom.b).min_value >= 0) {
      return AddPoly(quotient, FloorDivPoly(atom.a, ScalePoly(atom.b, divisor), dtype));
    }
    if (atom.kind == AtomKind::kFloorMod && rest.constant == 0 && atom.b.is_const() && atom.b.constant > 0 &&
        atom.b.constant % divisor == 0 && !atom.is_data) {
      // (x % m) // c = (x // c) % (m / c) where c divides m
      return AddPoly(quotient, ModConst(DivConst(atom.a, divisor, dtype), atom.b.constant / divisor, dtype));
    }
  }
  return AddPoly(quotient, AtomValue(OpAtom(AtomKind::kFloorDiv, rest, ConstPoly(divisor), dtype)));
}

Poly Analyzer::Impl::ModConst(Poly a, int64_t divisor, DataType dtype) {
  if (divisor == 1) return ConstPoly(0);
  // Multiples of the divisor vanish; k * (x % m) is k * x where the divisor divides k * m.
  for (bool changed = true; changed;) {
    changed = false;
    std::erase_if(a.terms, [&](const Term& term) { return term.coeff % divisor == 0; });
    a.constant = FloorModInt(a.constant, divisor);
    for (const Term& term : a.terms) {
      if (monos[term.mono].size() != 1) continue;
      const Atom& atom = atoms[monos[term.mono][0]];
      int64_t product = 0;
      if (atom.kind != AtomKind::kFloorMod || !atom.b.is_const() || atom.is_data ||
          __builtin_mul_overflow(term.coeff, atom.b.constant, &product) || product % divisor != 0) {
        continue;
      }
      const Term replaced = term;
      const Poly inner = atom.a;
      PolyBuilder builder;
      builder.Add(a, 1);
      builder.Add(replaced.mono, -replaced.coeff);
      builder.Add(inner, replaced.coeff);
      a = builder.Finish();
      changed = true;
      break;
    }
  }
  const auto reduce_by_bound = [&](const Poly& poly) -> std::optional<Poly> {
    const ConstIntBound bound = BoundOf(poly);
    if (IsUnbounded(bound)) return std::nullopt;
    const int64_t block = FloorDivInt(bound.min_value, divisor);
    if (block != FloorDivInt(bound.max_value, divisor)) return std::nullopt;
    return OffsetPoly(poly, -block * divisor);
  };
  if (a.is_const()) return a;
  if (auto reduced = reduce_by_bound(a)) return *reduced;
  bool smaller = false;
  for (Term& term : a.terms) {
    if (term.coeff >= divisor || term.coeff <= -divisor) {
      term.coeff = FloorModInt(term.coeff, divisor);
      smaller = true;
    }
  }
  if (smaller) {
    if (auto reduced = reduce_by_bound(a)) return *reduced;
  }
  int64_t factor = 1;
  Poly high;
  Poly low;
  if (SplitByFactor(a, divisor, &factor, &high, &low)) {
    return AddPoly(low, ModConst(high, divisor / factor, dtype), factor);
  }
  return AtomValue(OpAtom(AtomKind::kFloorMod, a, ConstPoly(divisor), dtype));
}

void Analyzer::Impl::LongDivide(const Poly& a, const Poly& b, Poly* quotient, Poly* remainder) {
  constexpr int kMaxSteps = 16;
  const Term lead = *std::max_element(b.terms.begin(), b.terms.end(), [&](const Term& x, const Term& y) {
    return std::make_pair(monos[x.mono].size(), x.mono) < std::make_pair(monos[y.mono].size(), y.mono);
  });
  *quotient = Poly();
  *remainder = a;
  for (int step = 0; step < kMaxSteps; ++step) {
    bool divided = false;
    for (const Term& term : remainder->terms) {
      PolyBuilder builder;
      if (!DivideTerm(term, lead, &builder)) continue;
      const Poly part = builder.Finish();
      *quotient = AddPoly(*quotient, part);
      *remainder = SubPoly(*remainder, MulPoly(part, b));
      divided = true;
      break;
    }
    if (!divided) return;
  }
}

/// Where a = g h + l with 0 <= l < g, and b = g m: a // b = h // m, and a % b = g (h % m) + l.
std::optional<Analyzer::Impl::SymbolicSplit> Analyzer::Impl::SplitBySymbolic(const Poly& a, const Poly& b) {
  if (b.terms.size() != 1 || b.constant != 0 || b.terms[0].coeff < 2 || BoundOf(b).min_value < 0) return std::nullopt;
  SymbolicSplit split;
  if (!SplitByFactor(a, b.terms[0].coeff, &split.factor, &split.high, &split.low)) return std::nullopt;
  split.divisor = b;
  split.divisor.terms[0].coeff /= split.factor;
  return split;
}

Poly Analyzer::Impl::DivSymbolic(const Poly& a, const Poly& b, DataType dtype) {
  if (a.is_zero()) return a;
  Poly quotient;
  Poly rest;
  LongDivide(a, b, &quotient, &rest);
  if (rest.is_zero()) return quotient;
  // 0 <= rest < b
  if (ProveNonNegative(rest, 1) && ProveNonNegative(OffsetPoly(SubPoly(b, rest), -1), 1)) return quotient;
  if (b.terms.size() > 1 || b.constant != 0 || quotient.is_zero()) {
    quotient = Poly();
    rest = a;
  }
  if (const int32_t id = SingleAtom(rest); id >= 0 && atoms[id].kind == AtomKind::kFloorDiv) {
    const Atom atom = atoms[id];
    if (!atom.is_data && BoundOf(atom.b).min_value >= 0 && BoundOf(b).min_value >= 0 &&
        atom.b.terms.size() * b.terms.size() <= 8) {
      return AddPoly(quotient, FloorDivPoly(atom.a, MulPoly(atom.b, b), dtype));
    }
  }
  if (auto split = SplitBySymbolic(rest, b)) return AddPoly(quotient, FloorDivPoly(split->high, split->divisor, dtype));
  if (b.terms.size() == 1 && b.constant == 0 && rest.constant == 0) {
    // (x * n) // (m * n) = x // m: factors common to all terms.
    std::vector<int32_t> common = monos[b.terms[0].mono];
    int64_t g = b.terms[0].coeff < 0 ? 1 : b.terms[0].coeff;
    for (const Term& term : rest.terms) {
      std::vector<int32_t> both;
      const auto& have = monos[term.mono];
      std::set_intersection(common.begin(), common.end(), have.begin(), have.end(), std::back_inserter(both));
      common = std::move(both);
      g = std::gcd(g, term.coeff);
    }
    if (!common.empty() || g > 1) {
      const auto cancel = [&](const Poly& poly) {
        PolyBuilder builder;
        for (const Term& term : poly.terms) {
          std::vector<int32_t> left;
          const auto& have = monos[term.mono];
          std::set_difference(have.begin(), have.end(), common.begin(), common.end(), std::back_inserter(left));
          AddProduct(left.empty() ? -1 : MonoOf(std::move(left)), term.coeff / g, &builder);
        }
        return builder.Finish();
      };
      return AddPoly(quotient, FloorDivPoly(cancel(rest), cancel(b), dtype));
    }
  }
  return AddPoly(quotient, AtomValue(OpAtom(AtomKind::kFloorDiv, rest, b, dtype)));
}

Poly Analyzer::Impl::ModSymbolic(const Poly& a, const Poly& b, DataType dtype) {
  Poly quotient;
  Poly rest;
  LongDivide(a, b, &quotient, &rest);
  if (rest.is_zero()) return rest;
  if (ProveNonNegative(rest, 1) && ProveNonNegative(OffsetPoly(SubPoly(b, rest), -1), 1)) return rest;
  if (b.terms.size() > 1 || b.constant != 0) rest = a;
  if (auto split = SplitBySymbolic(rest, b))
    return AddPoly(split->low, FloorModPoly(split->high, split->divisor, dtype), split->factor);
  return AtomValue(OpAtom(AtomKind::kFloorMod, rest, b, dtype));
}

Poly Analyzer::Impl::Recombine(Poly poly, DataType dtype) {
  while ((poly.terms.size() > 1 || num_assumed_values > 0) && RecombineOnce(&poly, dtype)) {
  }
  return poly;
}

/// One of, for any factor k:
///   k * (x % d) + k * d * (x // d)            → k * x
///   k * (x % d) + k * d * ((x // d) % e)      → k * (x % (d * e))
///   both also where the x of the quotient differs from that of the remainder by a multiple of d
///   k * x - k * d * (x // d)                  → k * (x % d)
bool Analyzer::Impl::RecombineOnce(Poly* poly, DataType dtype) {
  for (size_t i = 0; i < poly->terms.size(); ++i) {
    const Term term = poly->terms[i];
    // By index: the tables grow below.
    for (size_t j = 0; j < monos[term.mono].size(); ++j) {
      const int32_t id = monos[term.mono][j];
      const AtomKind kind = atoms[id].kind;
      if ((kind != AtomKind::kFloorDiv && kind != AtomKind::kFloorMod) || atoms[id].is_data) continue;
      const Poly x = atoms[id].a;
      const Poly d = atoms[id].b;
      PolyBuilder factor_builder;
      AddProduct(MonoWithout(term.mono, id), term.coeff, &factor_builder);
      const Poly factor = factor_builder.Finish();
      PolyBuilder result;
      result.Add(*poly, 1);
      result.Add(term.mono, -term.coeff);
      if (kind == AtomKind::kFloorDiv) {
        Poly k;
        Poly rest;
        if (d.is_const()) {
          if (term.coeff % d.constant != 0) continue;
          k = factor;
          for (Term& t : k.terms) t.coeff /= -d.constant;
          k.constant /= -d.constant;
        } else {
          if (factor.is_const()) continue;
          LongDivide(ScalePoly(factor, -1), d, &k, &rest);
          if (!rest.is_zero()) continue;
        }
        const Poly whole = MulPoly(k, x);
        if (num_assumed_values > 0) {  // d * (x // d) = x - r where x % d is known to be r
          const Poly rest_of_x = FloorModPoly(x, d, dtype);
          if (rest_of_x.is_const()) {
            result.Add(MulPoly(k, OffsetPoly(x, -rest_of_x.constant)), -1);
            *poly = result.Finish();
            return true;
          }
        }
        if (whole.is_const() || !ContainsTerms(*poly, whole)) continue;
        result.Add(whole, -1);
        result.Add(MulPoly(k, FloorModPoly(x, d, dtype)), 1);
        *poly = result.Finish();
        return true;
      }
      const Poly quotient = FloorDivPoly(x, d, dtype);
      const Poly scaled = MulPoly(factor, d);
      const Poly high = MulPoly(scaled, quotient);
      if (!high.is_const() && ContainsTerms(*poly, high)) {
        result.Add(high, -1);
        result.Add(MulPoly(factor, x), 1);
        *poly = result.Finish();
        return true;
      }
      if (scaled.terms.size() + (scaled.constant != 0 ? 1 : 0) != 1) continue;
      for (const Term& other : poly->terms) {
        for (size_t l = 0; l < monos[other.mono].size(); ++l) {
          const int32_t high_id = monos[other.mono][l];
          if (high_id == id) continue;
          PolyBuilder high_builder;
          AddProduct(MonoWithout(other.mono, high_id), other.coeff, &high_builder);
          if (!(high_builder.Finish() == scaled)) continue;
          const std::optional<Poly> joined = JoinDigits(x, d, quotient, high_id, dtype);
          if (!joined) continue;
          result.Add(other.mono, -other.coeff);
          result.Add(MulPoly(factor, *joined), 1);
          *poly = result.Finish();
          return true;
        }
      }
    }
  }
  return false;
}

/// x % d + d * atom as one polynomial, where the atom is y // d or (y // d) % e, and y is x or differs from it by a
/// multiple of d: dividends of remainders were reduced, those of quotients were not. `quotient` is x // d.
std::optional<Poly> Analyzer::Impl::JoinDigits(const Poly& x, const Poly& d, const Poly& quotient, int32_t atom,
                                               DataType dtype) {
  const AtomKind kind = atoms[atom].kind;
  // By value: the tables grow below.
  const Poly dividend = atoms[atom].a;
  const Poly divisor = atoms[atom].b;
  const auto congruent = [&](const Poly& y) {
    if (!d.is_const() || d.constant <= 0) return false;
    // Also where a remainder within y, by a multiple of d, was taken for the whole in x.
    return ModConst(SubPoly(y, x), d.constant, dtype).is_zero();
  };
  if (kind == AtomKind::kFloorDiv) {
    if (!(divisor == d) || !congruent(dividend)) return std::nullopt;
    return dividend;
  }
  if (kind != AtomKind::kFloorMod) return std::nullopt;
  Poly whole = x;
  if (!(dividend == quotient)) {
    const int32_t inner = SingleAtom(dividend);
    if (inner < 0 || atoms[inner].kind != AtomKind::kFloorDiv || !(atoms[inner].b == d)) return std::nullopt;
    whole = atoms[inner].a;
    if (!congruent(whole)) return std::nullopt;
  }
  const Poly modulus = MulPoly(d, divisor);
  if (BoundOf(d).min_value < 0 || BoundOf(modulus).min_value < 0) return std::nullopt;
  if (modulus.is_const() && !FitsType(modulus.constant, dtype)) return std::nullopt;
  return FloorModPoly(whole, modulus, dtype);
}

}  // namespace deuteron::arith
