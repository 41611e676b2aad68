/// \file
/// The command from its arguments to its output, in this process, with passes that only this test has.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/function_pass.h"
#include "tools/commands.h"

namespace deuteron::tools {
namespace {

const char* const kModule = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        y: R.Tensor((2, 3), dtype="float32") = x
        z: R.Tensor((2, 3), dtype="float32") = R.exp(y)
        w: R.Tensor((2, 3), dtype="float32") = R.tanh(z)
        return w
)";

/// A pass that fails on modules without the alias `y = x`, which CanonicalizeBindings removes.
transform::Pass FailForTest(const PassArguments& args) {
  const std::string message = args.String("message", "on purpose");
  return transform::ModulePass(
      {.name = "FailForTest"}, [message](IRModule module, const transform::PassContext&) -> IRModule {
        const auto main = Downcast<relax::Function>(module.Lookup("main"));
        if (main->body->blocks[0]->bindings[0].as<relax::VarBindingNode>()->value->kind == RelaxKind::kVar) {
          return module;
        }
        DEUTERON_THROW(InternalError) << message;
      });
}

/// A pass whose result is malformed: the last binding is gone and its variable still used.
transform::Pass BreakForTest(const PassArguments&) {
  return relax::FunctionPass({.name = "BreakForTest"}, [](relax::Function func, const IRModule&, const auto&) {
    auto* node = CopyOnWrite(&func);
    node->body = relax::SeqExpr({}, node->body->body);
    return func;
  });
}

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome Deuteron(const std::vector<std::string>& args, const std::string& input = "") {
  std::vector<const char*> argv = {"deuteron"};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::istringstream stream(input);
  auto* const previous = std::cin.rdbuf(stream.rdbuf());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunCommand(static_cast<int>(argv.size()), argv.data());
  std::cin.rdbuf(previous);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

class Command : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterPass({"FailForTest", "fails", {"message"}, FailForTest});
    RegisterPass({"BreakForTest", "breaks the module", {}, BreakForTest});
  }
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "deuteron_command_test";
    std::filesystem::create_directories(folder_);
    model_ = (folder_ / "model.py").string();
    std::ofstream(model_) << kModule;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string model_;
};

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

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

/// Runs the command with `path`, opened with `flags`, as standard output.
Outcome WithOutputTo(const char* path, int flags, const std::vector<std::string>& args) {
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  const int file = ::open(path, flags);
  EXPECT_GE(file, 0);
  ::dup2(file, STDOUT_FILENO);
  ::close(file);
  std::vector<const char*> argv = {"deuteron"};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  testing::internal::CaptureStderr();
  const int status = RunCommand(static_cast<int>(argv.size()), argv.data());
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  return {status, "", testing::internal::GetCapturedStderr()};
}

TEST_F(Command, OutputThatCannotBeWrittenIsAnError) {
  std::string large = kModule;
  const size_t last = large.find("        return w");
  for (int i = 0; i < 3000; ++i) large.insert(last, "        v" + std::to_string(i) + " = R.exp(w)\n");
  std::ofstream(folder_ / "large.py") << large;
  const std::string large_model = (folder_ / "large.py").string();
  const std::vector<std::vector<std::string>> runs = {{"--help"},
                                                      {"opt", "--help"},
                                                      {"opt", "--list-passes"},
                                                      {"opt", "--list-pipelines"},
                                                      {"opt", model_},
                                                      {"opt", large_model},
                                                      {"explain", model_},
                                                      {"partition", model_},
                                                      {"run", model_},
                                                      {"bench", model_, "--seconds", "0"},
                                                      {"verify", model_},
                                                      {"bisect", model_},
                                                      {"profile", model_, "--seconds", "0"}};
  for (const auto& args : runs) {
    const Outcome full = WithOutputTo("/dev/full", O_WRONLY, args);
    EXPECT_EQ(full.status, 2) << args.back();
    EXPECT_CONTAINS(full.err, "deuteron: cannot write to standard output: No space left on device\n");
    // As a closed one: main puts such a file in its place.
    const Outcome closed = WithOutputTo("/dev/null", O_RDONLY, args);
    EXPECT_EQ(closed.status, 2) << args.back();
    EXPECT_CONTAINS(closed.err, "deuteron: cannot write to standard output: Bad file descriptor\n");
  }
  // An error of the verb's own goes first.
  EXPECT_EQ(WithOutputTo("/dev/full", O_WRONLY, {"opt", (folder_ / "missing.py").string()}).status, 3);
}

TEST_F(Command, SaysWhyAFileCannotBeWritten) {
  for (const auto& args : {std::vector<std::string>{"opt", model_, "-o"}, {"explain", model_, "--html"}}) {
    for (const auto& [path, why] : std::map<std::string, std::string>{{folder_.string(), "Is a directory"},
                                                                      {"/dev/full", "No space left on device"},
                                                                      {"/no/such/file", "No such file or directory"}}) {
      std::vector<std::string> with_path = args;
      with_path.push_back(path);
      const Outcome outcome = Deuteron(with_path);
      EXPECT_EQ(outcome.status, 2);
      EXPECT_EQ(outcome.err, "deuteron: cannot write " + path + ": " + why + "\n");
    }
  }
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

TEST_F(Command, WrongValuesAreRefused) {
  const auto error = [&](const std::string& passes) {
    const Outcome outcome = Deuteron({"opt", model_, "--passes", passes});
    EXPECT_EQ(outcome.status, 2) << passes;
    return outcome.err;
  };
  EXPECT_EQ(error("ConvertLayout(desired_layouts={nn.conv2d: [NHWC, OHWI]})"),
            "deuteron: ConvertLayout: desired_layouts: there is no operator \"nn.conv2d\"; did you mean "
            "\"relax.nn.conv2d\"?\n");
  EXPECT_EQ(error("LegalizeOps(skip_ops=[relax.exb])"),
            "deuteron: LegalizeOps: skip_ops: there is no operator \"relax.exb\"; did you mean \"relax.exp\"?\n");
  EXPECT_EQ(error("FoldConstant(skip_ops=[xyzzy])"),
            "deuteron: FoldConstant: skip_ops: there is no operator \"xyzzy\"\n");
  EXPECT_EQ(error("ConvertToDataflow(min_size=1, min_size=2)"),
            "deuteron: passes: argument min_size is given twice\n    ConvertToDataflow(min_size=1, min_size=2)\n"
            "                                  ^\n");
  EXPECT_EQ(error("BindSymbolicVars(binding_map={n: 3, n: 4})"),
            "deuteron: passes: key n is given twice\n    BindSymbolicVars(binding_map={n: 3, n: 4})\n"
            "                                        ^\n");
  EXPECT_EQ(error("ConvertToDataflow(min_size=-5)"),
            "deuteron: ConvertToDataflow: argument min_size is an integer from 0 to 2147483647, not -5\n");
  EXPECT_EQ(error("FuseOps(fuse_opt_level=99)"),
            "deuteron: FuseOps: argument fuse_opt_level is an integer from -1 to 4, not 99\n");
  for (const char* verb : {"opt", "run"}) {
    const Outcome shape = Deuteron({verb, model_, "--shape", "x=1"});
    EXPECT_EQ(shape.status, 2);
    EXPECT_EQ(shape.err, "deuteron: --shape applies to .onnx models; " + model_ + " states its shapes\n");
  }
  EXPECT_CONTAINS(Deuteron({"run", model_, "--threads", "0"}).err, "--threads: takes a number from 1, not \"0\"\n");
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
  for (const PipelineEntry& entry : AllPipelines()) EXPECT_CONTAINS(pipelines.out, entry.description);
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

/// The words of the command after "this shows it again", without "deuteron".
std::vector<std::string> Reproduction(const std::string& err) {
  const std::string mark = "this shows it again:\n  deuteron ";
  const size_t begin = err.find(mark);
  if (begin == std::string::npos) return {};
  const std::string line = err.substr(begin + mark.size(), err.find('\n', begin + mark.size()) - begin - mark.size());
  std::vector<std::string> words(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (line[i] == '\\' && !quoted) {
      words.back() += line[++i];
    } else if (line[i] == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

TEST_F(Command, AnInternalErrorComesWithACommandThatShowsItAgain) {
  const Outcome failed =
      Deuteron({"opt", model_, "--passes", "CanonicalizeBindings,FailForTest(message='it broke'),ConvertToDataflow",
                "--opt-level", "3", "--config", "tvm_compat=true", "--disable-pass", "FuseTIR"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_CONTAINS(failed.err, "deuteron: internal error: it broke\n");
  const std::vector<std::string> again = Reproduction(failed.err);
  ASSERT_GE(again.size(), 4U) << failed.err;
  EXPECT_EQ(again[0], "opt");
  EXPECT_EQ(again[2], "--passes");
  EXPECT_EQ(again[3], "FailForTest(message='it broke'),ConvertToDataflow");
  EXPECT_EQ(std::vector<std::string>(again.begin() + 4, again.end()),
            (std::vector<std::string>{"--opt-level", "3", "--config", "tvm_compat=1", "--disable-pass", "FuseTIR"}));
  // What was done before the error is done in the file.
  EXPECT_CONTAINS(Deuteron({"opt", again[1]}).out, "R.exp(x)");
  const Outcome repeated = Deuteron(again);
  EXPECT_EQ(repeated.status, 1);
  EXPECT_CONTAINS(repeated.err, "deuteron: internal error: it broke\n");
}

/// Puts a pass in the place of one of the library.
class Replaced {
 public:
  Replaced(const char* name, std::function<transform::Pass(const PassArguments&)> make)
      : entry_(const_cast<PassEntry*>(FindPass(name))), previous_(entry_->make) {
    entry_->make = std::move(make);
  }
  ~Replaced() { entry_->make = previous_; }

 private:
  PassEntry* entry_;
  std::function<transform::Pass(const PassArguments&)> previous_;
};

TEST_F(Command, EveryCompilingVerbSaysWhatShowsAnInternalErrorAgain) {
  const Replaced failing("DecomposeOpsForInference", [](const PassArguments&) {
    return transform::ModulePass({.name = "DecomposeOpsForInference"},
                                 [](IRModule, const transform::PassContext&) -> IRModule {
                                   DEUTERON_THROW(InternalError) << "decomposed too far";
                                 });
  });
  const std::string out = (folder_ / "model.so").string();
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"run", model_},
                                               {"bench", model_, "--seconds", "0"},
                                               {"compile", model_, "-o", out},
                                               {"explain", model_},
                                               {"profile", model_},
                                               {"verify", model_}}) {
    std::vector<std::string> args = verb;
    args.insert(args.end(), {"--target", "llvm -mcpu=x86-64-v3", "--opt-level=1"});
    const Outcome failed = Deuteron(args);
    EXPECT_EQ(failed.status, 1) << verb[0];
    const std::vector<std::string> again = Reproduction(failed.err);
    ASSERT_GE(again.size(), 4U) << verb[0] << failed.err;
    // Verifying runs the passes one by one.
    const bool is_list = verb[0] != "verify";
    EXPECT_EQ(again[3].rfind(is_list ? "DecomposeOpsForInference," : "DecomposeOpsForInference", 0), 0U);
    EXPECT_EQ(Count(again[3], ",FuseTIR,DeadCodeElimination"), is_list ? 1 : 0) << again[3];
    EXPECT_CONTAINS(failed.err, "--opt-level 1 --target 'llvm -mcpu=x86-64-v3' --no-verify-each");
    const Outcome repeated = Deuteron(again);
    EXPECT_EQ(repeated.status, 1);
    EXPECT_CONTAINS(repeated.err, "deuteron: internal error: decomposed too far\n");
  }
}

TEST_F(Command, CompiledModelsAreForVerbsThatRunThem) {
  const std::string out = (folder_ / "model.so").string();
  ASSERT_EQ(Deuteron({"compile", model_, "-o", out}).status, 0);
  for (const char* verb : {"run", "bench", "profile", "explain"}) {
    EXPECT_CONTAINS(Deuteron({verb, "--help"}).out, "a compiled .so");
    std::vector<std::string> args = {verb, out, "--threads", "1"};
    if (verb == std::string("bench") || verb == std::string("profile")) args.insert(args.end(), {"--seconds", "0"});
    EXPECT_EQ(Deuteron(args).status, 0) << verb;
    for (const char* flag : {"--no-fuse", "--backend=none", "--time-passes", "--no-verify-each", "--config=a=b"}) {
      const Outcome refused = Deuteron({verb, out, flag});
      EXPECT_EQ(refused.status, 2) << verb << " " << flag;
      EXPECT_CONTAINS(refused.err, "is for compiling, and " + out + " is compiled");
    }
  }
  for (const char* verb : {"verify", "bisect", "partition", "compile"}) {
    EXPECT_EQ(Count(Deuteron({verb, "--help"}).out, "a compiled .so"), 0);
    std::vector<std::string> args = {verb, out};
    if (verb == std::string("compile")) args.insert(args.end(), {"-o", out});
    const Outcome refused = Deuteron(args);
    EXPECT_EQ(refused.status, 2) << verb;
    EXPECT_CONTAINS(refused.err, out + " is a compiled model; " + verb + " takes the .onnx model or .py module");
  }
}

TEST_F(Command, PartitionNamesTheBackEndsThereAre) {
  for (const char* library : {"", "auto", "dnnl,one"}) {
    const Outcome refused = Deuteron({"partition", model_, "--backend", library});
    EXPECT_EQ(refused.status, 2) << library;
    EXPECT_CONTAINS(refused.err, "the back ends are: dnnl, ");
  }
}

TEST_F(Command, CodeGenerationIsAPassToo) {
  const Outcome outcome = Deuteron({"opt", model_, "--pipeline", "default", "--passes", "GenerateCode"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Deuteron({"opt", model_, "--pipeline", "default"}).out);
}

}  // namespace
}  // namespace deuteron::tools
