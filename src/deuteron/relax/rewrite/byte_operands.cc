#include "deuteron/relax/rewrite/byte_operands.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "deuteron/ir/op.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"

namespace deuteron::relax {
namespace {

bool IsScalar(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->ndim == 0;
}

/// How many there are of `count` neighbours each along the axis, if these lie beside each other; nothing else.
std::optional<int64_t> WordsAlong(const TensorTypeNode* type, int64_t axis, int64_t count) {
  if (!type->has_shape() || (axis != -1 && axis + 1 != type->ndim)) return std::nullopt;
  const auto extent = AsConstInt((*type->shape)[type->ndim - 1]);
  return extent && *extent % count == 0 ? std::optional(*extent / count) : std::nullopt;
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

Call IntegerProduct(const CallNode& call, const Expr& data, const Expr& weight, DataType dtype) {
  const auto is_result = [&](const Expr& operand) { return operand.ty().as<TensorTypeNode>()->dtype == dtype; };
  const auto result = is_result(data) && is_result(weight) ? Optional<DataType>() : Optional<DataType>(dtype);
  Attrs attrs;
  const auto copy = [&](const auto* of_floats) {
    if (of_floats == nullptr) return;
    auto of_integers = MakeNode<std::remove_const_t<std::remove_pointer_t<decltype(of_floats)>>>(*of_floats);
    of_integers->out_dtype = result;
    attrs = Attrs(std::move(of_integers));
  };
  copy(call.attrs.as<Conv1DAttrsNode>());
  copy(call.attrs.as<Conv2DAttrsNode>());
  copy(call.attrs.as<Conv3DAttrsNode>());
  copy(call.attrs.as<MatmulAttrsNode>());
  DEUTERON_CHECK(attrs.defined()) << "the operator is no product";
  return Call(call.op, {data, weight}, std::move(attrs), {}, call.span);
}

Expr AsWords(const Expr& data, int64_t axis) {
  const auto* type = data.ty().as<TensorTypeNode>();
  const auto words = type == nullptr ? std::nullopt : WordsAlong(type, axis, 32 / type->dtype.bits());
  if (!words) return Expr();
  Array<PrimExpr> shape = *type->shape;
  shape.Set(type->ndim - 1, I64(*words));
  return MemoryView(data, std::move(shape), DataType::Int(32));
}

Expr AsPairs(const CentredBytes& bytes, int64_t axis, const std::function<Expr(Expr)>& emit) {
  const DataType half = DataType::Int(16), wide = DataType::Int(32);
  const auto* type = bytes.data.ty().as<TensorTypeNode>();
  if (!WordsAlong(type, axis, /*count=*/2)) return emit(PackI16x2(bytes.data, bytes.zero_point, axis));
  Expr centred = bytes.data;
  if (ConstantScalar(bytes.zero_point) != 0) {
    if (type->dtype != wide) centred = emit(Astype(centred, wide));
    Expr zero_point = bytes.zero_point;
    if (zero_point.ty().as<TensorTypeNode>()->dtype != wide) zero_point = emit(Astype(zero_point, wide));
    centred = emit(Subtract(centred, zero_point));
  }
  return emit(AsWords(emit(Astype(centred, half)), axis));
}

}  // namespace deuteron::relax
