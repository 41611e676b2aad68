#include "deuteron/runtime/random_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace deuteron {
namespace {

Tensor Drawn(uint64_t seed, int64_t count, DLDataType dtype) {
  std::mt19937_64 random(seed);
  return RandomTensor({count}, dtype, &random);
}

constexpr DLDataType kDouble{kDLFloat, 64, 1};

TEST(RandomTensor, IsStandardNormal) {
  constexpr int64_t kCount = 1'000'000;
  const Tensor tensor = Drawn(7, kCount, kDouble);
  auto* const data = static_cast<double*>(tensor.data_ptr());
  double sum = 0, squares = 0, neighbours = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    sum += data[i];
    squares += data[i] * data[i];
    neighbours += i == 0 ? 0 : data[i] * data[i - 1];
  }
  // Five standard deviations of each of the means.
  EXPECT_NEAR(sum / kCount, 0, 5e-3);
  EXPECT_NEAR(squares / kCount, 1, 7.1e-3);
  EXPECT_NEAR(neighbours / kCount, 0, 5e-3);
  // The greatest distance from the normal distribution (Kolmogorov, Smirnov) is beyond that once in ten million times.
  std::sort(data, data + kCount);
  double distance = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double below = std::erfc(-data[i] / std::sqrt(2.0)) / 2;
    distance = std::max(distance, std::abs(below - static_cast<double>(i) / kCount));
  }
  EXPECT_LT(distance, 2.9 / std::sqrt(static_cast<double>(kCount)));
  EXPECT_GT(data[kCount - 1], 4);
  EXPECT_LT(data[0], -4);
}

TEST(RandomTensor, IsTheSameForASeed) {
  const auto bytes = [](const Tensor& tensor) {
    return std::string(static_cast<const char*>(tensor.data_ptr()), static_cast<size_t>(tensor.numel()) * 8);
  };
  for (const int64_t count : {0, 1, 8191, 8193, 100'001}) {
    EXPECT_EQ(bytes(Drawn(3, count, kDouble)), bytes(Drawn(3, count, kDouble)));
    if (count != 0) EXPECT_NE(bytes(Drawn(3, count, kDouble)), bytes(Drawn(4, count, kDouble)));
  }
  // A longer one begins alike; the next tensor is another.
  EXPECT_TRUE(bytes(Drawn(3, 9000, kDouble)).starts_with(bytes(Drawn(3, 5, kDouble))));
  std::mt19937_64 random(3);
  EXPECT_NE(bytes(RandomTensor({50}, kDouble, &random)), bytes(RandomTensor({50}, kDouble, &random)));
}

TEST(RandomTensor, HasEveryIntegerOfItsRange) {
  const auto range = [](DLDataType dtype) {
    const Tensor tensor = Drawn(1, 20'000, dtype);
    const auto* data = static_cast<const uint8_t*>(tensor.data_ptr());
    std::set<int> values;
    for (int64_t i = 0; i < tensor.numel(); ++i) values.insert(data[i * ((dtype.bits + 7) / 8)]);
    return std::pair<size_t, int>(values.size(), *values.rbegin());
  };
  using Range = std::pair<size_t, int>;
  EXPECT_EQ(range({kDLInt, 8, 1}), Range(100, 99));
  EXPECT_EQ(range({kDLUInt, 16, 1}), Range(100, 99));
  EXPECT_EQ(range({kDLInt, 32, 1}), Range(2, 1));
  EXPECT_EQ(range({kDLInt, 64, 1}), Range(2, 1));
  EXPECT_EQ(range({kDLUInt, 4, 1}), Range(16, 15));
  EXPECT_EQ(range({kDLBool, 8, 1}), Range(2, 1));
}

}  // namespace
}  // namespace deuteron
