#include "deuteron/runtime/executable.h"

#include <algorithm>

#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

/// The tensors of a type, tuples flattened.
void Flatten(const Program& program, const FunctionSpec& function, uint32_t type_index, const std::string& name,
             std::vector<Executable::TensorInfo>* infos) {
  const TypeSpec& type = program.types[type_index];
  if (type.kind == TypeSpec::kTuple) {
    for (size_t i = 0; i < type.fields.size(); ++i) {
      Flatten(program, function, type.fields[i], name + "." + std::to_string(i), infos);
    }
    return;
  }
  Executable::TensorInfo info;
  info.name = name;
  info.dtype = type.dtype;
  info.ndim = type.ndim;
  for (const DimSpec& dim : type.dims) {
    const auto constant = std::find_if(function.cell_constants.begin(), function.cell_constants.end(),
                                       [&dim](const auto& each) { return each.cell == dim.cell; });
    const bool known = dim.kind == DimSpec::kCheck && constant != function.cell_constants.end();
    info.shape.push_back(known ? constant->value : -1);
    if (dim.kind == DimSpec::kAny) {
      info.dims.emplace_back("?");
      continue;
    }
    // Where another input gives its value, the text says which, for messages.
    const std::string& text = program.strings[dim.text];
    info.dims.push_back(text.substr(0, text.find(" of input '")));
  }
  infos->push_back(std::move(info));
}

}  // namespace

Executable::Executable(Parts parts)
    : parts_(std::move(parts)),
      weights_(parts_.program, std::move(parts_.weights), parts_.weights_from, parts_.manifest.weight_names),
      externals_(parts_.program, weights_) {
  Verify(parts_.program);
  DEUTERON_CHECK(parts_.kernels.size() == parts_.program.kernels.size()) << "kernels unlike the program's";
  for (size_t i = 0; i < parts_.kernels.size(); ++i) {
    DEUTERON_CHECK(parts_.kernels[i] != nullptr) << "kernel " << parts_.program.kernels[i].symbol << " is missing";
  }
}

std::vector<std::string> Executable::FunctionNames() const {
  std::vector<std::string> names;
  for (const FunctionSpec& function : program().functions) {
    if (!function.is_private) names.push_back(function.name);
  }
  return names;
}

size_t Executable::FindFunction(std::string_view name) const {
  const auto& functions = program().functions;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name && !functions[i].is_private) return i;
  }
  std::string known;
  for (const std::string& each : FunctionNames()) known += (known.empty() ? "" : ", ") + each;
  DEUTERON_THROW(UsageError) << "the model has no function '" << name << "'; it has: " << known;
}

const std::vector<std::string>& Executable::InputNames(std::string_view function) const {
  return program().functions[FindFunction(function)].input_names;
}

const std::vector<std::string>& Executable::OutputNames(std::string_view function) const {
  return program().functions[FindFunction(function)].output_names;
}

std::vector<Executable::TensorInfo> Executable::Inputs(std::string_view name) const {
  const FunctionSpec& function = program().functions[FindFunction(name)];
  std::vector<TensorInfo> infos;
  for (size_t i = 0; i < function.input_types.size(); ++i) {
    Flatten(program(), function, function.input_types[i], function.input_names[i], &infos);
  }
  return infos;
}

std::vector<Executable::TensorInfo> Executable::Outputs(std::string_view name) const {
  const FunctionSpec& function = program().functions[FindFunction(name)];
  std::vector<TensorInfo> infos;
  Flatten(program(), function, function.output_type, "", &infos);
  for (size_t i = 0; i < infos.size() && i < function.output_names.size(); ++i) {
    infos[i].name = function.output_names[i];
  }
  return infos;
}

}  // namespace deuteron::runtime
