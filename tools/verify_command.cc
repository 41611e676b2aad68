#include <cstdio>
#include <memory>

#include "deuteron/driver/verify.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct VerifyCommandOptions {
  ModelOptions model;
  uint64_t seed = 0;
};

void RunVerify(const VerifyCommandOptions& options) {
  const auto progress = MakeStageProgress(options.model.progress);
  const std::vector<VerifiedStage> stages =
      Verify(LoadModule(options.model),
             {.compile = ToCompileOptions(options.model), .seed = options.seed, .progress = progress});
  progress("");
  for (const VerifiedStage& stage : stages) {
    std::printf("%-28s %s\n", stage.name.c_str(),
                stage.problem.empty() ? ("error " + std::to_string(stage.error)).c_str() : stage.problem.c_str());
  }
  if (!stages.back().problem.empty()) {
    DEUTERON_THROW(MismatchError) << "the result differs after " << stages.back().name << ": " << stages.back().problem;
  }
}

}  // namespace

void AddVerifyCommand(CLI::App& app) {
  auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App* verb = app.add_subcommand("verify", "Check every pass and the compiled code against the interpreter");
  AddModelOptions(verb, &options->model);
  verb->add_option("--seed", options->seed, "of the random inputs");
  verb->callback([options] { RunVerify(*options); });
}

}  // namespace deuteron::tools
