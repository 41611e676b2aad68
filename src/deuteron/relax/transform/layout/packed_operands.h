/// \file
/// Operands of products in the packings (topi::Packing) that CPUs multiply and add up in one instruction.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/topi/nn.h"

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

/// Bytes or bfloat16 of which fours or pairs lie beside each other along the axis, seen as these; null if others do.
Expr AsWords(const Expr& data, int64_t axis);
/// Whether no element of a constant of float16 is infinite.
bool AreFiniteHalves(const Constant& halves);
/// Which elements of padded data are those of the data, (1, …, h, w) with channels first; null if sizes are not
/// known.
Constant InsideOf(const Type& data, const std::vector<int64_t>& pad_width);
/// Neighbours along `axis` of a weight in that packing: of int32 that fit int16 or int8, of int8, or of float32 or
/// bfloat16.
Constant PackWeight(const Constant& weight, size_t axis, const topi::Packing& packing);
/// The element of a constant of int32 that has one; nothing if it is no such.
std::optional<int64_t> ConstantScalar(const Expr& expr);
bool IsByte(const Expr& expr);
/// What makes bytes of that type signed ones, or ones without a sign, where it is added.
inline int64_t ShiftOfBytes(DataType dtype, bool to_signed) {
  return dtype.is_int() == to_signed ? 0 : to_signed ? -128 : 128;
}

}  // namespace deuteron::relax
