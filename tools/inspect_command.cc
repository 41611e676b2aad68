#include <algorithm>
#include <cstdio>
#include <memory>

#include "deuteron/frontend/onnx/import.h"
#include "deuteron/support/printable.h"
#include "tools/commands.h"
#include "tools/model_io.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct InspectOptions {
  std::string model;
  std::vector<std::string> shapes;
  std::vector<std::string> custom;
  std::vector<std::string> limits;
};

void PrintValues(const char* title, const std::vector<onnx::ModelSummary::Value>& values) {
  std::printf("%s\n", title);
  for (const auto& value : values) {
    std::string dims;
    for (const std::string& dim : value.dims) dims += (dims.empty() ? "" : ", ") + dim;
    std::printf("  %s: %s (%s)\n", Printable(value.name).c_str(), value.dtype.c_str(), Printable(dims).c_str());
  }
}

void PrintSummary(const onnx::ModelSummary& summary) {
  std::printf("IR version %lld", static_cast<long long>(summary.ir_version));
  if (!summary.producer.empty()) std::printf(", made by %s", Printable(summary.producer).c_str());
  for (const auto& [domain, version] : summary.opsets) {
    std::printf(", opset %s%s%lld", Printable(domain).c_str(), domain.empty() ? "" : " ",
                static_cast<long long>(version));
  }
  std::printf("\n");
  PrintValues("inputs", summary.inputs);
  PrintValues("outputs", summary.outputs);
  std::printf("weights\n  %lld tensors, %lld parameters, %.1f MiB\n", static_cast<long long>(summary.initializers),
              static_cast<long long>(summary.parameters), static_cast<double>(summary.parameter_bytes) / (1024 * 1024));
  std::printf("operators\n");
  for (const auto& op : summary.ops) {
    std::printf("  %6lld %s%s%s\n", static_cast<long long>(op.count), Printable(op.domain).c_str(),
                op.domain.empty() ? "" : ".", Printable(op.op_type).c_str());
  }
  std::printf("  %6lld in all\n", static_cast<long long>(summary.nodes));
}

/// The problems by what they are, each kind with all its nodes; how many kinds.
size_t PrintProblems(const std::vector<onnx::Problem>& problems, bool malformed, const char* title) {
  std::vector<std::pair<const onnx::Problem*, std::string>> kinds;
  for (const onnx::Problem& problem : problems) {
    if (problem.is_malformed != malformed) continue;
    const auto same = [&](const auto& kind) {
      return kind.first->op == problem.op && kind.first->reason == problem.reason;
    };
    auto kind = std::find_if(kinds.begin(), kinds.end(), same);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {&problem, ""});
    if (!problem.node.empty()) kind->second += (kind->second.empty() ? "'" : ", '") + problem.node + "'";
  }
  if (!kinds.empty()) std::printf("%s\n", title);
  for (const auto& [problem, nodes] : kinds) {
    std::printf("  %s%s%s\n", Printable(problem->op).c_str(), problem->op.empty() ? "" : ": ",
                PrintableLines(problem->reason).c_str());
    if (!nodes.empty()) std::printf("      at %s\n", Printable(nodes).c_str());
    if (!problem->help.empty()) std::printf("      what would help: %s\n", PrintableLines(problem->help).c_str());
  }
  return kinds.size();
}

void Inspect(const InspectOptions& options) {
  const LimitScope limits(ParseLimits(options.limits));
  PrintSummary(onnx::Inspect(options.model));
  const std::vector<onnx::Problem> problems = onnx::FindProblems(
      options.model,
      {.shapes = ParseShapes(options.shapes), .custom = ReadCustomFiles(options.custom).modules, .warn = PrintWarning});
  const size_t unsupported = PrintProblems(problems, false, "not supported");
  const size_t malformed = PrintProblems(problems, true, "not as ONNX says");
  if (malformed > 0)
    DEUTERON_THROW(ModelError) << options.model << " is malformed in " << malformed
                               << (malformed == 1 ? " way" : " ways");
  if (unsupported > 0) {
    DEUTERON_THROW(UnsupportedError) << options.model << " is not supported, for " << unsupported
                                     << (unsupported == 1 ? " reason" : " reasons");
  }
}

}  // namespace

void AddInspectCommand(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* verb =
      app.add_subcommand("inspect", "Operators, shapes, weights and opset of a model, and all that is unsupported");
  verb->add_option("FILE", options->model, "an .onnx model")->required();
  verb->add_option("--shape", options->shapes, "NAME=1,3,224,224: dimensions of a symbolic input")
      ->allow_extra_args(false);
  verb->add_option("--custom", options->custom, kCustomHelp)->allow_extra_args(false);
  AddLimitOption(verb, &options->limits);
  verb->callback([options] { Inspect(*options); });
}

}  // namespace deuteron::tools
