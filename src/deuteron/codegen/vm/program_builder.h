/// \file
/// The tables of a program under construction: each string, type, kernel and constant once. Internal.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/codegen/vm/compile.h"

namespace deuteron::codegen {

class ProgramBuilder {
 public:
  uint32_t String(const std::string& text);
  uint32_t Type(runtime::TypeSpec type);
  uint32_t Kernel(const std::string& symbol, size_t num_data, size_t num_scalars);
  /// Copied if not compact and aligned. One entry for each tensor object.
  uint32_t Constant(const Tensor& tensor);
  /// The same of one that a library makes a copy of its own of: a large one stays where it lies, in the file of the
  /// model at best, unless kernels read it, too.
  uint32_t ConstantOfLibrary(const Tensor& tensor);
  uint32_t Literal(runtime::Literal literal);
  /// Reserved for the functions of a module, in their order.
  void AddFunction(const std::string& name);
  std::optional<uint32_t> FindFunction(const std::string& name) const;
  void SetFunction(runtime::FunctionSpec function);
  CompiledProgram Take();

 private:
  uint32_t AddConstant(const Tensor& tensor, const Tensor& data);

  CompiledProgram compiled_;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<std::string, uint32_t> types_;
  std::unordered_map<std::string, uint32_t> kernels_;
  std::unordered_map<std::string, uint32_t> functions_;
  std::unordered_map<const DLTensor*, uint32_t> constants_;
  std::unordered_map<std::string, uint32_t> literals_;
  /// Keeps the keys of `constants_` alive.
  std::vector<Tensor> sources_;
};

}  // namespace deuteron::codegen
