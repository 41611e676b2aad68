#include "deuteron/support/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace deuteron {
namespace {

TEST(NumberText, IsWhatPrintfWrites) {
  EXPECT_EQ(NumberText(0.0447159, "%.4g"), "0.04472");
  EXPECT_EQ(NumberText(-1234567.5, "%.2f MiB"), "-1234567.50 MiB");
  EXPECT_EQ(NumberText(0.5, "%8.2f|"), "    0.50|");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::infinity(), "%g"), "inf");
  // More than most numbers take.
  const std::string large = NumberText(std::numeric_limits<double>::max(), "%.1f");
  EXPECT_EQ(large.size(), 311U);
  EXPECT_TRUE(large.ends_with(".0"));
}

TEST(NumberOf, GoesToTheEndsOfItsRange) {
  EXPECT_EQ(NumberOf("1.5e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(NumberOf("1.5e-400"), 0);
  EXPECT_EQ(NumberOf("1.25"), 1.25);
}

}  // namespace
}  // namespace deuteron
