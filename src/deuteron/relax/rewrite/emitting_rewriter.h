/// \file
/// The walk of passes that emit bindings of their own beside those they rewrite.
#pragma once

#include <utility>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"

namespace deuteron::relax {

/// A SeqRewriter whose builder is in the scope of the function, and within a dataflow block in one of its own.
class EmittingRewriter : public SeqRewriter {
 public:
  EmittingRewriter() = default;
  /// Of a module that kernels are added to: what has changed is the builder's (Finalize).
  explicit EmittingRewriter(IRModule module) : builder_(std::move(module)) {}

  Function Run(const Function& function) {
    builder_.BeginScope(function->params);
    Function result = RewriteBody(function);
    builder_.EndScope();
    return result;
  }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    if (!block->IsInstance<DataflowBlockNode>()) return SeqRewriter::RewriteBlock(block);
    builder_.BeginDataflowBlock();
    BindingBlock result = SeqRewriter::RewriteBlock(block);
    builder_.EndBlock();
    return result;
  }

  /// Appends a binding of a new variable to `out`.
  Var Emit(Expr value, const Span& span, Bindings* out) {
    Var var = builder_.Emit(std::move(value), "", span);
    out->push_back(VarBinding(var, builder_.LookupBinding(var), span));
    return var;
  }

  BlockBuilder builder_;
};

}  // namespace deuteron::relax
