/// Whether passes keep what a graph computes.
///
///     meaning [--first N] [--count N] [--jobs N] [--compile N] [--dump DIR]
///
/// Draws graphs by seed (random_graph.h) and, for each, a configuration: limits, levels, passes left out. Every pass
/// from the import to planned memory is run; after each the interpreter must give what it gave before: to the bit after
/// passes that only move operators about, within the graph's own bound of errors after those that compute in another
/// order. In the end the compiled code is run, for every N-th seed. A seed that fails is printed with the command that
/// shows it again;
/// `--dump` writes the modules before and after the pass that failed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/interpreter/scalar.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "random_graph.h"

namespace deuteron::meaning {
namespace {

/// Passes whose results are computed in the same order as before.
constexpr std::string_view kExactPasses[] = {"CanonicalizeBindings",
                                             "ConvertToDataflow",
                                             "DeadCodeElimination",
                                             "AnnotateTIROpPattern",
                                             "ComputeMasks",
                                             "SeparateOutputs",
                                             "FuseOps",
                                             "FuseReductions",
                                             "FuseSiblings",
                                             "RecomputeProducers",
                                             "FuseTIR",
                                             "ShareKernels",
                                             "CallTIRRewrite",
                                             "StaticPlanBlockMemory",
                                             "KillAfterLastUse",
                                             "RemovePurityChecking"};

/// What a graph is compiled with.
struct Setting {
  std::string passes;
  int opt_level = 2;
  int threads = 1;
  std::map<std::string, std::string> config;

  std::string Describe() const {
    std::ostringstream text;
    text << "opt_level=" << opt_level << " threads=" << threads;
    for (const auto& [key, value] : config) text << " " << key << "=" << value;
    text << " passes: " << passes;
    return text.str();
  }
};

Setting DrawSetting(uint64_t seed) {
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15ULL + 1);
  const auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
  const auto choose = [&](std::vector<std::string> from) { return from[random() % from.size()]; };
  Setting setting;
  if (chance(0.15)) setting.opt_level = static_cast<int>(random() % 4);
  setting.threads = chance(0.3) ? 2 : 1;
  if (chance(0.25)) setting.config["relax.FuseOps.max_depth"] = choose({"1", "2", "3", "5", "8"});
  if (chance(0.25)) setting.config["relax.FuseOps.max_function_args"] = choose({"2", "3", "4", "6", "10"});
  if (chance(0.1)) setting.config["tvm_compat"] = "true";
  if (chance(0.2)) setting.config["expected_runs"] = "1";
  PassCall fuse_ops{"FuseOps"};
  if (chance(0.1)) fuse_ops.arguments = {{"fuse_opt_level", choose({"0", "1", "3"})[0] - '0'}};
  if (chance(0.1)) fuse_ops.arguments = {{"wrap_single", true}};
  if (chance(0.1)) fuse_ops.arguments = {{"relay_rules", true}};
  const bool leaves_out = chance(0.3);
  std::vector<PassCall> passes;
  for (const PassCall& pass : GetPipeline("default").passes) {
    const bool may_go = pass.name == "FuseReductions" || pass.name == "FuseSiblings" ||
                        pass.name == "SeparateOutputs" || pass.name == "RecomputeProducers" ||
                        pass.name == "FoldConstant" || pass.name == "CombineMatmulsOfOneWeight" ||
                        pass.name == "PackWeights";
    if (may_go && leaves_out && chance(0.4)) continue;
    // Regions that TVM's FuseTIR declares too small are no ground for schedules.
    if (setting.config.count("tvm_compat") && pass.name == "ScheduleForCPU") continue;
    passes.push_back(pass.name == "FuseOps" ? fuse_ops : pass);
  }
  setting.passes = PassText(passes);
  return setting;
}

double ElementOf(const Tensor& tensor, int64_t index) {
  const DataType dtype(tensor.dtype());
  const interpreter::Scalar scalar = interpreter::LoadScalar(tensor.data_ptr(), dtype, index);
  return dtype.is_float() ? scalar.f : static_cast<double>(scalar.i);
}

/// Empty if no element differs by more than its tensor's tolerance (none: 0).
std::string Compare(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual,
                    const std::vector<double>& tolerances) {
  std::ostringstream problem;
  if (expected.size() != actual.size()) return "another number of results";
  for (size_t k = 0; k < expected.size(); ++k) {
    const bool same_type =
        expected[k].ndim() == actual[k].ndim() &&
        std::equal(expected[k].shape().begin(), expected[k].shape().end(), actual[k].shape().begin()) &&
        DataType(expected[k].dtype()) == DataType(actual[k].dtype());
    if (!same_type) return "result " + std::to_string(k) + " has another type";
    const double tolerance = tolerances.empty() ? 0 : tolerances[k];
    for (int64_t i = 0; i < expected[k].numel(); ++i) {
      const double a = ElementOf(expected[k], i);
      const double b = ElementOf(actual[k], i);
      if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance) continue;
      problem << "element " << i << " of result " << k << " is " << b << " instead of " << a << " (tolerance "
              << tolerance << ")";
      return problem.str();
    }
  }
  return "";
}

/// Runs one seed. Gives what is wrong, empty if nothing is.
std::string Check(uint64_t seed, bool compile, const std::string& dump) {
  std::string stage = "drawing";
  IRModule before;
  IRModule module;
  try {
    const RandomGraph graph = MakeRandomGraph(seed);
    const Setting setting = DrawSetting(seed);
    module = graph.module;
    relax::CheckWellFormed(module);
    CompileOptions options{.threads = setting.threads, .opt_level = setting.opt_level, .config = setting.config};
    const Target target = Target::Parse(options.target, options.threads);
    const TargetScope target_scope(target);
    const transform::PassContext::Scope scope(MakeContext(options));
    stage = "the interpreter";
    const std::vector<Tensor> expected = Interpret(module, graph.arguments);
    std::vector<Tensor> last = expected;
    std::vector<transform::Pass> passes = ParsePasses(setting.passes);
    for (const transform::Pass& pass : passes) {
      stage = pass->info.name;
      before = module;
      module = transform::Sequential({pass})(std::move(module));
      if (module.same_as(before)) continue;
      // TVM's FuseTIR declares only the first of several reads.
      if (!setting.config.count("tvm_compat")) relax::CheckWellFormed(module);
      std::vector<Tensor> now = Interpret(module, graph.arguments);
      const std::string_view name = stage;
      const bool exact = std::find(std::begin(kExactPasses), std::end(kExactPasses), name) != std::end(kExactPasses);
      std::string problem = exact ? Compare(last, now, {}) : Compare(expected, now, graph.tolerances);
      if (!problem.empty()) {
        if (!dump.empty()) {
          std::ofstream(dump + "/before.py") << script::Print(before);
          std::ofstream(dump + "/after.py") << script::Print(module);
        }
        problem.insert(0, ": ").insert(0, stage).insert(0, "after ");
        return problem.append("\n  ").append(setting.Describe());
      }
      last = std::move(now);
    }
    if (!compile) return "";
    stage = "compiled code";
    before = module;
    if (!dump.empty()) {  // first, since compiled code may end the process
      std::ofstream(dump + "/before.py") << script::Print(graph.module);
      std::ofstream(dump + "/after.py") << script::Print(module);
    }
    const std::string problem = Compare(expected, RunCompiled(module, graph.arguments, options), graph.tolerances);
    if (problem.empty()) return "";
    return "compiled code: " + problem + "\n  " + setting.Describe();
  } catch (const ffi::Error& error) {
    if (!dump.empty() && before.defined()) std::ofstream(dump + "/before.py") << script::Print(before);
    return stage + ": " + error.kind() + ": " + error.message() + "\n  " + DrawSetting(seed).Describe();
  }
}

struct Options {
  uint64_t first = 1;
  uint64_t count = 300;
  uint64_t jobs = 1;
  uint64_t compile = 1;
  std::string dump;
};

/// Checks every `jobs`-th seed. `current` is where a crash is looked for.
int Work(const Options& options, const char* program, uint64_t offset, volatile uint64_t* current) {
  int failures = 0;
  for (uint64_t i = offset; i < options.count; i += options.jobs) {
    const uint64_t seed = options.first + i;
    *current = seed;
    const std::string problem = Check(seed, seed % options.compile == 0, options.dump);
    if (problem.empty()) continue;
    std::cout << "seed " << seed << ": " + problem + "\n  again: " << program << " --first " << seed << " --count 1\n"
              << std::flush;
    ++failures;
  }
  *current = 0;
  return std::min(failures, 100);
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    if (key == "--dump") {
      options.dump = argv[i + 1];
    } else if (uint64_t* number = key == "--first"     ? &options.first
                                  : key == "--count"   ? &options.count
                                  : key == "--jobs"    ? &options.jobs
                                  : key == "--compile" ? &options.compile
                                                       : nullptr) {
      *number = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      std::cerr << "usage: meaning [--first N] [--count N] [--jobs N] [--compile N] [--dump DIR]\n";
      return 2;
    }
  }
  auto* current = static_cast<uint64_t*>(
      mmap(nullptr, sizeof(uint64_t) * options.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> workers;
  for (uint64_t job = 0; job < options.jobs; ++job) {
    const pid_t pid = fork();
    if (pid == 0) std::_Exit(Work(options, argv[0], job, current + job));
    workers.push_back(pid);
  }
  int failures = 0;
  for (uint64_t job = 0; job < options.jobs; ++job) {
    int status = 0;
    waitpid(workers[job], &status, 0);
    if (WIFEXITED(status)) {
      failures += WEXITSTATUS(status);
    } else {
      std::cout << "seed " << current[job] << ": ended by signal " << WTERMSIG(status) << "\n  again: " << argv[0]
                << " --first " << current[job] << " --count 1\n";
      ++failures;
    }
  }
  std::cout << options.count << " graphs, " << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace deuteron::meaning

int main(int argc, char** argv) { return deuteron::meaning::Main(argc, argv); }
