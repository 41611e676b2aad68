#include "tools/command_fixture.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "tools/commands.h"

namespace deuteron::tools {
namespace {

/// A pass that fails on modules without the alias `y = x`, which CanonicalizeBindings removes.
transform::Pass FailForTest(const PassArguments& args) {
  const std::string message = args.String("message", "on purpose");
  return transform::ModulePass(
      {.name = "FailForTest"}, [message](IRModule module, const transform::PassContext&) -> IRModule {
        const auto main = Downcast<relax::Function>(module.Lookup("main"));
        if (main->body->blocks[0]->bindings[0].as<relax::VarBindingNode>()->value->kind == RelaxKind::kVar) {
          return module;
        }
        DEUTERON_THROW(InternalError) << message;
      });
}

/// A pass whose result is malformed: the last binding is gone and its variable still used.
transform::Pass BreakForTest(const PassArguments&) {
  return relax::FunctionPass({.name = "BreakForTest"}, [](relax::Function func, const IRModule&, const auto&) {
    auto* node = CopyOnWrite(&func);
    node->body = relax::SeqExpr({}, node->body->body);
    return func;
  });
}

}  // namespace

const char* const kModule = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        y: R.Tensor((2, 3), dtype="float32") = x
        z: R.Tensor((2, 3), dtype="float32") = R.exp(y)
        w: R.Tensor((2, 3), dtype="float32") = R.tanh(z)
        return w
)";

Outcome Deuteron(const std::vector<std::string>& args, const std::string& input) {
  setenv("DEUTERON_CACHE", "off", /*overwrite=*/1);
  std::vector<const char*> argv = {"deuteron"};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::istringstream stream(input);
  auto* const previous = std::cin.rdbuf(stream.rdbuf());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunCommand(static_cast<int>(argv.size()), argv.data());
  std::cin.rdbuf(previous);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void Command::SetUpTestSuite() {
  RegisterPass({"FailForTest", "fails", {"message"}, FailForTest});
  RegisterPass({"BreakForTest", "breaks the module", {}, BreakForTest});
}

void Command::SetUp() {
  model_ = (folder_ / "model.py").string();
  std::ofstream(model_) << kModule;
  // What shows failures again goes with the folder.
  setenv("TMPDIR", folder_.c_str(), /*overwrite=*/1);
}

void Command::TearDown() { unsetenv("TMPDIR"); }

}  // namespace deuteron::tools
