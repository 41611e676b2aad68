/// \file
/// Elementary functions of float32 vectors (and scalars) of any machine, as straight-line LLVM IR. Errors are
/// those that `./dev maths` finds over all inputs.
#pragma once

#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {

class FloatMath : private VectorOps {
 public:
  using VectorOps::VectorOps;

  llvm::Value* Exp(llvm::Value* x);
  llvm::Value* Exp2(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  llvm::Value* Log2(llvm::Value* x);
  llvm::Value* Log10(llvm::Value* x);
  llvm::Value* Tanh(llvm::Value* x);
  llvm::Value* Sigmoid(llvm::Value* x);
  llvm::Value* Erf(llvm::Value* x);
  /// Of |x| < kTurnLimit.
  llvm::Value* Sin(llvm::Value* x) { return SineOf(Turn(x), 0); }
  llvm::Value* Cos(llvm::Value* x) { return SineOf(Turn(x), 1); }
  llvm::Value* Tan(llvm::Value* x) { return TangentOf(Turn(x)); }
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

  llvm::Value* Rsqrt(llvm::Value* x) {
    return b_.CreateFDiv(Constant(x, 1.0), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  }

  /// x / divisor, that being one number for all lanes, by its reciprocal in two parts, which a loop computes once. At
  /// most 0.5 + 2^-22 units in the last place from the quotient (three of 10^9 are not the nearest number), one unit
  /// where the result is below 2^-100. The machine has to have multiply-adds of one rounding.
  llvm::Value* Quotient(llvm::Value* x, llvm::Value* divisor);

  static constexpr double kTurnLimit = 1048576;

 private:
  /// Of float64: log2 of positive finite numbers, absolute error 1e-11 or so; 2^t, relative error 1e-10 or so.
  llvm::Value* Log2Double(llvm::Value* x);
  llvm::Value* Exp2Double(llvm::Value* t);
  /// The number whose exponent has the bits n + bias: 2^(n + bias - 127) where it is a normal one.
  llvm::Value* Power(const Rounded& n);
  /// mantissa * 2^n, n of the sign of x (or 0) and |n| < 190, its bias kScaleBias; denormal results are rounded once.
  llvm::Value* Scale(llvm::Value* mantissa, const Rounded& n, llvm::Value* x);
  /// x = n ln 2 + r.
  struct Reduced {
    Rounded n;
    llvm::Value* r;
  };
  Reduced ReduceByLn2(llvm::Value* x, int bias);
  llvm::Value* ExpMinusOne(llvm::Value* r);
  /// 2^r, |r| <= 1/2.
  llvm::Value* Exp2OfFraction(llvm::Value* r);
  /// x = 2^exponent * (1 + fraction), fraction in [sqrt(1/2) - 1, sqrt(2) - 1]; x positive and finite.
  struct Mantissa {
    llvm::Value* exponent;  ///< as a float
    llvm::Value* fraction;
  };
  Mantissa Decompose(llvm::Value* x);
  llvm::Value* LogOfFraction(llvm::Value* fraction);
  llvm::Value* LogSpecials(llvm::Value* x, llvm::Value* result);
  Angle Turn(llvm::Value* x);
};

}  // namespace deuteron::codegen
