/// What `deuteron explain`, `profile`, `verify` and `bisect` say, in every form that they have.
#include <tvm/ffi/reflection/registry.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "deuteron/driver/bisect.h"
#include "deuteron/driver/report/explain.h"
#include "deuteron/driver/report/profile.h"
#include "deuteron/driver/report/write.h"
#include "deuteron/driver/verify.h"
#include "deuteron/python/executable.h"
#include "deuteron/python/options.h"
#include "deuteron/python/register.h"
#include "deuteron/support/error.h"

namespace deuteron::python {
namespace {

using Json = nlohmann::ordered_json;

String Dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

/// "json", "text", "html", "dot".
Map<String, String> Forms(const report::FusionReport& report, const String& name) {
  const std::string model(name);
  return {{"json", Dump(report::WriteJson(report, model))},
          {"text", String(report::WriteText(report, model))},
          {"html", String(report::WriteHtml(report, model))},
          {"dot", String(report::WriteDot(report, model))}};
}

Map<String, String> ExplainModule(const IRModule& module, const Map<String, ffi::Any>& options, const String& name) {
  return Forms(report::BuildReport(report::Explain(module, ToCompileOptions(options))), name);
}

Map<String, String> ExplainExecutable(const ExecutableRef& executable, const Map<String, ffi::Shape>& shapes,
                                      const String& name) {
  const deuteron::Executable& value = executable->value;
  try {
    return Forms(report::BuildReport(value.decisions(), report::BindSymbols(value.inputs(), ToShapes(shapes))), name);
  } catch (const std::out_of_range&) {
    DEUTERON_THROW(ModelError) << "the decision log of " << name << " is damaged";
  }
}

Map<String, String> ProfileExecutable(const ExecutableRef& executable, const Array<Tensor>& inputs, double seconds,
                                      const String& name) {
  const report::ProfileResult profile = report::Profile(executable->value, {inputs.begin(), inputs.end()}, seconds);
  return {{"json", Dump(report::WriteProfileJson(profile, name))},
          {"text", String(report::WriteProfileText(profile, name))},
          {"trace", String(report::WriteTrace(profile, name).dump(-1, ' ', false, Json::error_handler_t::replace))}};
}

VerifyOptions ToVerifyOptions(const Map<String, ffi::Any>& options, int64_t seed, double tolerance) {
  VerifyOptions verify{.compile = ToCompileOptions(options), .seed = static_cast<uint64_t>(seed)};
  verify.tolerance = tolerance;
  verify.progress = [](const std::string&) { CheckSignals(); };
  return verify;
}

Json ToJson(const std::vector<VerifiedStage>& stages) {
  Json list = Json::array();
  for (const VerifiedStage& stage : stages) {
    list.push_back({{"name", stage.name}, {"error", stage.error}, {"problem", stage.problem}});
  }
  return list;
}

String VerifyModule(const IRModule& module, const Map<String, ffi::Any>& options, int64_t seed, double tolerance) {
  return Dump({{"stages", ToJson(Verify(module, ToVerifyOptions(options, seed, tolerance)))}});
}

/// As JSON, and the reduced module (null if no stage differs).
Array<ffi::Any> BisectModule(const IRModule& module, const Map<String, ffi::Any>& options, int64_t seed,
                             double tolerance) {
  BisectOptions bisect;
  bisect.verify = ToVerifyOptions(options, seed, tolerance);
  const BisectResult result = Bisect(module, bisect);
  const Json json = {{"stages", ToJson(result.stages)},
                     {"culprit", result.culprit},
                     {"value", result.value},
                     {"kernel", result.kernel},
                     {"place", result.place},
                     {"problem", result.problem},
                     {"bindings", result.bindings},
                     {"bindings_before", result.bindings_before},
                     {"reduced_text", result.reduced_text}};
  return {Dump(json), result.reduced};
}

}  // namespace

void RegisterReports() {
  ffi::reflection::GlobalDef()
      .def("deuteron.python.explain_module", ExplainModule)
      .def("deuteron.python.explain_executable", ExplainExecutable)
      .def("deuteron.python.profile_executable", ProfileExecutable)
      .def("deuteron.python.verify_module", VerifyModule)
      .def("deuteron.python.bisect_module", BisectModule);
}
}  // namespace deuteron::python
