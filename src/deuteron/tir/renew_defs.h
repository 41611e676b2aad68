/// \file
/// Fresh identities for what a function defines: the mutator behind RenewDefs, to be derived from.
#pragma once

#include "deuteron/tir/functor.h"

namespace deuteron::tir {

/// Gives every variable and buffer that is defined in what it visits a fresh identity.
class DefRenewer : public StmtExprMutator {
 public:
  /// `func` with its parameters and symbolic dimensions renewed too.
  PrimFunc Renew(const PrimFunc& func);

 protected:
  Var RenewVar(const Var& var);
  PrimExpr VisitVar_(const VarNode* op) override;
  PrimExpr VisitLet_(const LetNode* op) override;
  Stmt VisitBind_(const BindNode* op) override;
  Stmt VisitFor_(const ForNode* op) override;
  Stmt VisitSBlock_(const SBlockNode* op) override;
  Buffer VisitBufferDef(const Buffer& buffer) override;

 private:
  Range VisitRange(const Range& range);

  std::unordered_map<Var, Var, ObjectPtrHash, ObjectPtrEqual> vars_;
};

}  // namespace deuteron::tir
