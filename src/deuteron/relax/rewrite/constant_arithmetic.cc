#include "deuteron/relax/rewrite/constant_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"

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

Tensor SquareRoot(const Call& call, const std::vector<int64_t>& shape) {
  const Tensor x = Floats(call->args[0]);
  if (!x.defined()) return Tensor();
  Tensor result = runtime::AllocTensor(shape, DataType::Float(32));
  MakeInParallel(x.numel(), x.numel() * kBytes, [&](int64_t begin, int64_t end) {
    auto* const out = static_cast<float*>(result.data_ptr());
    std::transform(Numbers(x) + begin, Numbers(x) + end, out + begin, [](float number) { return std::sqrt(number); });
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
  const auto is_op = [&](const Op& op) { return call->op.same_as(op); };
  if (is_op(kAdd)) return Binary(call, shape, std::plus<float>());
  if (is_op(kSubtract)) return Binary(call, shape, std::minus<float>());
  if (is_op(kMultiply)) return Binary(call, shape, std::multiplies<float>());
  if (is_op(kDivide)) return Binary(call, shape, std::divides<float>());
  if (is_op(kSqrt)) return SquareRoot(call, shape);
  if (is_op(kMean)) return Mean(call, shape);
  return Tensor();
}

}  // namespace deuteron::relax
