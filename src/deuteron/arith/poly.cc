#include "deuteron/arith/poly.h"

#include <algorithm>

namespace deuteron::arith {

Poly PolyBuilder::Finish() {
  if (terms_.size() > 1) {
    std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.mono < b.mono; });
  }
  Poly result;
  result.constant = constant_;
  result.terms.reserve(terms_.size());
  for (const Term& term : terms_) {
    if (!result.terms.empty() && result.terms.back().mono == term.mono) {
      int64_t& coeff = result.terms.back().coeff;
      overflow_ = overflow_ || __builtin_add_overflow(coeff, term.coeff, &coeff);
    } else {
      result.terms.push_back(term);
    }
  }
  std::erase_if(result.terms, [](const Term& term) { return term.coeff == 0; });
  terms_.clear();
  constant_ = 0;
  if (overflow_) throw PolyOverflow();
  return result;
}

Poly AddPoly(const Poly& a, const Poly& b, int64_t scale_of_b) {
  PolyBuilder builder;
  builder.Add(a, 1);
  builder.Add(b, scale_of_b);
  return builder.Finish();
}

Poly ScalePoly(const Poly& a, int64_t scale) {
  if (scale == 1) return a;
  PolyBuilder builder;
  builder.Add(a, scale);
  return builder.Finish();
}

int64_t CoeffOf(const Poly& poly, int32_t mono) {
  const auto it = std::lower_bound(poly.terms.begin(), poly.terms.end(), mono,
                                   [](const Term& term, int32_t key) { return term.mono < key; });
  return it != poly.terms.end() && it->mono == mono ? it->coeff : 0;
}

bool ContainsTerms(const Poly& whole, const Poly& part) {
  return std::all_of(part.terms.begin(), part.terms.end(),
                     [&](const Term& term) { return CoeffOf(whole, term.mono) == term.coeff; });
}

}  // namespace deuteron::arith
