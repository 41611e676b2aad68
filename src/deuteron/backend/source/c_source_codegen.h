/// \file
/// Base of generators that write a function as C (or C++): one C function for each Composite function, and one that
/// calls them in order. It is compiled at once; the plugin `shared_object`, which every runtime has, runs it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/backend/source/compile_source.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend {

class CSourceCodegen {
 public:
  CSourceCodegen(const relax::CodegenRequest& request, std::string target, SourceLanguage language = SourceLanguage::kC)
      : request_(request), target_(std::move(target)), language_(language) {}
  virtual ~CSourceCodegen() = default;
  CSourceCodegen(const CSourceCodegen&) = delete;
  CSourceCodegen& operator=(const CSourceCodegen&) = delete;

  /// The function compiled. Options of the request: "compiler" and "cache_dir" (compile_source.h), "flags", an array of
  /// strings. An UnsupportedError for tensors of symbolic shape inside of it, and what CompileSource throws.
  relax::ExternalFunction Generate();
  /// The source alone.
  std::string Source();

 protected:
  /// The body of a C function for `function`, whose attribute Composite is `name`. It sees the parameters as `in0`,
  /// `in1`, … and constants as what Operand gives, all `const float*` (or of their element type), and writes to `out`.
  virtual std::string Composite(const std::string& name, const relax::Function& function) = 0;
  /// What is to stand before the functions: includes.
  virtual std::string Prelude() { return ""; }

  /// The name of a parameter or constant of the Composite function that is being written.
  std::string Operand(const relax::Expr& expr);

 private:
  void AddBinding(const relax::Binding& binding);
  void AddCall(const relax::Var& var, const relax::CallNode* call);
  /// The C expression for a tensor's data.
  std::string DataOf(const relax::Expr& expr);
  [[noreturn]] void Refuse(const std::string& what) const;

  const relax::CodegenRequest& request_;
  std::string target_;
  SourceLanguage language_;
  std::string functions_;
  std::string body_;
  std::vector<std::string> buffers_;
  std::vector<std::string> constants_;
  std::vector<relax::Expr> results_;
  std::unordered_map<const Object*, std::string> data_;
  std::unordered_map<const Object*, relax::Function> locals_;
  /// Of the Composite function being written: parameters, then constants by what they are passed as.
  std::vector<relax::Expr> operands_;
};

/// "float" for float32, "double", "int8_t", …; an UnsupportedError for dtypes that C has no type for.
std::string CTypeOf(DataType dtype);
/// The elements of a tensor of static shape; an UnsupportedError if it is symbolic.
int64_t NumElements(const Type& type);

}  // namespace deuteron::backend
