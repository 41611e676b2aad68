/// \file
/// What FuseReductions and FuseSiblings promise, the schedule keeps: a kernel that they made runs as one loop over
/// rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// Lines of a function of x; {axes}: what is reduced.
constexpr const char* kSoftmax =
    "m = R.max(x, axis={axes}, keepdims=True)\nd = R.subtract(x, m)\ne = R.exp(d)\n"
    "s = R.sum(e, axis={axes}, keepdims=True)\ngv = R.divide(e, s)\n";
constexpr const char* kNorm =
    "m = R.mean(x, axis={axes}, keepdims=True)\nd = R.subtract(x, m)\nq = R.multiply(d, d)\n"
    "v = R.mean(q, axis={axes}, keepdims=True)\nr = R.rsqrt(v)\ngv = R.multiply(d, r)\n";
/// Siblings.
constexpr const char* kRange =
    "a = R.min(x, axis={axes}, keepdims=True)\nb = R.max(x, axis={axes}, keepdims=True)\n"
    "c = R.exp(a)\nd = R.exp(b)\ngv = (c, d)\n";
/// Rows are the outer part of the channels once the shape is the image's again.
constexpr const char* kGroups =
    "g = R.reshape(x, R.shape([2, 8, 108]))\nm = R.mean(g, axis=[2], keepdims=True)\nd = R.subtract(g, m)\n"
    "q = R.multiply(d, d)\nv = R.mean(q, axis=[2], keepdims=True)\nr = R.rsqrt(v)\nn = R.multiply(d, r)\n"
    "i = R.reshape(n, R.shape([2, 24, 6, 6]))\ngv = R.exp(i)\n";

struct Case {
  const char* lines;
  const char* shape;
  const char* axes;
};

std::string TextOf(const Case& test) {
  std::string text = std::string("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((") +
                     test.shape + "), \"float32\")):\n        with R.dataflow():\n";
  std::string line;
  for (const char* c = test.lines; *c; ++c) {
    line += *c;
    if (*c != '\n') continue;
    if (const size_t at = line.find("{axes}"); at != std::string::npos) line.replace(at, 6, test.axes);
    text += "            " + line;
    line.clear();
  }
  return text + "            R.output(gv)\n        return gv\n";
}

class RowKernels : public testing::TestWithParam<Case> {};

TEST_P(RowKernels, AreScheduledAsPromised) {
  transform::PassContext context;
  transform::PassContext::Scope scope(context);
  IRModule module = script::ParseModule(TextOf(GetParam()));
  for (const transform::Pass& pass :
       ParsePasses("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseSiblings,FuseTIR,ScheduleForCPU")) {
    module = pass(std::move(module));
  }
  std::unordered_map<std::string, std::string> rules;
  std::vector<std::string> merged;
  for (const transform::Decision& decision : context.decisions->decisions()) {
    if (decision.pass == "ScheduleForCPU") rules.emplace(std::string(decision.subject), std::string(decision.object));
    const bool merges = decision.pass == "FuseReductions" || decision.pass == "FuseSiblings";
    if (merges && decision.reason == transform::Reason::kFused) merged.emplace_back(decision.message);
  }
  EXPECT_FALSE(merged.empty());
  EXPECT_EQ(rules.size(), 1U) << "not all became one kernel";
  for (const auto& [kernel, rule] : rules) EXPECT_EQ(rule, "rows") << kernel;
}

/// A GELU that a norm reads three times is kept for the row, and not the function within, which nothing but it reads.
TEST(RowStages, KeepWhatStandsForADearProducer) {
  transform::PassContext context;
  transform::PassContext::Scope scope(context);
  IRModule module = script::ParseModule(TextOf({R"(lv = R.erf(x)
lv1 = R.add(lv, x)
lv2 = R.multiply(lv1, x)
gv = R.nn.softmax(lv2, axis=1)
)",
                                                "64, 256", ""}));
  for (const transform::Pass& pass :
       ParsePasses("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseTIR,ScheduleForCPU")) {
    module = pass(std::move(module));
  }
  const std::string text = script::Print(module);
  const size_t function = text.find("T.erf(");
  ASSERT_NE(function, std::string::npos);
  EXPECT_EQ(text.find("T.erf(", function + 1), std::string::npos) << "computed again";
  const std::string line = text.substr(function, text.find('\n', function) - function);
  EXPECT_NE(line.find(") *"), std::string::npos) << "what is kept is not the product: " << line;
}

/// Equal terms, of which each is rounded alike: one accumulator a lane is off by a thousand units, 2^-24 of the sum.
TEST(LongRows, AreAddedUpInParts) {
  static constexpr int64_t kLength = 1 << 20;
  static constexpr float kTerm = 0.1F;
  const auto check = [](const std::string& params, const std::vector<std::string>& lines, double expected) {
    const IRModule module = MakeModule(params, lines);
    std::vector<Tensor> inputs = TensorsOf(RandomArguments(module, 1, 1));
    for (Tensor& input : inputs) std::fill_n(static_cast<float*>(input.data_ptr()), input.numel(), kTerm);
    const Tensor result = Compile(module, {.threads = 2, .backend = "none"}).Run(inputs).at(0);
    for (int64_t i = 0; i < result.numel(); ++i) {
      EXPECT_NEAR(static_cast<const float*>(result.data_ptr())[i], expected, expected * 0x1p-24 * 200) << lines[0];
    }
  };
  const std::string x = "x: " + Typed("3, 1048576", "float32");
  const double square = static_cast<double>(kTerm) * kTerm;
  check(x, {"gv = R.sum(x, axis=[1])"}, kTerm * static_cast<double>(kLength));
  check(x, {"gv = R.sum(x)"}, kTerm * 3.0 * kLength);
  check(x, {"s = R.multiply(x, x)", "gv = R.mean(s, axis=[1], keepdims=True)"}, square);
  check(x + ", w: " + Typed("1048576, 1", "float32"), {"gv = R.matmul(x, w)"}, square * kLength);
}

INSTANTIATE_TEST_SUITE_P(Axes, RowKernels,
                         testing::Values(
                             // Along the last axes: one row, many, symbolic, short, none of a vector's length.
                             Case{kSoftmax, "64, 64", "[1]"}, Case{kSoftmax, "1, 17", "[1]"},
                             Case{kSoftmax, "\"n\", 48", "[1]"}, Case{kSoftmax, "4096, 32", "[1]"},
                             Case{kSoftmax, "300, 100", "[1]"}, Case{kNorm, "\"a\", \"b\", 130", "[2]"},
                             Case{kNorm, "2, 3, 4, 5", "[2, 3]"}, Case{kRange, "64, 128", "[1]"},
                             // Vectors of neighbouring rows.
                             Case{kSoftmax, "2, 24, 9, 7", "[1]"}, Case{kSoftmax, "33, 70", "[0]"},
                             Case{kNorm, "2, 16, 5, 12", "[2]"}, Case{kNorm, "\"n\", 32, \"h\", \"w\"", "[1]"},
                             Case{kSoftmax, "1, 200, 32, 32", "[1]"}, Case{kRange, "4, 64, 28, 28", "[1]"},
                             // Rows of several stretches.
                             Case{kNorm, "6, 8, 5, 7", "[0, 2, 3]"}, Case{kSoftmax, "4, 6, 5, 32", "[1, 3]"},
                             Case{kNorm, "\"n\", 6, 10, 10", "[0, 2, 3]"}, Case{kRange, "8, 64, 28, 28", "[0, 2, 3]"},
                             // Rows within a dimension.
                             Case{kGroups, "2, 24, 6, 6", ""}));

}  // namespace
}  // namespace deuteron
