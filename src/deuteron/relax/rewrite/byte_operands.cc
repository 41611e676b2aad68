#include "deuteron/relax/rewrite/byte_operands.h"

#include <limits>

#include "deuteron/ir/op.h"
#include "deuteron/relax/rewrite/constant_data.h"

namespace deuteron::relax {
namespace {

bool IsScalar(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->ndim == 0;
}

}  // namespace

bool IsByte(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->dtype.is_integer() && type->dtype.bits() == 8;
}

std::optional<int64_t> ConstantScalar(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1 || DataType(constant->data.dtype()) != DataType::Int(32))
    return std::nullopt;
  return *static_cast<const int32_t*>(CompactData(GetRef<Constant>(constant)).data_ptr());
}

Expr ByteOperands::Bytes(const Expr& expr) const {
  const auto known = widened_.find(expr.get());
  return known == widened_.end() ? Expr() : known->second;
}

void ByteOperands::Bind(const Var& var, const Expr& value) {
  static const Op astype = Op::Get("relax.astype");
  static const Op subtract = Op::Get("relax.subtract");
  const auto* call = value.as<CallNode>();
  const auto* type = value.ty().as<TensorTypeNode>();
  if (call == nullptr || type == nullptr || type->dtype != DataType::Int(32)) return;
  if (call->op.same_as(astype) && IsByte(call->args[0])) {
    widened_[var.get()] = call->args[0];
    centred_[var.get()] = {call->args[0], Constant::Scalar(DataType::Int(32), int64_t{0})};
  } else if (call->op.same_as(subtract)) {
    const Expr data = Bytes(call->args[0]), zero_point = Bytes(call->args[1]);
    if (!data.defined()) return;
    const auto constant = ConstantScalar(call->args[1]);
    if (constant) {
      // Within a byte, signed or not.
      if (*constant < std::numeric_limits<int8_t>::min() || *constant > std::numeric_limits<uint8_t>::max()) return;
      centred_[var.get()] = {data, Constant::Scalar(DataType::Int(32), *constant)};
    } else if (zero_point.defined()) {
      if (IsScalar(zero_point)) {
        centred_[var.get()] = {data, zero_point};
      } else {
        centred_[var.get()] = {var, Constant::Scalar(DataType::Int(32), int64_t{0})};
      }
    }
  }
}

std::optional<CentredBytes> ByteOperands::Find(const Expr& operand) const {
  const auto known = centred_.find(operand.get());
  if (known == centred_.end()) return std::nullopt;
  return known->second;
}

}  // namespace deuteron::relax
