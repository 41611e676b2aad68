#include "deuteron/backend/dnnl/quantized.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "deuteron/backend/dnnl/composite.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::backend::dnnl {
namespace {

using relax::Expr;

const TensorTypeNode* TensorOf(const Expr& expr) { return expr->ty.as<TensorTypeNode>(); }

/// Calls `take(i, value)` on the elements of a compact constant of type T.
template <typename T, typename Take>
void ForEachOf(const Tensor& tensor, const Take& take) {
  const char* data = static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    T element;
    std::memcpy(&element, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));  // it may lie anywhere
    take(i, static_cast<double>(element));
  }
}

/// The same whatever its dtype; false if `expr` is no constant, or of a dtype that no operand has.
template <typename Take>
bool ForEach(const Expr& expr, const Take& take) {
  const auto* constant = expr.as<relax::ConstantNode>();
  if (constant == nullptr) return false;
  const Tensor& tensor = constant->data;
  const DataType dtype(tensor.dtype());
  if (dtype == DataType::Float(32)) {
    ForEachOf<float>(tensor, take);
  } else if (dtype == DataType::Int(8)) {
    ForEachOf<int8_t>(tensor, take);
  } else if (dtype == DataType::UInt(8)) {
    ForEachOf<uint8_t>(tensor, take);
  } else if (dtype == DataType::Int(32)) {
    ForEachOf<int32_t>(tensor, take);
  } else {
    return false;
  }
  return true;
}

/// Elements of a scale or zero point, one if it is a scalar; empty if it is not constant.
std::vector<double> Elements(const Expr& parameter, double without) {
  if (!parameter.defined()) return {without};
  std::vector<double> elements;
  ForEach(parameter, [&](int64_t, double value) { elements.push_back(value); });
  return elements;
}

/// Scales and zero points of an operand's channels, one if all have the same; element i is of channel i / inner %
/// channels.
struct Channels {
  std::vector<double> scale, zero;
  int64_t inner = 1, channels = 1;
};

/// Nothing if a part is not constant.
std::optional<Channels> ChannelsOf(const QuantizedOperand& operand) {
  Channels of{.scale = Elements(operand.scale, 1), .zero = Elements(operand.zero_point, 0)};
  const auto* type = TensorOf(operand.data);
  if (of.scale.empty() || of.zero.empty() || !type->has_shape()) return std::nullopt;
  if (of.scale.size() == 1 && of.zero.size() == 1) return of;
  const auto shape = AsConstInts(*type->shape);
  if (!shape || operand.axis >= static_cast<int64_t>(shape->size())) return std::nullopt;
  of.channels = (*shape)[operand.axis];
  for (size_t i = operand.axis + 1; i < shape->size(); ++i) of.inner *= (*shape)[i];
  for (const auto* values : {&of.scale, &of.zero}) {
    if (values->size() != 1 && static_cast<int64_t>(values->size()) != of.channels) return std::nullopt;
  }
  return of;
}

/// Calls `take(i, value)` with scale * (data - zero_point); false if a part is not constant.
template <typename Take>
bool ForEachDequantized(const QuantizedOperand& operand, const Take& take) {
  const std::optional<Channels> of = ChannelsOf(operand);
  if (!of) return false;
  return ForEach(operand.data, [&](int64_t i, double value) {
    const size_t channel = i / of->inner % of->channels;
    // As the operator rounds: the difference is exact, the product is not.
    take(i, static_cast<float>(value - of->zero[of->zero.size() > 1 ? channel : 0]) *
                static_cast<float>(of->scale[of->scale.size() > 1 ? channel : 0]));
  });
}

/// Greater zero points than any byte is: differences that wrap around do not fit either.
constexpr double kMostZero = 1 << 16;

/// Writes elements of T less the zero points of their channels, `inner` elements each in turn; whether all fit.
template <typename T>
bool CentreOf(const Tensor& tensor, const std::vector<uint32_t>& zero, int64_t inner, int8_t* out) {
  const char* data = static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset();
  bool fits = true;
  size_t channel = 0;
  for (int64_t begin = 0; begin < tensor.numel(); begin += inner) {
    const uint32_t less = zero[channel];
    channel = channel + 1 == zero.size() ? 0 : channel + 1;
    for (int64_t i = begin; i < begin + inner; ++i) {
      T element;
      std::memcpy(&element, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));  // it may lie anywhere
      const auto difference = static_cast<int32_t>(static_cast<uint32_t>(int32_t{element}) - less);
      out[i] = static_cast<int8_t>(difference);
      fits &= out[i] == difference;
    }
  }
  return fits;
}

Tensor NewTensor(const Expr& like, DataType dtype) {
  const auto shape = like.as<relax::ConstantNode>()->data.shape();
  return runtime::AllocTensor(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

}  // namespace

bool IsByte(DataType dtype) { return dtype == DataType::Int(8) || dtype == DataType::UInt(8); }

std::optional<QuantizedOperand> ReadQuantizedOperand(const relax::Binding& binding, const QuantizedOperands& known) {
  const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
  if (call == nullptr || call->op->kind != RelaxKind::kOp || TensorOf(binding->var) == nullptr) return std::nullopt;
  const std::string op = relax::OpName(GetRef<relax::Call>(call));
  const auto* result = TensorOf(binding->var);
  if (op == "dequantize") {
    const int64_t axis = static_cast<const relax::QuantizeAttrsNode*>(call->attrs.get())->axis;
    return QuantizedOperand{call->args[0], call->args[1], call->args[2],
                            axis < 0 ? axis + std::max<int64_t>(result->ndim, 1) : axis};
  }
  if (result->dtype != DataType::Int(32)) return std::nullopt;
  if (op == "astype" && IsByte(TensorOf(call->args[0])->dtype)) return QuantizedOperand{call->args[0], {}, {}, 0};
  if (op != "subtract") return std::nullopt;
  const auto it = known.find(call->args[0].get());
  if (it == known.end() || it->second.scale.defined() || it->second.zero_point.defined()) return std::nullopt;
  if (NumElements(call->args[1]) != 1) return std::nullopt;
  // A zero point is a byte as well.
  const auto zero = known.find(call->args[1].get());
  return QuantizedOperand{it->second.data, {}, zero == known.end() ? call->args[1] : zero->second.data, 0};
}

std::optional<int64_t> NumElements(const Expr& expr) {
  const auto* type = TensorOf(expr);
  if (type == nullptr || !type->has_shape()) return std::nullopt;
  const auto shape = AsConstInts(*type->shape);
  if (!shape) return std::nullopt;
  int64_t count = 1;
  for (const int64_t extent : *shape) count *= extent;
  return count;
}

bool IsConstantOf(const Expr& expr, double value) {
  bool all = true;
  return ForEach(expr, [&](int64_t, double element) { all = all && element == value; }) && all;
}

Expr CentredInt8(const QuantizedOperand& operand) {
  const auto* constant = operand.data.as<relax::ConstantNode>();
  if (constant == nullptr) return Expr();
  const Tensor& data = constant->data;
  const DataType dtype(data.dtype());
  const bool centred = !operand.zero_point.defined() || IsConstantOf(operand.zero_point, 0);
  if (centred && dtype == DataType::Int(8)) return operand.data;
  const std::optional<Channels> of = ChannelsOf({operand.data, {}, operand.zero_point, operand.axis});
  if (!of || std::any_of(of->zero.begin(), of->zero.end(), [](double zero) { return std::abs(zero) > kMostZero; }))
    return Expr();
  const bool is_alike = of->zero.size() == 1;
  std::vector<uint32_t> zero;
  for (const double value : of->zero) zero.push_back(static_cast<uint32_t>(static_cast<int32_t>(value)));
  const int64_t inner = is_alike ? std::max<int64_t>(data.numel(), 1) : of->inner;
  Tensor tensor = NewTensor(operand.data, DataType::Int(8));
  auto* out = static_cast<int8_t*>(tensor.data_ptr());
  const bool fits = dtype == DataType::Int(8)    ? CentreOf<int8_t>(data, zero, inner, out)
                    : dtype == DataType::UInt(8) ? CentreOf<uint8_t>(data, zero, inner, out)
                    : dtype == DataType::Int(32) ? CentreOf<int32_t>(data, zero, inner, out)
                                                 : false;
  return fits ? Expr(relax::Constant(tensor)) : Expr();
}

const Expr& CentredConstants::Of(const QuantizedOperand& operand) {
  const auto key = std::tuple(operand.data.get(), operand.zero_point.get(), operand.axis);
  const auto [at, is_new] = known_.try_emplace(key);
  if (is_new) at->second = {operand, CentredInt8(operand)};
  return at->second.second;
}

Expr AsFloat32(const QuantizedOperand& operand) {
  if (operand.data->kind != RelaxKind::kConstant) return Expr();
  Tensor tensor = NewTensor(operand.data, DataType::Float(32));
  auto* out = static_cast<float*>(tensor.data_ptr());
  const bool known = ForEachDequantized(operand, [&](int64_t i, float value) { out[i] = value; });
  return known ? Expr(relax::Constant(tensor)) : Expr();
}

}  // namespace deuteron::backend::dnnl
