/// \file
/// Two products become one kernel where the tensor between them outgrows the caches, are scheduled as was promised, and
/// compute what the operators do.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/verify.h"
#include "deuteron/script/parser.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

/// Caches that rows of some products do not fit, and a memory that is slow.
#define SMALL_CACHES " -l1-bytes=4096 -l2-bytes=32768 -l2-sharers=1 -l3-bytes=0 -core-gbps=0.05 -memory-gbps=0.1"

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

std::string Numbers(const std::string& name, const std::string& shape, int64_t count) {
  return name + " = R.sin(R.reshape(R.arange(0, " + std::to_string(count) + ", 1, \"float32\"), R.shape([" + shape +
         "])))";
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
  std::string text = std::string("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((") +
                     test.rows + ", " + number(test.columns) + "), \"float32\")):\n        with R.dataflow():\n";
  for (const std::string& line : lines) text += "            " + line + "\n";
  return text + "            R.output(gv)\n        return gv\n";
}

class ProductPair : public testing::TestWithParam<Case> {};

TEST_P(ProductPair, IsScheduledAsPromised) {
  for (const char* target :
       {"llvm -mcpu=x86-64-v4 -threads=2" SMALL_CACHES, "llvm -mcpu=x86-64-v3 -threads=1" SMALL_CACHES,
        "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2" SMALL_CACHES}) {
    SCOPED_TRACE(target);
    const TargetScope target_scope(Target::Parse(target));
    transform::PassContext context;
    transform::PassContext::Scope scope(context);
    const IRModule module = script::ParseModule(TextOf(GetParam()));
    const Arguments arguments = RandomArguments(module, 5, 23);
    const IRModule scheduled = MakePipeline("schedule")(MakePipeline("graph")(module));
    int fused = 0;
    std::vector<std::string> rules;
    for (const transform::Decision& decision : context.decisions->decisions()) {
      if (decision.pass == "FuseProducts") {
        EXPECT_EQ(decision.reason, transform::Reason::kFused) << decision.message;
        ++fused;
      }
      if (decision.pass == "ScheduleForCPU") rules.emplace_back(decision.object);
    }
    EXPECT_EQ(fused, 1);
    EXPECT_NE(std::find(rules.begin(), rules.end(), "product-pair"), rules.end());
    EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 1e-4).problem, "");
  }
}

TEST_P(ProductPair, ComputesWhatTheOperatorsDo) {
  for (const char* target :
       {"llvm -mcpu=x86-64-v3 -threads=2" SMALL_CACHES, "llvm -mcpu=x86-64-v2 -threads=1" SMALL_CACHES}) {
    VerifyOptions options{.compile = {.threads = 2, .backend = "none"}};
    options.compile.target = target;
    for (const VerifiedStage& stage : Verify(script::ParseModule(TextOf(GetParam())), options)) {
      EXPECT_EQ(stage.problem, "") << stage.name << " for " << target;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ProductPair, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
