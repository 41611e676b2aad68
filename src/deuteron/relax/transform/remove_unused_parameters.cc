/// \file
/// RemoveUnusedParameters: private functions take only what they use.
///
/// Purpose: a parameter that nothing in the function uses costs an argument of the kernel and keeps its value
/// alive in the caller.
///
/// What it must not do: change public functions or functions used as values; remove the only definition of a
/// symbolic variable that the function still needs.
///
/// Place: the second step of FuseTIR.
#include <unordered_set>

#include "deuteron/relax/analysis/remove_all_unused.h"
#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/private_signature.h"

namespace deuteron::relax {
namespace {

/// Which parameters stay.
std::vector<bool> KeptParameters(const Function& function) {
  std::unordered_set<const Object*> used;
  VisitAllLeaves(function->body, [&](const Expr& leaf) { used.insert(leaf.get()); });
  std::vector<bool> kept;
  Array<Var> params;
  for (const Var& param : function->params) {
    kept.push_back(used.count(param.get()) != 0);
    if (kept.back()) params.push_back(param);
  }
  if (params.size() == function->params.size()) return kept;
  Function trimmed(params, function->body, function->ret_ty, function->is_pure, function->attrs);
  for (const tir::Var& symbol : FreeSymbolicVars(trimmed)) {
    for (size_t i = 0; i < kept.size(); ++i) {
      const auto defined = DefinedSymbolicVars(function->params[i].ty());
      if (std::any_of(defined.begin(), defined.end(), [&](const tir::Var& v) { return v.same_as(symbol); })) {
        kept[i] = true;
        break;
      }
    }
  }
  return kept;
}

template <typename T>
Array<T> Select(const Array<T>& all, const std::vector<bool>& kept) {
  Array<T> selected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) selected.push_back(all[i]);
  }
  return selected;
}

}  // namespace

Pass RemoveUnusedParameters() {
  return transform::ModulePass({.name = "RemoveUnusedParameters"}, [](IRModule module, const transform::PassContext&) {
    std::unordered_map<const Object*, NewSignature> signatures;
    for (const auto& [var, function] : CallableOnlyFunctions(module)) {
      const std::vector<bool> kept = KeptParameters(function);
      if (std::all_of(kept.begin(), kept.end(), [](bool k) { return k; })) continue;
      Function trimmed(Select(function->params, kept), function->body, function->ret_ty, function->is_pure,
                       function->attrs, function->span);
      signatures.emplace(var.get(),
                         NewSignature{trimmed, [kept](const Array<Expr>& args) { return Select(args, kept); }});
    }
    if (signatures.empty()) return module;
    module = ChangeSignatures(std::move(module), std::move(signatures));
    const IRModule trimmed = module;
    // Callers need not compute what only went into those parameters.
    return UpdateFunctions(std::move(module),
                           [&](const GlobalVar&, const Function& f) { return RemoveAllUnused(f, trimmed); });
  });
}

}  // namespace deuteron::relax
