#include "deuteron/relax/rewrite/constant_arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"

namespace deuteron::relax {
namespace {

using Shape = std::vector<int64_t>;

Constant Floats(const Shape& shape, float first) {
  const Tensor tensor = runtime::AllocTensor(shape, DataType::Float(32));
  auto* const numbers = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = first + static_cast<float>(i % 97) * 0.375F;
  return Constant(tensor);
}

float At(const Tensor& tensor, int64_t index) { return static_cast<const float*>(tensor.data_ptr())[index]; }

/// The element of a tensor that is broadcast to `shape`, at a place of the result.
float Broadcast(const Tensor& tensor, const Shape& shape, int64_t place) {
  int64_t at = 0, stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t index = place % shape[shape.size() - 1 - i];
    place /= shape[shape.size() - 1 - i];
    if (i >= static_cast<size_t>(tensor.ndim())) continue;
    const int64_t extent = tensor.shape()[tensor.ndim() - 1 - static_cast<int64_t>(i)];
    if (extent != 1) at += index * stride;
    stride *= extent;
  }
  return At(tensor, at);
}

TEST(ComputedData, BroadcastsOperands) {
  struct Case {
    Shape a, b, result;
  };
  const Case cases[] = {{{}, {}, {}},
                        {{5}, {}, {5}},
                        {{}, {2, 3}, {2, 3}},
                        {{4, 3, 5}, {4, 3, 5}, {4, 3, 5}},
                        {{4, 3, 5}, {4, 1, 1}, {4, 3, 5}},
                        {{1, 3, 1}, {4, 1, 5}, {4, 3, 5}},
                        {{3, 5}, {4, 1, 5}, {4, 3, 5}},
                        {{7, 64, 300}, {64, 1}, {7, 64, 300}},
                        {{0, 3}, {1, 3}, {0, 3}}};
  for (const auto& [a_shape, b_shape, shape] : cases) {
    const Constant a = Floats(a_shape, 1.5F), b = Floats(b_shape, 0.25F);
    const std::pair<Expr, std::function<float(float, float)>> operations[] = {
        {Add(a, b), std::plus<float>()},
        {Subtract(a, b), std::minus<float>()},
        {Multiply(a, b), std::multiplies<float>()},
        {Divide(a, b), std::divides<float>()}};
    for (const auto& [call, operation] : operations) {
      const Tensor result = ComputedData(Downcast<Call>(call), shape);
      ASSERT_TRUE(result.defined());
      for (int64_t i = 0; i < result.numel(); ++i) {
        ASSERT_EQ(At(result, i), operation(Broadcast(a->data, shape, i), Broadcast(b->data, shape, i))) << i;
      }
    }
  }
}

/// Scales or zero points: one, or as many as there are in `count`.
Constant Parameters(DataType dtype, int64_t count, double first, double step) {
  const Tensor tensor = count == 0 ? runtime::AllocTensor({}, dtype) : runtime::AllocTensor({count}, dtype);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    void* at = static_cast<char*>(tensor.data_ptr()) + i * dtype.bytes();
    const double value = first + static_cast<double>(i) * step;
    if (dtype.is_float()) {
      *static_cast<float*>(at) = static_cast<float>(value);
    } else {
      StoreInteger(at, dtype, static_cast<int64_t>(value));
    }
  }
  return Constant(tensor);
}

TEST(ComputedData, QuantizesAndBack) {
  const Shape shape = {3, 4, 50};
  for (const DataType type : {DataType::Int(8), DataType::UInt(8)}) {
    for (const int64_t count : {0, 1, 4}) {
      SCOPED_TRACE(type.ToString() + " " + std::to_string(count));
      Constant x = Floats(shape, -18);
      auto* const numbers = static_cast<float*>(x->data.data_ptr());
      numbers[7] = std::numeric_limits<float>::quiet_NaN();
      numbers[8] = std::numeric_limits<float>::infinity();
      numbers[9] = -numbers[8];
      const Constant scale = Parameters(DataType::Float(32), count, 0.125, 0.03), zero = Parameters(type, count, 3, 2);
      const auto step = [&](int64_t i) { return count == 4 ? i / 50 % 4 : 0; };
      const auto scale_of = [&](int64_t i) { return 0.125F + static_cast<float>(step(i)) * 0.03F; };
      const auto zero_of = [&](int64_t i) { return static_cast<float>(3 + 2 * step(i)); };
      const float least = type.is_int() ? -128 : 0, greatest = type.is_int() ? 127 : 255;
      const Tensor quantized = ComputedData(Downcast<Call>(Quantize(x, scale, zero, 1, type)), shape);
      ASSERT_TRUE(quantized.defined());
      ASSERT_EQ(DataType(quantized.dtype()), type);
      for (int64_t i = 0; i < quantized.numel(); ++i) {
        const float whole = std::nearbyint(At(x->data, i) / scale_of(i)) + zero_of(i);
        const float expected = std::isnan(whole) ? 0 : std::min(std::max(whole, least), greatest);
        EXPECT_EQ(static_cast<float>(LoadInteger(static_cast<const char*>(quantized.data_ptr()) + i, type)), expected);
      }
      const Tensor back =
          ComputedData(Downcast<Call>(Dequantize(Constant(quantized), scale, zero, 1, DataType::Float(32))), shape);
      ASSERT_TRUE(back.defined());
      for (int64_t i = 0; i < back.numel(); ++i) {
        const auto byte = LoadInteger(static_cast<const char*>(quantized.data_ptr()) + i, type);
        EXPECT_EQ(At(back, i), (static_cast<float>(byte) - zero_of(i)) * scale_of(i));
      }
    }
  }
  // A bias.
  const Constant bias = Parameters(DataType::Int(32), 100, -5e8, 12345678),
                 scales = Parameters(DataType::Float(32), 100, 1e-4, 1e-5);
  const Tensor floats = ComputedData(
      Downcast<Call>(Dequantize(bias, scales, Parameters(DataType::Int(32), 0, 0, 0), 0, DataType::Float(32))), {100});
  ASSERT_TRUE(floats.defined());
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(At(floats, i),
              static_cast<float>(static_cast<const int32_t*>(bias->data.data_ptr())[i]) * At(scales->data, i));
  }
}

TEST(ComputedData, TakesRootsAndMeans) {
  const Constant x = Floats({6, 8, 25}, 0.5F);
  const Tensor roots = ComputedData(Downcast<Call>(Sqrt(x)), {6, 8, 25});
  for (int64_t i = 0; i < roots.numel(); ++i) ASSERT_EQ(At(roots, i), std::sqrt(At(x->data, i)));
  for (const Shape& axes : {Shape{1, 2}, Shape{-1, 1}}) {
    const Tensor means = ComputedData(Downcast<Call>(Mean(x, axes, /*keepdims=*/true)), {6, 1, 1});
    ASSERT_EQ(means.numel(), 6);
    for (int64_t row = 0; row < 6; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 200; ++i) sum += At(x->data, row * 200 + i);
      EXPECT_EQ(At(means, row), static_cast<float>(sum / 200));
    }
  }
  EXPECT_FALSE(ComputedData(Downcast<Call>(Mean(x, Shape{0}, false)), {8, 25}).defined());
  const Constant rows = Floats({1, 7, 1, 40}, 2);
  const Tensor means = ComputedData(Downcast<Call>(Mean(rows, Shape{0, 3}, false)), {7, 1});
  ASSERT_EQ(means.numel(), 7);
  double sum = 0;
  for (int64_t i = 0; i < 40; ++i) sum += At(rows->data, 3 * 40 + i);
  EXPECT_EQ(At(means, 3), static_cast<float>(sum / 40));
}

TEST(ComputedData, LeavesOtherTypes) {
  const Constant integers(runtime::AllocTensor({3}, DataType::Int(32)));
  EXPECT_FALSE(ComputedData(Downcast<Call>(Add(integers, integers)), {3}).defined());
}

}  // namespace
}  // namespace deuteron::relax
