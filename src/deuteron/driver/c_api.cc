/// The functions of deuteron/c_api.h that compile.
#include "deuteron/c_api.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/executable_impl.h"
#include "deuteron/driver/read_module.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/runtime/c_handles.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

using DimsByName = std::map<std::string, std::vector<int64_t>>;

std::string Text(const char* text, const char* what) {
  runtime::CheckGiven(text, what);
  return text;
}

/// That there are `count` elements where some are.
void CheckList(const void* elements, size_t count, const char* what) {
  if (count > 0) runtime::CheckGiven(elements, what);
}

CompileOptions ToCompileOptions(const DeuteronCompileOptions& options) {
  CompileOptions compile;
  compile.target = Text(options.target, "target");
  compile.threads = options.threads;
  compile.opt_level = options.opt_level;
  compile.backend = Text(options.backend, "backend");
  if (options.precision != nullptr) compile.precision = options.precision;
  if (options.cache != nullptr) {
    const std::string folder = options.cache;
    compile.cache = folder == "default" ? DefaultCacheFolder() : folder;
  }
  CheckList(options.config, options.num_config, "list of configuration keys");
  for (size_t i = 0; i < options.num_config; ++i) {
    const std::string key = Text(options.config[i].key, "name of a configuration key");
    compile.config[key] = Text(options.config[i].value, "value of a configuration key");
  }
  CheckList(options.limits, options.num_limits, "list of limits");
  for (size_t i = 0; i < options.num_limits; ++i) {
    const std::string name = Text(options.limits[i].key, "name of a limit");
    SetLimit(name, Text(options.limits[i].value, "value of a limit"), &compile.limits);
  }
  if (options.progress != nullptr) {
    compile.progress = [options](const std::string& what, int, int) {
      if (options.progress(options.progress_user, what.c_str()) == 0) return;
      throw ffi::Error(runtime::kCancelled, "ended by the caller before: " + what, "");
    };
  }
  return compile;
}

DimsByName ToShapes(const DeuteronCompileOptions& options) {
  DimsByName shapes;
  CheckList(options.shapes, options.num_shapes, "list of shapes");
  for (size_t i = 0; i < options.num_shapes; ++i) {
    const DeuteronShape& shape = options.shapes[i];
    const std::string name = Text(shape.name, "name of a shape");
    if (shape.ndim < 0) DEUTERON_THROW(UsageError) << "the shape given for '" << name << "' is of rank " << shape.ndim;
    CheckList(shape.dims, static_cast<size_t>(shape.ndim), "list of the dimensions of a shape");
    shapes[name].assign(shape.dims, shape.dims + shape.ndim);
  }
  return shapes;
}

DeuteronStatus CompileForC(const DeuteronCompileOptions* given, DeuteronModel** model,
                           const std::function<Executable(const DimsByName&, const CompileOptions&)>& from) {
  return runtime::GuardC([&] {
    runtime::CheckGiven(model, "place for the model");
    *model = nullptr;
    const auto options = runtime::KnownFields<DeuteronCompileOptions>(given, DEUTERON_COMPILE_OPTIONS_INIT);
    const CompileOptions compile = ToCompileOptions(options);
    const LimitScope limits(compile.limits);
    const Executable executable = from(ToShapes(options), compile);
    auto made = std::make_unique<DeuteronModel>(executable.runtime());
    made->save = [executable](const std::string& path, const std::string& weights_file) {
      executable.Save(path, weights_file);
    };
    *model = made.release();
  });
}

}  // namespace
}  // namespace deuteron

extern "C" {

DeuteronStatus DeuteronCompileFile(const char* path, const DeuteronCompileOptions* options, DeuteronModel** model) {
  return deuteron::CompileForC(options, model, [&](const auto& shapes, const auto& compile) {
    deuteron::runtime::CheckGiven(path, "path");
    return deuteron::CompileFile(path, {.shapes = shapes}, compile);
  });
}

DeuteronStatus DeuteronCompileBytes(const void* data, size_t bytes, const DeuteronCompileOptions* options,
                                    DeuteronModel** model) {
  return deuteron::CompileForC(options, model, [&](const auto& shapes, const auto& compile) {
    if (bytes > 0) deuteron::runtime::CheckGiven(data, "model in memory");
    return deuteron::Compile(deuteron::onnx::Parse({static_cast<const char*>(data), bytes}, {.shapes = shapes}),
                             compile);
  });
}

DeuteronStatus DeuteronSave(const DeuteronModel* model, const char* path) {
  return DeuteronSaveAs(model, path, nullptr);
}

DeuteronStatus DeuteronSaveAs(const DeuteronModel* model, const char* path, const DeuteronSaveOptions* options) {
  return deuteron::runtime::GuardC([&] {
    deuteron::runtime::CheckGiven(model, "model");
    deuteron::runtime::CheckGiven(path, "path");
    const auto known = deuteron::runtime::KnownFields<DeuteronSaveOptions>(options, DEUTERON_SAVE_OPTIONS_INIT);
    const std::string weights_file = known.weights_file == nullptr ? "" : known.weights_file;
    if (model->file != nullptr) return deuteron::SaveFile(*model->file, path, weights_file);
    model->save(path, weights_file);
  });
}

}  // extern "C"
