#include "deuteron/codegen/vm/program_builder.h"

#include <utility>

#include "deuteron/support/mapped_file.h"

namespace deuteron::codegen {
namespace {

/// All fields of a type as a key.
std::string KeyOf(const runtime::TypeSpec& type) {
  std::string key;
  const auto add = [&key](uint64_t value) { key += std::to_string(value) + ","; };
  add(type.kind);
  add(type.dtype.code);
  add(type.dtype.bits);
  add(type.dtype.lanes);
  add(type.has_dims);
  add(static_cast<uint64_t>(type.ndim + 1));
  for (const runtime::DimSpec& dim : type.dims) {
    add(dim.kind);
    add(dim.cell);
    add(dim.text);
  }
  key += ";";
  for (const uint32_t field : type.fields) add(field);
  return key;
}

/// What is worth not to be held twice.
constexpr int64_t kLarge = int64_t{1} << 20;

/// The tensor as kernels read it.
Tensor Ready(const Tensor& tensor) {
  const DLTensor& data = *tensor.GetDLTensorPtr();
  if (runtime::IsKernelReady(data) && data.byte_offset == 0) return tensor;
  if (!tensor.IsContiguous()) return runtime::CopyCompact(data);
  Tensor copy = runtime::AllocTensor({data.shape, data.shape + data.ndim}, data.dtype);
  MappedFile::CopyAndLetGo(static_cast<const char*>(data.data) + data.byte_offset, copy.data_ptr(),
                           static_cast<size_t>(runtime::TensorBytes(tensor.shape(), data.dtype)));
  return copy;
}

}  // namespace

uint32_t ProgramBuilder::String(const std::string& text) {
  const auto [it, added] = strings_.emplace(text, compiled_.program.strings.size());
  if (added) compiled_.program.strings.push_back(text);
  return it->second;
}

uint32_t ProgramBuilder::Type(runtime::TypeSpec type) {
  const auto [it, added] = types_.emplace(KeyOf(type), compiled_.program.types.size());
  if (added) compiled_.program.types.push_back(std::move(type));
  return it->second;
}

uint32_t ProgramBuilder::Kernel(const std::string& symbol, size_t num_data, size_t num_scalars) {
  const auto [it, added] = kernels_.emplace(symbol, compiled_.program.kernels.size());
  if (added) {
    compiled_.program.kernels.push_back({symbol, static_cast<uint32_t>(num_data), static_cast<uint32_t>(num_scalars)});
  }
  return it->second;
}

uint32_t ProgramBuilder::Constant(const Tensor& tensor) {
  const auto known = constants_.find(tensor.GetDLTensorPtr());
  if (known == constants_.end()) return AddConstant(tensor, Ready(tensor));
  Tensor& data = compiled_.constants[known->second];
  data = Ready(data);
  return known->second;
}

uint32_t ProgramBuilder::ConstantOfLibrary(const Tensor& tensor) {
  const auto known = constants_.find(tensor.GetDLTensorPtr());
  if (known != constants_.end()) return known->second;
  const DLTensor& data = *tensor.GetDLTensorPtr();
  const int64_t bytes = runtime::TensorBytes({data.shape, data.shape + data.ndim}, data.dtype);
  if (bytes < kLarge || data.byte_offset != 0 || !tensor.IsContiguous()) return Constant(tensor);
  return AddConstant(tensor, tensor);
}

uint32_t ProgramBuilder::AddConstant(const Tensor& tensor, const Tensor& data) {
  const auto index = static_cast<uint32_t>(compiled_.constants.size());
  constants_.emplace(tensor.GetDLTensorPtr(), index);
  sources_.push_back(tensor);
  runtime::ConstantSpec spec;
  spec.dtype = data.dtype();
  spec.shape.assign(data.shape().begin(), data.shape().end());
  uint64_t& end = compiled_.program.weights_bytes;
  spec.offset = (end + runtime::kAlignment - 1) / runtime::kAlignment * runtime::kAlignment;
  end = spec.offset + runtime::TensorBytes(spec.shape, spec.dtype);
  compiled_.program.constants.push_back(std::move(spec));
  compiled_.constants.push_back(data);
  return index;
}

uint32_t ProgramBuilder::Literal(runtime::Literal literal) {
  const std::string key =
      std::to_string(literal.kind) + "," + std::to_string(literal.string) + "," + runtime::DTypeName(literal.dtype);
  const auto [it, added] = literals_.emplace(key, compiled_.program.literals.size());
  if (added) compiled_.program.literals.push_back(literal);
  return it->second;
}

void ProgramBuilder::AddFunction(const std::string& name) {
  functions_.emplace(name, compiled_.program.functions.size());
  compiled_.program.functions.emplace_back().name = name;
}

std::optional<uint32_t> ProgramBuilder::FindFunction(const std::string& name) const {
  const auto it = functions_.find(name);
  if (it == functions_.end()) return std::nullopt;
  return it->second;
}

void ProgramBuilder::SetFunction(runtime::FunctionSpec function) {
  const uint32_t index = functions_.at(function.name);
  compiled_.program.functions[index] = std::move(function);
}

CompiledProgram ProgramBuilder::Take() { return std::move(compiled_); }

}  // namespace deuteron::codegen
