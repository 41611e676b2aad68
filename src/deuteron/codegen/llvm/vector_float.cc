#include "deuteron/codegen/llvm/vector_float.h"

#include <array>
#include <cmath>
#include <limits>

#include "deuteron/codegen/llvm/vector_tables.h"

namespace deuteron::codegen {

using llvm::Value;

namespace {

/// Of a float32's exponent.
constexpr int kExponentBias = 127;
/// Of a power that Scale takes apart.
constexpr int kScaleBias = 2 * kExponentBias;
constexpr double kTwoTo64 = 18446744073709551616.0;

}  // namespace

/// What is left of the magic number goes with the bits that are shifted out.
Value* FloatMath::Power(const Rounded& n) {
  return b_.CreateBitCast(b_.CreateShl(Bits(n.shifted), Int(n.shifted, 23)), n.shifted->getType());
}

FloatMath::Reduced FloatMath::ReduceByLn2(Value* x, int bias) {
  const Rounded n = Round(x, 1.44269504088896341, bias);
  return {n, WithoutLn2(x, n.whole)};
}

/// exp(r) - 1 of a reduced r.
Value* FloatMath::ExpMinusOne(Value* r) { return Fma(b_.CreateFMul(r, r), Polynomial(r, kExp), r); }

/// By 2^(n + 64) and then 2^-64 of negative x, of others the other way round, so that both are normal numbers; the
/// exponent of the former is what the exponent of the latter leaves of n.
Value* FloatMath::Scale(Value* mantissa, const Rounded& n, Value* x) {
  Value* far = Constant(x, kTwoTo64);
  Value* near = Constant(x, 1 / kTwoTo64);
  Value* second = b_.CreateSelect(b_.CreateICmpSLT(Bits(x), Int(x, 0)), near, far);
  Value* first = b_.CreateBitCast(b_.CreateSub(Bits(Power(n)), Bits(second)), x->getType());
  return b_.CreateFMul(b_.CreateFMul(mantissa, first), second);
}

Value* FloatMath::Exp(Value* x) {
  x = Clamp(x, -104.5, 89.0);
  const Reduced reduced = ReduceByLn2(x, kScaleBias);
  return Scale(b_.CreateFAdd(ExpMinusOne(reduced.r), Constant(x, 1.0)), reduced.n, x);
}

Value* FloatMath::Exp2(Value* x) {
  x = Clamp(x, -151.0, 129.0);
  const Rounded n = Round(x, 1.0, kScaleBias);
  return Scale(Exp2OfFraction(b_.CreateFSub(x, n.whole)), n, x);
}

Value* FloatMath::Exp2OfFraction(Value* r) { return Fma(r, Polynomial(r, kExp2), Constant(r, 1.0)); }

FloatMath::Mantissa FloatMath::Decompose(Value* x) {
  Value* denormal = b_.CreateFCmpOLT(x, Constant(x, 1.17549435e-38));
  Value* scaled = b_.CreateSelect(denormal, b_.CreateFMul(x, Constant(x, 8388608.0)), x);
  Value* bits = b_.CreateBitCast(scaled, IntType(x));
  // Subtracting the bits of sqrt(1/2) puts the break of the exponent there.
  Value* offset = b_.CreateSub(bits, Int(x, 0x3f3504f3));
  Value* exponent = b_.CreateAShr(offset, Int(x, 23));
  Value* mantissa = b_.CreateAdd(b_.CreateAnd(offset, Int(x, 0x007fffff)), Int(x, 0x3f3504f3));
  Value* fraction = b_.CreateFSub(b_.CreateBitCast(mantissa, x->getType()), Constant(x, 1.0));
  Value* whole = b_.CreateSIToFP(exponent, x->getType());
  Value* correction = b_.CreateSelect(denormal, Constant(x, -23.0), Constant(x, 0.0));
  return {b_.CreateFAdd(whole, correction), fraction};
}

/// log(1 + f) - f.
Value* FloatMath::LogOfFraction(Value* f) {
  Value* q = Polynomial(f, std::initializer_list<double>{3.333331048e-01, -2.499998659e-01, 2.000222653e-01,
                                                         -1.666925102e-01, 1.421865523e-01, -1.238435134e-01,
                                                         1.187300086e-01, -1.178980395e-01, 6.915308535e-02});
  Value* square = b_.CreateFMul(f, f);
  Value* cubic = b_.CreateFMul(b_.CreateFMul(square, f), q);
  return Fma(square, Constant(f, -0.5), cubic);
}

Value* FloatMath::LogSpecials(Value* x, Value* result) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto nan = llvm::ConstantFP::getNaN(x->getType());
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Constant(x, infinity)), x, result);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Constant(x, 0.0)), Constant(x, -infinity), result);
  return b_.CreateSelect(b_.CreateFCmpULT(x, Constant(x, 0.0)), nan, result);
}

Value* FloatMath::Log(Value* x) {
  const Mantissa m = Decompose(x);
  Value* small = Fma(m.exponent, Constant(x, -2.12194440e-4), LogOfFraction(m.fraction));
  Value* result = Fma(m.exponent, Constant(x, 0.693359375), b_.CreateFAdd(small, m.fraction));
  return LogSpecials(x, result);
}

Value* FloatMath::Log2(Value* x) {
  const Mantissa m = Decompose(x);
  // log2(1 + f) = (f + tail) * log2(e), the factor in two parts so that f's product is exact.
  Value* tail = LogOfFraction(m.fraction);
  Value* low = b_.CreateFMul(tail, Constant(x, 1.44269504088896341));
  low = Fma(m.fraction, Constant(x, 0.44269504088896341), low);
  return LogSpecials(x, b_.CreateFAdd(m.exponent, b_.CreateFAdd(low, m.fraction)));
}

Value* FloatMath::Log10(Value* x) {
  const Mantissa m = Decompose(x);
  Value* tail = b_.CreateFMul(LogOfFraction(m.fraction), Constant(x, 0.43429448190325182));
  Value* fraction = Fma(m.fraction, Constant(x, 0.43429448190325182), tail);
  // log10(2) in two parts.
  Value* low = Fma(m.exponent, Constant(x, 4.6050389811e-06), fraction);
  return LogSpecials(x, Fma(m.exponent, Constant(x, 0.301025390625), low));
}

/// e / (e + 2), e = exp(2|x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1).
Value* FloatMath::Tanh(Value* x) {
  Value* magnitude = AtMost(Abs(x), 10.0);
  const Reduced reduced = ReduceByLn2(b_.CreateFAdd(magnitude, magnitude), kExponentBias);
  Value* power = Power(reduced.n);
  Value* e = Fma(power, ExpMinusOne(reduced.r), b_.CreateFSub(power, Constant(x, 1.0)));
  return CopySign(b_.CreateFDiv(e, b_.CreateFAdd(e, Constant(x, 2.0))), x);
}

/// s / (s + s exp(-x)), s = 2^-64: s exp(-x) is a normal number wherever it is seen, and the quotient is rounded once
/// where it is not. -x = n ln 2 - r.
Value* FloatMath::Sigmoid(Value* x) {
  x = Clamp(x, -104.5, 40.0);
  const Rounded n = Round(x, -1.44269504088896341, kExponentBias - 64);
  Value* e = ExpOfNegative(WithoutLn2(x, n.whole, -1));
  Value* scale = Constant(x, 1 / kTwoTo64);
  return b_.CreateFDiv(scale, Fma(e, Power(n), scale));
}

/// Below 1 an odd polynomial; above, 1 - 2^(log2 erfc|x|) with a polynomial inside.
Value* FloatMath::Erf(Value* x) {
  Value* square = b_.CreateFMul(x, x);
  Value* p = Polynomial(
      square, std::initializer_list<double>{1.283791661e-01, -3.761262596e-01, 1.128360033e-01, -2.685444430e-02,
                                            5.189535208e-03, -8.020841051e-04, 7.889115659e-05});
  Value* small = Fma(p, x, x);
  Value* magnitude = Abs(x);
  std::array<double, 9> log = {1.781230967e-04,  -1.129527330e+00, -6.333328485e-01, -1.082784757e-01, 2.510175295e-02,
                               -4.153772723e-03, 4.265045864e-04,  -1.926262303e-05, -1.697522549e-07};
  for (double& coefficient : log) coefficient *= 1.44269504088896341;
  // Above -25: no exponent is out of range.
  Value* log2 = Polynomial(AtMost(magnitude, 4.0), log);
  const Rounded n = Round(log2, 1.0, kExponentBias);
  Value* rest = b_.CreateFMul(Exp2OfFraction(b_.CreateFSub(log2, n.whole)), Power(n));
  Value* large = CopySign(b_.CreateFSub(Constant(x, 1.0), rest), x);
  return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, Constant(x, 1.0)), small, large);
}

/// x high + x low, rounded once but for the small product. The parts are truncated: both have one sign, so that an
/// infinite x does not cancel. After N. Brisebarre and J.-M. Muller, "Correctly rounded multiplication by arbitrary
/// precision constants", 2008.
Value* FloatMath::Quotient(Value* x, Value* divisor) {
  const auto number = [&](double value) { return Constant(divisor, value); };
  // With far divisors nearer ones are divided by instead: neither part nor a product with it leaves the range.
  Value* magnitude = Abs(divisor);
  Value* scale = b_.CreateSelect(b_.CreateFCmpOLT(magnitude, number(1 / kTwoTo64)), number(kTwoTo64), number(1.0));
  scale = b_.CreateSelect(b_.CreateFCmpOGT(magnitude, number(kTwoTo64)), number(1 / kTwoTo64), scale);
  Value* near = b_.CreateFMul(divisor, scale);
  const auto rest = [&](Value* inverse) { return Fma(b_.CreateFNeg(inverse), near, number(1.0)); };
  Value* high = b_.CreateFDiv(number(1.0), near);
  Value* is_beyond = b_.CreateFCmpOLT(rest(high), number(0.0));
  high = b_.CreateBitCast(b_.CreateSub(Bits(high), b_.CreateZExt(is_beyond, IntType(high))), high->getType());
  Value* left = rest(high);
  // Of a power of two nothing is left, and 0 would make NaN of an infinite x: what is too small to be seen will do.
  Value* is_exact = b_.CreateFCmpOEQ(left, number(0.0));
  Value* low = b_.CreateSelect(is_exact, b_.CreateFMul(high, number(std::exp2(-50))), b_.CreateFDiv(left, near));
  // The reciprocals of 0, infinity and NaN have one part.
  low = b_.CreateSelect(b_.CreateFCmpUNO(left, left), high, low);
  const auto all = [&](Value* v) {
    return b_.CreateVectorSplat(llvm::cast<llvm::FixedVectorType>(x->getType())->getElementCount(), v);
  };
  return b_.CreateFMul(Fma(x, all(high), b_.CreateFMul(x, all(low))), all(scale));
}

/// The reduction to [-pi/4, pi/4] is done in double precision, by pi / 2 in two parts, the first of 33 bits.
FloatMath::Angle FloatMath::Turn(Value* x) {
  llvm::Type* wide_type =
      x->getType()->isVectorTy()
          ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(
                b_.getDoubleTy(), llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements()))
          : b_.getDoubleTy();
  const auto wide = [&](double value) { return llvm::ConstantFP::get(wide_type, value); };
  Value* exact = b_.CreateFPExt(x, wide_type);
  // Rounded by the magic number of double precision: 1.5 * 2^52.
  Value* shifted = b_.CreateFAdd(b_.CreateFMul(exact, wide(0.63661977236758134308)), wide(6755399441055744.0));
  Value* n = b_.CreateFSub(shifted, wide(6755399441055744.0));
  Value* reduced = Fma(n, wide(-1.57079632673412561417e+00), exact);
  reduced = Fma(n, wide(-6.07710050650619224932e-11), reduced);
  Value* r = b_.CreateFPTrunc(reduced, x->getType());
  llvm::Type* i64 = wide_type->isVectorTy()
                        ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(
                              b_.getInt64Ty(), llvm::cast<llvm::FixedVectorType>(wide_type)->getNumElements()))
                        : b_.getInt64Ty();
  Value* count = b_.CreateTrunc(b_.CreateBitCast(shifted, i64), IntType(x));
  Value* square = b_.CreateFMul(r, r);
  Value* sine = Polynomial(
      square, std::initializer_list<double>{-1.666666716e-01, 8.333329111e-03, -1.983928960e-04, 2.717874395e-06});
  sine = Fma(b_.CreateFMul(square, sine), r, r);
  Value* cosine = Polynomial(square, std::initializer_list<double>{4.166664556e-02, -1.388733159e-03, 2.443420817e-05});
  cosine = Fma(b_.CreateFMul(square, square), cosine, Fma(square, Constant(x, -0.5), Constant(x, 1.0)));
  return {sine, cosine, count};
}

}  // namespace deuteron::codegen
