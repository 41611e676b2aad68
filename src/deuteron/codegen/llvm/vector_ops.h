/// \file
/// What elementary functions are made of: operations on float32 or float64 vectors (and scalars).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "deuteron/codegen/llvm/llvm.h"
#include "deuteron/target/target.h"

namespace deuteron::codegen {

class VectorOps {
 public:
  explicit VectorOps(llvm::IRBuilderBase* builder) : b_(*builder) {}

 protected:
  /// `element` with as many lanes as `like`.
  static llvm::Type* WithLanes(llvm::Type* element, llvm::Value* like);
  llvm::Value* Constant(llvm::Value* like, double value);
  /// Integers as wide as the numbers of `like`.
  llvm::Type* IntType(llvm::Value* like);
  llvm::Value* Int(llvm::Value* like, int64_t value);
  llvm::Value* Bits(llvm::Value* x) { return b_.CreateBitCast(x, IntType(x)); }
  /// Of one rounding where the machine has it.
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// c0 + c1 x + c2 x^2 + …
  llvm::Value* Polynomial(llvm::Value* x, std::span<const double> coefficients);
  /// Nearest integer n to a number of float32.
  struct Rounded {
    llvm::Value* shifted;  ///< as the low bits, n + bias
    llvm::Value* whole;    ///< n itself
  };
  /// Of x * scale (beyond 2^21 anything).
  Rounded Round(llvm::Value* x, double scale, int bias = 0);
  /// x - n ln 2 of float32; of x + n ln 2 with `sign` -1.
  llvm::Value* WithoutLn2(llvm::Value* x, llvm::Value* n, double sign = 1);
  /// exp(-r) of a float32 r, |r| <= ln 2 / 2.
  llvm::Value* ExpOfNegative(llvm::Value* r);
  llvm::Value* Abs(llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  llvm::Value* CopySign(llvm::Value* magnitude, llvm::Value* sign);
  /// The smaller and the greater of x and a number, NaN kept: one instruction on x86.
  llvm::Value* AtMost(llvm::Value* x, double high) { return AtMost(x, Constant(x, high)); }
  llvm::Value* AtLeast(llvm::Value* x, double low) { return AtLeast(x, Constant(x, low)); }
  llvm::Value* AtMost(llvm::Value* x, llvm::Value* high);
  llvm::Value* AtLeast(llvm::Value* x, llvm::Value* low);
  llvm::Value* Clamp(llvm::Value* x, double low, double high) { return AtMost(AtLeast(x, low), high); }
  /// x^y, given |x|^y, and 1 where |x| is 1 or y is 0.
  llvm::Value* PowOfSigned(llvm::Value* x, llvm::Value* y, llvm::Value* magnitude);
  /// x = n pi / 2 + r, |r| <= pi / 4: sine and cosine of r, and n as an integer modulo 4 or more.
  struct Angle {
    llvm::Value* sine;
    llvm::Value* cosine;
    llvm::Value* count;
  };
  llvm::Value* IsOdd(llvm::Value* count);
  /// The sine of `angle` and so many right angles more.
  llvm::Value* SineOf(const Angle& angle, int64_t quadrant);
  llvm::Value* TangentOf(const Angle& angle);

  llvm::IRBuilderBase& b_;
};

/// Lanes of 32 bits of the widest vectors that may be computed with at once, where the target has the one feature for
/// 512 bits, and the other, or that one, for 256; 0: it has neither.
unsigned LanesWith(const Target& target, const char* wide, const char* narrow);

/// `whole` with the lanes of `part`, as many as there are places, from lane `begin` on.
llvm::Value* WithLanesAt(llvm::IRBuilderBase* builder, llvm::Value* whole, llvm::Value* part, unsigned begin);

/// `compute` of pieces of so many lanes of vectors of one length, or of scalars, joined again: a vector of as many
/// lanes.
llvm::Value* InPieces(llvm::IRBuilderBase* builder, const std::vector<llvm::Value*>& vectors, unsigned lanes,
                      const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& compute);

}  // namespace deuteron::codegen
