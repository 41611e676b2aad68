/// \file
/// The walk over binding lists that most passes share.
#pragma once

#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Rewrites functions binding by binding, in order of evaluation. A binding may become none, one or several. Blocks
/// that lose all bindings go; plain blocks that come to stand side by side become one, and so do dataflow blocks.
/// What does not change is returned as it is.
class SeqRewriter {
 public:
  virtual ~SeqRewriter() = default;
  virtual SeqExpr RewriteSeq(const SeqExpr& seq);
  /// `function` with its body rewritten.
  Function RewriteBody(Function function);

 protected:
  using Bindings = std::vector<Binding>;
  virtual BindingBlock RewriteBlock(const BindingBlock& block);
  /// Appends to `out` what stands for `binding`. By default: the binding with nested bodies rewritten.
  virtual void RewriteBinding(const Binding& binding, Bindings* out);
  /// The result of a sequence, after its blocks.
  virtual Expr RewriteResult(const Expr& result) { return result; }

  /// The branches of an If, the body of a local function, rewritten; any other value as it is.
  Expr RewriteNested(const Expr& value);
};

/// `binding` with another value.
Binding WithValue(const Binding& binding, Expr value);
/// A binding of `var` that is otherwise like `binding`: of its kind, with its span.
Binding Rebind(const Binding& binding, const Var& var, Expr value);
/// `blocks` without empty ones, neighbours of one kind joined.
Array<BindingBlock> JoinBlocks(const std::vector<BindingBlock>& blocks);
/// An If with these branches, else like `branch`; `branch` itself if they are its own.
Expr WithBranches(const If& branch, const Expr& cond, const SeqExpr& true_branch, const SeqExpr& false_branch);

}  // namespace deuteron::relax
