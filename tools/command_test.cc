/// \file
/// What all verbs share: output, errors and how to see them again, models that are compiled.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "deuteron/backend/backends.h"
#include "deuteron/c_api.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/target/host.h"
#include "tools/command_fixture.h"
#include "tools/commands.h"

namespace deuteron::tools {
namespace {

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

std::string CannotWrite(const std::string& path, const std::string& why) {
  return "deuteron: cannot write " + path + ": " + why + "\n";
}

TEST_F(Command, OutputThatCannotBeWrittenIsAnError) {
  std::string large = kModule;
  const size_t last = large.find("        return w");
  for (int i = 0; i < 3000; ++i) large.insert(last, "        v" + std::to_string(i) + " = R.exp(w)\n");
  std::ofstream(folder_ / "large.py") << large;
  const std::string large_model = (folder_ / "large.py").string();
  const std::vector<std::vector<std::string>> runs = {{"--help"},
                                                      {"--version"},
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

TEST_F(Command, SaysItsVersion) {
  const Outcome outcome = Deuteron({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.rfind("deuteron " + std::string(DeuteronVersion()) + "\ncode: LLVM 19.", 0), 0) << outcome.out;
  EXPECT_CONTAINS(outcome.out, "\nthis CPU: " + HostCpu());
  for (const backend::Backend& backend : backend::AllBackends()) {
    EXPECT_CONTAINS(outcome.out, "\n  " + backend.name + " ");
  }
  if (runtime::PluginProblem("dnnl").empty()) {
    EXPECT_CONTAINS(outcome.out, "\n  dnnl     oneDNN 3.");
  } else {
    EXPECT_CONTAINS(outcome.out, "\n  dnnl     not here: " + runtime::PluginProblem("dnnl"));
  }
  // What opens here compiles for GPUs anywhere.
  if (runtime::PluginProblem("cublas").empty()) {
    EXPECT_CONTAINS(outcome.out, "\n  cublas   cuBLASLt ");
    const bool has_gpu = std::filesystem::exists("/dev/nvidia0");
    EXPECT_EQ(outcome.out.find("no GPU to run on here") == std::string::npos, has_gpu) << outcome.out;
  }
}

TEST_F(Command, SaysWhyAFileCannotBeWritten) {
  for (const auto& args : {std::vector<std::string>{"opt", model_, "-o"}, {"explain", model_, "--html"}}) {
    for (const auto& [path, why] :
         std::map<std::string, std::string>{{folder_.string(), "Is a directory"},
                                            {"/dev/full", "No space left on device"},
                                            {"/no/such/file", "the folder /no/such does not exist"}}) {
      std::vector<std::string> with_path = args;
      with_path.push_back(path);
      const Outcome outcome = Deuteron(with_path);
      EXPECT_EQ(outcome.status, 2);
      EXPECT_EQ(outcome.err, CannotWrite(path, why));
    }
  }
}

TEST_F(Command, CompileNamesTheArtefactThatCannotBeWritten) {
  const std::string is_folder = (folder_ / "model.so").string();
  std::filesystem::create_directory(is_folder);
  for (const auto& [path, why] : std::map<std::string, std::string>{
           {is_folder, "Is a directory"}, {"/no/such/x.so", "the folder /no/such does not exist"}}) {
    const Outcome outcome = Deuteron({"compile", model_, "-o", path});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, CannotWrite(path, why));
  }
  // The model and the folder; nothing half written.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
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
  for (const char* seed : {"-1", "18446744073709551616", "1.5", "", "one"}) {
    const Outcome refused = Deuteron({"run", model_, "--seed", seed});
    EXPECT_EQ(refused.status, 2);
    EXPECT_CONTAINS(refused.err, "--seed: takes a number from 0, not \"" + std::string(seed) + "\"\n");
  }
  EXPECT_EQ(Deuteron({"run", model_, "--seed", "18446744073709551615"}).status, 0);
  for (const char* flag : {"--output-dir", "--dump-intermediates", "--cache", "--weights"}) {
    const Outcome refused = Deuteron({"run", model_, flag, ""});
    EXPECT_EQ(refused.status, 2);
    EXPECT_CONTAINS(refused.err, std::string(flag) + ": takes a name, not \"\"\n");
  }
  for (const char* seconds : {"inf", "1e400", "nan", "-1"}) {
    EXPECT_CONTAINS(Deuteron({"bench", model_, "--seconds", seconds}).err, "--seconds: takes a number from 0, not");
  }
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
            (std::vector<std::string>{"--opt-level", "3", "--config", "relax.PartitionFor.backend=auto", "--config",
                                      "tvm_compat=1", "--disable-pass", "FuseTIR"}));
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
    const std::string runs = verb[0] == "run" ? "--config expected_runs=1 " : "";
    EXPECT_CONTAINS(failed.err, "--opt-level 1 " + runs +
                                    "--config relax.PartitionFor.backend=auto --target 'llvm -mcpu=x86-64-v3' "
                                    "--no-verify-each");
    const Outcome repeated = Deuteron(again);
    EXPECT_EQ(repeated.status, 1);
    EXPECT_CONTAINS(repeated.err, "deuteron: internal error: decomposed too far\n");
  }
}

TEST_F(Command, BisectHeedsTheFlagsOnPasses) {
  const Outcome seen = Deuteron({"bisect", model_, "--threads", "1", "--time-passes", "--print-after", "LegalizeOps"});
  EXPECT_EQ(seen.status, 0) << seen.err;
  EXPECT_EQ(Count(seen.err, "# ----- after LegalizeOps"), 1) << seen.err;
  EXPECT_EQ(Count(seen.err, " FuseTIR"), 1) << seen.err;
  const Outcome limited = Deuteron({"bisect", model_, "--threads", "1", "--bisect-limit", "1"});
  EXPECT_EQ(limited.status, 0) << limited.err;
  EXPECT_EQ(Count(limited.err, " ran "), 1) << limited.err;
  EXPECT_EQ(Deuteron({"bisect", model_, "--print-after", "FuseTir"}).status, 2);
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

TEST_F(Command, WeightsAreNamedForACompiledModelWithoutThem) {
  const std::string out = (folder_ / "model.so").string();
  ASSERT_EQ(Deuteron({"compile", model_, "-o", out}).status, 0);
  for (const std::string& model : {model_, out}) {
    const Outcome refused = Deuteron({"run", model, "--weights", (folder_ / "other.safetensors").string()});
    EXPECT_EQ(refused.status, 2);
    EXPECT_CONTAINS(refused.err, model + " holds its weights");
  }
}

TEST_F(Command, AModelIsNotOverwritten) {
  const std::string trace = (folder_ / "trace.json").string();
  std::filesystem::create_hard_link(model_, trace);
  for (const auto& args : {std::vector<std::string>{"compile", model_, "-o", folder_.string() + "/./model.py"},
                           {"explain", model_, "--html", model_},
                           {"profile", model_, "--seconds", "0", "--trace", trace}}) {
    const Outcome refused = Deuteron(args);
    EXPECT_EQ(refused.status, 2) << args[0];
    EXPECT_EQ(refused.err,
              "deuteron: cannot write " + args.back() + ": it is the model, which would be lost; give another name\n");
  }
  EXPECT_EQ(Deuteron({"opt", model_, "--passes", "", "-o", model_}).status, 0);
}

TEST_F(Command, ShapesOfACompiledModelAreThoseItHas) {
  const std::string model = (folder_ / "rows.py").string();
  const std::string out = (folder_ / "rows.so").string();
  std::ofstream(model) << R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        return R.add(x, y)
)";
  ASSERT_EQ(Deuteron({"compile", model, "-o", out}).status, 0);
  const auto run = [&](std::vector<std::string> shapes) {
    std::vector<std::string> args = {"run", out};
    for (const std::string& shape : shapes) args.insert(args.end(), {"--shape", shape});
    return Deuteron(args);
  };
  EXPECT_CONTAINS(run({"x=4,3"}).out, "(4, 3)");
  EXPECT_CONTAINS(run({"n=5"}).out, "(5, 3)");
  EXPECT_CONTAINS(run({"n=5", "y=5,3"}).out, "(5, 3)");
  for (const auto& [shapes, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"x=4,2"}, "dimension 1 of input 'x' is 3 in the model and cannot be 2"},
           {{"x=4"}, "the shape given for input 'x' is of rank 1; the model's is of rank 2"},
           {{"x=4,3", "y=5,3"}, "the shapes given make dimension 'n' both 4 and 5"},
           {{"n=4", "x=5,3"}, "the shapes given make dimension 'n' both 4 and 5"},
           {{"x=4,3", "x=5,3"}, "--shape x=5,3: another one is given for 'x'"},
           {{"m=4"},
            "a shape is given for 'm', which is neither an input nor a symbolic dimension of the model; "
            "its inputs are: 'x' 'y'"}}) {
    const Outcome refused = run(shapes);
    EXPECT_EQ(refused.status, 2) << message;
    EXPECT_EQ(refused.err, "deuteron: " + message + "\n");
  }
  EXPECT_EQ(Deuteron({"explain", out, "--shape", "m=4"}).status, 2);
}

TEST_F(Command, PartitionNamesTheBackEndsThereAre) {
  for (const char* library : {"", "auto", "dnnl,one"}) {
    const Outcome refused = Deuteron({"partition", model_, "--backend", library});
    EXPECT_EQ(refused.status, 2) << library;
    EXPECT_CONTAINS(refused.err, "the back ends are: dnnl, ");
  }
}

}  // namespace
}  // namespace deuteron::tools
