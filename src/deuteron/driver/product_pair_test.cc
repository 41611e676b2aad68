/// \file
/// Two products become one kernel where the tensor between them outgrows the caches, are scheduled as was promised, and
/// compute what the operators do.
#include "deuteron/driver/rule_fuser_test_util.h"

namespace deuteron {
namespace {

/// Caches that rows of some products do not fit, and a memory that is slow.
constexpr const char* kSmallCaches =
    " -l1-bytes=4096 -l2-bytes=32768 -l2-sharers=1 -l3-bytes=0 -core-gbps=0.05 -memory-gbps=0.1";

struct Case {
  const char* name;
  /// Of what comes in, without its columns; and columns of that, between, and of what goes out.
  const char* rows;
  int64_t columns, wide, narrow;
  /// Functions of what lies between, and of the result.
  std::vector<const char*> between = {"b = R.nn.gelu(a)"};
  std::vector<const char*> after = {};
};

std::vector<Case> Cases() {
  return {
      {"plain", "256", 16, 64, 16},
      {"rows_of_a_prime", "251", 16, 48, 16},
      {"a_batch", "3, 97", 16, 64, 16},
      {"rows_of_images", "1, 14, 21", 16, 48, 16},
      {"nothing_between", "200", 16, 96, 16, {}},
      {"residual", "190", 16, 64, 16, {"b = R.nn.relu(a)"}, {"gv = R.add(d, x)"}},
      {"gates",
       "210",
       16,
       64,
       32,
       {"s = R.sigmoid(a)", "b = R.multiply(s, a)"},
       {"t = R.sigmoid(d)", "gv = R.multiply(t, d)"}},
      {"batch_of_the_run", "\"n\", 300", 16, 48, 16},
  };
}

std::string TextOf(const Case& test) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  std::vector<std::string> lines = {
      Numbers("w", number(test.columns) + ", " + number(test.wide), test.columns * test.wide),
      Numbers("v", number(test.wide) + ", " + number(test.narrow), test.wide * test.narrow),
      std::string(test.between.empty() ? "b" : "a") + " = R.matmul(x, w)"};
  lines.insert(lines.end(), test.between.begin(), test.between.end());
  lines.push_back(std::string(test.after.empty() ? "gv" : "d") + " = R.matmul(b, v)");
  lines.insert(lines.end(), test.after.begin(), test.after.end());
  return ModuleOf(std::string(test.rows) + ", " + number(test.columns), lines);
}

class ProductPair : public testing::TestWithParam<Case> {};

TEST_P(ProductPair, IsScheduledAsPromised) {
  ExpectMergedAndScheduled(TextOf(GetParam()), "FuseProducts", "product-pair", kSmallCaches);
}

TEST_P(ProductPair, ComputesWhatTheOperatorsDo) { ExpectVerified(TextOf(GetParam()), kSmallCaches); }

INSTANTIATE_TEST_SUITE_P(Forms, ProductPair, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
