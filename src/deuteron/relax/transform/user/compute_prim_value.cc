/// \file
/// ComputePrimValue: scalar expressions of symbolic variables become calls of functions that compute them.
///
/// Purpose: `R.prim_value(n * m + 1)` is a value that only the shapes at run time give. Here each such expression gets
/// a private function of its variables, `compute_symbolic_expr(n, m)`, that returns it; equal expressions share one.
/// Our own byte code computes scalar expressions by itself, in cells of the frame, and the call of such a function is
/// compiled as its expression: the pass is for those who compare modules with TVM's, or bring a run time of their own.
///
/// What it must not do: replace literals and plain variables, which every run time has at hand.
///
/// Place: late, after KillAfterLastUse; before VMShapeLower.
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {
namespace {

/// The function that returns `expr`, and the variables to call it with.
std::pair<tir::PrimFunc, Array<Expr>> FunctionOf(const PrimExpr& expr) {
  Array<tir::Var> params;
  Array<Expr> args;
  ExprVarMap renamed;
  PostOrderVisit(expr, [&](const PrimExpr& node) {
    if (node->kind != ExprKind::kVar) return;
    const auto var = Downcast<tir::Var>(node);
    if (renamed.count(var) != 0) return;
    const tir::Var param(var->name_hint, var->dtype);
    renamed[var] = param;
    params.push_back(param);
    args.push_back(PrimValue(var));
  });
  const tir::Stmt body = tir::Evaluate(CallIntrin("ret", {Substitute(expr, renamed)}));
  const auto attrs = DictAttrs::With(DictAttrs::With(DictAttrs(), "tirx.is_host_func", true), "s_tir", true);
  return {tir::PrimFunc(params, {}, body, attrs), args};
}

class PrimValueComputer : public ExprMutator {
 public:
  explicit PrimValueComputer(IRModule module) : ExprMutator(std::move(module)) {}

  void Run(const GlobalVar& var, const Function& function) {
    const Expr computed = VisitExpr(function);
    if (!computed.same_as(function)) builder_.UpdateFunction(var, Downcast<Function>(computed));
  }
  IRModule Finish() { return builder_.Finalize(); }

 protected:
  Expr VisitLeaf_(const ExprNode* op) override {
    const auto* literal = GetRef<Expr>(op).as<PrimValueNode>();
    if (literal == nullptr) return GetRef<Expr>(op);
    const PrimExpr& value = literal->value;
    if (value->kind == ExprKind::kVar) return GetRef<Expr>(op);
    const auto [func, args] = FunctionOf(value);
    if (args.empty()) return GetRef<Expr>(op);
    return Call(builder_.AddFunction(func, "compute_symbolic_expr"), args, Attrs(), kEmpty, op->span);
  }
};

}  // namespace

Pass ComputePrimValue() {
  return transform::ModulePass({.name = "ComputePrimValue"}, [](const IRModule& module, const PassContext&) {
    return MutateFunctions(module, PrimValueComputer(module));
  });
}

}  // namespace deuteron::relax
