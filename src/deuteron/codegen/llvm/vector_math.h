/// \file
/// Elementary functions of float32 vectors (and scalars) as straight-line LLVM IR.
///
/// Coefficients are minimax fits of this project (weighted least squares, iterated) on the reduced ranges.
/// All propagate NaN, and give the limits at infinities; results that are denormal are computed, not flushed.
#pragma once

#include <initializer_list>

#include "deuteron/codegen/llvm/llvm.h"

namespace deuteron::codegen {

class VectorMath {
 public:
  explicit VectorMath(llvm::IRBuilder<>* builder) : b_(*builder) {}

  /// At most 2 ulp.
  llvm::Value* Exp(llvm::Value* x);
  llvm::Value* Exp2(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  /// At most 3 ulp.
  llvm::Value* Log2(llvm::Value* x);
  llvm::Value* Log10(llvm::Value* x);
  /// Absolute error at most 2e-7, relative error at most 4 ulp.
  llvm::Value* Tanh(llvm::Value* x);
  llvm::Value* Sigmoid(llvm::Value* x);
  /// Absolute error at most 3e-7.
  llvm::Value* Erf(llvm::Value* x);
  /// Absolute error at most 1e-6 for |x| < 2^27; the caller sees to larger ones.
  llvm::Value* Sin(llvm::Value* x) { return SinCos(x, 0); }
  llvm::Value* Cos(llvm::Value* x) { return SinCos(x, 1); }
  /// At most 1 ulp, every special case as C has it (vector_pow.cc).
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

 private:
  /// Of float64: log2 of positive finite numbers, absolute error 1e-11 or so; 2^t, relative error 1e-10 or so.
  llvm::Value* Log2Double(llvm::Value* x);
  llvm::Value* Exp2Double(llvm::Value* t);
  llvm::Value* Constant(llvm::Value* like, double value);
  llvm::Value* Int(llvm::Value* like, int64_t value);
  llvm::Type* IntType(llvm::Value* like);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// c0 + c1 x + c2 x^2 + …
  llvm::Value* Polynomial(llvm::Value* x, std::initializer_list<double> coefficients);
  llvm::Value* Abs(llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  llvm::Value* CopySign(llvm::Value* magnitude, llvm::Value* sign);
  /// x * 2^n for integers -280 < n < 280 in i32, denormal results rounded once.
  llvm::Value* Scale(llvm::Value* x, llvm::Value* n);
  /// min(max(x, low), high), NaN kept.
  llvm::Value* Clamp(llvm::Value* x, double low, double high);
  /// An integer, in both forms in which it is needed.
  struct Split {
    llvm::Value* integer;  ///< i32
    llvm::Value* whole;    ///< the same as a float
  };
  /// Nearest integer to x (|x| < 2^22).
  Split Nearest(llvm::Value* x);
  /// x = 2^exponent * (1 + fraction), fraction in [sqrt(1/2) - 1, sqrt(2) - 1]; x positive and finite.
  struct Mantissa {
    llvm::Value* exponent;  ///< as a float
    llvm::Value* fraction;
  };
  Mantissa Decompose(llvm::Value* x);
  llvm::Value* LogOfFraction(llvm::Value* fraction);
  llvm::Value* LogSpecials(llvm::Value* x, llvm::Value* result);
  llvm::Value* SinCos(llvm::Value* x, int quadrant);

  llvm::IRBuilder<>& b_;
};

}  // namespace deuteron::codegen
