/// \file
/// `deuteron opt`: passes on a module, text in, text out.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "tools/command_fixture.h"

namespace deuteron::tools {
namespace {

TEST_F(Command, OptParsesAndPrints) {
  const Outcome from_file = Deuteron({"opt", model_});
  EXPECT_EQ(from_file.status, 0);
  EXPECT_EQ(from_file.err, "");
  EXPECT_CONTAINS(from_file.out, "R.exp(y)");
  const Outcome from_stdin = Deuteron({"opt", "-", "--passes", ""}, kModule);
  EXPECT_EQ(from_stdin.out, from_file.out);
  EXPECT_EQ(Deuteron({"opt", "-"}, from_file.out).out, from_file.out);
}

TEST_F(Command, OptWritesAFile) {
  const std::string path = (folder_ / "out.py").string();
  const Outcome outcome = Deuteron({"opt", model_, "--passes", "CanonicalizeBindings", "-o", path});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  std::stringstream written;
  written << std::ifstream(path).rdbuf();
  EXPECT_EQ(written.str(), Deuteron({"opt", model_, "--passes=CanonicalizeBindings"}).out);
  EXPECT_CONTAINS(written.str(), "R.exp(x)");
  EXPECT_EQ(Deuteron({"opt", model_, "-o", (folder_ / "no" / "such" / "folder.py").string()}).status, 2);
}

const char* const kWithWeights = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            t = R.permute_dims(metadata["ir.GenericConst"][0])
            y = R.matmul(x, t)
            R.output(y)
        return y

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [2, 2], "data": "AAAAAAAAgD8AAABAAABAQA=="},
]}
)";

TEST_F(Command, WeightsThatTheInputNamesAreNotLost) {
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  const auto read = [](const std::string& file) {
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    return bytes.str();
  };
  std::ofstream(path("inline.py")) << kWithWeights;
  ASSERT_EQ(Deuteron({"opt", path("inline.py"), "--weights", path("w.st"), "-o", path("m.py")}).status, 0);
  const std::string weights = read(path("w.st"));
  const std::string text = read(path("m.py"));
  EXPECT_CONTAINS(text, "\"tensor\": ");

  // The same weights again: nothing is lost.
  const Outcome same = Deuteron({"opt", path("m.py"), "--weights", path("w.st")});
  EXPECT_EQ(same.status, 0);
  EXPECT_EQ(same.out, text);
  EXPECT_EQ(read(path("w.st")), weights);

  // Others, and the text that names these stays.
  const std::vector<std::string> fold = {"opt", path("m.py"), "--weights", path("w.st"), "--passes", "FoldConstant"};
  const auto and_also = [&](std::vector<std::string> more) {
    more.insert(more.begin(), fold.begin(), fold.end());
    return Deuteron(more);
  };
  for (const auto& more : {std::vector<std::string>{}, {"-o", path("other.py")}}) {
    const Outcome refused = and_also(more);
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_CONTAINS(refused.err, "holds the constants of " + path("m.py"));
    EXPECT_CONTAINS(refused.err, "--output-weights");
    EXPECT_EQ(read(path("w.st")), weights);
    EXPECT_FALSE(std::filesystem::exists(path("other.py")));
  }

  // To another file.
  EXPECT_EQ(and_also({"-o", path("other.py"), "--output-weights", path("other.st")}).status, 0);
  EXPECT_EQ(read(path("w.st")), weights);
  EXPECT_NE(read(path("other.st")), weights);
  EXPECT_EQ(Deuteron({"opt", path("other.py"), "--weights", path("other.st")}).out, read(path("other.py")));

  // Over both.
  EXPECT_EQ(and_also({"-o", path("m.py")}).status, 0);
  EXPECT_EQ(read(path("w.st")), read(path("other.st")));
  EXPECT_EQ(read(path("m.py")), read(path("other.py")));

  // Over a text.
  for (const auto& files : {std::vector<std::string>{"--weights", path("inline.py")},
                            {"--weights", path("new.st"), "--output-weights", path("inline.py")}}) {
    std::vector<std::string> args = {"opt", path("inline.py")};
    args.insert(args.end(), files.begin(), files.end());
    const Outcome refused = Deuteron(args);
    EXPECT_EQ(refused.status, 2);
    EXPECT_CONTAINS(refused.err, "would overwrite the text of the module");
    EXPECT_EQ(read(path("inline.py")), kWithWeights);
  }
  EXPECT_EQ(Deuteron({"opt", path("inline.py"), "--output-weights", path("new.st")}).status, 2);
}

TEST_F(Command, WeightsThatAreMissingAreNamed) {
  std::string text = kWithWeights;
  const std::string data = R"("data": "AAAAAAAAgD8AAABAAABAQA==")";
  text.replace(text.find(data), data.size(), R"("tensor": "constant_0")");
  std::ofstream(folder_ / "m.py") << text;
  const std::string weights = (folder_ / "missing.st").string();
  const Outcome outcome = Deuteron({"opt", (folder_ / "m.py").string(), "--weights", weights});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_CONTAINS(outcome.err, "--weights " + weights + ": No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(weights));
}

TEST_F(Command, PartsOfPassesHaveNames) {
  const Outcome print = Deuteron({"opt", model_, "--pipeline", "graph", "--print-after", "MergePrimitives"});
  EXPECT_EQ(print.status, 0);
  EXPECT_EQ(Count(print.err, "# ----- after MergePrimitives\n"), 1);
  const Outcome disabled = Deuteron({"opt", model_, "--pipeline", "graph", "--disable-pass", "MergePrimitives"});
  EXPECT_EQ(disabled.status, 0);
  EXPECT_EQ(Count(disabled.out, "\"Primitive\": True"), 1);
  const Outcome unknown = Deuteron({"opt", model_, "--print-after", "MergePrimitive"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_CONTAINS(unknown.err, "did you mean \"MergePrimitives\"?");
}

TEST_F(Command, OptRunsAPipelineThenPasses) {
  const Outcome outcome = Deuteron({"opt", model_, "--pipeline", "graph", "--passes", "DeadCodeElimination"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_CONTAINS(outcome.out, "fused_tir_exp_tir_tanh");
  EXPECT_EQ(Count(Deuteron({"opt", model_, "--pipeline", "graph", "--no-fuse"}).out, "R.call_tir("), 2);
  EXPECT_EQ(Count(Deuteron({"opt", model_, "--pipeline", "graph", "--opt-level", "0"}).out, "R.call_tir("), 2);
}

TEST_F(Command, OptSuggestsNames) {
  const Outcome pass = Deuteron({"opt", model_, "--passes", "FuseTIR,FuseOp"});
  EXPECT_EQ(pass.status, 2);
  EXPECT_EQ(
      pass.err,
      "deuteron: passes: there is no pass \"FuseOp\"; did you mean \"FuseOps\"? (deuteron opt --list-passes lists "
      "them)\n    FuseTIR,FuseOp\n            ^\n");
  const Outcome pipeline = Deuteron({"opt", model_, "--pipeline", "grap"});
  EXPECT_EQ(pipeline.status, 2);
  EXPECT_CONTAINS(pipeline.err, "there is no pipeline \"grap\"; did you mean \"graph\"?; the pipelines are: import, ");
  for (const char* flag : {"--print-before", "--print-after", "--disable-pass", "--require-pass"}) {
    const Outcome outcome = Deuteron({"opt", model_, flag, "FuseTir"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_CONTAINS(outcome.err, std::string(flag) + ": there is no pass \"FuseTir\"; did you mean \"FuseTIR\"?");
  }
  const Outcome key = Deuteron({"opt", model_, "--config", "tvm_compatt=true"});
  EXPECT_EQ(key.status, 2);
  EXPECT_CONTAINS(key.err, "did you mean \"tvm_compat\"?");
}

TEST_F(Command, OptRefusesWrongArguments) {
  EXPECT_CONTAINS(Deuteron({"opt", model_, "--passes", "FuseOps(fuse_opt_level=much)"}).err,
                  "FuseOps: argument fuse_opt_level is an integer, not \"much\"");
  EXPECT_EQ(Deuteron({"opt", model_, "--config", "tvm_compat=perhaps"}).status, 2);
  EXPECT_EQ(Deuteron({"opt"}).status, 2);
  EXPECT_EQ(Deuteron({"opt", model_, "--no-such-flag"}).status, 2);
  const auto negative = Deuteron({"opt", model_, "--bisect-limit", "-3"});
  EXPECT_EQ(negative.status, 2);
  EXPECT_CONTAINS(negative.err, "--bisect-limit: takes a number from 0, not \"-3\"");
  EXPECT_EQ(Deuteron({"opt", (folder_ / "missing.py").string()}).status, 3);
  EXPECT_EQ(Deuteron({"opt", folder_.string()}).status, 3);
  EXPECT_CONTAINS(Deuteron({"opt", folder_.string()}).err, "it is a directory");
  EXPECT_EQ(Deuteron({"opt", "/proc/self/mem"}).err, "deuteron: cannot read /proc/self/mem: Input/output error\n");
  EXPECT_EQ(Deuteron({"opt", "-"}, "def f(: pass").status, 3);
}

TEST_F(Command, OptLists) {
  const Outcome passes = Deuteron({"opt", "--list-passes"});
  EXPECT_EQ(passes.status, 0);
  for (const PassEntry& entry : AllPasses()) {
    EXPECT_EQ(Count("\n" + passes.out, std::string("\n") + entry.name + " ") +
                  Count("\n" + passes.out, std::string("\n") + entry.name + "("),
              1)
        << entry.name;
  }
  EXPECT_EQ(Count(passes.out, "\n"), static_cast<int>(AllPasses().size()));
  const Outcome pipelines = Deuteron({"opt", "--list-pipelines"});
  for (const Pipeline& pipeline : AllPipelines()) EXPECT_CONTAINS(pipelines.out, pipeline.description);
}

TEST_F(Command, OptPrintsAroundPasses) {
  const std::vector<std::string> base = {"opt", model_, "--passes", "CanonicalizeBindings,ConvertToDataflow"};
  const auto with = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> args = base;
    args.insert(args.end(), flags.begin(), flags.end());
    return Deuteron(args);
  };
  EXPECT_EQ(Count(with({"--print-before", "ConvertToDataflow"}).err, "# ----- before ConvertToDataflow\n"), 1);
  const Outcome after = with({"--print-after=CanonicalizeBindings"});
  EXPECT_EQ(Count(after.err, "# ----- "), 1);
  EXPECT_CONTAINS(after.err, "# ----- after CanonicalizeBindings\n");
  EXPECT_EQ(after.out, with({}).out);
  const Outcome all = with({"--print-before-all", "--print-after-all"});
  EXPECT_EQ(Count(all.err, "# ----- before "), 2);
  EXPECT_EQ(Count(all.err, "# ----- after "), 2);
  const Outcome here = Deuteron({"opt", model_, "--passes", "CanonicalizeBindings,PrintIR(header='half way')"});
  EXPECT_CONTAINS(here.err, "# ----- half way\n");
}

TEST_F(Command, OptTimesAndBisects) {
  const Outcome timed = Deuteron({"opt", model_, "--passes", "LegalizeOps,FuseTIR", "--time-passes"});
  EXPECT_CONTAINS(timed.err, "pass\n");
  EXPECT_CONTAINS(timed.err, "  LegalizeOps\n");
  EXPECT_CONTAINS(timed.err, "    MergePrimitives\n");
  const Outcome bisected =
      Deuteron({"opt", model_, "--passes", "CanonicalizeBindings,LegalizeOps", "--bisect-limit=1"});
  EXPECT_EQ(bisected.err, "bisect:   1 ran     CanonicalizeBindings\nbisect:   2 skipped LegalizeOps\n");
  EXPECT_EQ(bisected.out, Deuteron({"opt", model_, "--passes", "CanonicalizeBindings"}).out);
  EXPECT_EQ(Deuteron({"opt", model_, "--passes", "CanonicalizeBindings", "--bisect-limit=0"}).out,
            Deuteron({"opt", model_}).out);
}

TEST_F(Command, OptLeavesDisabledPassesOut) {
  EXPECT_EQ(Deuteron({"opt", model_, "--passes", "CanonicalizeBindings", "--disable-pass", "CanonicalizeBindings"}).out,
            Deuteron({"opt", model_}).out);
}

TEST_F(Command, OptVerifiesAfterEachPass) {
  const Outcome verified = Deuteron({"opt", model_, "--passes", "BreakForTest"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_CONTAINS(verified.err, "the module is malformed after pass BreakForTest");
  EXPECT_CONTAINS(verified.err, "this shows it again");
  EXPECT_EQ(Deuteron({"opt", model_, "--passes", "BreakForTest", "--no-verify-each"}).status, 0);
}

TEST_F(Command, OptWarnsOfOtherSymbols) {
  const std::string path = (folder_ / "symbol.py").string();
  std::ofstream(path) << "@I.ir_module\nclass Module:\n    @R.function\n"
                         "    def main(x: R.Tensor((2,), \"float32\")):\n"
                         "        R.func_attr({\"global_symbol\": \"other\"})\n        return x\n";
  const Outcome outcome = Deuteron({"opt", path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_CONTAINS(outcome.err, "warning: function \"main\" has the global_symbol \"other\"");
  EXPECT_CONTAINS(outcome.out, "\"other\"");
}

TEST_F(Command, CodeGenerationIsAPassToo) {
  const Outcome outcome = Deuteron({"opt", model_, "--pipeline", "default", "--passes", "GenerateCode"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Deuteron({"opt", model_, "--pipeline", "default"}).out);
}

}  // namespace
}  // namespace deuteron::tools
