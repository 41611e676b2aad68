/// \file
/// Visitors and mutators of scalar expressions and statements.
///
/// Dispatch is an exhaustive switch over the node's kind. Override `Visit<Node>_` for the nodes of interest;
/// the default visits the children, and the mutators return the node itself where nothing changed.
/// Recursion depth is the nesting depth of the code, which is bounded (no user network nests kernels).
#pragma once

#include <unordered_map>
#include <vector>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Visits statements and the expressions in them, in evaluation order.
class StmtExprVisitor : public ExprVisitor {
 public:
  virtual void VisitStmt(const Stmt& stmt);

 protected:
  virtual void VisitBind_(const BindNode* op);
  virtual void VisitAssert_(const AssertStmtNode* op);
  virtual void VisitBufferStore_(const BufferStoreNode* op);
  virtual void VisitAllocBuffer_(const AllocBufferNode* op);
  virtual void VisitSeq_(const SeqStmtNode* op);
  virtual void VisitIfThenElse_(const IfThenElseNode* op);
  virtual void VisitEvaluate_(const EvaluateNode* op);
  virtual void VisitFor_(const ForNode* op);
  virtual void VisitWhile_(const WhileNode* op);
  virtual void VisitAttr_(const AttrStmtNode* op);
  /// Visits the domains of the iterators, the regions, init and body.
  virtual void VisitSBlock_(const SBlockNode* op);
  virtual void VisitSBlockRealize_(const SBlockRealizeNode* op);
  virtual void VisitRegion(const BufferRegion& region);
};

/// Rewrites statements and the expressions in them.
///
/// Buffers: `VisitBufferDef` is called where a buffer is defined (alloc_buffers, AllocBuffer) and
/// `VisitBufferUse` where one is used; a mutator that replaces a buffer at its definition (because its shape
/// changed, say) finds its uses replaced.
class StmtExprMutator : public ExprMutator {
 public:
  virtual Stmt VisitStmt(const Stmt& stmt);

 protected:
  virtual Stmt VisitBind_(const BindNode* op);
  virtual Stmt VisitAssert_(const AssertStmtNode* op);
  virtual Stmt VisitBufferStore_(const BufferStoreNode* op);
  virtual Stmt VisitAllocBuffer_(const AllocBufferNode* op);
  virtual Stmt VisitSeq_(const SeqStmtNode* op);
  virtual Stmt VisitIfThenElse_(const IfThenElseNode* op);
  virtual Stmt VisitEvaluate_(const EvaluateNode* op);
  virtual Stmt VisitFor_(const ForNode* op);
  virtual Stmt VisitWhile_(const WhileNode* op);
  virtual Stmt VisitAttr_(const AttrStmtNode* op);
  virtual Stmt VisitSBlock_(const SBlockNode* op);
  virtual Stmt VisitSBlockRealize_(const SBlockRealizeNode* op);
  virtual BufferRegion VisitRegion(const BufferRegion& region);

  /// A buffer with its shape, strides and offset rewritten; remembered for its uses.
  virtual Buffer VisitBufferDef(const Buffer& buffer);
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override;
  /// What uses of `buffer` become: what it was mapped to; of a view of data that was mapped, a view of what that is
  /// now.
  virtual Buffer VisitBufferUse(const Buffer& buffer);
  /// Makes uses of `from`, and of its views, those of `to`.
  void MapBuffer(const Buffer& from, const Buffer& to);

  std::unordered_map<Buffer, Buffer, ObjectPtrHash, ObjectPtrEqual> buffer_remap_;

 private:
  std::unordered_map<const Object*, Var> data_remap_;
  /// Views as they have become, by what they were: their offsets may be different ones in turn.
  std::unordered_map<const Object*, std::vector<Buffer>> views_;
};

using VarMap = std::unordered_map<Var, PrimExpr, ObjectPtrHash, ObjectPtrEqual>;

/// `stmt` with variables replaced, in shapes of buffers defined inside too.
Stmt Substitute(const Stmt& stmt, const VarMap& values);
/// The same for other things that hold expressions.
BufferRegion Substitute(const BufferRegion& region, const VarMap& values);
Range Substitute(const Range& range, const VarMap& values);

/// Calls `visit` on every expression and statement, children before parents.
void PostOrderVisit(const Stmt& stmt, const std::function<void(const ObjectRef&)>& visit);

/// A copy of `func` that shares no variable or buffer with it.
PrimFunc RenewDefs(const PrimFunc& func);

}  // namespace deuteron::tir
