/// \file
/// What FuseAttention promises, the schedule keeps: attentions as exporters write them become one kernel, which runs as
/// tiles of rows, and computes what the operators do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/verify.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/functor.h"

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

/// The heads' result, and a part of it.
std::vector<const char*> PartOfHeads(const char* part) {
  std::vector<const char*> lines = kHeads;
  lines.back() = "r = R.reshape(t, R.shape([2, 21, 36]))";
  lines.push_back(part);
  return lines;
}

/// A triangle that is added, one that is chosen by.
const std::vector<const char*> kCausal = {
    "s0 = R.matmul(q, k)",
    "h = R.ones(R.shape([70, 70]), dtype=\"float32\")",
    "l = R.tril(h)",
    "c = R.equal(l, R.const(0.0, \"float32\"))",
    "b = R.where(c, R.const(float(\"-inf\"), \"float32\"), R.const(0.0, \"float32\"))",
    "s = R.add(s0, b)",
    kSoftmax,
    kOutput};
const std::vector<const char*> kCausalCached = {"s0 = R.matmul(q, k)",
                                                "h = R.ones(R.shape([1, 40, 90]), dtype=\"int32\")",
                                                "l = R.tril(h, 50)",
                                                "c = R.equal(l, R.const(1, \"int32\"))",
                                                "s = R.where(c, s0, R.const(-3.0e38, \"float32\"))",
                                                kSoftmax,
                                                kOutput};

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
      // Of few rows each is computed alone, all keys at once or blocks of them.
      {"two_rows", {{"q", "2, 3, 2, 16"}, {"k", "2, 3, 16, 50"}, {"v", "2, 3, 50, 24"}}, {kScores, kSoftmax, kOutput}},
      {"two_rows_long",
       {{"q", "3, 2, 40"}, {"y", "3, 700, 40"}, {"v", "3, 700, 7"}, {"m", "1, 2, 700"}},
       {"k = R.permute_dims(y, axes=[0, 2, 1])", "s0 = R.matmul(q, k)", "s = R.add(s0, m)", kSoftmax,
        "o = R.matmul(p, v)", "gv = R.tanh(o)"}},
      {"symbolic_halves",
       {{"q", "2, \"n\", 32"}, {"y", "2, \"m\", 32"}, {"v", "2, \"m\", 16"}, {"m", "2, \"n\", \"m\""}},
       {"k = R.permute_dims(y, axes=[0, 2, 1])", "s0 = R.matmul(q, k)", "s = R.add(s0, m)", kSoftmax, kOutput},
       "float16"},
      {"heads", {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "2, 1, 1, 33"}}, kHeads},
      {"heads_of_many_rows",
       {{"x", "1, 70, 256"}, {"y", "1, 90, 256"}, {"z", "1, 90, 256"}},
       {"q0 = R.reshape(x, R.shape([1, 70, 4, 64]))", "q = R.permute_dims(q0, axes=[0, 2, 1, 3])",
        "k0 = R.reshape(y, R.shape([1, 90, 4, 64]))", "k = R.permute_dims(k0, axes=[0, 2, 3, 1])",
        "v0 = R.reshape(z, R.shape([1, 90, 4, 64]))", "v = R.permute_dims(v0, axes=[0, 2, 1, 3])", kScores, kSoftmax,
        "o = R.matmul(p, v)", "t = R.permute_dims(o, axes=[0, 2, 1, 3])", "gv = R.reshape(t, R.shape([1, 70, 256]))"}},
      {"first_rows",
       {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "2, 1, 1, 33"}},
       PartOfHeads("gv = R.strided_slice(r, axes=[1], begin=[0], end=[17])")},
      {"mask_of_pairs", {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "3, 21, 33"}}, kHeads},
      // Windows of two images, of which each has a mask for all heads.
      {"mask_of_windows",
       {{"q", "8, 3, 21, 10"}, {"k", "8, 3, 10, 21"}, {"v", "8, 3, 21, 10"}, {"mask", "1, 4, 1, 21, 21"}},
       {"s0 = R.matmul(q, k)", "s1 = R.reshape(s0, R.shape([2, 4, 3, 21, 21]))", "s2 = R.add(s1, mask)",
        "s = R.reshape(s2, R.shape([8, 3, 21, 21]))", kSoftmax, kOutput}},
      // Positions in an image: a term for each of its rows and one for each of its columns.
      {"terms_of_image",
       {{"q", "2, 72, 16"}, {"k", "2, 16, 72"}, {"v", "2, 72, 16"}, {"h", "2, 8, 9, 8"}, {"w", "2, 8, 9, 9"}},
       {"s0 = R.matmul(q, k)", "a = R.expand_dims(h, axis=[4])", "b = R.expand_dims(w, axis=[3])", "c = R.add(a, b)",
        "d = R.reshape(c, R.shape([2, 72, 72]))", "s = R.add(s0, d)", kSoftmax, kOutput}},
      {"terms_of_another_image",
       {{"q", "2, 35, 16"}, {"k", "2, 16, 700"}, {"v", "2, 700, 16"}, {"h", "2, 7, 5, 28"}, {"w", "2, 7, 5, 25"}},
       {"s0 = R.matmul(q, k)", "s1 = R.reshape(s0, R.shape([2, 7, 5, 28, 25]))", "a = R.expand_dims(h, axis=[4])",
        "b = R.expand_dims(w, axis=[3])", "c = R.add(a, b)", "s2 = R.add(s1, c)",
        "s = R.reshape(s2, R.shape([2, 35, 700]))", kSoftmax, kOutput}},
      {"written_out",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}},
       {kScores, "m = R.max(s, axis=[-1], keepdims=True)", "d = R.subtract(s, m)", "e = R.exp(d)",
        "t = R.sum(e, axis=[-1], keepdims=True)", "p = R.divide(e, t)", kOutput}},
      {"guarded",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}},
       {"s0 = R.matmul(q, k)", "c = R.greater(s0, R.const(3.0, \"float32\"))",
        "s = R.where(c, s0, R.const(float(\"-inf\"), \"float32\"))", "p0 = R.nn.softmax(s, axis=-1)", "n = R.isnan(p0)",
        "p = R.where(n, R.const(0.0, \"float32\"), p0)", kOutput}},
      // Of the first keys none counts, of the last all are 0 below what a row begins with.
      {"first_masked",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 700"}, {"v", "2, 700, 16"}},
       {"s0 = R.matmul(q, k)", "i = R.arange(R.prim_value(0), R.prim_value(700), R.prim_value(1), dtype=\"int64\")",
        "c = R.less(i, R.const(300, \"int64\"))", "s = R.where(c, R.const(float(\"-inf\"), \"float32\"), s0)", kSoftmax,
        kOutput}},
      {"causal", {{"q", "2, 70, 16"}, {"k", "2, 16, 70"}, {"v", "2, 70, 24"}}, kCausal},
      {"causal_cached", {{"q", "2, 40, 16"}, {"k", "2, 16, 90"}, {"v", "2, 90, 16"}}, kCausalCached},
      {"causal_symbolic",
       {{"q", "2, \"n\", 16"}, {"k", "2, 16, \"n\""}, {"v", "2, \"n\", 16"}},
       {"s0 = R.matmul(q, k)", "h = R.ones_like(s0)", "l = R.tril(h)", "c = R.equal(l, R.const(0.0, \"float32\"))",
        "s = R.where(c, R.const(-3.0e38, \"float32\"), s0)", kSoftmax, kOutput}},
      {"shared_heads",
       {{"x", "2, 24, 48"}, {"y", "2, 50, 24"}, {"z", "2, 50, 24"}},
       {"q0 = R.reshape(x, R.shape([2, 24, 6, 8]))", "q = R.permute_dims(q0, axes=[0, 2, 1, 3])",
        "k0 = R.reshape(y, R.shape([2, 50, 3, 8]))", "k1 = R.permute_dims(k0, axes=[0, 2, 1, 3])",
        "k2 = R.expand_dims(k1, axis=[2])", "k3 = R.broadcast_to(k2, R.shape([2, 3, 2, 50, 8]))",
        "k4 = R.reshape(k3, R.shape([2, 6, 50, 8]))", "k = R.permute_dims(k4, axes=[0, 1, 3, 2])",
        "v0 = R.reshape(z, R.shape([2, 50, 3, 8]))", "v1 = R.permute_dims(v0, axes=[0, 2, 1, 3])",
        "v = R.repeat(v1, 2, axis=1)", kScores, kSoftmax, "o = R.matmul(p, v)",
        "t = R.permute_dims(o, axes=[0, 2, 1, 3])", "gv = R.reshape(t, R.shape([2, 24, 48]))"}},
      {"halves", {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}}, {kScores, kSoftmax, kOutput}, "float16"},
      {"halves_by_key",
       {{"q", "2, 30, 16"}, {"y", "2, 90, 16"}, {"v", "2, 90, 16"}, {"m", "1, 30, 90"}},
       {"k = R.permute_dims(y, axes=[0, 2, 1])", "s0 = R.matmul(q, k)", "s = R.add(s0, m)", kSoftmax, kOutput},
       "float16"},
      {"halves_of_many_rows",
       {{"q", "3, 150, 16"}, {"k", "3, 16, 41"}, {"v", "3, 41, 20"}, {"m", "3, 150, 41"}},
       {"s0 = R.matmul(q, k)", "s = R.add(s0, m)", kSoftmax, kOutput},
       "float16"},
      {"halves_of_one",
       {{"q", "2, 70, 16"}, {"k0", "2, 16, 30"}},
       {"v = R.permute_dims(q, axes=[0, 2, 1])", "s = R.matmul(q, v)", kSoftmax, "gv = R.matmul(p, q)"},
       "float16"},
      {"brain_floats",
       {{"q", "2, 30, 16"}, {"k", "2, 16, 40"}, {"v", "2, 40, 16"}},
       {kScores, kSoftmax, kOutput},
       "bfloat16"},
  };
  return *cases;
}

/// Through the passes up to the schedule, for the current target.
IRModule Scheduled(const Case& test) {
  IRModule module = script::ParseModule(TextOf(test));
  for (const transform::Pass& pass :
       ParsePasses("LegalizeOps,AnnotateTIROpPattern,FoldConstant,ComputeMasks,FuseOps,FuseReductions,FuseAttention,"
                   "FuseSiblings,FuseTIR,DeadCodeElimination,ScheduleForCPU")) {
    module = pass(std::move(module));
  }
  return module;
}

using Parameters = std::tuple<Case, const char*>;
class Attention : public testing::TestWithParam<Parameters> {};

TEST_P(Attention, IsScheduledAsPromised) {
  const auto& [test, target] = GetParam();
  transform::PassContext context;
  transform::PassContext::Scope scope(context);
  const TargetScope target_scope(Target::Parse(target));
  Scheduled(test);
  std::vector<std::string> rules;
  for (const transform::Decision& decision : context.decisions->decisions()) {
    if (decision.pass == "ScheduleForCPU") rules.emplace_back(decision.object);
    EXPECT_NE(decision.reason, transform::Reason::kNoAttention) << decision.message;
  }
  EXPECT_EQ(rules, std::vector<std::string>{"attention"});
}

TEST_P(Attention, ComputesWhatTheOperatorsDo) {
  const auto& [test, target] = GetParam();
  for (const int64_t extent : {1, 3, 18, 40}) {
    const bool is_symbolic = std::string(test.name).find("symbolic") != std::string::npos;
    VerifyOptions options{.compile = {.threads = 2, .backend = "none"}, .symbolic_extent = extent};
    options.compile.target = target;
    if (std::string(test.dtype) == "float16") options.tolerance = 2e-3;
    if (std::string(test.dtype) == "bfloat16") options.tolerance = 2e-2;
    for (const VerifiedStage& stage : Verify(script::ParseModule(TextOf(test)), options)) {
      EXPECT_EQ(stage.problem, "") << stage.name << ", symbols " << extent;
    }
    if (!is_symbolic) break;
  }
}

TEST(AttentionOfUnknownRows, IsOfEachAloneWhereTheyAreFew) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=x86-64-v4 -threads=2"));
  for (const char* keys : {"700", "\"m\""}) {
    const std::string k = std::string("2, 16, ") + keys, v = std::string("2, ") + keys + ", 16";
    const Case test{"few", {{"q", "2, \"n\", 16"}, {"k", k.c_str()}, {"v", v.c_str()}}, {kScores, kSoftmax, kOutput}};
    const std::string text = script::Print(Scheduled(test));
    EXPECT_NE(text.find(" <= T.int64(8):\n                    for row in range(T.min("), std::string::npos) << text;
  }
}

/// Keys and values of 16 bits that the second cache holds in float32 are widened for several tiles at once, and there
/// is work for all threads.
TEST(AttentionOfHalves, WidensOnceForSeveralTiles) {
  const Case test{"halves",
                  {{"q", "3, 197, 64"}, {"k", "3, 64, 197"}, {"v", "3, 197, 64"}},
                  {kScores, kSoftmax, kOutput},
                  "float16"};
  const auto text_for = [&](const char* target) {
    const TargetScope target_scope(Target::Parse(target));
    return script::Print(Scheduled(test));
  };
  const std::string large = text_for("llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=524288");
  const size_t tiles = large.find("for t in range(");
  ASSERT_NE(tiles, std::string::npos) << large;
  EXPECT_LT(large.rfind("T.sblock(\"widened"), tiles) << large;
  EXPECT_NE(large.find("in T.parallel(T.int64(6))"), std::string::npos) << large;
  EXPECT_EQ(text_for("llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=131072").find("for t in range("), std::string::npos);
}

/// Values whose rows lie so far apart that the first cache has few places for them are brought together.
TEST(AttentionOfScatteredValues, CopiesOnceForSeveralTiles) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=x86-64-v3 -threads=2"));
  const auto is_copied = [](int64_t heads) {
    const std::string width = std::to_string(64 * heads), shape = "1, 90, " + width;
    const std::string apart = ", R.shape([1, 90, " + std::to_string(heads) + ", 64]))";
    const std::string v = "v0 = R.reshape(z" + apart, q = "q0 = R.reshape(x" + apart, k = "k0 = R.reshape(y" + apart;
    const Case test{
        "heads",
        {{"x", shape.c_str()}, {"y", shape.c_str()}, {"z", shape.c_str()}},
        {q.c_str(), "q = R.permute_dims(q0, axes=[0, 2, 1, 3])", k.c_str(), "k = R.permute_dims(k0, axes=[0, 2, 3, 1])",
         v.c_str(), "v = R.permute_dims(v0, axes=[0, 2, 1, 3])", kScores, kSoftmax, kOutput}};
    const std::string text = script::Print(Scheduled(test));
    const size_t copy = text.find("T.sblock(\"values"), tiles = text.find("for t in range(");
    EXPECT_EQ(copy == std::string::npos, tiles == std::string::npos);
    return copy != std::string::npos && copy < tiles;
  };
  EXPECT_TRUE(is_copied(4));
  EXPECT_FALSE(is_copied(1));
}

/// Heads, columns and batches that a slice leaves out.
TEST(AttentionInPart, ComputesWhatTheOperatorsDo) {
  for (const char* part : {"gv = R.strided_slice(r, axes=[2], begin=[0], end=[24])",
                           "gv = R.strided_slice(r, axes=[2], begin=[0], end=[10])",
                           "gv = R.strided_slice(r, axes=[0, 1], begin=[0, 0], end=[1, 17])",
                           "gv = R.strided_slice(r, axes=[1], begin=[4], end=[21])",
                           "gv = R.strided_slice(r, axes=[1], begin=[0], end=[21], strides=[2])"}) {
    SCOPED_TRACE(part);
    const Case test{"part",
                    {{"x", "2, 21, 30"}, {"y", "2, 33, 30"}, {"z", "2, 33, 36"}, {"mask", "2, 1, 1, 33"}},
                    PartOfHeads(part)};
    const TargetScope target_scope(Target::Parse("llvm -mcpu=x86-64-v3 -threads=2"));
    const IRModule module = script::ParseModule(TextOf(test));
    const Arguments arguments = RandomArguments(module, 5, 23);
    EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(Scheduled(test), arguments), 1e-4).problem, "");
  }
}

/// Schedules for CPUs of other vectors, interpreted.
TEST(AttentionOnAnyCpu, ComputesWhatTheOperatorsDo) {
  for (const char* target : {"llvm -mcpu=x86-64-v4 -threads=3 -l1-bytes=8192 -l2-bytes=65536",
                             "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2 -l2-bytes=32768"}) {
    for (const Case& test : Cases()) {
      const std::string name = test.name;
      if (name != "odd" && name != "heads" && name != "heads_of_many_rows" && name != "halves_of_many_rows" &&
          name != "terms_of_image" && name != "causal" && name != "causal_symbolic" && name != "two_rows" &&
          name != "two_rows_long" && name != "symbolic_halves")
        continue;
      SCOPED_TRACE(name + " for " + target);
      const TargetScope target_scope(Target::Parse(target));
      const IRModule module = script::ParseModule(TextOf(test));
      const Arguments arguments = RandomArguments(module, 5, 23);
      EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(Scheduled(test), arguments), 1e-4).problem, "");
    }
  }
}

/// Those whose products a matrix unit computes, their operands rounded.
const std::vector<Case>& CasesOfUnit() {
  static const auto* cases = new std::vector<Case>{
      {"whole_tiles", {{"q", "2, 64, 64"}, {"k", "2, 64, 96"}, {"v", "2, 96, 64"}}, {kScores, kSoftmax, kOutput}},
      {"odd_keys", {{"q", "2, 45, 40"}, {"k", "2, 40, 197"}, {"v", "2, 197, 40"}}, {kScores, kSoftmax, kOutput}},
      {"odd_depth", {{"q", "70, 33"}, {"k", "33, 160"}, {"v", "160, 80"}}, {kScores, kSoftmax, kOutput}},
      {"keys_in_rows",
       {{"q", "2, 64, 32"}, {"y", "2, 101, 32"}, {"v", "2, 101, 48"}},
       {"k = R.permute_dims(y, axes=[0, 2, 1])", kScores, kSoftmax, kOutput}},
      {"heads",
       {{"x", "1, 61, 128"}, {"y", "1, 150, 128"}, {"z", "1, 150, 128"}, {"mask", "1, 1, 1, 150"}},
       {"q0 = R.reshape(x, R.shape([1, 61, 2, 64]))", "q = R.permute_dims(q0, axes=[0, 2, 1, 3])",
        "k0 = R.reshape(y, R.shape([1, 150, 2, 64]))", "k = R.permute_dims(k0, axes=[0, 2, 3, 1])",
        "v0 = R.reshape(z, R.shape([1, 150, 2, 64]))", "v = R.permute_dims(v0, axes=[0, 2, 1, 3])",
        "s0 = R.matmul(q, k)", "s1 = R.multiply(s0, R.const(0.25, \"float32\"))", "s = R.add(s1, mask)", kSoftmax,
        "o = R.matmul(p, v)", "t = R.permute_dims(o, axes=[0, 2, 1, 3])", "gv = R.reshape(t, R.shape([1, 61, 128]))"}},
      {"mask_of_pairs",
       {{"q", "64, 64"}, {"k", "64, 133"}, {"v", "133, 64"}, {"mask", "64, 133"}},
       {"s0 = R.matmul(q, k)", "s = R.add(s0, mask)", kSoftmax, kOutput}},
      {"terms_of_image",
       {{"q", "2, 105, 64"}, {"k", "2, 64, 120"}, {"v", "2, 120, 64"}, {"h", "2, 15, 7, 12"}, {"w", "2, 15, 7, 10"}},
       {"s0 = R.matmul(q, k)", "a = R.expand_dims(h, axis=[4])", "b = R.expand_dims(w, axis=[3])", "c = R.add(a, b)",
        "d = R.reshape(c, R.shape([2, 105, 120]))", "s = R.add(s0, d)", kSoftmax, kOutput}},
      {"causal",
       {{"q", "128, 80"}, {"k", "80, 128"}, {"v", "128, 96"}},
       {"s0 = R.matmul(q, k)", "h = R.ones(R.shape([128, 128]), dtype=\"float32\")", "l = R.tril(h)",
        "c = R.equal(l, R.const(0.0, \"float32\"))",
        "b = R.where(c, R.const(float(\"-inf\"), \"float32\"), R.const(0.0, \"float32\"))", "s = R.add(s0, b)",
        kSoftmax, kOutput}},
      {"symbolic",
       {{"q", "\"b\", \"n\", 64"}, {"k", "\"b\", 64, \"m\""}, {"v", "\"b\", \"m\", 80"}},
       {kScores, kSoftmax, kOutput}},
      {"brain_floats",
       {{"q", "2, 64, 64"}, {"k", "2, 64, 96"}, {"v", "2, 96, 64"}},
       {kScores, kSoftmax, kOutput},
       "bfloat16"},
  };
  return *cases;
}

/// Of few and of many keys in a block.
TEST(AttentionByUnit, ComputesWhatTheOperatorsDo) {
  for (const char* target : {"llvm -mcpu=sapphirerapids -threads=2",
                             "llvm -mcpu=sapphirerapids -threads=2 -l1-bytes=16384 -l2-bytes=65536"}) {
    const TargetScope target_scope(Target::Parse(target));
    for (const Case& test : CasesOfUnit()) {
      SCOPED_TRACE(std::string(test.name) + " for " + target);
      transform::PassContext context;
      context.SetConfig("precision", String("bf16"));
      transform::PassContext::Scope scope(context);
      const IRModule module = script::ParseModule(TextOf(test)), scheduled = Scheduled(test);
      const bool has_large_caches = std::string(target).find("l1") == std::string::npos;
      EXPECT_TRUE(tir::UsesMatrixUnit(scheduled) || !has_large_caches);
      const bool is_symbolic = std::string(test.name) == "symbolic";
      for (const int64_t extent : {3, 70}) {
        const Arguments arguments = RandomArguments(module, /*seed=*/23, extent);
        // Scores of the size that networks scale them to: what rounded queries change in theirs, exponentials magnify.
        const auto queries = arguments[0].cast<Tensor>();
        if (queries.dtype().code == kDLFloat && queries.dtype().bits == 32) {
          auto* const numbers = static_cast<float*>(queries.data_ptr());
          std::transform(numbers, numbers + queries.numel(), numbers, [](float number) { return number / 8; });
        }
        EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 2e-2).problem, "")
            << "symbols " << extent;
        if (!is_symbolic) break;
      }
    }
  }
}

/// Not where operands may not be rounded, nor of so few numbers that packing them takes longer.
TEST(AttentionByUnit, IsNotForEverything) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=sapphirerapids -threads=2"));
  EXPECT_FALSE(tir::UsesMatrixUnit(Scheduled(CasesOfUnit().front())));
  transform::PassContext context;
  context.SetConfig("precision", String("bf16"));
  transform::PassContext::Scope scope(context);
  EXPECT_FALSE(tir::UsesMatrixUnit(
      Scheduled({"few", {{"q", "2, 30, 16"}, {"k", "2, 16, 20"}, {"v", "2, 20, 16"}}, {kScores, kSoftmax, kOutput}})));
}

/// Numbers that look random, the same each time.
Tensor Numbers(const std::vector<int64_t>& shape, uint64_t seed) {
  const Tensor tensor = runtime::AllocTensor(shape, DataType::Float(32));
  auto* data = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    data[i] = static_cast<float>(static_cast<int64_t>(seed >> 33) % 2001 - 1000) / 400;
  }
  return tensor;
}

constexpr const char* kSmallCaches = "llvm -mcpu=x86-64-v3 -threads=2 -l1-bytes=4096 -l2-bytes=16384";

std::vector<float> Output(const Case& test, const char* target, const std::vector<Tensor>& inputs) {
  CompileOptions options{.threads = 2, .backend = "none"};
  options.target = target;
  const Tensor output = Compile(script::ParseModule(TextOf(test)), options).Run(inputs).at(0);
  const auto* data = static_cast<const float*>(output.data_ptr());
  return {data, data + output.numel()};
}

/// Of 2 × 70 rows and 700 keys, in float64: the greatest difference as a part of the greatest value.
double ErrorOf(const std::vector<float>& output, const Tensor& q, const Tensor& k, const Tensor& v) {
  constexpr int64_t kRows = 70, kKeys = 700, kDepth = 16;
  const auto at = [](const Tensor& tensor, int64_t index) {
    return static_cast<double>(static_cast<const float*>(tensor.data_ptr())[index]);
  };
  double error = 0, greatest = 0;
  for (int64_t row = 0; row < 2 * kRows; ++row) {
    const int64_t head = row / kRows;
    std::vector<double> weights(kKeys);
    double sum = 0;
    for (int64_t t = 0; t < kKeys; ++t) {
      double score = 0;
      for (int64_t d = 0; d < kDepth; ++d) score += at(q, row * kDepth + d) * at(k, (head * kDepth + d) * kKeys + t);
      sum += weights[t] = std::exp(score);
    }
    for (int64_t c = 0; c < kDepth; ++c) {
      double expected = 0;
      for (int64_t t = 0; t < kKeys; ++t) expected += weights[t] / sum * at(v, (head * kKeys + t) * kDepth + c);
      error = std::max(error, std::abs(expected - output[row * kDepth + c]));
      greatest = std::max(greatest, std::abs(expected));
    }
  }
  return error / greatest;
}

TEST(AttentionInBlocks, IsAsExactAsInOne) {
  const Case test{
      "blocks", {{"q", "2, 70, 16"}, {"k", "2, 16, 700"}, {"v", "2, 700, 16"}}, {kScores, kSoftmax, kOutput}};
  const Tensor q = Numbers({2, 70, 16}, 1), k = Numbers({2, 16, 700}, 2), v = Numbers({2, 700, 16}, 3);
  EXPECT_LT(ErrorOf(Output(test, kSmallCaches, {q, k, v}), q, k, v), 2e-6);
  EXPECT_LT(ErrorOf(Output(test, "llvm -mcpu=x86-64-v3 -threads=2 -l1-bytes=8M -l2-bytes=16M", {q, k, v}), q, k, v),
            2e-6);
}

/// What the buffer `name` of the tiles has room for: rows and keys.
std::pair<int64_t, int64_t> RoomOf(const std::string& name, const IRModule& module) {
  std::pair<int64_t, int64_t> room{0, 0};
  for (const auto& [var, func] : module->functions) {
    const auto* kernel = func.as<tir::PrimFuncNode>();
    if (kernel == nullptr) continue;
    tir::PostOrderVisit(kernel->body, [&](const ObjectRef& node) {
      const auto* block = node.as<tir::SBlockNode>();
      if (block == nullptr) return;
      for (const tir::Buffer& buffer : block->alloc_buffers) {
        if (buffer->name == name) room = {*AsConstInt(buffer->shape[1]), *AsConstInt(buffer->shape[0])};
      }
    });
  }
  return room;
}

/// Masks that are laid out as scores are take as much of the cache, and are copied once more where rows may be missing.
TEST(AttentionInBlocks, MasksTakeTheirPartOfTheCache) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=sapphirerapids -threads=2 -l1-bytes=48K -l2-bytes=2M"));
  transform::PassContext context;
  context.SetConfig("precision", String("bf16"));
  transform::PassContext::Scope scope(context);
  Case test{"bare", {{"q", "3, 4096, 64"}, {"k", "3, 64, 4096"}, {"v", "3, 4096, 64"}}, {kScores, kSoftmax, kOutput}};
  const auto bare = RoomOf("scores", Scheduled(test));
  test.arguments.emplace_back("mask", "3, 4096, 4096");
  test.lines = {"s0 = R.matmul(q, k)", "s = R.add(s0, mask)", kSoftmax, kOutput};
  const IRModule masked = Scheduled(test);
  const auto [rows, keys] = RoomOf("scores", masked);
  EXPECT_EQ(RoomOf("mask", masked), std::make_pair(rows, keys));
  EXPECT_LT(rows, bare.first);
  EXPECT_EQ(4096 % rows, 0);
}

/// What a row does not see is not multiplied by 0 either.
TEST(AttentionInBlocks, KeysThatNoRowSeesAreNotRead) {
  const Case test{"causal", {{"q", "2, 70, 16"}, {"k", "2, 16, 70"}, {"v", "2, 70, 24"}}, kCausal};
  const Tensor v = Numbers({2, 70, 24}, 3);
  for (const int64_t head : {0, 1}) static_cast<float*>(v.data_ptr())[(head * 70 + 69) * 24] = NAN;
  const std::vector<float> output = Output(test, kSmallCaches, {Numbers({2, 70, 16}, 1), Numbers({2, 16, 70}, 2), v});
  EXPECT_TRUE(std::isfinite(output[0]));
  EXPECT_TRUE(std::isnan(output[69 * 24]));
}

/// A key that is masked by -100 would weigh 4e-44: products with such numbers take processors a hundred times as long.
TEST(SoftmaxOfMasks, HasNoDenormalWeights) {
  const Tensor scores = Numbers({40, 64}, 1), values = Numbers({64, 16}, 2);
  auto* score = static_cast<float*>(scores.data_ptr());
  for (int64_t row = 0; row < 40; ++row) score[row * 64 + row] = -100;
  const std::vector<float> weights =
      Output({"softmax", {{"s", "40, 64"}}, {"gv = R.nn.softmax(s, axis=-1)"}}, kSmallCaches, {scores});
  for (int64_t row = 0; row < 40; ++row) EXPECT_EQ(weights[row * 64 + row], 0) << row;

  // As an attention, whose scores are those of one key that is 1: only the value that is masked is not 0.
  const Tensor q = Numbers({40, 1}, 3), k = Numbers({1, 700}, 4), v = Numbers({700, 8}, 5);
  for (int64_t row = 0; row < 40; ++row) static_cast<float*>(q.data_ptr())[row] = 1;
  for (int64_t key = 0; key < 700; ++key) {
    const bool is_masked = key % 300 == 299;
    static_cast<float*>(k.data_ptr())[key] = is_masked ? -100 : 0;
    for (int64_t c = 0; c < 8; ++c) static_cast<float*>(v.data_ptr())[key * 8 + c] = is_masked ? 1e38F : 0;
  }
  const Case attention{"masked", {{"q", "40, 1"}, {"k", "1, 700"}, {"v", "700, 8"}}, {kScores, kSoftmax, kOutput}};
  for (const char* target : {"llvm -mcpu=x86-64-v3 -threads=2", kSmallCaches}) {
    for (const float value : Output(attention, target, {q, k, v})) EXPECT_EQ(value, 0);
  }
}

/// With the second cache as it is and so small that tiles are as low as can be.
INSTANTIATE_TEST_SUITE_P(Forms, Attention,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::Values("llvm -mcpu=x86-64-v3 -threads=2", kSmallCaches)),
                         [](const testing::TestParamInfo<Parameters>& info) {
                           const bool is_small = std::string(std::get<1>(info.param)).find("l2") != std::string::npos;
                           return std::string(std::get<0>(info.param).name) + (is_small ? "_small" : "");
                         });

}  // namespace
}  // namespace deuteron
