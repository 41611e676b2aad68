/// \file
/// Products of bytes that are both given by the run.
#pragma once

#include <functional>
#include <unordered_map>

#include "deuteron/relax/transform/layout/packed_operands.h"

namespace deuteron::relax {

/// Makes relax.matmul of bytes in int32, less zero points, into relax.matmul_pack:
///
///     Σ (a - y) (b - z) = Σ a b - y Σ b - z (Σ a - k y)
///
/// of fours of bytes where the target multiplies such, else of pairs of int16 that are centred before. Sums over one
/// operand are products with ones.
class RunProducts {
 public:
  using Emit = std::function<Var(const Expr& value)>;
  /// What `make` makes of data, less a zero point if one is given, along the axis -1 or -2; made once for all products.
  using Share = std::function<Expr(const Expr& data, const Expr& zero_point, int64_t axis, const char* packing,
                                   const std::function<Expr()>& make)>;

  /// Takes note of bytes that are transposed.
  void Bind(const Var& var, const Expr& value);
  /// Null where `call`, of what is centred of `a` and of `b`, stays as it is.
  Call Pack(const Call& call, const CentredBytes& a, const CentredBytes& b, const Emit& emit, const Share& share) const;

 private:
  Expr MakeFours(const Expr& bytes, int64_t axis, bool is_signed, const Emit& emit) const;

  /// By variable.
  std::unordered_map<const Object*, Call> transposed_;
};

}  // namespace deuteron::relax
