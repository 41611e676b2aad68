/// \file
/// Replacing what a function is about, types included.
#pragma once

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron::relax {

/// Replaces variables and symbols in a function and infers the types of what that changes anew. A variable whose type
/// becomes another is renewed; a binding that does not change keeps the type that it was declared with.
class TypedRewriter : public SeqRewriter {
 public:
  explicit TypedRewriter(const IRModule& module) : builder_(module) {}

  /// What to replace. Set before RewriteFunction.
  VarReplacer& replacer() { return replacer_; }
  /// `function` with `params` (given as they were; their types are replaced here) and its result's type as it then is.
  Function RewriteFunction(const Function& function, const Array<Var>& params);

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override;
  void RewriteBinding(const Binding& binding, Bindings* out) override;
  Expr RewriteResult(const Expr& result) override;

  /// Whether the type of an `if` is that of its branches even where nothing in them changed.
  bool infers_branches_anew_ = false;

 private:
  Expr Infer(const Expr& value);

  VarReplacer replacer_;
  BlockBuilder builder_;
};

}  // namespace deuteron::relax
