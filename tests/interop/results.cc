#include "results.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "deuteron/driver/equivalence.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/expr.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"

namespace deuteron::interop {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int64_t kSymbolicExtent = 3;
constexpr const char* kTransform = "main_transform_params";

/// Some function of a tensor that none of the operators is.
void Compute(const Tensor& in, const Tensor& out) {
  if (DataType(in.dtype()) == DataType::Float(32) && DataType(out.dtype()) == DataType::Float(32)) {
    const auto* source = static_cast<const float*>(in.data_ptr());
    auto* target = static_cast<float*>(out.data_ptr());
    for (int64_t i = 0; i < out.numel(); ++i) target[i] = in.numel() == 0 ? 0 : 0.5F * source[i % in.numel()] + 1;
    return;
  }
  std::memset(out.data_ptr(), 0, ffi::GetDataSize(out));
  std::memcpy(out.data_ptr(), in.data_ptr(), std::min(ffi::GetDataSize(in), ffi::GetDataSize(out)));
}

void Return(ffi::PackedArgs args, Any* result) {
  const auto in = args[0].cast<Tensor>();
  const Tensor out = runtime::AllocTensor({in.shape().begin(), in.shape().end()}, DataType(in.dtype()));
  Compute(in, out);
  *result = out;
}

/// Function values that "main" takes are this one.
IRModule WithCallback(IRModule module) {
  const IRModule callback = script::ParseModule(R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def interop_callback(x: R.Tensor((4, 16), "float32")) -> R.Tensor((4, 16), "float32"):
        y = R.tanh(x)
        return y
)",
                                                "callback.py");
  for (const auto& [var, func] : callback->functions) module.Update(var, func);
  return module;
}

relax::Function MainOf(const IRModule& module) { return Downcast<relax::Function>(module.Lookup("main")); }

bool IsFunction(const relax::Var& param) { return param->ty->IsInstance<FuncTypeNode>(); }

/// Random arguments for all parameters that are no functions.
Arguments DataFor(const IRModule& module) {
  const relax::Function main = MainOf(module);
  Array<relax::Var> params;
  for (const relax::Var& param : main->params) {
    if (!IsFunction(param)) params.push_back(param);
  }
  IRModule data = module;
  data.Update(data.GetGlobalVar("main"), relax::Function(params, main->body, main->ret_ty, main->is_pure, main->attrs));
  return RandomArguments(data, 11, kSymbolicExtent);
}

/// The results of "main" of `after`, which was made of `before`, whose parameters `data` is for.
std::vector<Tensor> Results(const IRModule& before, const IRModule& after, const Arguments& data) {
  const IRModule module = WithCallback(after);
  Arguments arguments;
  size_t next = 0;
  for (const relax::Var& param : MainOf(before)->params) {
    arguments.push_back(IsFunction(param) ? Any(module.GetGlobalVar("interop_callback")) : data[next++]);
  }
  const auto inputs = MainOf(module)->GetAttr<int64_t>("num_input");
  if (inputs.has_value() && module.FindGlobalVar(kTransform).defined()) {
    const Array<Any> weights(arguments.begin() + *inputs, arguments.end());
    const auto prepared = interpreter::Run(module, kTransform, {weights}).cast<Array<Any>>();
    arguments.resize(static_cast<size_t>(*inputs));
    arguments.insert(arguments.end(), prepared.begin(), prepared.end());
  }
  return Interpret(module, arguments);
}

/// The module with `name` as "main".
IRModule WithMain(IRModule module, const std::string& name) {
  if (name == "main") return module;
  const auto function = Downcast<relax::Function>(module.Lookup(name));
  module.Update(GlobalVar("main", function->ty), function);
  return module;
}

/// What is run of a module.
std::vector<std::string> Entries(const IRModule& module) {
  if (module.FindGlobalVar("main").defined()) return {"main"};
  std::vector<std::string> names;
  for (const auto& [var, func] : module->functions) {
    if (func->IsInstance<relax::FunctionNode>() && func->GetAttr<String>("global_symbol").has_value()) {
      names.emplace_back(var->name_hint);
    }
  }
  return names;
}

/// As CompareWith (results.h), for "main".
std::string CompareMain(const IRModule& module, const IRModule& ours, const std::function<IRModule()>& theirs) {
  Arguments data;
  std::vector<Tensor> expected;
  try {
    data = DataFor(module);
    expected = Results(module, module, data);
  } catch (const ffi::Error& error) {
    return "nothing: " + error.message() + "\n";
  }
  const std::vector<DataType> through = LeastPrecisions(module);
  const Difference difference = CompareResults(expected, Results(module, ours, data), kTolerance, through);
  if (!difference.problem.empty()) {
    DEUTERON_THROW(ModelError) << "computes something else than before: " << difference.problem;
  }
  try {
    const std::string problem = CompareResults(expected, Results(module, theirs(), data), kTolerance, through).problem;
    return problem.empty() ? "same\n" : "differs: " + problem + "\n";
  } catch (const ffi::Error& error) {
    return "not run: " + error.message() + "\n";
  }
}

}  // namespace

void RegisterFunctions() {
  for (const char* name : {"interop.packed", "interop.effect"}) {
    ffi::Function::SetGlobal(name, ffi::Function::FromPacked(Return));
  }
  ffi::Function::SetGlobal("interop.dps", ffi::Function::FromPacked([](ffi::PackedArgs args, Any*) {
                             Compute(args[0].cast<Tensor>(), args[args.size() - 1].cast<Tensor>());
                           }));
  ffi::Function::SetGlobal("interop.dps2", ffi::Function::FromPacked([](ffi::PackedArgs args, Any*) {
                             Compute(args[0].cast<Tensor>(), args[2].cast<Tensor>());
                             Compute(args[1].cast<Tensor>(), args[3].cast<Tensor>());
                           }));
}

std::string CompareWith(const IRModule& module, const IRModule& ours, const std::string& theirs) {
  std::optional<IRModule> parsed;
  const auto parse = [&] {
    if (!parsed) parsed = script::ParseModule(theirs, "theirs.py");
    return *parsed;
  };
  // The worst that is said of any function.
  std::string said = "nothing: no function to run\n";
  int worst = -1;
  for (const std::string& name : Entries(module)) {
    const std::string one =
        CompareMain(WithMain(module, name), WithMain(ours, name), [&] { return WithMain(parse(), name); });
    const int rank = one[0] == 'd' ? 3 : one.rfind("not run", 0) == 0 ? 2 : one[0] == 's' ? 1 : 0;
    if (rank > worst) said = one;
    worst = std::max(worst, rank);
  }
  return said;
}

}  // namespace deuteron::interop
