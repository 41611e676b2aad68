/// \file
/// Copies of function bodies, to be put into other functions.
#pragma once

#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron::relax {

/// Copies code so that everything which it binds is new: variables, parameters of local functions, symbolic variables
/// of match_casts. What it uses from outside is replaced as `replacer()` says, and shared else.
class FunctionCopier : public SeqRewriter {
 public:
  VarReplacer& replacer() { return replacer_; }
  /// A new variable in place of `var`, also in its type.
  Var Renew(const Var& var);
  /// New symbols in place of those in `type` that are not replaced yet.
  void RenewSymbols(const Type& type);
  SeqExpr Copy(const SeqExpr& seq) { return RewriteSeq(seq); }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override;
  Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

 private:
  Function CopyLocal(const Function& function);
  VarReplacer replacer_;
};

}  // namespace deuteron::relax
