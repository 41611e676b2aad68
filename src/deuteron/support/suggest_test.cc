#include "deuteron/support/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace deuteron {
namespace {

const std::vector<std::string_view> kNames = {"FuseOps", "FuseTIR", "FoldConstant", "EliminateCommonSubexpr"};

TEST(Suggest, FindsTheNameThatWasMeant) {
  EXPECT_EQ(ClosestName("FuseOp", kNames), "FuseOps");
  EXPECT_EQ(ClosestName("fusetir", kNames), "FuseTIR");
  EXPECT_EQ(ClosestName("FoldConstants", kNames), "FoldConstant");
  EXPECT_EQ(ClosestName("EliminateCommonSubexpression", kNames), "EliminateCommonSubexpr");
  EXPECT_EQ(ClosestName("eliminate", kNames), "EliminateCommonSubexpr");
}

TEST(Suggest, SaysNothingOfOtherNames) {
  EXPECT_EQ(ClosestName("Schedule", kNames), "");
  EXPECT_EQ(ClosestName("", kNames), "");
  EXPECT_EQ(ClosestName("x", kNames), "");
  EXPECT_EQ(ClosestName(std::string(10000, 'F'), kNames), "");
  EXPECT_EQ(DidYouMean("FuseOp", kNames), "; did you mean \"FuseOps\"?");
  EXPECT_EQ(DidYouMean("Schedule", kNames), "");
}

}  // namespace
}  // namespace deuteron
