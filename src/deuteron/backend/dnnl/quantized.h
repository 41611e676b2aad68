/// \file
/// Operands of kernels that are tensors of integers, and their constants.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "deuteron/relax/expr.h"

namespace deuteron::backend::dnnl {

/// What scale * (data - zero_point) is read from.
struct QuantizedOperand {
  relax::Expr data;
  /// Scalars, or vectors along `axis`. Null: 1 and 0.
  relax::Expr scale;
  relax::Expr zero_point;
  int64_t axis = 0;
};
using QuantizedOperands = std::unordered_map<const Object*, QuantizedOperand>;

/// The operand that `binding` stands for, if it is one: a dequantisation; an int8 or uint8 as int32; one of these (in
/// `known`) less a zero point.
std::optional<QuantizedOperand> ReadQuantizedOperand(const relax::Binding& binding, const QuantizedOperands& known);

bool IsByte(DataType dtype);
/// The elements of a tensor's type, if they are known.
std::optional<int64_t> NumElements(const relax::Expr& expr);
/// Whether `expr` is a constant whose elements are all `value`.
bool IsConstantOf(const relax::Expr& expr, double value);
/// data - zero_point as constant int8; null if one of them is not constant or a difference does not fit.
relax::Expr CentredInt8(const QuantizedOperand& operand);
/// The same of many operands, worked out once for each.
class CentredConstants {
 public:
  const relax::Expr& Of(const QuantizedOperand& operand);

 private:
  /// By data, zero point and axis: the operand, which keeps them alive, and what it comes to.
  std::map<std::tuple<const Object*, const Object*, int64_t>, std::pair<QuantizedOperand, relax::Expr>> known_;
};
/// The operand as constant float32; null if a part of it is not constant.
relax::Expr AsFloat32(const QuantizedOperand& operand);

}  // namespace deuteron::backend::dnnl
