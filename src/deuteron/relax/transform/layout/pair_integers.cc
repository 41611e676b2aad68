#include "deuteron/relax/transform/layout/pair_integers.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

bool IsByte(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->dtype.is_integer() && type->dtype.bits() == 8;
}

bool IsScalar(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->ndim == 0;
}

/// The element of a constant of int32 that has one, if it is within a byte, signed or not.
std::optional<int64_t> SmallScalar(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1 || DataType(constant->data.dtype()) != DataType::Int(32))
    return std::nullopt;
  const int32_t value = *static_cast<const int32_t*>(CompactData(GetRef<Constant>(constant)).data_ptr());
  if (value < std::numeric_limits<int8_t>::min() || value > std::numeric_limits<uint8_t>::max()) return std::nullopt;
  return value;
}

}  // namespace

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
    const auto constant = SmallScalar(call->args[1]);
    if (constant) {
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

Constant PairsAlong(const Constant& weight, size_t axis) {
  const DataType dtype(weight->data.dtype());
  if (dtype != DataType::Int(32)) return Constant();
  const Tensor data = CompactData(weight);
  const auto* in = static_cast<const int32_t*>(data.data_ptr());
  const auto fits = [](int32_t value) { return value == static_cast<int16_t>(value); };
  if (!std::all_of(in, in + weight->data.numel(), fits)) return Constant();
  const auto shape = weight->data.shape();
  std::vector<int64_t> packed_shape(shape.begin(), shape.end());
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) outer *= shape[i];
    if (i > axis) inner *= shape[i];
  }
  const int64_t extent = shape[axis], pairs = (extent + 1) / 2;
  packed_shape[axis] = pairs;
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  auto* out = static_cast<uint32_t*>(packed.data_ptr());
  for (int64_t row = 0; row < outer * pairs; ++row) {
    const int64_t first = row / pairs * extent + row % pairs * 2;
    const bool has_second = row % pairs * 2 + 1 < extent;
    for (int64_t i = 0; i < inner; ++i) {
      const uint32_t low = static_cast<uint16_t>(in[first * inner + i]);
      const uint32_t high = has_second ? static_cast<uint16_t>(in[(first + 1) * inner + i]) : 0;
      out[row * inner + i] = low | high << 16;
    }
  }
  return Constant(std::move(packed), weight->span);
}

}  // namespace deuteron::relax
