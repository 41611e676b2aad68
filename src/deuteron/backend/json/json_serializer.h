/// \file
/// Base of generators that write a function as a JSON graph (json_graph.h) for a run side to interpret.
///
/// The base walks the function: parameters become input nodes, constants const nodes, each call of a Composite function
/// a kernel node; tuples and projections are seen through. What a Composite function computes is the subclass's to say.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend {

/// A kernel, as a Composite function describes it.
struct JsonKernel {
  /// What its operands are, in the order in which the run side takes them: parameters or constants of the function.
  std::vector<relax::Expr> inputs;
  nlohmann::json attrs = nlohmann::json::object();
};

class JsonSerializer {
 public:
  /// `target` names the back end in the names of constants.
  JsonSerializer(const relax::CodegenRequest& request, std::string target)
      : request_(request), target_(std::move(target)) {}
  virtual ~JsonSerializer() = default;
  JsonSerializer(const JsonSerializer&) = delete;
  JsonSerializer& operator=(const JsonSerializer&) = delete;

  /// The external function, for `plugin`. An UnsupportedError if the function holds what has no place in a graph.
  relax::ExternalFunction Serialize(const std::string& plugin);

 protected:
  /// The kernel that stands for a call of `function`, whose attribute Composite is `name`.
  virtual JsonKernel Composite(const std::string& name, const relax::Function& function) = 0;

 private:
  using Entries = std::vector<nlohmann::json>;
  void AddParams();
  void AddBinding(const relax::Binding& binding);
  void AddCall(const relax::Var& var, const relax::CallNode* call);
  /// The outputs that `expr` stands for, one for each tensor in it.
  Entries EntriesOf(const relax::Expr& expr);
  Entries AddNode(const char* op, const std::string& name, const Type& type, Entries inputs, nlohmann::json attrs);
  [[noreturn]] void Refuse(const std::string& what) const;

  const relax::CodegenRequest& request_;
  std::string target_;
  nlohmann::json nodes_ = nlohmann::json::array();
  std::vector<uint32_t> arg_nodes_;
  std::vector<uint32_t> row_ptr_ = {0};
  std::vector<std::string> constants_;
  std::unordered_map<const Object*, Entries> entries_;
  std::unordered_map<const Object*, relax::Function> locals_;
};

/// The static dimensions of a tensor type, -1 for symbolic ones; a ModelError if its rank is unknown.
std::vector<int64_t> StaticDims(const Type& type);

}  // namespace deuteron::backend
