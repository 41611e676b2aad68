/// \file
/// Operands of products of integers that are bytes, as passes find them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

bool IsByte(const Expr& expr);
/// The element of a constant of int32 that has one; nothing if it is no such.
std::optional<int64_t> ConstantScalar(const Expr& expr);

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
  /// Says that `var` is what is centred of these bytes.
  void Bind(const Var& var, CentredBytes bytes) { centred_[var.get()] = std::move(bytes); }
  /// Nothing if `operand` is not known to be within that range.
  std::optional<CentredBytes> Find(const Expr& operand) const;

 private:
  /// The bytes that `expr` is in int32; null if it is none.
  Expr Bytes(const Expr& expr) const;

  std::unordered_map<const Object*, Expr> widened_;
  std::unordered_map<const Object*, CentredBytes> centred_;
};

/// The product `call`, a convolution or one of matrices, of integers, with a result of `dtype`.
Call IntegerProduct(const CallNode& call, const Expr& data, const Expr& weight, DataType dtype);

/// Bytes, int16 or bfloat16 of which fours or pairs lie beside each other along the axis, seen as these; null if others
/// do.
Expr AsWords(const Expr& data, int64_t axis);
/// What is centred, as pairs of int16 of neighbours along `axis`, -1: the last. Where these lie beside each other, they
/// are the elements of what a kernel of data stores, and nothing is moved.
Expr AsPairs(const CentredBytes& bytes, int64_t axis, const std::function<Expr(Expr)>& emit);

}  // namespace deuteron::relax
