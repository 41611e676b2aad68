#include <cstdio>
#include <memory>

#include "deuteron/script/printer.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

void RunVerify(const VerifyFlags& flags) {
  VerifyOptions options = ToVerifyOptions(flags);
  const PassInstruments instruments(flags.model, [](const IRModule& module) { return script::Print(module); });
  instruments.AddTo(&options.compile);
  const std::vector<VerifiedStage> stages = Verify(LoadModule(flags.model), options);
  options.progress("");
  instruments.Report();
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
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* verb = app.add_subcommand("verify", "Check every pass and the compiled code against the interpreter");
  AddVerifyFlags(verb, flags.get());
  verb->callback([flags] { RunVerify(*flags); });
}

}  // namespace deuteron::tools
