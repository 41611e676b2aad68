/// \file
/// BindSymbolicVars: dimensions become numbers.
///
/// Purpose: a network of symbolic batch size compiles to better code once the size is known. Symbolic variables are
/// found by name, in one function or in all of them, and types are inferred again.
///
/// What it must not do: bind a name that no function uses (it is misspelt), or a negative dimension. Loop-level
/// functions stay as they are: their dimensions are matched with those of their arguments.
///
/// Place: first. Where a function stays symbolic, its callers may pass it static shapes.
#include <algorithm>
#include <map>
#include <set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/typed_rewriter.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// Collects the symbolic variables that a function defines: in its parameters, its match_casts, its local functions.
class SymbolCollector : public SeqRewriter {
 public:
  std::vector<tir::Var> Collect(const Function& function) {
    CollectParams(function);
    RewriteSeq(function->body);
    return std::move(symbols_);
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    if (const auto* cast = binding.as<MatchCastNode>()) Add(cast->ty);
    if (const auto* local = BoundValue(binding).as<FunctionNode>()) CollectParams(GetRef<Function>(local));
    SeqRewriter::RewriteBinding(binding, out);
  }

 private:
  void CollectParams(const Function& function) {
    for (const Var& param : function->params) Add(param.ty());
  }
  void Add(const Type& type) {
    for (const tir::Var& symbol : SymbolicVars(type)) {
      if (seen_.insert(symbol.get()).second) symbols_.push_back(symbol);
    }
  }
  std::vector<tir::Var> symbols_;
  std::set<const Object*> seen_;
};

std::string Join(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

}  // namespace

Pass BindSymbolicVars(std::map<std::string, int64_t> binding_map, std::string func_name) {
  return transform::ModulePass(
      {.name = "BindSymbolicVars"}, [binding_map, func_name](IRModule module, const transform::PassContext&) {
        for (const auto& [name, value] : binding_map) {
          if (value < 0)
            DEUTERON_THROW(ModelError) << "BindSymbolicVars: " << name << " = " << value << " is no dimension";
        }
        std::set<std::string> known;
        std::vector<std::pair<GlobalVar, Function>> changed;
        const GlobalVar only = func_name.empty() ? GlobalVar() : module.GetGlobalVar(func_name);
        for (const auto& [var, func] : module->functions) {
          const auto function = As<Function>(func);
          if (!function.defined() || (only.defined() && !only.same_as(var))) continue;
          TypedRewriter rewriter(module);
          for (const tir::Var& symbol : SymbolCollector().Collect(function)) {
            const std::string name(symbol->name_hint);
            known.insert(name);
            const auto bound = binding_map.find(name);
            if (bound != binding_map.end())
              rewriter.replacer().SetSymbol(symbol, tir::IntImm(symbol->dtype, bound->second));
          }
          if (rewriter.replacer().empty()) continue;
          changed.emplace_back(var, rewriter.RewriteFunction(function, function->params));
        }
        for (const auto& [name, value] : binding_map) {
          if (known.count(name)) continue;
          DEUTERON_THROW(ModelError) << "BindSymbolicVars: "
                                     << (only.defined() ? "function \"" + func_name + "\"" : "the module")
                                     << " has no symbolic variable \"" << name << "\"; there are " << Join(known);
        }
        for (auto& [var, function] : changed) module.Update(var, std::move(function));
        return module;
      });
}

}  // namespace deuteron::relax
