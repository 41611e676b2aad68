#include "deuteron/codegen/llvm/vector_double.h"

#include <bit>
#include <limits>

#include "deuteron/codegen/llvm/vector_tables.h"

namespace deuteron::codegen {

using llvm::Value;

namespace {

constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
constexpr int64_t kBitsOfOne = 0x3ff0000000000000;

}  // namespace

DoubleMath::Rounded DoubleMath::Round(Value* x, double scale) {
  Value* shifted = Fma(x, Constant(x, scale), Constant(x, kShift));
  return {shifted, b_.CreateFSub(shifted, Constant(x, kShift))};
}

/// The exponent's bits are the low ones of n, all others are shifted out.
Value* DoubleMath::PowerOfTwo(Value* shifted) {
  Value* bits = b_.CreateAdd(b_.CreateShl(Bits(shifted), Int(shifted, 52)), Int(shifted, kBitsOfOne));
  return b_.CreateBitCast(bits, shifted->getType());
}

Value* DoubleMath::Scale(Value* x, Value* n) {
  const Rounded half = Round(n, 0.5);
  Value* rest = b_.CreateFAdd(b_.CreateFSub(n, half.whole), Constant(x, kShift));
  return b_.CreateFMul(b_.CreateFMul(x, PowerOfTwo(half.shifted)), PowerOfTwo(rest));
}

/// The first part of ln 2 has 33 bits: its products with n are exact.
DoubleMath::Reduced DoubleMath::ReduceByLn2(Value* x) {
  const Rounded n = Round(x, 1.44269504088896341);
  Value* r = Fma(n.whole, Constant(x, -6.93147180369123816490e-01), x);
  return {n, Fma(n.whole, Constant(x, -1.90821492927058770002e-10), r)};
}

Value* DoubleMath::Exp(Value* x) {
  const Reduced reduced = ReduceByLn2(Clamp(x, -746.0, 710.0));
  Value* r = reduced.r;
  Value* tail = Fma(b_.CreateFMul(r, r), Polynomial(r, kExpDouble), r);
  return Scale(b_.CreateFAdd(tail, Constant(x, 1.0)), reduced.n.whole);
}

Value* DoubleMath::Exp2(Value* x) {
  x = Clamp(x, -1076.0, 1024.0);
  Value* n = Round(x, 1).whole;
  Value* r = b_.CreateFMul(b_.CreateFSub(x, n), Constant(x, 0.69314718055994531));
  Value* tail = Fma(b_.CreateFMul(r, r), Polynomial(r, kExpDouble), r);
  return Scale(b_.CreateFAdd(tail, Constant(x, 1.0)), n);
}

DoubleMath::Mantissa DoubleMath::Decompose(Value* x) {
  Value* denormal = b_.CreateFCmpOLT(x, Constant(x, std::numeric_limits<double>::min()));
  Value* bits = Bits(b_.CreateSelect(denormal, b_.CreateFMul(x, Constant(x, 0x1p54)), x));
  // Adding the distance from sqrt(1/2) to 1 carries into the exponent where the mantissa is above sqrt(2).
  Value* shifted = b_.CreateAdd(bits, Int(x, kBitsOfOne - 0x3fe6a09e667f3bcd));
  Value* mantissa = b_.CreateSub(bits, b_.CreateAnd(shifted, Int(x, -0x10000000000000)));
  mantissa = b_.CreateBitCast(b_.CreateAdd(mantissa, Int(x, kBitsOfOne)), x->getType());
  // The biased exponent as the low bits of 2^52.
  Value* biased = b_.CreateOr(b_.CreateLShr(shifted, Int(x, 52)), Int(x, std::bit_cast<int64_t>(0x1p52)));
  Value* bias = b_.CreateSelect(denormal, Constant(x, 0x1p52 + 1023 + 54), Constant(x, 0x1p52 + 1023));
  return {b_.CreateFSub(b_.CreateBitCast(biased, x->getType()), bias), b_.CreateFSub(mantissa, Constant(x, 1.0))};
}

/// log(1 + f) = 2 atanh(s), s = f / (2 + f): f - (f^2 / 2 - s (f^2 / 2 + R(s^2))).
DoubleMath::Logarithm DoubleMath::LogOfFraction(Value* f) {
  Value* s = b_.CreateFDiv(f, b_.CreateFAdd(f, Constant(f, 2.0)));
  Value* square = b_.CreateFMul(s, s);
  Value* half_square = b_.CreateFMul(b_.CreateFMul(f, f), Constant(f, 0.5));
  return {half_square, b_.CreateFMul(s, Fma(square, Polynomial(square, kAtanhDouble), half_square))};
}

Value* DoubleMath::LogSpecials(Value* x, Value* result) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto nan = llvm::ConstantFP::getNaN(x->getType());
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Constant(x, infinity)), x, result);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Constant(x, 0.0)), Constant(x, -infinity), result);
  return b_.CreateSelect(b_.CreateFCmpULT(x, Constant(x, 0.0)), nan, result);
}

Value* DoubleMath::Log(Value* x) {
  const Mantissa m = Decompose(x);
  const Logarithm l = LogOfFraction(m.f);
  Value* low = Fma(m.exponent, Constant(x, 1.90821492927058770002e-10), l.rest);
  low = b_.CreateFSub(m.f, b_.CreateFSub(l.half_square, low));
  return LogSpecials(x, Fma(m.exponent, Constant(x, 6.93147180369123816490e-01), low));
}

/// The greatest part of f - f^2 / 2, of 21 bits, is multiplied without rounding, and what is below it on its own.
Value* DoubleMath::Log2(Value* x) {
  const Mantissa m = Decompose(x);
  const Logarithm l = LogOfFraction(m.f);
  Value* high = b_.CreateFSub(m.f, l.half_square);
  high = b_.CreateBitCast(b_.CreateAnd(Bits(high), Int(x, -0x100000000)), x->getType());
  Value* low = b_.CreateFAdd(b_.CreateFSub(b_.CreateFSub(m.f, high), l.half_square), l.rest);
  Value* small = b_.CreateFMul(b_.CreateFAdd(low, high), Constant(x, 1.67517131648865118353e-10));
  small = Fma(low, Constant(x, 1.44269504072144627571), small);
  Value* large = b_.CreateFMul(high, Constant(x, 1.44269504072144627571));
  Value* sum = b_.CreateFAdd(m.exponent, large);
  Value* lost = b_.CreateFAdd(b_.CreateFSub(m.exponent, sum), large);
  return LogSpecials(x, b_.CreateFAdd(sum, b_.CreateFAdd(small, lost)));
}

Value* DoubleMath::Log10(Value* x) {
  const Mantissa m = Decompose(x);
  const Logarithm l = LogOfFraction(m.f);
  Value* fraction = b_.CreateFSub(m.f, b_.CreateFSub(l.half_square, l.rest));
  // log10(2) in two parts, the first of 33 bits.
  Value* low = b_.CreateFMul(fraction, Constant(x, 0.43429448190325182765));
  low = Fma(m.exponent, Constant(x, 3.69423907715893078616e-13), low);
  return LogSpecials(x, Fma(m.exponent, Constant(x, 3.01029995663611771306e-01), low));
}

/// e / (e + 2), e = exp(2|x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1); what rounding e and e + 2 loses is made up for.
Value* DoubleMath::Tanh(Value* x) {
  const Reduced reduced = ReduceByLn2(b_.CreateFMul(AtMost(Abs(x), 20.0), Constant(x, 2.0)));
  Value* r = reduced.r;
  Value* tail = Fma(b_.CreateFMul(r, r), Polynomial(r, kExpDouble), r);
  Value* power = PowerOfTwo(reduced.n.shifted);
  Value* two = Constant(x, 2.0);
  Value* whole = b_.CreateFSub(power, Constant(x, 1.0));
  Value* e = Fma(power, tail, whole);
  Value* rest_of_e = Fma(power, tail, b_.CreateFSub(whole, e));
  Value* divisor = b_.CreateFAdd(e, two);
  Value* rest_of_divisor = b_.CreateFSub(e, b_.CreateFSub(divisor, two));
  Value* inverse = b_.CreateFDiv(Constant(x, 1.0), divisor);
  Value* quotient = b_.CreateFMul(e, inverse);
  Value* negative = b_.CreateFNeg(quotient);
  Value* rest = b_.CreateFAdd(Fma(negative, divisor, e), Fma(negative, rest_of_divisor, rest_of_e));
  return CopySign(AtMost(Fma(rest, inverse, quotient), 1.0), x);
}

/// Of exp(-|x|), which does not overflow, so that small results keep their bits.
Value* DoubleMath::Sigmoid(Value* x) {
  Value* e = Exp(b_.CreateFNeg(Abs(x)));
  Value* one = Constant(x, 1.0);
  Value* numerator = b_.CreateSelect(b_.CreateFCmpOLT(x, Constant(x, 0.0)), e, one);
  return b_.CreateFDiv(numerator, b_.CreateFAdd(e, one));
}

/// Below 1 an odd polynomial; above 1 - exp(-x^2) G(u), u = (|x| - 2) / (|x| + 2).
Value* DoubleMath::Erf(Value* x) {
  Value* square = b_.CreateFMul(x, x);
  Value* small = Fma(x, Polynomial(square, kErfDouble), x);
  Value* magnitude = AtMost(Abs(x), 6.0);
  Value* u = b_.CreateFDiv(b_.CreateFSub(magnitude, Constant(x, 2.0)), b_.CreateFAdd(magnitude, Constant(x, 2.0)));
  Value* e = Exp(b_.CreateFNeg(b_.CreateFMul(magnitude, magnitude)));
  Value* rest = b_.CreateFMul(e, Polynomial(u, kErfcxDouble));
  Value* large = CopySign(b_.CreateFSub(Constant(x, 1.0), rest), x);
  return b_.CreateSelect(b_.CreateFCmpOLT(Abs(x), Constant(x, 1.0)), small, large);
}

/// pi / 2 in three parts, of which the first two have 33 bits.
DoubleMath::Angle DoubleMath::Turn(Value* x) {
  const Rounded n = Round(x, 0.63661977236758134308);
  Value* r = Fma(n.whole, Constant(x, -1.57079632673412561417e+00), x);
  r = Fma(n.whole, Constant(x, -6.07710050630396597660e-11), r);
  r = Fma(n.whole, Constant(x, -2.02226624879595063154e-21), r);
  Value* square = b_.CreateFMul(r, r);
  Value* sine = Fma(b_.CreateFMul(square, Polynomial(square, kSinDouble)), r, r);
  Value* cosine = Fma(b_.CreateFMul(square, square), Polynomial(square, kCosDouble),
                      Fma(square, Constant(x, -0.5), Constant(x, 1.0)));
  return {sine, cosine, Bits(n.shifted)};
}

}  // namespace deuteron::codegen
