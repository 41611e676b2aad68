/// \file
/// `deuteron bisect`: the first pass, then the first group, whose result differs; a reduced module.
#include <cstdio>
#include <memory>
#include <sstream>

#include "deuteron/driver/bisect.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/error.h"
#include "deuteron/support/write_file.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

struct BisectCommandOptions {
  VerifyFlags flags;
  std::string output = "reduced.py";
};

void WriteReduced(const BisectResult& result, const std::string& path) {
  std::ostringstream out;
  out << "# " << result.culprit << ": " << result.problem.substr(0, result.problem.find('\n')) << "\n";
  if (!result.kernel.empty())
    out << "# First in the kernel " << result.kernel << (result.place.empty() ? "" : ", " + result.place) << "\n";
  out << result.reduced_text;
  WriteFile(path, out.str());
}

void RunBisect(const BisectCommandOptions& options) {
  BisectOptions bisect;
  bisect.verify = ToVerifyOptions(options.flags);
  const PassInstruments instruments(options.flags.model, [](const IRModule& module) { return script::Print(module); });
  instruments.AddTo(&bisect.verify.compile);
  const BisectResult result = Bisect(LoadModule(options.flags.model), bisect);
  bisect.verify.progress("");
  instruments.Report();
  for (const VerifiedStage& stage : result.stages) {
    std::printf("%-44s %s\n", stage.name.c_str(),
                stage.problem.empty() ? ("error " + std::to_string(stage.error)).c_str() : stage.problem.c_str());
  }
  if (result.culprit.empty()) {
    std::printf("no pass changes the result\n");
    return;
  }
  std::printf("\nfirst stage that differs:  %s\n", result.culprit.c_str());
  if (!result.kernel.empty()) {
    std::printf("first group that differs:  %s%s, value %s\n", result.kernel.c_str(),
                result.place.empty() ? "" : (" at " + result.place).c_str(), result.value.c_str());
  }
  WriteReduced(result, options.output);
  std::printf("reduced module:            %s (%lld of %lld bindings)\n", options.output.c_str(),
              static_cast<long long>(result.bindings), static_cast<long long>(result.bindings_before));
  DEUTERON_THROW(MismatchError) << "the result differs after " << result.culprit << ": " << result.problem;
}

}  // namespace

void AddBisectCommand(CLI::App& app) {
  auto options = std::make_shared<BisectCommandOptions>();
  CLI::App* verb =
      app.add_subcommand("bisect", "The first pass, then the first group, whose result differs; a reduced module");
  AddVerifyFlags(verb, &options->flags);
  verb->add_option("-o,--output", options->output, "where the reduced module is written, if there is one");
  verb->callback([options] { RunBisect(*options); });
}

}  // namespace deuteron::tools
