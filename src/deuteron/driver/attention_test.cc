/// \file
/// What FuseAttention promises, the schedule keeps: attentions as exporters write them become one kernel, which runs as
/// tiles of rows, and computes what the operators do.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/verify.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/script/parser.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

/// The arguments' shapes, by name, and the lines between the products: they make `p` of `s`.
struct Case {
  const char* name;
  std::vector<std::pair<const char*, const char*>> arguments;
  std::vector<const char*> lines;
  const char* dtype = "float32";
};

std::string TextOf(const Case& test) {
  std::string text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(";
  for (size_t i = 0; i < test.arguments.size(); ++i) {
    const auto& [name, shape] = test.arguments[i];
    text += std::string(i == 0 ? "" : ", ") + name + ": R.Tensor((" + shape + "), \"" + test.dtype + "\")";
  }
  text += "):\n        with R.dataflow():\n";
  for (const char* line : test.lines) text += std::string("            ") + line + "\n";
  return text + "            R.output(gv)\n        return gv\n";
}

constexpr const char* kScores = "s = R.matmul(q, k)";
constexpr const char* kSoftmax = "p = R.nn.softmax(s, axis=-1)";
constexpr const char* kOutput = "gv = R.matmul(p, v)";
/// Heads that lie side by side.
const std::vector<const char*> kHeads = {"q0 = R.reshape(x, R.shape([2, 21, 3, 10]))",
                                         "q = R.permute_dims(q0, axes=[0, 2, 1, 3])",
                                         "k0 = R.reshape(y, R.shape([2, 33, 3, 10]))",
                                         "k = R.permute_dims(k0, axes=[0, 2, 3, 1])",
                                         "v0 = R.reshape(z, R.shape([2, 33, 3, 12]))",
                                         "v = R.permute_dims(v0, axes=[0, 2, 1, 3])",
                                         "s0 = R.matmul(q, k)",
                                         "s1 = R.multiply(s0, R.const(0.25, \"float32\"))",
                                         "s = R.add(s1, mask)",
                                         kSoftmax,
                                         "o = R.matmul(p, v)",
                                         "t = R.permute_dims(o, axes=[0, 2, 1, 3])",
                                         "gv = R.reshape(t, R.shape([2, 21, 36]))"};

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>{
      {"plain", {{"q", "2, 2, 32, 16"}, {"k", "2, 2, 16, 32"}, {"v", "2, 2, 32, 16"}}, {kScores, kSoftmax, kOutput}},
      {"odd", {{"q", "3, 19, 7"}, {"k", "3, 7, 45"}, {"v", "3, 45, 11"}}, {kScores, kSoftmax, kOutput}},
      {"one_head", {{"q", "90, 8"}, {"k", "8, 50"}, {"v", "50, 9"}}, {kScores, kSoftmax, kOutput}},
      {"long", {{"q", "20, 16"}, {"k", "16, 1300"}, {"v", "1300, 16"}}, {kScores, kSoftmax, kOutput}},
      {"no_keys", {{"q", "2, 30, 16"}, {"k", "2, 16, 0"}, {"v", "2, 0, 16"}}, {kScores, kSoftmax, kOutput}},
      {"symbolic",
       {{"q", "\"b\", \"n\", 8"}, {"k", "\"b\", 8, \"m\""}, {"v", "\"b\", \"m\", 10"}},
       {kScores, kSoftmax, kOutput}},
      {"heads", {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "2, 1, 1, 33"}}, kHeads},
      {"mask_of_pairs", {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "3, 21, 33"}}, kHeads},
      {"written_out",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}},
       {kScores, "m = R.max(s, axis=[-1], keepdims=True)", "d = R.subtract(s, m)", "e = R.exp(d)",
        "t = R.sum(e, axis=[-1], keepdims=True)", "p = R.divide(e, t)", kOutput}},
      {"guarded",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}},
       {"s0 = R.matmul(q, k)", "c = R.greater(s0, R.const(3.0, \"float32\"))",
        "s = R.where(c, s0, R.const(float(\"-inf\"), \"float32\"))", "p0 = R.nn.softmax(s, axis=-1)", "n = R.isnan(p0)",
        "p = R.where(n, R.const(0.0, \"float32\"), p0)", kOutput}},
      {"halves", {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}}, {kScores, kSoftmax, kOutput}, "float16"},
  };
  return *cases;
}

using Parameters = std::tuple<Case, const char*>;
class Attention : public testing::TestWithParam<Parameters> {};

TEST_P(Attention, IsScheduledAsPromised) {
  const auto& [test, target] = GetParam();
  transform::PassContext context;
  transform::PassContext::Scope scope(context);
  const TargetScope target_scope(Target::Parse(target));
  IRModule module = script::ParseModule(TextOf(test));
  for (const transform::Pass& pass :
       ParsePasses("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseAttention,"
                   "FuseSiblings,FuseTIR,ScheduleForCPU")) {
    module = pass(std::move(module));
  }
  std::vector<std::string> rules;
  for (const transform::Decision& decision : context.decisions->decisions()) {
    if (decision.pass == "ScheduleForCPU") rules.emplace_back(decision.object);
    EXPECT_NE(decision.reason, transform::Reason::kNoAttention) << decision.message;
  }
  EXPECT_EQ(rules, std::vector<std::string>{"attention"});
}

TEST_P(Attention, ComputesWhatTheOperatorsDo) {
  const auto& [test, target] = GetParam();
  for (const int64_t extent : {1, 3, 18}) {
    const bool is_symbolic = std::string(test.name) == "symbolic";
    VerifyOptions options{.compile = {.threads = 2, .backend = "none"}, .symbolic_extent = extent};
    options.compile.target = target;
    if (std::string(test.dtype) == "float16") options.tolerance = 2e-3;
    for (const VerifiedStage& stage : Verify(script::ParseModule(TextOf(test)), options)) {
      EXPECT_EQ(stage.problem, "") << stage.name << ", symbols " << extent;
    }
    if (!is_symbolic) break;
  }
}

/// With the second cache as it is and so small that tiles are as low as can be.
INSTANTIATE_TEST_SUITE_P(Forms, Attention,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::Values("llvm -mcpu=x86-64-v3 -threads=2",
                                                          "llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=16384")),
                         [](const testing::TestParamInfo<Parameters>& info) {
                           const bool is_small = std::string(std::get<1>(info.param)).find("l2") != std::string::npos;
                           return std::string(std::get<0>(info.param).name) + (is_small ? "_small" : "");
                         });

}  // namespace
}  // namespace deuteron
