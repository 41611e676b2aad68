#include "deuteron/relax/rewrite/constant_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"

namespace deuteron::relax {
namespace {

constexpr auto kBytes = static_cast<int64_t>(sizeof(float));

/// Compact float32 numbers; undefined if the argument is no constant of these.
Tensor Floats(const Expr& argument) {
  const auto* constant = argument.as<ConstantNode>();
  if (constant == nullptr || DataType(constant->data.dtype()) != DataType::Float(32)) return Tensor();
  return CompactData(GetRef<Constant>(constant));
}

const float* Numbers(const Tensor& compact) { return static_cast<const float*>(compact.data_ptr()); }

/// How far apart elements lie along each axis of `shape`, to which the tensor is broadcast: 0 where it has one alone.
std::vector<int64_t> BroadcastStrides(const Tensor& data, const std::vector<int64_t>& shape) {
  const auto own = data.shape();
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t from = own.size() - 1 - i, to = shape.size() - 1 - i;
    if (own[from] != 1) strides[to] = stride;
    stride *= own[from];
  }
  return strides;
}

template <typename Operation>
Tensor Binary(const Call& call, const std::vector<int64_t>& shape, const Operation& operation) {
  const Tensor a = Floats(call->args[0]), b = Floats(call->args[1]);
  if (!a.defined() || !b.defined()) return Tensor();
  Tensor result = runtime::AllocTensor(shape, DataType::Float(32));
  const int64_t count = result.numel();
  if (count == 0) return result;
  // Lines along the last axis; a scalar is one of one element.
  const std::vector<int64_t> dims = shape.empty() ? std::vector<int64_t>{1} : shape;
  const std::vector<int64_t> a_strides = BroadcastStrides(a, dims), b_strides = BroadcastStrides(b, dims);
  const int64_t line = dims.back(), a_step = a_strides.back(), b_step = b_strides.back();
  MakeInParallel(count / line, count * kBytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t a_at = 0, b_at = 0, rest = row;
      for (size_t axis = dims.size() - 1; axis-- > 0;) {
        const int64_t index = rest % dims[axis];
        rest /= dims[axis];
        a_at += index * a_strides[axis];
        b_at += index * b_strides[axis];
      }
      const float* const left = Numbers(a) + a_at;
      const float* const right = Numbers(b) + b_at;
      float* const out = static_cast<float*>(result.data_ptr()) + row * line;
      for (int64_t i = 0; i < line; ++i) out[i] = operation(left[i * a_step], right[i * b_step]);
    }
  });
  return result;
}

/// A function that is computed in float64.
template <typename Function>
Tensor Unary(const Call& call, const std::vector<int64_t>& shape, const Function& function) {
  const Tensor x = Floats(call->args[0]);
  if (!x.defined()) return Tensor();
  Tensor result = runtime::AllocTensor(shape, DataType::Float(32));
  MakeInParallel(x.numel(), x.numel() * kBytes, [&](int64_t begin, int64_t end) {
    auto* const out = static_cast<float*>(result.data_ptr());
    std::transform(Numbers(x) + begin, Numbers(x) + end, out + begin,
                   [&](float number) { return static_cast<float>(function(static_cast<double>(number))); });
  });
  return result;
}

/// The scales and zero points of a quantisation, of which each is for so many elements one after the other.
struct Steps {
  std::vector<float> scales;
  std::vector<int32_t> zeros;
  int64_t run = 1;

  size_t At(int64_t element) const { return static_cast<size_t>(element / run) % scales.size(); }
};

/// Nothing if they are no constants of float32, and of integers.
std::optional<Steps> StepsOf(const Call& call, const Tensor& data) {
  const auto* zero = call->args[2].as<ConstantNode>();
  const Tensor scales = Floats(call->args[1]);
  const auto* attrs = call->attrs.as<QuantizeAttrsNode>();
  if (!scales.defined() || zero == nullptr || attrs == nullptr || scales.ndim() > 1) return std::nullopt;
  const Tensor zeros = CompactData(GetRef<Constant>(zero));
  const DataType type(zeros.dtype());
  if (!type.is_integer() || type.bits() < 8 || type.bits() > 32 || zeros.ndim() > 1) return std::nullopt;
  int64_t extent = std::max(scales.numel(), zeros.numel());
  Steps steps;
  if (extent != 1) {
    if (data.ndim() == 0) return std::nullopt;
    const auto axis = NormalizeAxis(call, attrs->axis, data.ndim());
    extent = data.shape()[axis];
    for (int64_t i = axis + 1; i < data.ndim(); ++i) steps.run *= data.shape()[i];
  } else {
    steps.run = std::max<int64_t>(data.numel(), 1);
  }
  for (const Tensor& each : {scales, zeros}) {
    if (each.numel() != 1 && each.numel() != extent) return std::nullopt;
  }
  for (int64_t i = 0; i < extent; ++i) {
    const auto* at = static_cast<const char*>(zeros.data_ptr()) + (zeros.numel() == 1 ? 0 : i) * type.bytes();
    steps.zeros.push_back(static_cast<int32_t>(LoadInteger(at, type)));
    steps.scales.push_back(Numbers(scales)[scales.numel() == 1 ? 0 : i]);
  }
  return steps.scales.empty() ? std::nullopt : std::optional(std::move(steps));
}

template <typename Integer>
Tensor DequantizedOf(const Tensor& data, const Steps& steps, const std::vector<int64_t>& shape) {
  Tensor result = runtime::AllocTensor(shape, DataType::Float(32));
  MakeInParallel(data.numel(), data.numel() * kBytes, [&](int64_t begin, int64_t end) {
    const auto* const from = static_cast<const Integer*>(data.data_ptr());
    auto* const out = static_cast<float*>(result.data_ptr());
    for (int64_t i = begin; i < end;) {
      const size_t step = steps.At(i);
      const int64_t end_of_run = std::min((i / steps.run + 1) * steps.run, end);
      for (; i < end_of_run; ++i) {
        // Modulo 2^32, as the operator subtracts.
        const uint32_t difference = static_cast<uint32_t>(from[i]) - static_cast<uint32_t>(steps.zeros[step]);
        out[i] = static_cast<float>(static_cast<int32_t>(difference)) * steps.scales[step];
      }
    }
  });
  return result;
}

Tensor Dequantized(const Call& call, const std::vector<int64_t>& shape) {
  const auto* constant = call->args[0].as<ConstantNode>();
  const auto* attrs = call->attrs.as<QuantizeAttrsNode>();
  if (constant == nullptr || attrs == nullptr || attrs->out_dtype != DataType::Float(32)) return Tensor();
  const Tensor data = CompactData(GetRef<Constant>(constant));
  const auto steps = StepsOf(call, data);
  if (!steps) return Tensor();
  const DataType type(data.dtype());
  if (type == DataType::Int(8)) return DequantizedOf<int8_t>(data, *steps, shape);
  if (type == DataType::UInt(8)) return DequantizedOf<uint8_t>(data, *steps, shape);
  if (type == DataType::Int(32)) return DequantizedOf<int32_t>(data, *steps, shape);
  return Tensor();
}

/// Of numbers to bytes.
Tensor Quantized(const Call& call, const std::vector<int64_t>& shape) {
  const Tensor data = Floats(call->args[0]);
  const auto* attrs = call->attrs.as<QuantizeAttrsNode>();
  if (!data.defined() || attrs == nullptr) return Tensor();
  const DataType to = attrs->out_dtype;
  if (to != DataType::Int(8) && to != DataType::UInt(8)) return Tensor();
  const auto steps = StepsOf(call, data);
  if (!steps) return Tensor();
  const float least = to.is_int() ? -128.0F : 0.0F, greatest = to.is_int() ? 127.0F : 255.0F;
  Tensor result = runtime::AllocTensor(shape, to);
  MakeInParallel(data.numel(), data.numel() * kBytes, [&](int64_t begin, int64_t end) {
    auto* const out = static_cast<uint8_t*>(result.data_ptr());
    for (int64_t i = begin; i < end; ++i) {
      const size_t step = steps->At(i);
      const float number = std::nearbyint(Numbers(data)[i] / steps->scales[step]);
      const float shifted = number + static_cast<float>(steps->zeros[step]);
      const float clamped = std::isnan(shifted) ? 0 : std::clamp(shifted, least, greatest);
      out[i] = static_cast<uint8_t>(static_cast<int32_t>(clamped));
    }
  });
  return result;
}

/// Summed up in float64.
Tensor Mean(const Call& call, const std::vector<int64_t>& shape) {
  const Tensor x = Floats(call->args[0]);
  const auto* attrs = call->attrs.as<StatisticalAttrsNode>();
  if (!x.defined() || attrs == nullptr) return Tensor();
  std::vector<bool> is_reduced(static_cast<size_t>(x.ndim()), !attrs->axis);
  if (attrs->axis) {
    for (const int64_t axis : NormalizeAxes(call, ToVector(attrs->axis.value()), x.ndim())) is_reduced[axis] = true;
  }
  // Axes of one element may lie anywhere.
  int64_t length = 1;
  bool is_last = true;
  for (size_t axis = is_reduced.size(); axis-- > 0;) {
    const int64_t extent = x.shape()[static_cast<int64_t>(axis)];
    if (extent == 1) continue;
    if (is_reduced[axis] && !is_last) return Tensor();
    is_last &= is_reduced[axis];
    if (is_reduced[axis]) length *= extent;
  }
  if (length == 0) return Tensor();
  Tensor result = runtime::AllocTensor(shape, DataType::Float(32));
  MakeInParallel(result.numel(), x.numel() * kBytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* const from = Numbers(x) + row * length;
      const double sum = std::accumulate(from, from + length, 0.0);
      static_cast<float*>(result.data_ptr())[row] = static_cast<float>(sum / static_cast<double>(length));
    }
  });
  return result;
}

}  // namespace

Tensor ComputedData(const Call& call, const std::vector<int64_t>& shape) {
  static const Op kAdd = Op::Get("relax.add"), kSubtract = Op::Get("relax.subtract");
  static const Op kMultiply = Op::Get("relax.multiply"), kDivide = Op::Get("relax.divide");
  static const Op kSqrt = Op::Get("relax.sqrt"), kMean = Op::Get("relax.mean");
  static const Op kSigmoid = Op::Get("relax.sigmoid"), kErf = Op::Get("relax.erf");
  static const Op kQuantize = Op::Get("relax.quantize"), kDequantize = Op::Get("relax.dequantize");
  const auto is_op = [&](const Op& op) { return call->op.same_as(op); };
  if (is_op(kAdd)) return Binary(call, shape, std::plus<float>());
  if (is_op(kSubtract)) return Binary(call, shape, std::minus<float>());
  if (is_op(kMultiply)) return Binary(call, shape, std::multiplies<float>());
  if (is_op(kDivide)) return Binary(call, shape, std::divides<float>());
  if (is_op(kSqrt)) return Unary(call, shape, [](double x) { return std::sqrt(x); });
  if (is_op(kSigmoid)) return Unary(call, shape, [](double x) { return 1 / (1 + std::exp(-x)); });
  if (is_op(kErf)) return Unary(call, shape, [](double x) { return std::erf(x); });
  if (is_op(kQuantize)) return Quantized(call, shape);
  if (is_op(kDequantize)) return Dequantized(call, shape);
  if (is_op(kMean)) return Mean(call, shape);
  return Tensor();
}

}  // namespace deuteron::relax
