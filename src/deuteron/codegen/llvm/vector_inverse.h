/// \file
/// Inverse and hyperbolic functions and remainders of float32 and float64 vectors (and scalars) of any machine, by
/// polynomials, one division or root, and the exponential function and logarithm of the target. Errors are those that
/// `./dev maths` finds.
#pragma once

#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {

class InverseMath : private VectorOps {
 public:
  using Unary = std::function<llvm::Value*(llvm::Value*)>;

  InverseMath(llvm::IRBuilderBase* builder, Unary exp, Unary log)
      : VectorOps(builder), exp_(std::move(exp)), log_(std::move(log)) {}

  llvm::Value* Asin(llvm::Value* x);
  llvm::Value* Acos(llvm::Value* x);
  llvm::Value* Atan(llvm::Value* x);
  llvm::Value* Sinh(llvm::Value* x);
  llvm::Value* Cosh(llvm::Value* x);
  llvm::Value* Asinh(llvm::Value* x);
  llvm::Value* Acosh(llvm::Value* x);
  llvm::Value* Atanh(llvm::Value* x);
  llvm::Value* Log1p(llvm::Value* x);

  /// The remainder of x / y with the sign of x, exactly, where HasRemainder of both holds in all lanes. The machine has
  /// to have multiply-adds of one rounding.
  llvm::Value* Remainder(llvm::Value* x, llvm::Value* y);
  /// Lane by lane: whether the quotient is an integer of so few bits that one rounding leaves it next to the true one.
  llvm::Value* HasRemainder(llvm::Value* x, llvm::Value* y);

 private:
  static bool IsFloat(llvm::Value* x) { return x->getType()->getScalarType()->isFloatTy(); }
  llvm::Value* Sqrt(llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  /// x + x^3 P(x^2), the coefficients by the type of x.
  llvm::Value* OddSeries(llvm::Value* x, llvm::Value* square, std::span<const double> of_float,
                         std::span<const double> of_double);
  /// What arcsines are made of: asin m of m = |x| up to 1/2, beyond that of m = sqrt((1 - |x|) / 2).
  struct Arc {
    llvm::Value* is_far;
    llvm::Value* value;
  };
  Arc ArcOfMagnitude(llvm::Value* x);
  /// `constant` - x, the constant in two parts, of which the first is a number of the type of x.
  llvm::Value* Less(double high, double low, llvm::Value* x);
  /// e^|x| / 2.
  llvm::Value* HalfExp(llvm::Value* magnitude);

  Unary exp_;
  Unary log_;
};

}  // namespace deuteron::codegen
