/// \file
/// `deuteron explain`: what was fused, what was not, and why.
#include <cstdio>
#include <memory>

#include "deuteron/driver/report/explain.h"
#include "deuteron/driver/report/write.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/error.h"
#include "deuteron/support/write_file.h"
#include "tools/commands.h"
#include "tools/model_io.h"
#include "tools/options.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

struct ExplainOptions {
  ModelOptions model;
  bool json = false;
  bool dot = false;
  std::string html;
};

report::FusionReport MakeReport(const ExplainOptions& options) {
  const std::string& path = options.model.model;
  if (!IsCompiled(options.model)) {
    CompileOptions compile = ToCompileOptions(options.model);
    const PassInstruments instruments(options.model, [](const IRModule& module) { return script::Print(module); });
    instruments.AddTo(&compile);
    report::FusionReport report = report::BuildReport(report::Explain(LoadModule(options.model), compile));
    instruments.Report();
    return report;
  }
  const Executable executable = Executable::Load(path);
  const auto shapes = ParseShapes(options.model.shapes);
  CheckShapes(executable, shapes);
  if (executable.runtime()->manifest().notes.empty()) {
    DEUTERON_THROW(ModelError) << path << " carries no decision log; compile it again with this version";
  }
  try {
    return report::BuildReport(executable.decisions(), report::BindSymbols(executable.inputs(), shapes));
  } catch (const std::out_of_range&) {
    DEUTERON_THROW(ModelError) << "the decision log of " << path << " is damaged";
  }
}

void Explain(const ExplainOptions& options) {
  if (!options.html.empty()) CheckIsNotModel(options.html, options.model);
  const report::FusionReport report = MakeReport(options);
  if (!options.html.empty()) {
    WriteFile(options.html, report::WriteHtml(report, options.model.model));
    std::fprintf(stderr, "wrote %s\n", options.html.c_str());
    return;
  }
  const std::string text = options.json ? report::WriteJson(report, options.model.model)
                                                  .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                              "\n"
                           : options.dot ? report::WriteDot(report, options.model.model)
                                         : report::WriteText(report, options.model.model);
  WriteOutput(text);
}

}  // namespace

void AddExplainCommand(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* verb = app.add_subcommand("explain", "What was fused, what was not, and why");
  AddModelOptions(verb, &options->model, ModelKinds::kSourceOrCompiled);
  CLI::Option* json = verb->add_flag("--json", options->json, "print one JSON object");
  CLI::Option* dot = verb->add_flag("--dot", options->dot, "print a graph for graphviz");
  verb->add_option("--html", options->html, "write a page that shows the graph")
      ->check(NotEmpty())
      ->excludes(json)
      ->excludes(dot);
  json->excludes(dot);
  verb->callback([options] { Explain(*options); });
}

}  // namespace deuteron::tools
