#include "deuteron/driver/read_module.h"

#include "deuteron/driver/check_limits.h"
#include "deuteron/script/parser.h"
#include "deuteron/support/error.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron {

IRModule ReadModule(const std::string& path, const onnx::ImportOptions& options) {
  if (path.ends_with(".so")) {
    DEUTERON_THROW(UsageError) << path
                               << " is a compiled model; load it, or give the .onnx model or .py module that it "
                               << "was compiled from";
  }
  if (!path.ends_with(".py")) return onnx::Load(path, options);
  if (!options.shapes.empty())
    DEUTERON_THROW(UsageError) << "shapes are for .onnx models; " << path << " states its own";
  const LimitScope scope(options.limits.value_or(CurrentLimits()));
  const auto file = MappedFile::Open(path, "the module");
  CheckLimit(&Limits::model_bytes, static_cast<double>(file->bytes().size()), "'" + path + "'");
  IRModule module = script::ParseModule(std::string(file->bytes()), path);
  CheckLimit(&Limits::nodes, static_cast<double>(CountBindings(module)), "'" + path + "'");
  return module;
}

}  // namespace deuteron
