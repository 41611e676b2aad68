/// \file
/// `deuteron bisect`: the first pass, then the first group, whose result differs; a reduced module.
#include <fmt/format.h>

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
  std::string text;
  for (const VerifiedStage& stage : result.stages) {
    const std::string outcome = stage.problem.empty() ? "error " + std::to_string(stage.error) : stage.problem;
    text += fmt::format("{:<44} {}\n", stage.name, outcome);
  }
  if (result.culprit.empty()) return WriteOutput(text + "no pass changes the result\n");
  text += fmt::format("\nfirst stage that differs:  {}\n", result.culprit);
  if (!result.kernel.empty()) {
    text += fmt::format("first group that differs:  {}{}, value {}\n", result.kernel,
                        result.place.empty() ? "" : " at " + result.place, result.value);
  }
  WriteReduced(result, options.output);
  WriteOutput(text + fmt::format("reduced module:            {} ({} of {} bindings)\n", options.output, result.bindings,
                                 result.bindings_before));
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
