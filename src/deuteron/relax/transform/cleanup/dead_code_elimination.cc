/// \file
/// DeadCodeElimination: removes what nothing needs.
///
/// Purpose: passes may leave unused bindings and functions behind; this one removes bindings of pure values
/// that nothing uses, and functions that neither public ones nor `entry_functions` reach.
///
/// What it must not do: remove a call with a side effect, a match_cast (it is a check), a public or an external
/// function.
///
/// Place: after passes that replace code (FuseTIR, FoldConstant, RunCodegen). One sweep from the last binding
/// to the first suffices, since uses follow definitions.
#include <unordered_set>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/cleanup/passes.h"

namespace deuteron::relax {
namespace {

IRModule RemoveUnusedFunctions(IRModule module, const std::vector<std::string>& entries) {
  std::vector<GlobalVar> work;
  for (const std::string& name : entries) work.push_back(module.GetGlobalVar(name));
  for (const auto& [var, func] : module->functions) {
    // What an external function is for, the module does not say.
    const bool is_external = func.as<ExternFuncNode>() != nullptr;
    if (is_external || func->GetAttr<String>("global_symbol").has_value()) work.push_back(var);
  }
  std::unordered_set<const Object*> reached;
  while (!work.empty()) {
    const GlobalVar var = module.FindGlobalVar(std::string(work.back()->name_hint));
    work.pop_back();
    if (!var.defined() || !reached.insert(var.get()).second) continue;
    const auto function = As<Function>(module->functions.at(var));
    if (!function.defined()) continue;
    VisitAllLeaves(function->body, [&](const Expr& leaf) {
      if (const auto* callee = leaf.as<GlobalVarNode>()) work.push_back(GetRef<GlobalVar>(callee));
    });
  }
  std::vector<GlobalVar> dead;
  for (const auto& [var, func] : module->functions) {
    if (!reached.count(var.get())) dead.push_back(var);
  }
  for (const GlobalVar& var : dead) module.Remove(var);
  return module;
}

}  // namespace

Pass DeadCodeElimination(std::vector<std::string> entry_functions) {
  return transform::ModulePass({.name = "DeadCodeElimination", .opt_level = 1},
                               [entry_functions](IRModule module, const transform::PassContext&) {
                                 module = RemoveUnusedFunctions(std::move(module), entry_functions);
                                 std::vector<std::pair<GlobalVar, Function>> changed;
                                 for (const auto& [var, func] : module->functions) {
                                   const auto function = As<Function>(func);
                                   if (!function.defined()) continue;
                                   Function cleaned = RemoveAllUnused(function, module);
                                   if (!cleaned.same_as(function)) changed.emplace_back(var, std::move(cleaned));
                                 }
                                 if (changed.empty()) return module;
                                 for (auto& [var, func] : changed) module.Update(var, std::move(func));
                                 return RemoveUnusedFunctions(std::move(module), entry_functions);
                               });
}

}  // namespace deuteron::relax
