#include "deuteron/codegen/llvm/vector_avx512.h"

#include <array>
#include <cmath>
#include <vector>

#include "deuteron/codegen/llvm/vector_tables.h"

namespace deuteron::codegen {
namespace {

using llvm::Value;

/// Rounding of vector instructions: as the processor is set.
constexpr int kCurrentRounding = 4;

}  // namespace

Value* Avx512Math::Lookup(const double (&table)[32], Value* index) {
  std::array<std::vector<llvm::Constant*>, 2> halves;
  for (size_t i = 0; i < 32; ++i) {
    halves[i / 16].push_back(llvm::ConstantFP::get(b_.getFloatTy(), table[i]));
  }
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_ps_512, {},
                            {llvm::ConstantVector::get(halves[0]), index, llvm::ConstantVector::get(halves[1])});
}

Value* Avx512Math::Scale(Value* mantissa, Value* exponent) {
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                            {mantissa, exponent, mantissa, b_.getInt16(-1), b_.getInt32(kCurrentRounding)});
}

Value* Avx512Math::Exponent(Value* x) {
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                            {x, x, b_.getInt16(-1), b_.getInt32(kCurrentRounding)});
}

Value* Avx512Math::Mantissa(Value* x, int interval_and_sign) {
  return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
                            {x, b_.getInt32(interval_and_sign), x, b_.getInt16(-1), b_.getInt32(kCurrentRounding)});
}

/// exp(x) = 2^n exp(r), n = round(x / ln 2), r = x - n ln 2 with ln 2 in two parts.
Value* Avx512Math::Exp(Value* x) {
  x = Clamp(x, -104.5, 89.0);
  Value* n = Round(x, 1.44269504088896341).whole;
  Value* r = WithoutLn2(x, n);
  Value* one = Constant(x, 1.0);
  return Scale(Fma(Fma(Polynomial(r, kExp), r, one), r, one), n);
}

Value* Avx512Math::Exp2(Value* x) {
  x = Clamp(x, -151.0, 129.0);
  Value* n = Round(x, 1).whole;
  Value* r = b_.CreateFSub(x, n);
  return Scale(Fma(r, Polynomial(r, kExp2), Constant(x, 1.0)), n);
}

/// 1 / (1 + exp(-x)) = 2^n / (2^n + exp(-r)), x = n ln 2 + r: neither overflows, and denormal results are rounded once.
Value* Avx512Math::Sigmoid(Value* x) {
  x = Clamp(x, -104.5, 60.0);
  Value* n = Round(x, 1.44269504088896341).whole;
  Value* r = WithoutLn2(x, n);
  Value* e = ExpOfNegative(r);
  Value* one = Constant(x, 1.0);
  Value* sum = b_.CreateFAdd(e, Scale(one, n));
  // 14 bits, and as many again from one step of Newton's.
  Value* inverse = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rcp14_ps_512, {}, {sum, sum, b_.getInt16(-1)});
  Value* rest = Fma(b_.CreateFNeg(sum), inverse, one);
  return Scale(Fma(inverse, rest, inverse), n);
}

Value* Avx512Math::Rsqrt(Value* x) {
  Value* y = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, {}, {x, x, b_.getInt16(-1)});
  Value* rest = Fma(b_.CreateFNeg(b_.CreateFMul(x, y)), y, Constant(x, 1.0));
  Value* result = Fma(b_.CreateFMul(y, Constant(x, 0.5)), rest, y);
  // Of 0 and infinity the first approximation is exact, and the step 0 times infinity.
  return b_.CreateSelect(b_.CreateFCmpUNO(rest, rest), y, result);
}

template <size_t kTerms>
Value* Avx512Math::OddPieces(Value* x, const double (&table)[kTerms][32], double step, double limit) {
  Value* magnitude = AtMost(Abs(x), limit);
  const Rounded j = Round(magnitude, 1 / step);
  Value* t = Fma(j.whole, Constant(x, -step), magnitude);
  Value* index = Bits(j.shifted);
  Value* result = Lookup(table[kTerms - 1], index);
  for (size_t k = kTerms - 1; k-- > 0;) result = Fma(result, t, Lookup(table[k], index));
  return CopySign(result, x);
}

Value* Avx512Math::Tanh(Value* x) { return OddPieces(x, kTanh, 147.0 / 512, 9.04); }

Value* Avx512Math::Erf(Value* x) { return OddPieces(x, kErf, 0.125, 3.93); }

template <size_t kRows>
Avx512Math::Logarithm Avx512Math::Decompose(Value* x, const double (&table)[kRows][32], Sign sign) {
  constexpr int kAroundOne = 3;                                      // in [3/4, 3/2)
  const int of_negative = sign == Sign::kIgnored ? 1 << 2 : 2 << 2;  // its magnitude, or NaN
  Value* mantissa = Mantissa(x, kAroundOne | of_negative);
  Value* index = b_.CreateLShr(Bits(mantissa), Int(x, 18));
  Value* r = Fma(mantissa, Lookup(table[0], index), Constant(x, -1.0));
  return {b_.CreateFSub(Exponent(x), Exponent(mantissa)), r, Lookup(table[1], index), index};
}

/// The parts of ln 2 are both positive, so that infinite exponents do not cancel.
Value* Avx512Math::Log(Value* x) {
  const Logarithm l = Decompose(x, kLog);
  Value* tail = Fma(b_.CreateFMul(l.r, l.r), Polynomial(l.r, kLog1p), l.r);
  tail = Fma(l.exponent, Constant(x, 1.428606765330187e-06), tail);
  return b_.CreateFAdd(Fma(l.exponent, Constant(x, 0.693145751953125), l.log_c), tail);
}

Value* Avx512Math::Log2(Value* x) {
  const Logarithm l = Decompose(x, kLog2);
  std::array<double, std::size(kLog1p)> scaled;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] = kLog1p[i] * 1.44269504088896341;
  Value* slope = Fma(Polynomial(l.r, scaled), l.r, Constant(x, 1.44269504088896341));
  return Fma(l.r, slope, b_.CreateFAdd(l.exponent, l.log_c));
}

Value* Avx512Math::Log10(Value* x) {
  const Logarithm l = Decompose(x, kLog10);
  std::array<double, std::size(kLog1p)> scaled;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] = kLog1p[i] * 0.43429448190325182;
  Value* slope = Fma(Polynomial(l.r, scaled), l.r, Constant(x, 0.43429448190325182));
  Value* tail = Fma(l.r, slope, b_.CreateFMul(l.exponent, Constant(x, 4.6050389811e-06)));
  return b_.CreateFAdd(Fma(l.exponent, Constant(x, 0.301025390625), l.log_c), tail);
}

/// pi / 16 in three parts. The first difference is exact: both are multiples of the last bit of the first part.
Value* Avx512Math::Turn(Value* x, const double (&sine)[32], const double (&cosine)[32], double sign) {
  const Rounded n = Round(x, 5.0929581789406507446);
  Value* r = Fma(n.whole, Constant(x, -kTurnParts[0]), x);
  r = Fma(n.whole, Constant(x, -kTurnParts[1]), r);
  r = Fma(n.whole, Constant(x, -kTurnParts[2]), r);
  Value* square = b_.CreateFMul(r, r);
  Value* sin_r = Fma(b_.CreateFMul(square, Polynomial(square, kSin)), r, r);
  Value* cos_r_minus_one = b_.CreateFMul(square, Polynomial(square, kCos));
  Value* index = Bits(n.shifted);
  Value* s = Lookup(sine, index);
  Value* c = Lookup(cosine, index);
  if (sign < 0) c = b_.CreateFNeg(c);
  return b_.CreateFAdd(Fma(c, sin_r, b_.CreateFMul(s, cos_r_minus_one)), s);
}

Value* Avx512Math::Sin(Value* x) { return Turn(x, kTurn[0], kTurn[1], 1); }
Value* Avx512Math::Cos(Value* x) { return Turn(x, kTurn[1], kTurn[0], -1); }

/// 2^(y log2 |x|). The logarithm's greatest terms are summed in float64, where the product with y loses nothing; what
/// is below their last bit in float32, and the power again.
Value* Avx512Math::Pow(Value* x, Value* y) {
  constexpr double kLog2E = 1.44269504088896341;
  const Logarithm l = Decompose(x, kPow, Sign::kIgnored);
  Value* cube = b_.CreateFMul(b_.CreateFMul(l.r, l.r), l.r);
  Value* rest = Fma(cube, Polynomial(l.r, kPowTail), Lookup(kPow[2], l.index));
  llvm::Type* f64 = WithLanes(b_.getDoubleTy(), x);
  Value* r = b_.CreateFPExt(l.r, f64);
  Value* slope = Fma(r, Constant(r, -kLog2E / 2), Constant(r, kLog2E));
  Value* log = Fma(r, slope, b_.CreateFPExt(b_.CreateFAdd(l.exponent, l.log_c), f64));
  Value* t = b_.CreateFMul(b_.CreateFAdd(log, b_.CreateFPExt(rest, f64)), b_.CreateFPExt(y, f64));
  Value* n = b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, t);
  Value* fraction = b_.CreateFPTrunc(b_.CreateFSub(t, n), x->getType());
  Value* one = Constant(x, 1.0);
  // Where t is infinite its fraction is NaN, of which an infinite exponent makes infinity or zero.
  Value* result = Scale(Fma(fraction, Polynomial(fraction, kExp2), one), b_.CreateFPTrunc(n, x->getType()));
  Value* is_one = b_.CreateOr(b_.CreateFCmpOEQ(Abs(x), one), b_.CreateFCmpOEQ(y, Constant(x, 0.0)));
  return PowOfSigned(x, y, b_.CreateSelect(is_one, one, result));
}

}  // namespace deuteron::codegen
