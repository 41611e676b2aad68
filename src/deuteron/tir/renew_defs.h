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
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override;
  Stmt VisitBufferStore_(const BufferStoreNode* op) override;
  BufferRegion VisitRegion(const BufferRegion& region) override;

 private:
  /// A list and what was made of it: neighbours that share one go on sharing.
  template <typename T>
  struct Renewed {
    Array<T> source = kEmpty;
    Array<T> result = kEmpty;
  };
  Range VisitRange(const Range& range);
  const Array<PrimExpr>& VisitIndices(const Array<PrimExpr>& indices);

  Renewed<PrimExpr> last_indices_;
  Renewed<Range> last_region_;
  std::unordered_map<Var, Var, ObjectPtrHash, ObjectPtrEqual> vars_;
};

}  // namespace deuteron::tir
