/// \file
/// x^y of float32 vectors. The product y log2 x loses as many bits as it has before the point, so that it is computed
/// in float64, where float32's denormals are normal numbers too.
#include <limits>

#include "deuteron/codegen/llvm/vector_float.h"

namespace deuteron::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

}  // namespace

/// log2 x = e + 2 / ln 2 · atanh(s), x = 2^e m, m in [sqrt(1/2), sqrt(2)], s = (m - 1) / (m + 1): |s| < 0.172, the
/// series of atanh to s^13. Of x positive and finite.
Value* FloatMath::Log2Double(Value* x) {
  llvm::Type* i64 = WithLanes(b_.getInt64Ty(), x);
  const auto integer = [&](int64_t value) { return llvm::ConstantInt::get(i64, static_cast<uint64_t>(value), true); };
  Value* bits = b_.CreateBitCast(x, i64);
  // Adding the distance from sqrt(1/2) to 1 carries into the exponent where the mantissa is above sqrt(2).
  Value* shifted = b_.CreateAdd(bits, integer(0x3ff0000000000000 - 0x3fe6a09e667f3bcd));
  Value* exponent = b_.CreateSub(b_.CreateLShr(shifted, integer(52)), integer(1023));
  Value* mantissa = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, integer(52))), x->getType());
  Value* one = Constant(x, 1.0);
  Value* s = b_.CreateFDiv(b_.CreateFSub(mantissa, one), b_.CreateFAdd(mantissa, one));
  Value* series = Polynomial(
      b_.CreateFMul(s, s), std::initializer_list<double>{1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13});
  constexpr double kTwoOverLn2 = 2.8853900817779268;
  return Fma(b_.CreateFMul(s, Constant(x, kTwoOverLn2)), series, b_.CreateSIToFP(exponent, x->getType()));
}

/// 2^t = 2^n e^(r ln 2), n = round(t), |r| <= 1/2: the series of e^ to the ninth power. Of |t| < 1000.
Value* FloatMath::Exp2Double(Value* t) {
  llvm::Type* i64 = WithLanes(b_.getInt64Ty(), t);
  // Adding 1.5 * 2^52 leaves the rounded integer in the low bits of the mantissa.
  Value* magic = Constant(t, 6755399441055744.0);
  Value* shifted = b_.CreateFAdd(t, magic);
  Value* r = b_.CreateFMul(b_.CreateFSub(t, b_.CreateFSub(shifted, magic)), Constant(t, 0.69314718055994531));
  Value* e = Polynomial(r, std::initializer_list<double>{1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                                                         1.0 / 5040, 1.0 / 40320, 1.0 / 362880});
  Value* exponent = b_.CreateShl(b_.CreateBitCast(shifted, i64), llvm::ConstantInt::get(i64, 52));
  return b_.CreateBitCast(b_.CreateAdd(b_.CreateBitCast(e, i64), exponent), t->getType());
}

Value* FloatMath::Pow(Value* x, Value* y) {
  const double infinity = std::numeric_limits<double>::infinity();
  llvm::Type* f64 = WithLanes(b_.getDoubleTy(), x);
  Value* one = Constant(x, 1.0);
  Value* wide = b_.CreateFPExt(Abs(x), f64);
  Value* exponent = b_.CreateFPExt(y, f64);
  Value* log = Log2Double(wide);
  log = b_.CreateSelect(b_.CreateFCmpOEQ(wide, Constant(wide, 0.0)), Constant(wide, -infinity), log);
  log = b_.CreateSelect(b_.CreateFCmpOEQ(wide, Constant(wide, infinity)), Constant(wide, infinity), log);
  // Beyond these, float32 overflows or is zero.
  Value* product = Clamp(b_.CreateFMul(exponent, log), -200.0, 200.0);
  Value* magnitude = b_.CreateFPTrunc(Exp2Double(product), x->getType());
  // NaN does not outlive the arithmetic on its bits.
  Value* nan = Constant(x, std::numeric_limits<double>::quiet_NaN());
  magnitude = b_.CreateSelect(b_.CreateFCmpUNO(x, y), nan, magnitude);
  Value* is_one = b_.CreateOr(b_.CreateFCmpOEQ(Abs(x), one), b_.CreateFCmpOEQ(y, Constant(x, 0.0)));
  return PowOfSigned(x, y, b_.CreateSelect(is_one, one, magnitude));
}

/// Odd integers keep the sign of x; other numbers that are no integers, NaN too, have no power of a negative number.
Value* VectorOps::PowOfSigned(Value* x, Value* y, Value* magnitude) {
  const auto is_integer = [&](Value* value) {
    return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(ID(llvm::Intrinsic::trunc), value), value);
  };
  Value* whole = is_integer(y);
  Value* odd = b_.CreateAnd(whole, b_.CreateNot(is_integer(b_.CreateFMul(y, Constant(x, 0.5)))));
  Value* result = b_.CreateSelect(odd, CopySign(magnitude, x), magnitude);
  Value* finite = b_.CreateFCmpOGT(x, Constant(x, -std::numeric_limits<double>::infinity()));
  Value* negative = b_.CreateAnd(b_.CreateFCmpOLT(x, Constant(x, 0.0)), finite);
  Value* nan = Constant(x, std::numeric_limits<double>::quiet_NaN());
  return b_.CreateSelect(b_.CreateAnd(negative, b_.CreateNot(whole)), nan, result);
}

}  // namespace deuteron::codegen
