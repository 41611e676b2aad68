#include "deuteron/codegen/llvm/vector_inverse.h"

#include <cmath>
#include <limits>

#include "deuteron/codegen/llvm/vector_tables.h"

namespace deuteron::codegen {

using llvm::Value;

namespace {

constexpr double kLn2 = 0.69314718055994530942;
/// 1 is nothing beside it, and its square a float32.
constexpr double kFar = 0x1p60;
/// pi / 2 as a float32 and as a float64, and what is left of it.
constexpr double kRightAngle[2] = {1.5707963705062866, 1.5707963267948966};
constexpr double kRightAngleRest[2] = {-4.371139000186241e-08, 6.123233995736766e-17};

}  // namespace

Value* InverseMath::OddSeries(Value* x, Value* square, std::span<const double> of_float,
                              std::span<const double> of_double) {
  return Fma(b_.CreateFMul(x, square), Polynomial(square, IsFloat(x) ? of_float : of_double), x);
}

Value* InverseMath::Less(double high, double low, Value* x) {
  return b_.CreateFSub(Constant(x, high), b_.CreateFSub(x, Constant(x, low)));
}

InverseMath::Arc InverseMath::ArcOfMagnitude(Value* x) {
  Value* magnitude = Abs(x);
  Value* is_far = b_.CreateFCmpOGT(magnitude, Constant(x, 0.5));
  // Exact beyond 1/2.
  Value* half_rest = b_.CreateFMul(b_.CreateFSub(Constant(x, 1.0), magnitude), Constant(x, 0.5));
  Value* square = b_.CreateSelect(is_far, half_rest, b_.CreateFMul(magnitude, magnitude));
  Value* argument = b_.CreateSelect(is_far, Sqrt(half_rest), magnitude);
  return {is_far, OddSeries(argument, square, kAsin, kAsinDouble)};
}

/// asin x = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
Value* InverseMath::Asin(Value* x) {
  const Arc arc = ArcOfMagnitude(x);
  const int type = IsFloat(x) ? 0 : 1;
  Value* far = Less(kRightAngle[type], kRightAngleRest[type], b_.CreateFAdd(arc.value, arc.value));
  return CopySign(b_.CreateSelect(arc.is_far, far, arc.value), x);
}

Value* InverseMath::Acos(Value* x) {
  const Arc arc = ArcOfMagnitude(x);
  const int type = IsFloat(x) ? 0 : 1;
  Value* twice = b_.CreateFAdd(arc.value, arc.value);
  Value* is_negative = b_.CreateFCmpOLT(x, Constant(x, 0.0));
  Value* far = b_.CreateSelect(is_negative, Less(2 * kRightAngle[type], 2 * kRightAngleRest[type], twice), twice);
  Value* near = Less(kRightAngle[type], kRightAngleRest[type], CopySign(arc.value, x));
  return b_.CreateSelect(arc.is_far, far, near);
}

/// atan x = c + atan t: t = x below tan(pi / 8), (x - 1) / (x + 1) and c = pi / 4 below its reciprocal, -1 / x and
/// c = pi / 2 beyond.
Value* InverseMath::Atan(Value* x) {
  constexpr double kEighth = 0.41421356237309504880;
  const int type = IsFloat(x) ? 0 : 1;
  const auto constant = [&](double value) { return Constant(x, value); };
  Value* magnitude = Abs(x);
  Value* is_middle = b_.CreateFCmpOGT(magnitude, constant(kEighth));
  Value* is_far = b_.CreateFCmpOGT(magnitude, constant(1 / kEighth));
  const auto choose = [&](Value* far, Value* middle, Value* near) {
    return b_.CreateSelect(is_far, far, b_.CreateSelect(is_middle, middle, near));
  };
  Value* numerator = choose(constant(-1.0), b_.CreateFSub(magnitude, constant(1.0)), magnitude);
  Value* denominator = choose(magnitude, b_.CreateFAdd(magnitude, constant(1.0)), constant(1.0));
  Value* t = b_.CreateFDiv(numerator, denominator);
  Value* arc = OddSeries(t, b_.CreateFMul(t, t), kAtan, kAtanDouble);
  const auto angle = [&](const double(&right)[2]) {
    return choose(constant(right[type]), constant(right[type] / 2), constant(0.0));
  };
  arc = b_.CreateFAdd(angle(kRightAngle), b_.CreateFAdd(arc, angle(kRightAngleRest)));
  return CopySign(arc, x);
}

/// Beyond 64 of |x| - 32, which is exact there, so that only what the result exceeds becomes infinite.
Value* InverseMath::HalfExp(Value* magnitude) {
  const auto constant = [&](double value) { return Constant(magnitude, value); };
  Value* is_large = b_.CreateFCmpOGT(magnitude, constant(64.0));
  Value* e = exp_(b_.CreateSelect(is_large, b_.CreateFSub(magnitude, constant(32.0)), magnitude));
  return b_.CreateFMul(e, b_.CreateSelect(is_large, constant(std::exp(32.0L) / 2), constant(0.5)));
}

Value* InverseMath::Cosh(Value* x) {
  Value* half = HalfExp(Abs(x));
  return b_.CreateFAdd(half, b_.CreateFDiv(Constant(x, 0.25), half));
}

Value* InverseMath::Sinh(Value* x) {
  Value* magnitude = Abs(x);
  Value* near = OddSeries(magnitude, b_.CreateFMul(x, x), kSinh, kSinhDouble);
  Value* half = HalfExp(magnitude);
  Value* far = b_.CreateFSub(half, b_.CreateFDiv(Constant(x, 0.25), half));
  return CopySign(b_.CreateSelect(b_.CreateFCmpOGT(magnitude, Constant(x, 1.0)), far, near), x);
}

/// log u + (x - (u - 1)) / u of u = 1 + x as it is rounded.
Value* InverseMath::Log1p(Value* x) {
  Value* one = Constant(x, 1.0);
  Value* u = b_.CreateFAdd(x, one);
  Value* lost = b_.CreateFDiv(b_.CreateFSub(x, b_.CreateFSub(u, one)), u);
  Value* has_lost = b_.CreateAnd(b_.CreateFCmpOGT(u, Constant(x, 0.0)),
                                 b_.CreateFCmpOLT(u, Constant(x, std::numeric_limits<double>::infinity())));
  return b_.CreateFAdd(log_(u), b_.CreateSelect(has_lost, lost, Constant(x, 0.0)));
}

/// log1p(|x| + x^2 / (1 + sqrt(1 + x^2))); log(2 |x|) where the square could overflow.
Value* InverseMath::Asinh(Value* x) {
  Value* magnitude = Abs(x);
  Value* is_large = b_.CreateFCmpOGT(magnitude, Constant(x, kFar));
  Value* square = b_.CreateFMul(magnitude, magnitude);
  Value* one = Constant(x, 1.0);
  Value* rest = b_.CreateFDiv(square, b_.CreateFAdd(one, Sqrt(b_.CreateFAdd(one, square))));
  Value* log = Log1p(b_.CreateSelect(is_large, magnitude, b_.CreateFAdd(magnitude, rest)));
  log = b_.CreateFAdd(log, b_.CreateSelect(is_large, Constant(x, kLn2), Constant(x, 0.0)));
  return CopySign(log, x);
}

/// log1p(t + sqrt(t (t + 2))), t = x - 1.
Value* InverseMath::Acosh(Value* x) {
  Value* is_large = b_.CreateFCmpOGT(x, Constant(x, kFar));
  Value* t = b_.CreateFSub(x, Constant(x, 1.0));
  // Below 1 the root has no value, below -1 it has one again.
  Value* is_beyond = b_.CreateFCmpOLT(t, Constant(x, 0.0));
  Value* product = b_.CreateFMul(t, b_.CreateFAdd(t, Constant(x, 2.0)));
  product = b_.CreateSelect(is_beyond, Constant(x, std::numeric_limits<double>::quiet_NaN()), product);
  Value* log = Log1p(b_.CreateSelect(is_large, x, b_.CreateFAdd(t, Sqrt(product))));
  return b_.CreateFAdd(log, b_.CreateSelect(is_large, Constant(x, kLn2), Constant(x, 0.0)));
}

/// log1p(2 |x| / (1 - |x|)) / 2.
Value* InverseMath::Atanh(Value* x) {
  Value* magnitude = Abs(x);
  Value* quotient = b_.CreateFDiv(b_.CreateFAdd(magnitude, magnitude), b_.CreateFSub(Constant(x, 1.0), magnitude));
  return CopySign(b_.CreateFMul(Log1p(quotient), Constant(x, 0.5)), x);
}

Value* InverseMath::HasRemainder(Value* x, Value* y) {
  Value* limit = b_.CreateFMul(Abs(y), Constant(y, std::exp2(IsFloat(x) ? 22 : 51)));
  // Divisors of which the product is infinite count among them where they are finite themselves.
  Value* is_finite = b_.CreateFCmpOLT(Abs(y), Constant(y, std::numeric_limits<double>::infinity()));
  return b_.CreateAnd(b_.CreateFCmpOLT(Abs(x), limit), is_finite);
}

/// The quotient of magnitudes, rounded and then cut off, is the true one's integer or, where the division went up to
/// one, the next; |x| less the product is exact.
Value* InverseMath::Remainder(Value* x, Value* y) {
  Value* dividend = Abs(x);
  Value* divisor = Abs(y);
  Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b_.CreateFDiv(dividend, divisor));
  Value* rest = b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {b_.CreateFNeg(whole), divisor, dividend});
  Value* is_below = b_.CreateFCmpOLT(rest, Constant(x, 0.0));
  rest = b_.CreateSelect(is_below, b_.CreateFAdd(rest, divisor), rest);
  return CopySign(rest, x);
}

}  // namespace deuteron::codegen
