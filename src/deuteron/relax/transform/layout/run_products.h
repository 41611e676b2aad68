/// \file
/// Products of bytes that are both given by the run.
#pragma once

#include <functional>
#include <map>
#include <tuple>
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

  /// Takes note of bytes that are transposed.
  void Bind(const Var& var, const Expr& value);
  /// Forgets what is packed: a block has ended.
  void Clear() { packed_.clear(); }
  /// Null where `call`, of what is centred of `a` and of `b`, stays as it is.
  Call Pack(const Call& call, const CentredBytes& a, const CentredBytes& b, const Emit& emit);

 private:
  /// Fours of `bytes` along the axis that is the last but `from_end`.
  Expr Fours(const Expr& bytes, int64_t from_end, bool is_signed, const Emit& emit);
  Expr MakeFours(const Expr& bytes, int64_t axis, bool is_signed, const Emit& emit) const;
  Expr Pairs(const CentredBytes& bytes, int64_t from_end, const Emit& emit);

  /// By variable.
  std::unordered_map<const Object*, Call> transposed_;
  /// By data, zero point if it is taken off, axis, and whether the bytes are signed.
  std::map<std::tuple<const Object*, const Object*, int64_t, bool>, Expr> packed_;
};

}  // namespace deuteron::relax
