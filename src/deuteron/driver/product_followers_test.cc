/// \file
/// What is computed of a product's result that is stored for others, too, becomes a second result of its kernel, is
/// scheduled as was promised, and computes what the operators do.
#include "deuteron/driver/rule_fuser_test_util.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron {
namespace {

struct Case {
  const char* name;
  /// Of what comes in.
  const char* shape;
  /// What is summed, stored for two and computed of it, from `x` to `c`, of which `b` is stored; and the product that
  /// reads `c`.
  std::vector<std::string> lines;
  std::string next = "R.matmul(c, v)";
};

std::vector<std::string> Products(int64_t columns, std::vector<std::string> lines) {
  const std::string side = std::to_string(columns);
  std::vector<std::string> all = {Numbers("w", side + ", " + side, columns * columns),
                                  Numbers("v", side + ", " + side, columns * columns)};
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

std::vector<std::string> Windows(int64_t channels, int64_t side, std::vector<std::string> lines) {
  const std::string shape = std::to_string(channels) + ", " + std::to_string(channels);
  std::vector<std::string> all = {Numbers("w", shape + ", " + std::to_string(side) + ", " + std::to_string(side),
                                          channels * channels * side * side),
                                  Numbers("v", shape + ", 1, 1", channels * channels)};
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

std::vector<Case> Cases() {
  const std::string product = "a = R.matmul(x, w)", sum = "b = R.add(a, x)", relu = "c = R.nn.relu(b)";
  const std::string pointwise = "a = R.nn.conv2d(x, w)", windows = "a = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])";
  const std::string conv = "R.nn.conv2d(c, v)";
  return {
      {"plain", "40, 32", Products(32, {product, sum, relu})},
      {"rows_of_a_prime", "97, 48", Products(48, {product, sum, relu})},
      {"one_row", "1, 64", Products(64, {product, sum, relu})},
      {"a_batch", "3, 29, 32", Products(32, {product, sum, relu})},
      {"batch_of_the_run", "\"n\", 40, 32", Products(32, {product, sum, relu})},
      {"columns_of_a_prime", "64, 37", Products(37, {product, sum, relu})},
      {"long_sums",
       "3, 1040",
       {Numbers("w", "1040, 24", 1040 * 24), Numbers("v", "24, 24", 24 * 24), "a = R.matmul(x, w)", "b = R.negative(a)",
        relu}},
      {"nothing_between", "64, 48", Products(48, {"b = R.matmul(x, w)", relu})},
      {"of_many_operations", "64, 48", Products(48, {product, sum, "c = R.nn.gelu(b)"})},
      {"beside_another_tensor", "64, 48", Products(48, {product, sum, "s = R.sin(x)", "c = R.multiply(b, s)"})},
      {"pixels", "1, 32, 14, 14", Windows(32, 1, {pointwise, sum, relu}), conv},
      {"pixels_of_odd_images", "2, 24, 7, 9", Windows(24, 1, {pointwise, sum, relu}), conv},
      {"windows", "1, 16, 12, 12", Windows(16, 3, {windows, sum, relu}), conv},
      {"windows_of_images_of_the_run", "\"n\", 16, 5, 7", Windows(16, 3, {windows, sum, "c = R.sigmoid(b)"}), conv},
  };
}

std::string TextOf(const Case& test) {
  std::vector<std::string> lines = test.lines;
  lines.push_back("d = " + test.next);
  lines.emplace_back("gv = R.add(d, b)");
  return ModuleOf(test.shape, lines);
}

class ProductFollowers : public testing::TestWithParam<Case> {};

TEST_P(ProductFollowers, AreScheduledAsPromised) {
  ExpectMergedAndScheduled(TextOf(GetParam()), "FuseFollowers", "contraction", "");
}

TEST_P(ProductFollowers, ComputeWhatTheOperatorsDo) { ExpectVerified(TextOf(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(Forms, ProductFollowers, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

/// What a matrix unit multiplies is rounded for the next product where it is stored.
TEST(ProductFollowersOfUnit, AreRoundedAtTheTile) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=sapphirerapids -threads=2"));
  transform::PassContext context;
  context.SetConfig("precision", String("bf16"));
  transform::PassContext::Scope scope(context);
  IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((96, 256), \"float32\"), "
      "w: R.Tensor((256, 256), \"float32\")):\n        with R.dataflow():\n            a = R.matmul(x, w)\n"
      "            b = R.add(a, x)\n            d = R.matmul(b, w)\n            gv = R.add(d, b)\n"
      "            R.output(gv)\n        return gv\n");
  module = relax::BindParams("main", {{"w", RandomArguments(module, 3, 2).back().cast<Tensor>()}})(module);
  const Arguments arguments = RandomArguments(module, 5, 1);
  const IRModule scheduled = MakePipeline("schedule")(MakePipeline("graph")(module));
  const auto& decisions = context.decisions->decisions();
  EXPECT_EQ(std::count_if(decisions.begin(), decisions.end(),
                          [](const transform::Decision& decision) {
                            return decision.pass == "FuseFollowers" && decision.reason == transform::Reason::kFused;
                          }),
            1);
  EXPECT_TRUE(tir::UsesMatrixUnit(scheduled));
  EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 2e-2).problem, "");
}

}  // namespace
}  // namespace deuteron
