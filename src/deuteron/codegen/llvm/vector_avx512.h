/// \file
/// Elementary functions of one full AVX-512 vector: 16 of float32.
///
/// Pieces of polynomials, logarithms and angles come from tables of 32 entries that lie in two registers each and are
/// looked up by one permutation, so that there are no divisions, no branches and next to no selections; exponents are
/// taken off and put back by vgetexp, vgetmant and vscalef, which know denormals, infinities and NaN.
/// Errors are those that `./dev maths` finds over all inputs.
#pragma once

#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {

class Avx512Math : private VectorOps {
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
  llvm::Value* Sin(llvm::Value* x);
  llvm::Value* Cos(llvm::Value* x);
  llvm::Value* Rsqrt(llvm::Value* x);
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);

  static constexpr int kLanes = 16;
  static constexpr double kTurnLimit = 131072;

 private:
  /// table[low five bits of the bits of `index`], lane by lane.
  llvm::Value* Lookup(const double (&table)[32], llvm::Value* index);
  /// mantissa * 2^exponent, rounded once.
  llvm::Value* Scale(llvm::Value* mantissa, llvm::Value* exponent);
  /// The exponent of x as a number; its mantissa, in the interval and with the sign that the instruction knows by
  /// number.
  llvm::Value* Exponent(llvm::Value* x);
  llvm::Value* Mantissa(llvm::Value* x, int interval_and_sign);
  /// An odd function of x by a polynomial around each multiple of `step`; beyond `limit` its value there.
  template <size_t kTerms>
  llvm::Value* OddPieces(llvm::Value* x, const double (&table)[kTerms][32], double step, double limit);
  /// x = 2^exponent * c * (1 + r): the exponent, r, and the table's logarithm of c.
  struct Logarithm {
    llvm::Value* exponent;
    llvm::Value* r;
    llvm::Value* log_c;
    llvm::Value* index;
  };
  enum class Sign { kPositive, kIgnored };
  template <size_t kRows>
  Logarithm Decompose(llvm::Value* x, const double (&table)[kRows][32], Sign sign = Sign::kPositive);
  /// sine * cos r + cosine * sin r, x = n * pi / 16 + r, of the tables' n-th entries.
  llvm::Value* Turn(llvm::Value* x, const double (&sine)[32], const double (&cosine)[32], double sign);
};

}  // namespace deuteron::codegen
