#include "deuteron/relax/rewrite/global_vars.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {

IRModule ReplaceGlobalVars(IRModule module, const Map<GlobalVar, GlobalVar>& replacements) {
  VarReplacer mentions;
  for (const auto& [from, to] : replacements) mentions.Set(from, to);
  std::vector<std::pair<GlobalVar, BaseFunc>> functions;
  std::unordered_set<std::string> names;
  for (const auto& [var, func] : module->functions) {
    const GlobalVar renamed = replacements.Get(var).value_or(var);
    if (!names.insert(std::string(renamed->name_hint)).second) {
      DEUTERON_THROW(ModelError) << "two functions would be named " << renamed->name_hint;
    }
    BaseFunc replaced = func;
    if (const auto function = As<Function>(func); function.defined()) replaced = mentions.Replace(function);
    if (!renamed.same_as(var) && func->GetAttr<String>("global_symbol")) {
      if (const auto function = As<Function>(replaced); function.defined()) {
        replaced = WithAttr(function, "global_symbol", renamed->name_hint);
      } else if (const auto kernel = As<tir::PrimFunc>(replaced); kernel.defined()) {
        replaced = WithAttr(kernel, "global_symbol", renamed->name_hint);
      }
    }
    functions.emplace_back(renamed, std::move(replaced));
  }
  // In the order in which they stood.
  auto* node = CopyOnWrite(&module);
  node->functions = {};
  node->global_vars = {};
  for (auto& [var, func] : functions) module.Update(var, std::move(func));
  return module;
}

IRModule RenameFunctions(IRModule module, const std::map<std::string, std::string>& names) {
  Map<GlobalVar, GlobalVar> replacements;
  for (const auto& [from, to] : names) {
    const GlobalVar var = module.GetGlobalVar(from);
    replacements.Set(var, GlobalVar(String(to), var.ty()));
  }
  return ReplaceGlobalVars(std::move(module), replacements);
}

}  // namespace deuteron::relax
