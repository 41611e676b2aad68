/// \file
/// What FuseReductions and FuseSiblings promise, the schedule keeps: a kernel that they made runs as one loop over
/// rows. How precise kernels over rows are.
#include "deuteron/relax/transform/fusion/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/element.h"
#include "deuteron/target/target.h"
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

/// What passes found of calls they find again, and no other result comes of it, of kernels that changed meanwhile
/// either.
TEST_P(RowKernels, AreTheSameByWhatIsKnownAlready) {
  const auto fused = [](bool keeps) {
    transform::PassContext::Scope scope{transform::PassContext()};
    std::optional<relax::fusion::RowSummaries> summaries;
    if (keeps) summaries.emplace();
    IRModule module = script::ParseModule(TextOf(GetParam()));
    for (const transform::Pass& pass :
         ParsePasses("LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseReductions,FuseAttention,FuseProducts,FuseSiblings,"
                     "RecomputeProducers,FuseTIR,FuseReductions,FuseSiblings")) {
      module = pass(std::move(module));
    }
    return script::Print(module);
  };
  EXPECT_EQ(fused(true), fused(false));
}

TEST(RowSummaries, HoldAsLongAsWhatIsCalled) {
  const IRModule module = MakePipeline("graph")(script::ParseModule(TextOf({kNorm, "4, 8", "[1]"})));
  const relax::Function main = Downcast<relax::Function>(module.Lookup("main"));
  std::vector<relax::Expr> calls;
  relax::VisitValues(main->body, [&](const relax::Expr& value) {
    if (relax::IsCallTIR(value)) calls.push_back(value);
  });
  ASSERT_FALSE(calls.empty());
  relax::fusion::RowSummaries summaries;
  EXPECT_EQ(relax::fusion::RowSummaries::Current(), &summaries);
  const auto summary = relax::fusion::RowAnalyzer(module).Summarize(calls[0]);
  ASSERT_NE(summary, nullptr);
  ASSERT_NE(summaries.Find(calls[0], module), nullptr);
  EXPECT_EQ(*summaries.Find(calls[0], module), summary);
  // The same name stands for another kernel.
  IRModule other = module;
  const GlobalVar callee = relax::ViewCallTIR(Downcast<relax::Call>(calls[0])).func;
  other.Update(callee, WithAttr(Downcast<tir::PrimFunc>(module.Lookup(callee)), "other", int64_t{1}));
  EXPECT_EQ(summaries.Find(calls[0], other), nullptr);
  EXPECT_NE(summaries.Find(calls[0], module), nullptr);
  // Two passes that do not ask for it.
  const auto pass = [&] { const relax::fusion::RowAnalyzer analyzer(module); };
  pass();
  EXPECT_NE(summaries.Find(calls[0], module), nullptr);
  pass();
  pass();
  EXPECT_EQ(summaries.Find(calls[0], module), nullptr);
}

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
/// Of the second length lanes of 4 to 16 have numbers of steps without divisors.
TEST(LongRows, AreAddedUpInParts) {
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
  for (const int64_t length : {int64_t{1} << 20, int64_t{64} * 16411}) {
    const std::string n = std::to_string(length), x = "x: " + Typed("3, " + n, "float32");
    const double square = static_cast<double>(kTerm) * kTerm;
    check(x, {"gv = R.sum(x, axis=[1])"}, kTerm * static_cast<double>(length));
    check(x, {"gv = R.sum(x)"}, kTerm * 3.0 * static_cast<double>(length));
    check(x, {"s = R.multiply(x, x)", "gv = R.mean(s, axis=[1], keepdims=True)"}, square);
    check(x + ", w: " + Typed(n + ", 1", "float32"), {"gv = R.matmul(x, w)"}, square * static_cast<double>(length));
  }
}

/// Rows of so many elements in [3, 4), and what is made of them less their mean, over their deviation, in float64.
struct LargeMeans {
  static constexpr int64_t kRows = 64;
  explicit LargeMeans(int64_t length) : elements(static_cast<size_t>(kRows * length)) {
    std::mt19937 random(static_cast<uint32_t>(length));
    for (float& element : elements) element = 3 + static_cast<float>(random() >> 8) * 0x1p-24F;
  }
  std::vector<float> elements;
};

/// Beside the mean's own rounding, half a unit in the last place of numbers in [2, 4), all others are a few of the
/// result: the sum's, of numbers as large as itself, would be two or three times as much.
TEST(Norms, RoundALargeMeanOnce) {
  static constexpr double kEpsilon = 1e-5;
  const auto check = [](const std::string& line, const std::string& shape, int64_t length, const char* target,
                        std::vector<std::string> before = {}) {
    before.push_back(line);
    const IRModule module = MakeModule("x: " + Typed(shape, "float32"), before);
    const LargeMeans rows(length);
    std::vector<Tensor> inputs = TensorsOf(RandomArguments(module, 1, 1));
    std::copy(rows.elements.begin(), rows.elements.end(), static_cast<float*>(inputs[0].data_ptr()));
    const Tensor result = Compile(module, {.target = target, .threads = 1, .backend = "none"}).Run(inputs).at(0);
    const auto* out = static_cast<const float*>(result.data_ptr());
    double worst = 0;
    for (int64_t row = 0; row < LargeMeans::kRows; ++row) {
      const float* x = &rows.elements[static_cast<size_t>(row * length)];
      const auto n = static_cast<double>(length);
      const double mean = std::accumulate(x, x + length, 0.0) / n;
      const double squares =
          std::accumulate(x, x + length, 0.0, [&](double sum, double e) { return sum + (e - mean) * (e - mean); });
      const double deviation = std::sqrt(squares / n + kEpsilon);
      for (int64_t i = 0; i < length; ++i) {
        const double expected = (x[i] - mean) / deviation, allowed = 0x1p-23 * 1.5 / deviation + 4 * 0x1p-24 * 2;
        worst = std::max(worst, std::abs(out[row * length + i] - expected) / allowed);
      }
    }
    EXPECT_LE(worst, 1) << line << " of " << shape << " for " << target;
  };
  for (const char* target : {"native", "llvm"}) {
    for (const int64_t length : {10, 48, 197, 768, 5000}) {
      const std::string n = std::to_string(length);
      const std::string ones =
          "R.ones(R.shape([" + n + "]), dtype=\"float32\"), R.zeros(R.shape([" + n + "]), dtype=\"float32\")";
      const std::string eight = "R.ones(R.shape([8]), dtype=\"float32\"), R.zeros(R.shape([8]), dtype=\"float32\")";
      check("gv = R.nn.layer_norm(x, " + ones + ", axes=[-1])", "64, " + n, length, target);
      check("gv = R.nn.instance_norm(x, " + eight + ", channel_axis=1, axes=[2])", "8, 8, " + n, length, target);
      check(
          "gv = R.nn.group_norm(x, R.ones(R.shape([16]), dtype=\"float32\"), R.zeros(R.shape([16]), "
          "dtype=\"float32\"), num_groups=8, channel_axis=1, axes=[2])",
          "8, 16, " + std::to_string(length / 2), length / 2 * 2, target);
      check("gv = R.permute_dims(z, axes=[0, 2, 1])", "8, 16, " + std::to_string(length / 2), length / 2 * 2, target,
            {"y = R.permute_dims(x, axes=[0, 2, 1])",
             "z = R.nn.group_norm(y, R.ones(R.shape([16]), dtype=\"float32\"), R.zeros(R.shape([16]), "
             "dtype=\"float32\"), num_groups=8, channel_axis=2, axes=[1])"});
    }
  }
}

/// Of two axes, of which the run tells one, a lane has more terms than the last one says.
TEST(Norms, OfAxesOfTheRun) {
  for (const char* last : {"16", "20", "63"}) {
    const std::string ones = "R.ones(R.shape([6]), dtype=\"float32\"), R.zeros(R.shape([6]), dtype=\"float32\")";
    const IRModule module = MakeModule("x: " + Typed(std::string("2, 6, \"n\", ") + last, "float32"),
                                       {"y = R.add(x, R.const(3, \"float32\"))",
                                        "gv = R.nn.instance_norm(y, " + ones + ", channel_axis=1, axes=[2, 3])"});
    for (const char* target : {"x86-64-v2", "x86-64-v3"}) {
      if (!Target::Parse(target).WhyNotHere().empty()) continue;
      const Executable executable = Compile(module, {.target = target, .threads = 1, .backend = "none"});
      ExpectSameAsInterpreter(module, executable, {1, 2, 5, 33}, 1e-5);
    }
  }
}

/// What an instance norm scales and shifts is not a number of 16 bits yet.
TEST(Norms, OfHalvesAreRoundedOnce) {
  static constexpr int64_t kChannels = 6, kLength = 129;
  const IRModule module = MakeModule("x: " + Typed("1, 6, 129") + ", s: " + Typed("6") + ", b: " + Typed("6"),
                                     {"gv = R.nn.instance_norm(x, s, b, channel_axis=1, axes=[2])"});
  const std::vector<Tensor> inputs = TensorsOf(RandomArguments(module, 1, 1));
  const auto value = [](const Tensor& tensor, int64_t at) {
    return FindFloatFormat(DataType::Float(16).element())->Decode(static_cast<const uint16_t*>(tensor.data_ptr())[at]);
  };
  const Tensor result = Compile(module, {.threads = 1, .backend = "none"}).Run(inputs).at(0);
  for (int64_t c = 0; c < kChannels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < kLength; ++i) sum += value(inputs[0], c * kLength + i);
    const double mean = sum / kLength;
    for (int64_t i = 0; i < kLength; ++i) squares += std::pow(value(inputs[0], c * kLength + i) - mean, 2);
    for (int64_t i = 0; i < kLength; ++i) {
      const double normal = (value(inputs[0], c * kLength + i) - mean) / std::sqrt(squares / kLength + 1e-5);
      const double expected = normal * value(inputs[1], c) + value(inputs[2], c);
      const double half_a_place = std::exp2(std::max(std::floor(std::log2(std::abs(expected))), -14.0)) * 0x1p-11;
      EXPECT_NEAR(value(result, c * kLength + i), expected, 1.02 * half_a_place);
    }
  }
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
