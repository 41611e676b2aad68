/// Passes, their context and instruments.
#include <tvm/ffi/reflection/registry.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/support/error.h"

namespace deuteron::python {
namespace {

using transform::Pass;
using transform::PassContext;
using transform::PassInfo;

class CallingInstrument : public transform::PassInstrument {
 public:
  explicit CallingInstrument(Map<String, ffi::Function> methods) : methods_(std::move(methods)) {}
  void EnterContext() override { Call("enter_pass_ctx"); }
  void ExitContext() override { Call("exit_pass_ctx"); }
  bool ShouldRun(const IRModule& module, const PassInfo& info) override {
    const auto method = methods_.Get("should_run");
    return !method.has_value() || (*method)(module, String(info.name), info.opt_level).cast<bool>();
  }
  void RunBeforePass(const IRModule& module, const PassInfo& info) override {
    Call("run_before_pass", module, String(info.name), info.opt_level);
  }
  void RunAfterPass(const IRModule& module, const PassInfo& info) override {
    Call("run_after_pass", module, String(info.name), info.opt_level);
  }

 private:
  template <typename... Arguments>
  void Call(const char* name, const Arguments&... arguments) {
    if (const auto method = methods_.Get(name)) (*method)(arguments...);
  }
  Map<String, ffi::Function> methods_;
};

/// The contexts that Python has entered in this thread, innermost last.
std::vector<std::unique_ptr<PassContext::Scope>>& EnteredContexts() {
  thread_local std::vector<std::unique_ptr<PassContext::Scope>> contexts;
  return contexts;
}

void EnterContext(int opt_level, const Map<String, ffi::Any>& config, const Array<String>& required,
                  const Array<String>& disabled, const Array<Map<String, ffi::Function>>& instruments) {
  PassContext context;
  context.opt_level = opt_level;
  context.find_pass = MakePass;
  for (const auto& [key, value] : config) context.SetConfig(key, value);
  context.required_pass.assign(required.begin(), required.end());
  context.disabled_pass.assign(disabled.begin(), disabled.end());
  for (const auto& methods : instruments) {
    context.instruments.push_back(MakeInstrument(methods));
  }
  EnteredContexts().push_back(std::make_unique<PassContext::Scope>(std::move(context)));
}

void ExitContext() {
  auto& contexts = EnteredContexts();
  DEUTERON_CHECK(!contexts.empty()) << "a pass context is left that was not entered in this thread";
  const std::unique_ptr<PassContext::Scope> innermost = std::move(contexts.back());
  contexts.pop_back();
}

nlohmann::json ToJson(const ffi::Any& value) {
  if (value == nullptr) return nullptr;
  if (const auto flag = value.as<bool>()) return *flag;
  if (const auto number = value.as<int64_t>()) return *number;
  if (const auto number = value.as<double>()) return *number;
  if (const auto text = value.as<String>()) return std::string(*text);
  if (const auto items = value.as<Array<ffi::Any>>()) {
    nlohmann::json list = nlohmann::json::array();
    for (const ffi::Any& item : *items) list.push_back(ToJson(item));
    return list;
  }
  if (const auto items = value.as<Map<String, ffi::Any>>()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, item] : *items) object[std::string(key)] = ToJson(item);
    return object;
  }
  DEUTERON_THROW(UsageError) << "an argument of a pass is none, a boolean, a number, text, a list or a dictionary, not "
                             << value.GetTypeKey();
}

Pass NamedPass(const String& name, const Map<String, ffi::Any>& arguments) {
  PassCall call{name};
  for (const auto& [key, value] : arguments) call.arguments[key] = ToJson(value);
  return MakePasses({&call, 1}).at(0);
}

PassInfo Info(const String& name, int opt_level, const Array<String>& required) {
  PassInfo info{.name = name, .opt_level = opt_level};
  info.required.assign(required.begin(), required.end());
  return info;
}

Pass PassOverModules(const ffi::Function& body, const String& name, int opt_level, const Array<String>& required) {
  return transform::ModulePass(
      Info(name, opt_level, required),
      [body](const IRModule& module, const PassContext&) -> IRModule { return body(module).cast<IRModule>(); });
}

Pass PassOverFunctions(const ffi::Function& body, const String& name, int opt_level, const Array<String>& required) {
  return relax::FunctionPass(
      Info(name, opt_level, required),
      [body](const relax::Function& func, const IRModule& module, const PassContext&) -> relax::Function {
        return body(func, module).cast<relax::Function>();
      });
}

Pass PassOverBlocks(const ffi::Function& body, const String& name, int opt_level, const Array<String>& required) {
  return relax::DataflowBlockPass(
      Info(name, opt_level, required),
      [body](const relax::DataflowBlock& block, const IRModule& module, const PassContext&) -> relax::DataflowBlock {
        return body(block, module).cast<relax::DataflowBlock>();
      });
}

Pass ListOfPasses(const Array<Pass>& passes, const String& name) {
  return transform::Sequential({passes.begin(), passes.end()}, name);
}

/// (name, description, names of its parameters) of each.
Array<Array<ffi::Any>> ListPasses() {
  Array<Array<ffi::Any>> list;
  for (const PassEntry& entry : AllPasses()) {
    Array<String> parameters;
    for (const char* parameter : entry.parameters) parameters.push_back(parameter);
    list.push_back({String(entry.name), String(entry.description), parameters});
  }
  return list;
}

}  // namespace

void RegisterPasses() {
  ffi::reflection::ObjectDef<transform::PassNode>();
  ffi::reflection::ObjectDef<transform::SequentialNode>();
  ffi::reflection::GlobalDef()
      .def("deuteron.python.list_passes", ListPasses)
      .def("deuteron.python.named_pass", NamedPass)
      .def("deuteron.python.pipeline", [](const String& name) -> Pass { return MakePipeline(std::string(name)); })
      .def("deuteron.python.module_pass", PassOverModules)
      .def("deuteron.python.function_pass", PassOverFunctions)
      .def("deuteron.python.dataflowblock_pass", PassOverBlocks)
      .def("deuteron.python.sequential", ListOfPasses)
      .def("deuteron.python.pass_name", [](const Pass& pass) { return String(pass->info.name); })
      .def("deuteron.python.pass_opt_level", [](const Pass& pass) { return pass->info.opt_level; })
      .def("deuteron.python.run_pass", [](const Pass& pass, const IRModule& module) { return pass(module); })
      .def("deuteron.python.enter_context", EnterContext)
      .def("deuteron.python.exit_context", ExitContext);
}

std::shared_ptr<transform::PassInstrument> MakeInstrument(Map<String, ffi::Function> methods) {
  return std::make_shared<CallingInstrument>(std::move(methods));
}

}  // namespace deuteron::python
