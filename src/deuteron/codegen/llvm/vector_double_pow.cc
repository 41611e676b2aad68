/// \file
/// x^y of float64 vectors. The product y log2 x loses as many bits as it has before the point, so that the logarithm is
/// a sum of two float64 numbers; their products are exact by fused multiply-adds.
#include <limits>

#include "deuteron/codegen/llvm/vector_double.h"
#include "deuteron/codegen/llvm/vector_tables.h"

namespace deuteron::codegen {

using llvm::Value;

/// In one rounding, whatever it costs.
Value* DoubleMath::FusedMultiplyAdd(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// a + b + low, of |a| >= |b|, or a = 0.
DoubleMath::Sum DoubleMath::Add(Value* a, Value* b, Value* low) {
  Value* high = b_.CreateFAdd(a, b);
  Value* lost = b_.CreateFSub(b, b_.CreateFSub(high, a));
  return {high, b_.CreateFAdd(lost, low)};
}

DoubleMath::Sum DoubleMath::Multiply(const Sum& a, const Sum& b) {
  Value* high = b_.CreateFMul(a.high, b.high);
  Value* low = FusedMultiplyAdd(a.high, b.high, b_.CreateFNeg(high));
  return {high, Fma(a.low, b.high, Fma(a.high, b.low, low))};
}

/// log m = s (2 + s^2 (2/3 + s^2 (2/5 + ...))), s = (m - 1) / (m + 1), all that is greater than 2^-12 in two parts.
DoubleMath::Sum DoubleMath::Log2InTwoParts(Value* x) {
  const auto constant = [&](double high, double low) { return Sum{Constant(x, high), Constant(x, low)}; };
  const Mantissa m = Decompose(x);
  Value* two = Constant(x, 2.0);
  const Sum divisor = Add(two, m.f, Constant(x, 0.0));
  Value* inverse = b_.CreateFDiv(Constant(x, 1.0), divisor.high);
  Value* s_high = b_.CreateFMul(m.f, inverse);
  Value* rest = FusedMultiplyAdd(b_.CreateFNeg(s_high), divisor.high, m.f);
  rest = FusedMultiplyAdd(b_.CreateFNeg(s_high), divisor.low, rest);
  const Sum s = {s_high, b_.CreateFMul(rest, inverse)};
  const Sum square = Multiply(s, s);
  Value* tail = b_.CreateFMul(square.high, Polynomial(square.high, kAtanhTail));
  const Sum third = constant(2.0 / 3, 3.7007434154171886e-17);
  const Sum slope = Multiply(square, Add(third.high, tail, third.low));
  const Sum log = Multiply(s, Add(two, slope.high, slope.low));
  const Sum log2 = Multiply(log, constant(1.44269504088896338700, 2.03552737409310331e-17));
  return Add(m.exponent, log2.high, log2.low);
}

Value* DoubleMath::Pow(Value* x, Value* y) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value* magnitude = Abs(x);
  Value* one = Constant(x, 1.0);
  Value* zero = Constant(x, 0.0);
  const Sum log = Log2InTwoParts(magnitude);
  Value* high = b_.CreateSelect(b_.CreateFCmpOEQ(magnitude, zero), Constant(x, -infinity), log.high);
  high = b_.CreateSelect(b_.CreateFCmpOEQ(magnitude, Constant(x, infinity)), magnitude, high);
  Value* product = b_.CreateFMul(y, high);
  Value* rest = Fma(y, log.low, FusedMultiplyAdd(y, high, b_.CreateFNeg(product)));
  // Beyond these float64 overflows or is zero.
  rest = b_.CreateSelect(b_.CreateFCmpOLT(Abs(product), Constant(x, 1100.0)), rest, zero);
  product = Clamp(product, -1100.0, 1100.0);
  Value* n = Round(product, 1).whole;
  Value* r = b_.CreateFMul(b_.CreateFAdd(b_.CreateFSub(product, n), rest), Constant(x, 0.69314718055994531));
  Value* power = b_.CreateFAdd(Fma(b_.CreateFMul(r, r), Polynomial(r, kExpDouble), r), one);
  Value* result = Scale(power, n);
  result = b_.CreateSelect(b_.CreateFCmpUNO(x, y), Constant(x, std::numeric_limits<double>::quiet_NaN()), result);
  Value* is_one = b_.CreateOr(b_.CreateFCmpOEQ(magnitude, one), b_.CreateFCmpOEQ(y, zero));
  return PowOfSigned(x, y, b_.CreateSelect(is_one, one, result));
}

}  // namespace deuteron::codegen
