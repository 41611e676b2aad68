/// \file
/// Operands of integer products as pairs of int16, which CPUs multiply and add in one instruction.
#pragma once

#include <optional>
#include <unordered_map>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// data - zero_point, for bytes and a scalar zero point that is a byte, or for differences of bytes less 0: all are
/// within nine bits and a sign, so that sums of two products with int16 fit 32 bits.
struct CentredBytes {
  Expr data;
  Expr zero_point;
};

/// What variables stand for that are bytes in int32, less a zero point or not.
class ByteOperands {
 public:
  /// Takes note of what `var` is bound to.
  void Bind(const Var& var, const Expr& value);
  /// Nothing if `operand` is not known to be within that range.
  std::optional<CentredBytes> Find(const Expr& operand) const;

 private:
  /// The bytes that `expr` is in int32; null if it is none.
  Expr Bytes(const Expr& expr) const;

  std::unordered_map<const Object*, Expr> widened_;
  std::unordered_map<const Object*, CentredBytes> centred_;
};

/// Neighbours along `axis` of an integer constant in pairs, as pack_i16x2 makes them; null where an element does not
/// fit int16.
Constant PairsAlong(const Constant& weight, size_t axis);

}  // namespace deuteron::relax
