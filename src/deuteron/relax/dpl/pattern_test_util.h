/// \file
/// Functions from text, for tests of patterns.
#pragma once

#include <string>

#include "deuteron/relax/dpl/matcher.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron::relax::dpl {

/// The function `main` of a module whose body, between the signature and the end, is `body`; `head`: its parameters.
inline Function ParseFunction(const std::string& params, const std::string& body) {
  const IRModule module =
      script::ParseModule("@I.ir_module\nclass Module:\n    @R.function\n    def main(" + params + "):\n" + body);
  return Downcast<Function>(module.Lookup("main"));
}

/// Its bindings, by the names of their variables.
class Bound {
 public:
  explicit Bound(const Function& function) : values(ValuesOf(function)) {
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) names_[std::string(binding->var->name_hint)] = binding;
    }
  }
  Var var(const std::string& name) const { return names_.at(name)->var; }
  Expr value(const std::string& name) const { return values.at(var(name).get()); }
  VarValues values;

 private:
  std::unordered_map<std::string, Binding> names_;
};

}  // namespace deuteron::relax::dpl
