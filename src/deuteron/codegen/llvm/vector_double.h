/// \file
/// Elementary functions of float64 vectors (and scalars) of any machine, as straight-line LLVM IR. Errors are
/// those that `./dev maths` finds over 10^9 numbers.
#pragma once

#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {

class DoubleMath : private VectorOps {
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

  llvm::Value* Rsqrt(llvm::Value* x) {
    return b_.CreateFDiv(Constant(x, 1.0), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  }

  /// Every special case as C has it; for machines that fuse multiply-adds.
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

  static constexpr double kTurnLimit = 1048576;

 private:
  /// An integer added to 1.5 * 2^52, so that its low bits are those of the mantissa; and the same as a number.
  struct Rounded {
    llvm::Value* shifted;
    llvm::Value* whole;
  };
  /// The integer nearest to x * scale (below 2^51).
  Rounded Round(llvm::Value* x, double scale);
  /// 2^n, if that is a normal number, of the bits of n + 1.5 * 2^52.
  llvm::Value* PowerOfTwo(llvm::Value* shifted);
  /// x * 2^n, in two steps, so that 2^n itself need not be a normal number.
  llvm::Value* Scale(llvm::Value* x, llvm::Value* n);
  /// x = n ln 2 + r.
  struct Reduced {
    Rounded n;
    llvm::Value* r;
  };
  Reduced ReduceByLn2(llvm::Value* x);
  /// x = 2^exponent * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); x positive and finite.
  struct Mantissa {
    llvm::Value* exponent;
    llvm::Value* f;
  };
  Mantissa Decompose(llvm::Value* x);
  /// f^2 / 2 and what f - f^2 / 2 lacks to log(1 + f).
  struct Logarithm {
    llvm::Value* half_square;
    llvm::Value* rest;
  };
  Logarithm LogOfFraction(llvm::Value* f);
  // vector_double_pow.cc
  /// A number as the sum of two.
  struct Sum {
    llvm::Value* high;
    llvm::Value* low;
  };
  llvm::Value* FusedMultiplyAdd(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  Sum Add(llvm::Value* a, llvm::Value* b, llvm::Value* low);
  Sum Multiply(const Sum& a, const Sum& b);
  Sum Log2InTwoParts(llvm::Value* x);
  llvm::Value* LogSpecials(llvm::Value* x, llvm::Value* result);
  Angle Turn(llvm::Value* x);
};

}  // namespace deuteron::codegen
