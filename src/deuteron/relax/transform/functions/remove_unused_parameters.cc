/// \file
/// RemoveUnusedParameters: private functions take only what they use.
///
/// Purpose: a parameter that nothing in the function uses costs an argument of the kernel and keeps its value
/// alive in the caller.
///
/// Dimensions that only such parameters define and that the function still needs come as parameters of their own
/// (`param_n: R.Shape([n])`): a number instead of a tensor.
///
/// What it must not do: change public functions or functions used as values.
///
/// Place: the second step of FuseTIR.
#include <unordered_set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/functions/private_signature.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

template <typename T>
Array<T> Select(const Array<T>& all, const std::vector<bool>& kept) {
  Array<T> selected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) selected.push_back(all[i]);
  }
  return selected;
}

Function WithParams(const Function& function, const Array<Var>& params) {
  return Function(params, function->body, function->ret_ty, function->is_pure, function->attrs, function->span);
}

/// The symbols that `function` with fewer `params` needs and does not define, in the order in which it did.
std::vector<tir::Var> MissingSymbols(const Function& function, const Array<Var>& params) {
  std::unordered_set<const Object*> free;
  for (const tir::Var& symbol : FreeSymbolicVars(WithParams(function, params))) free.insert(symbol.get());
  std::vector<tir::Var> missing;
  for (const Var& param : function->params) {
    for (const tir::Var& symbol : DefinedSymbolicVars(param.ty())) {
      if (free.erase(symbol.get()) != 0) missing.push_back(symbol);
    }
  }
  return missing;
}

/// Which parameters stay: those that are used, and shapes whose dimensions are.
std::vector<bool> KeptParameters(const Function& function) {
  std::unordered_set<const Object*> used;
  VisitAllLeaves(function->body, [&](const Expr& leaf) { used.insert(leaf.get()); });
  std::vector<bool> kept;
  for (const Var& param : function->params) kept.push_back(used.count(param.get()) != 0);
  if (std::all_of(kept.begin(), kept.end(), [](bool k) { return k; })) return kept;
  for (const tir::Var& symbol : MissingSymbols(function, Select(function->params, kept))) {
    for (size_t i = 0; i < kept.size(); ++i) {
      const Type& type = function->params[i].ty();
      if (!type->IsInstance<ShapeTypeNode>()) continue;
      const auto defined = DefinedSymbolicVars(type);
      if (std::any_of(defined.begin(), defined.end(), [&](const tir::Var& v) { return v.same_as(symbol); })) {
        kept[i] = true;
      }
    }
  }
  return kept;
}

/// `function` without the parameters that are not `kept`.
NewSignature Trim(const Function& function, const std::vector<bool>& kept) {
  Array<Var> params = Select(function->params, kept);
  const std::vector<tir::Var> symbols = MissingSymbols(function, params);
  for (const tir::Var& symbol : symbols) {
    params.push_back(Var("param_" + std::string(symbol->name_hint), ShapeType({symbol})));
  }
  const Array<Var> old_params = function->params;
  return {WithParams(function, params), [kept, symbols, old_params](const Array<Expr>& args) {
            Array<Expr> all = Select(args, kept);
            VarReplacer values;
            for (size_t i = 0; i < args.size() && !symbols.empty(); ++i) {
              BindSymbols(old_params[i].ty(), args[i].ty(), &values);
            }
            for (const tir::Var& symbol : symbols) all.push_back(ShapeExpr({values.Replace(PrimExpr(symbol))}));
            return all;
          }};
}

}  // namespace

Pass RemoveUnusedParameters() {
  return transform::ModulePass({.name = "RemoveUnusedParameters"}, [](IRModule module, const transform::PassContext&) {
    std::unordered_map<const Object*, NewSignature> signatures;
    for (const auto& [var, function] : CallableOnlyFunctions(module)) {
      const std::vector<bool> kept = KeptParameters(function);
      if (std::all_of(kept.begin(), kept.end(), [](bool k) { return k; })) continue;
      signatures.emplace(var.get(), Trim(function, kept));
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
