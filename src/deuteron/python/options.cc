#include "deuteron/python/options.h"

#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/error.h"

namespace deuteron::python {

Shapes ToShapes(const Map<String, ffi::Shape>& shapes) {
  Shapes named;
  for (const auto& [name, dims] : shapes) named[name].assign(dims.begin(), dims.end());
  return named;
}

DataType ToDataType(const String& text) { return DataType(std::string_view(text.data(), text.size())); }

Array<PrimExpr> ToDimensions(const Array<ffi::Any>& shape) {
  return shape.Map([](const ffi::Any& dim) -> PrimExpr {
    if (const auto number = dim.as<int64_t>()) return I64(*number);
    if (const auto expr = dim.as<PrimExpr>()) return *expr;
    DEUTERON_THROW(UsageError)
        << "a dimension is a number or a scalar expression (relax.symbolic(name) makes one), not " << dim.GetTypeKey();
  });
}

Limits ToLimits(const Map<String, int64_t>& values) {
  Limits limits;
  for (const auto& [name, value] : values) SetLimit(name, value, &limits);
  return limits;
}

onnx::ImportOptions ToImportOptions(const Map<String, ffi::Shape>& shapes, const Map<String, int64_t>& limits,
                                    const Array<IRModule>& custom) {
  return {.shapes = ToShapes(shapes), .custom = {custom.begin(), custom.end()}, .limits = ToLimits(limits)};
}

CompileOptions ToCompileOptions(const Map<String, ffi::Any>& options) {
  CompileOptions compile;
  ffi::Optional<ffi::Function> progress;
  const auto names = [](const ffi::Any& value) {
    std::vector<std::string> list;
    for (const String& name : value.cast<Array<String>>()) list.emplace_back(name);
    return list;
  };
  for (const auto& [key, value] : options) {
    if (key == "target") {
      compile.target = value.cast<String>();
    } else if (key == "threads") {
      compile.threads = value.cast<int>();
    } else if (key == "opt_level") {
      compile.opt_level = value.cast<int>();
    } else if (key == "fuse") {
      compile.fuse = value.cast<bool>();
    } else if (key == "backend") {
      compile.backend = value.cast<String>();
    } else if (key == "precision") {
      compile.precision = value.cast<String>();
    } else if (key == "config") {
      for (const auto& [name, setting] : value.cast<Map<String, String>>()) compile.config[name] = setting;
    } else if (key == "limits") {
      compile.limits = ToLimits(value.cast<Map<String, int64_t>>());
    } else if (key == "disabled_passes") {
      compile.disabled_passes = names(value);
    } else if (key == "required_passes") {
      compile.required_passes = names(value);
    } else if (key == "libraries") {
      compile.libraries = names(value);
    } else if (key == "instruments") {
      for (const auto& methods : value.cast<Array<Map<String, ffi::Function>>>()) {
        compile.instruments.push_back(MakeInstrument(methods));
      }
    } else if (key == "cache") {
      const auto folder = value.as<String>();
      compile.cache = folder.has_value() ? std::string(*folder) : value.cast<bool>() ? DefaultCacheFolder() : "";
    } else if (key == "warn") {
      compile.warn = [warn = value.cast<ffi::Function>()](const std::string& message) { warn(message); };
    } else if (key == "progress") {
      progress = value.cast<ffi::Optional<ffi::Function>>();
    } else {
      DEUTERON_THROW(UsageError) << "there is no option \"" << key << "\" of a compilation";
    }
  }
  compile.poll = CheckSignals;
  compile.progress = [progress](const std::string& stage, int, int) {
    CheckSignals();
    if (progress.has_value()) (*progress)(stage);
  };
  return compile;
}

void CheckSignals() {
  if (TVMFFIEnvCheckSignals() != 0) throw ffi::EnvErrorAlreadySet();
}

}  // namespace deuteron::python
