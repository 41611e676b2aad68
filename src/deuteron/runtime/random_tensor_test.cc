#include "deuteron/runtime/random_tensor.h"

#include <gtest/gtest.h>

namespace deuteron {
namespace {

/// Numbers that goldens, reports and examples were made with.
TEST(RandomTensor, HasTheNumbersOfTheStandardLibrary) {
  for (const int64_t count : {1, 2, 3, 511, 512, 513, 1024, 100'001}) {
    std::mt19937_64 random(7), expected(7);
    const Tensor tensor = RandomTensor({count}, DLDataType{kDLFloat, 64, 1}, &random);
    std::normal_distribution<double> normal;
    const auto* data = static_cast<const double*>(tensor.data_ptr());
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(data[i], normal(expected)) << i << " of " << count;
    // What is drawn next is as if they had been drawn one by one.
    EXPECT_EQ(random, expected) << count;
  }
}

}  // namespace
}  // namespace deuteron
