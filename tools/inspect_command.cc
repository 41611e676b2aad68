#include <cstdio>
#include <map>
#include <memory>

#include "deuteron/frontend/onnx/import.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {

void AddInspectCommand(CLI::App& app) {
  auto model = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("inspect", "Operators, shapes, weights and opset of a model, and what is unsupported");
  verb->add_option("FILE", *model, "an .onnx model")->required();
  verb->callback([model] { std::printf("%s", onnx::Inspect(*model).c_str()); });
}

}  // namespace deuteron::tools
