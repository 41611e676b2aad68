/// \file
/// What TVM's mutators and rewriters do besides what they are asked for; under `tvm_compat` some passes do so too.
#pragma once

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/functor.h"

namespace deuteron::relax {

/// Where TVM's mutators have rebuilt an `if`, the type of its value forgets the symbols that only parameters define,
/// and the types of what follows from it are inferred anew. A mutator that is asked to goes about it in the same way.
class ForgetfulMutator : public ExprMutator {
 public:
  explicit ForgetfulMutator(bool forgets) : forgets_(forgets) {}
  Function Run(const Function& function) { return Downcast<Function>(VisitExpr(function)); }

 protected:
  Expr VisitIf_(const IfNode* op) override;
  /// What a function says of its result stays, whatever variables forget.
  Expr VisitFunction_(const FunctionNode* op) override;

 private:
  const bool forgets_;
};

/// Where TVM's rewriter of patterns has changed a function, it goes on to remove what is computed twice, has two names
/// or is not used.
Function TidyAsTVM(Function function, const String& name, const IRModule& module,
                   const transform::PassContext& context);

/// Whether TVM's rewriter of patterns changes a function even if nothing matches: if it has a block that is no dataflow
/// block.
bool HasPlainBlock(const Function& function);

}  // namespace deuteron::relax
