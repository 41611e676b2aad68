/// \file
/// Replacing variables by other expressions, and symbolic variables by scalars.
#pragma once

#include <unordered_map>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Replaces variables everywhere in expressions and bindings, branches and local functions included. What does
/// not change is returned as it is; with nothing set, nothing is visited.
class VarReplacer {
 public:
  VarReplacer() = default;
  virtual ~VarReplacer() = default;
  void Set(const Var& var, Expr value) { values_[var.get()] = std::move(value); }
  /// Mentions of a function become mentions of another.
  void Set(const GlobalVar& var, GlobalVar other) { values_[var.get()] = std::move(other); }
  /// `var` stays what it is from now on.
  void Forget(const Var& var) { values_.erase(var.get()); }
  void SetSymbol(const tir::Var& var, PrimExpr value) { symbols_[var] = std::move(value); }
  bool Has(const tir::Var& symbol) const { return symbols_.count(symbol) != 0; }
  bool empty() const { return values_.empty() && symbols_.empty(); }

  /// `expr` replaced; it keeps its type, in replaced symbols.
  Expr Replace(const Expr& expr);
  Array<Expr> Replace(const Array<Expr>& exprs);
  /// The bound variable stays, unless its type mentions a replaced symbol: then a new one replaces it.
  Binding Replace(const Binding& binding);
  Type Replace(const Type& type);
  PrimExpr Replace(const PrimExpr& expr);
  SeqExpr Replace(const SeqExpr& seq);
  BindingBlock Replace(const BindingBlock& block);
  /// The parameters are renewed where their types change.
  Function Replace(const Function& function);
  /// A variable as it is to be bound: renewed, and replaced by the new one from now on, if its type changes.
  Var ReplaceDef(const Var& var);

 protected:
  /// A subclass that overrides VisitCall says so here: then all expressions are entered.
  explicit VarReplacer(bool visits_calls) : visits_calls_(visits_calls) {}
  /// Called for every call after its parts are replaced.
  virtual Expr VisitCall(Call call) { return call; }

 private:
  Expr ReplaceNode(const Expr& expr);

  bool visits_calls_ = false;
  std::unordered_map<const Object*, Expr> values_;
  ExprVarMap symbols_;
};

/// Gives values to the dimensions of `pattern` (a parameter's type) that are variables and have none yet, from those of
/// `type` (the argument's).
void BindSymbols(const Type& pattern, const Type& type, VarReplacer* values);

/// `block`, of its kind, with other bindings.
BindingBlock WithBindings(const BindingBlock& block, Array<Binding> bindings);

}  // namespace deuteron::relax
