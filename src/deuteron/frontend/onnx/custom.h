/// \file
/// Operators that a user gives as functions of the textual IR (docs/custom-operators.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"
#include "deuteron/ir/module.h"

namespace deuteron::onnx {

/// Functions with the attribute "onnx_operator", by what it says: "com.acme::Foo", "Relu" of ONNX's own domain.
class CustomOperators {
 public:
  /// ModelErrors for attributes that are not as docs/custom-operators.md says, and modules that are not well formed.
  explicit CustomOperators(const std::vector<IRModule>& modules);

  bool Has(const NodeProto& node) const;
  /// The body of the first of the operator's functions that takes the node's inputs, in place of the node. A ModelError
  /// that says what each of them takes if there is none.
  Results Convert(const NodeContext& node) const;

 private:
  struct Candidate {
    GlobalVar var;
    relax::Function function;
    IRModule module;
    /// Attributes that are parameters, the last ones, and what they are where a node leaves them out.
    Map<String, Any> attributes;
  };
  std::map<std::string, std::vector<Candidate>> operators_;
};

}  // namespace deuteron::onnx
