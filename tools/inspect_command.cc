#include <cstdio>
#include <memory>

#include "deuteron/frontend/onnx/import.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

void PrintValues(const char* title, const std::vector<onnx::ModelSummary::Value>& values) {
  std::printf("%s\n", title);
  for (const auto& value : values) {
    std::string dims;
    for (const std::string& dim : value.dims) dims += (dims.empty() ? "" : ", ") + dim;
    std::printf("  %s: %s (%s)\n", value.name.c_str(), value.dtype.c_str(), dims.c_str());
  }
}

void Inspect(const std::string& path) {
  const onnx::ModelSummary summary = onnx::Inspect(path);
  std::printf("IR version %lld", static_cast<long long>(summary.ir_version));
  if (!summary.producer.empty()) std::printf(", made by %s", summary.producer.c_str());
  for (const auto& [domain, version] : summary.opsets) {
    std::printf(", opset %s%s%lld", domain.c_str(), domain.empty() ? "" : " ", static_cast<long long>(version));
  }
  std::printf("\n");
  PrintValues("inputs", summary.inputs);
  PrintValues("outputs", summary.outputs);
  std::printf("weights\n  %lld tensors, %lld parameters, %.1f MiB\n", static_cast<long long>(summary.initializers),
              static_cast<long long>(summary.parameters), static_cast<double>(summary.parameter_bytes) / (1024 * 1024));
  std::printf("operators\n");
  for (const auto& op : summary.ops) {
    std::printf("  %6lld %s%s%s%s\n", static_cast<long long>(op.count), op.domain.c_str(), op.domain.empty() ? "" : ".",
                op.op_type.c_str(), op.supported ? "" : "  (not supported)");
  }
  std::printf("  %6lld in all\n", static_cast<long long>(summary.nodes));
}

}  // namespace

void AddInspectCommand(CLI::App& app) {
  auto model = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("inspect", "Operators, shapes, weights and opset of a model, and what is unsupported");
  verb->add_option("FILE", *model, "an .onnx model")->required();
  verb->callback([model] { Inspect(*model); });
}

}  // namespace deuteron::tools
