/// \file
/// What several passes need.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/ir/borrow.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Whether passes leave `func` alone: Primitive, Composite or Codegen.
bool IsSealed(const BaseFunc& func);
/// Calls `update` on every relax function that is not sealed and puts back those that changed.
IRModule UpdateFunctions(IRModule module, const std::function<Function(const GlobalVar&, Function)>& update);
/// The same with sealed functions: for passes after which all that is left runs as byte code.
IRModule UpdateAllFunctions(IRModule module, const std::function<Function(const GlobalVar&, Function)>& update);
/// `function` with another body.
Function WithBody(Function function, SeqExpr body);
/// The value of a VarBinding or MatchCast.
const Expr& BoundValue(const Binding& binding);
/// Where a binding comes from in the user's model: its own span, or that of its value.
inline const Span& SpanOf(const Binding& binding) {
  return binding->span.defined() ? binding->span : BoundValue(binding)->span;
}
/// The binding as messages call it: the node of the user's model, or the variable.
inline std::string NameOf(const Binding& binding) {
  const Span& span = SpanOf(binding);
  return "'" + std::string(span.defined() ? span->source : binding->var->name_hint) + "'";
}
/// Calls `visit` on every variable, constant and other leaf in `expr` (a binding's value), in order. Does not
/// enter functions or branches.
template <typename Visit>
void VisitLeaves(const Expr& expr, const Visit& visit) {
  switch (expr->kind) {
    case RelaxKind::kTuple:
      for (const Expr& field : Borrow(static_cast<const TupleNode*>(expr.get())->fields)) VisitLeaves(field, visit);
      return;
    case RelaxKind::kTupleGetItem:
      return VisitLeaves(static_cast<const TupleGetItemNode*>(expr.get())->tuple, visit);
    case RelaxKind::kCall: {
      const auto* call = static_cast<const CallNode*>(expr.get());
      VisitLeaves(call->op, visit);
      for (const Expr& arg : Borrow(call->args)) VisitLeaves(arg, visit);
      return;
    }
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kConstant:
    case RelaxKind::kShapeExpr:
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kOp:
      visit(expr);
      return;
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
      return;
  }
}
/// Calls `visit` on every value bound in `seq`, branches and local functions included, and on results.
void VisitValues(const SeqExpr& seq, const std::function<void(const Expr&)>& visit);
/// Calls `visit` on every leaf in `seq`, as VisitLeaves does for one value; those of branches and local functions too.
void VisitAllLeaves(const SeqExpr& seq, const std::function<void(const Expr&)>& visit);
/// A ModelError if a function of the module mentions `callee`, whose parameters `pass` is to change.
void ThrowIfUsed(const IRModule& module, const GlobalVar& callee, const char* pass);
inline bool IsVar(const Expr& expr) { return expr->kind == RelaxKind::kVar || expr->kind == RelaxKind::kDataflowVar; }

/// Distinct names of functions: `name`, `name1`, `name2`, … Amortised constant time.
class FunctionNames {
 public:
  explicit FunctionNames(const IRModule& module);
  std::string Unique(const std::string& name, const char* separator = "");

 private:
  std::unordered_map<std::string, int64_t> used_;
};

/// A depth-first order over `count` items in which each comes after those it depends on, and otherwise in
/// order of their numbers. `dependencies(i)` lists what i depends on. A ModelError on a cycle.
std::vector<uint32_t> TopologicalOrder(uint32_t count,
                                       const std::function<const std::vector<uint32_t>&(uint32_t)>& dependencies);

/// Calls `visit` on the bindings of all functions of the module, of branches and of functions in functions.
void ForEachBinding(const IRModule& module, const std::function<void(const Binding&)>& visit);

}  // namespace deuteron::relax
