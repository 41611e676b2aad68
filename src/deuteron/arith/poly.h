/// \file
/// Sums of products with integer coefficients: the canonical form of index expressions. Internal to arith/.
///
/// A polynomial is a list of terms sorted by monomial; a monomial is an interned, sorted multiset of atoms;
/// an atom is whatever the polynomial cannot look into: a variable, a floor division, a minimum, a load. With
/// everything interned by number, two index expressions are equal where their polynomials are.
#pragma once

#include <cstdint>
#include <vector>

#include "deuteron/ir/scalar_format.h"

namespace deuteron::arith {

struct Term {
  int32_t mono = 0;
  int64_t coeff = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

struct Poly {
  /// Sorted by monomial, no coefficient zero.
  std::vector<Term> terms;
  int64_t constant = 0;

  bool is_const() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
  friend bool operator==(const Poly&, const Poly&) = default;
};

inline Poly ConstPoly(int64_t value) { return Poly{{}, value}; }

/// Adds up terms in any order. Coefficients past int64 set `overflow`, and the sum is then to be thrown away.
class PolyBuilder {
 public:
  void Add(int32_t mono, int64_t coeff) { terms_.push_back({mono, coeff}); }
  void AddConstant(int64_t value) { overflow_ = overflow_ || __builtin_add_overflow(constant_, value, &constant_); }
  void Add(const Poly& poly, int64_t scale) {
    for (const Term& term : poly.terms) {
      int64_t coeff = 0;
      overflow_ = overflow_ || __builtin_mul_overflow(term.coeff, scale, &coeff);
      terms_.push_back({term.mono, coeff});
    }
    int64_t constant = 0;
    overflow_ = overflow_ || __builtin_mul_overflow(poly.constant, scale, &constant);
    AddConstant(constant);
  }
  void MarkOverflow() { overflow_ = true; }
  bool overflow() const { return overflow_; }
  /// The sum; leaves the builder empty.
  Poly Finish();

 private:
  std::vector<Term> terms_;
  int64_t constant_ = 0;
  bool overflow_ = false;
};

/// Thrown inside arith/ only, where a coefficient leaves int64; the caller keeps the expression as it is.
struct PolyOverflow {};

Poly AddPoly(const Poly& a, const Poly& b, int64_t scale_of_b = 1);
Poly ScalePoly(const Poly& a, int64_t scale);
inline Poly SubPoly(const Poly& a, const Poly& b) { return AddPoly(a, b, -1); }
inline Poly OffsetPoly(Poly a, int64_t value) {
  if (__builtin_add_overflow(a.constant, value, &a.constant)) throw PolyOverflow();
  return a;
}
/// The coefficient of a monomial, 0 if it does not occur.
int64_t CoeffOf(const Poly& poly, int32_t mono);
/// Whether every term of `part` is a term of `whole` with the same coefficient.
bool ContainsTerms(const Poly& whole, const Poly& part);

}  // namespace deuteron::arith
