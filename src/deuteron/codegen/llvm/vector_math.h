/// \file
/// Elementary functions of vectors (and scalars) of float32 and float64 as LLVM IR for a target.
///
/// Coefficients and tables are fits of this project (vector_tables.py). All functions propagate NaN and give the limits
/// at infinities; results that are denormal are computed, not flushed. Errors in units in the last place are at most
/// those that tests/maths states for each function, and checks.
#pragma once

#include <functional>

#include "deuteron/codegen/llvm/vector_avx512.h"
#include "deuteron/codegen/llvm/vector_double.h"
#include "deuteron/codegen/llvm/vector_float.h"
#include "deuteron/codegen/llvm/vector_inverse.h"
#include "deuteron/target/target.h"

namespace deuteron::codegen {

class VectorMath {
 public:
  VectorMath(llvm::IRBuilderBase* builder, const Target& target);

  using Unary = std::function<llvm::Value*(llvm::Value*)>;
  /// The function of that name ("exp") of a float32 or float64; null if it is not one of these. Sine, cosine and
  /// tangent are those of |x| < TurnLimit(x); the caller sees to larger ones.
  Unary Find(std::string_view name, llvm::Value* x);
  double TurnLimit(llvm::Value* x) const;
  /// Whether the target is fit for powers of numbers like x.
  bool HasPow(llvm::Value* x) const;
  /// Every special case as C has it.
  llvm::Value* Pow(llvm::Value* x, llvm::Value* y);
  /// x / y; of vectors of float32 by what is the same in all lanes without a division for each vector, where that pays.
  llvm::Value* Quotient(llvm::Value* x, llvm::Value* y);

  /// Inverse and hyperbolic functions, and remainders, of numbers like x.
  InverseMath Inverse(llvm::Value* x);
  /// Whether multiply-adds have one rounding.
  bool fused() const { return fused_; }

 private:
  llvm::IRBuilderBase& b_;
  /// Whether 512 bits may be computed with at once.
  bool avx512_;
  bool fused_;
  FloatMath float_;
  DoubleMath double_;
  Avx512Math wide_;
};

}  // namespace deuteron::codegen
