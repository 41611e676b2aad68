/// \file
/// Windows over a product become one kernel where the image between them outgrows the caches, are scheduled as was
/// promised, and compute what the operators do.
#include "deuteron/driver/rule_fuser_test_util.h"

namespace deuteron {
namespace {

/// Caches that an image of some rows does not fit, and a memory that is slow.
constexpr const char* kSmallCaches =
    " -l1-bytes=4096 -l2-bytes=16384 -l2-sharers=1 -l3-bytes=0 -core-gbps=0.05 -memory-gbps=0.1";

struct Case {
  const char* name;
  /// Of the image, N, H, W, C; and channels of the wide one.
  const char* shape;
  int64_t channels, wide;
  int64_t window;
  /// Of the windows.
  const char* attributes;
  /// Functions of the wide image and of the result.
  std::vector<const char*> between = {"b = R.nn.relu(a)"};
  std::vector<const char*> after = {"gv = R.nn.relu(d)"};
};

std::vector<Case> Cases() {
  return {
      {"plain", "1, 12, 15, 8", 8, 48, 3, "padding=[1, 1, 1, 1]"},
      {"strided", "1, 20, 14, 8", 8, 48, 3, "padding=[1, 1, 1, 1], strides=[2, 2]"},
      {"strided_odd", "1, 19, 13, 8", 8, 48, 3, "padding=[0, 0, 1, 1], strides=[2, 2]"},
      {"wide_windows", "2, 18, 9, 8", 8, 32, 5, "padding=[2, 2, 2, 2]"},
      {"dilated", "1, 16, 11, 8", 8, 32, 3, "padding=[2, 2, 2, 2], dilation=[2, 2]"},
      {"without_padding", "3, 14, 14, 8", 8, 16, 3, "padding=[0, 0, 0, 0]"},
      {"nothing_between", "1, 16, 16, 8", 8, 48, 3, "padding=[1, 1, 1, 1]", {}, {}},
      {"gates",
       "1, 16, 16, 8",
       8,
       96,
       3,
       "padding=[1, 1, 1, 1]",
       {"s = R.sigmoid(a)", "b = R.multiply(s, a)"},
       {"t = R.sigmoid(d)", "gv = R.multiply(t, d)"}},
      {"sums",
       "2, 16, 16, 8",
       8,
       48,
       3,
       "padding=[1, 1, 1, 1]",
       {"z = R.tile(x, [1, 1, 1, 6])", "b = R.add(a, z)"},
       {"gv = R.add(d, z)"}},
      {"rows_of_a_prime", "2, 17, 16, 8", 8, 32, 3, "padding=[1, 1, 1, 1]"},
      {"batch_of_the_run", "\"n\", 16, 16, 8", 8, 48, 3, "padding=[1, 1, 1, 1]"},
  };
}

std::string TextOf(const Case& test) {
  const std::string wide = std::to_string(test.wide), narrow = std::to_string(test.channels),
                    window = std::to_string(test.window);
  std::vector<std::string> lines = {
      Numbers("w", wide + ", " + narrow + ", 1, 1", test.wide * test.channels),
      Numbers("v", window + ", " + window + ", " + wide + ", 1", test.window * test.window * test.wide),
      std::string(test.between.empty() ? "b" : "a") +
          " = R.nn.conv2d(x, w, padding=[0, 0, 0, 0], data_layout=\"NHWC\", kernel_layout=\"OIHW\", "
          "out_layout=\"NHWC\")"};
  lines.insert(lines.end(), test.between.begin(), test.between.end());
  lines.push_back(std::string(test.after.empty() ? "gv" : "d") + " = R.nn.conv2d(b, v, " + test.attributes +
                  ", groups=" + wide + ", data_layout=\"NHWC\", kernel_layout=\"HWOI\", out_layout=\"NHWC\")");
  lines.insert(lines.end(), test.after.begin(), test.after.end());
  return ModuleOf(test.shape, lines);
}

class ProductWindow : public testing::TestWithParam<Case> {};

TEST_P(ProductWindow, IsScheduledAsPromised) {
  ExpectMergedAndScheduled(TextOf(GetParam()), "FuseWindows", "product-window", kSmallCaches);
}

TEST_P(ProductWindow, ComputesWhatTheOperatorsDo) { ExpectVerified(TextOf(GetParam()), kSmallCaches); }

INSTANTIATE_TEST_SUITE_P(Forms, ProductWindow, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
