/// \file
/// RemovePurityChecking: marks every function with the attribute relax.force_pure, and calls what was promised to be
/// pure as any other packed function.
///
/// From here on passes write calls with side effects (a kernel that writes its output argument, memory given back)
/// into functions that compute pure values all the same; the attribute tells the verifier so. It stands before
/// CallTIRRewrite, and must not stand before a pass that moves or removes calls by their purity.
#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/memory/passes.h"

namespace deuteron::relax {
namespace {

class PurityRemover : public ExprMutator {
 public:
  Function Run(const Function& function) { return Downcast<Function>(VisitExpr(function)); }

 protected:
  Expr VisitCall_(const CallNode* op) override {
    static const Op kCallPurePacked = Op::Get("relax.call_pure_packed");
    static const Op kCallInplacePacked = Op::Get("relax.call_inplace_packed");
    const Call call = VisitExprPostOrder(op);
    const bool promised = call->op.same_as(kCallPurePacked) || call->op.same_as(kCallInplacePacked);
    if (in_dataflow_ || !promised || call->args.empty()) return call;
    return Call(call->args[0], Array<Expr>(call->args.begin() + 1, call->args.end()), Attrs(), call->ty_args,
                call->span);
  }

  Expr VisitFunction_(const FunctionNode* op) override {
    auto function = Downcast<Function>(ExprMutator::VisitFunction_(op));
    return function->is_pure ? WithAttr(std::move(function), "relax.force_pure", true) : function;
  }

  BindingBlock VisitBlock(const BindingBlock& block) override {
    in_dataflow_ = block->IsInstance<DataflowBlockNode>();
    BindingBlock visited = ExprMutator::VisitBlock(block);
    in_dataflow_ = false;
    return visited;
  }

 private:
  /// Dataflow blocks hold pure calls only, whatever the function says.
  bool in_dataflow_ = false;
};

}  // namespace

Pass RemovePurityChecking() {
  return transform::ModulePass({.name = "RemovePurityChecking"}, [](IRModule module, const transform::PassContext&) {
    return UpdateAllFunctions(std::move(module),
                              [](const GlobalVar&, const Function& function) { return PurityRemover().Run(function); });
  });
}

}  // namespace deuteron::relax
