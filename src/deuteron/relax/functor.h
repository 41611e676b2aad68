/// \file
/// Visitors and mutators of graph-level expressions, for passes that rewrite by kinds of nodes.
///
/// Dispatch is an exhaustive switch over the node's kind. Override `Visit<Node>_` for the nodes of interest.
/// Blocks are visited by loops; recursion goes only as deep as branches and local functions nest.
#pragma once

#include <functional>
#include <unordered_map>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Visits expressions, bindings and blocks in order of evaluation.
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  virtual void VisitExpr(const Expr& expr);

 protected:
  /// A use of a variable; its definition is VisitVarDef.
  virtual void VisitVar_(const VarNode* op) {}
  virtual void VisitGlobalVar_(const GlobalVarNode* op) {}
  virtual void VisitConstant_(const ConstantNode* op) {}
  virtual void VisitTuple_(const TupleNode* op);
  virtual void VisitTupleGetItem_(const TupleGetItemNode* op);
  virtual void VisitCall_(const CallNode* op);
  virtual void VisitShapeExpr_(const ShapeExprNode* op) {}
  virtual void VisitPrimValue_(const PrimValueNode* op) {}
  virtual void VisitStringImm_(const StringImmNode* op) {}
  virtual void VisitDataTypeImm_(const DataTypeImmNode* op) {}
  virtual void VisitSeqExpr_(const SeqExprNode* op);
  virtual void VisitIf_(const IfNode* op);
  virtual void VisitFunction_(const FunctionNode* op);
  virtual void VisitExternFunc_(const ExternFuncNode* op) {}
  virtual void VisitPrimFunc_(const BaseFuncNode* op) {}
  virtual void VisitOp_(const OpNode* op) {}

  virtual void VisitVarDef(const Var& var) {}
  virtual void VisitBlock(const BindingBlock& block);
  virtual void VisitBinding(const Binding& binding);
};

/// Rewrites expressions through a BlockBuilder: what a visit returns is normalised and bound, and later uses of
/// a variable whose type changed refer to the new one. Bindings that do not change are kept as they are.
class ExprMutator {
 public:
  /// Functions that the mutator adds go to a copy of `module`.
  explicit ExprMutator(IRModule module = IRModule::Empty()) : builder_(std::move(module)) {}
  virtual ~ExprMutator() = default;
  virtual Expr VisitExpr(const Expr& expr);

 protected:
  virtual Expr VisitVar_(const VarNode* op);
  virtual Expr VisitLeaf_(const ExprNode* op);
  virtual Expr VisitConstant_(const ConstantNode* op);
  virtual Expr VisitTuple_(const TupleNode* op);
  virtual Expr VisitTupleGetItem_(const TupleGetItemNode* op);
  virtual Expr VisitCall_(const CallNode* op) { return VisitExprPostOrder(op); }
  virtual Expr VisitSeqExpr_(const SeqExprNode* op);
  virtual Expr VisitIf_(const IfNode* op);
  virtual Expr VisitFunction_(const FunctionNode* op);

  /// The call with callee and arguments visited: variables replaced by what they stand for now. An override of
  /// VisitCall_ begins with it.
  Call VisitExprPostOrder(const CallNode* op);
  /// Visits the value of a binding and emits it into `builder_`.
  virtual void VisitBinding(const Binding& binding);
  virtual BindingBlock VisitBlock(const BindingBlock& block);

  /// The value bound to a variable in the scopes open now; null if it is not known.
  Expr LookupBinding(const Expr& expr) const;
  /// Later uses of `var` become `value`.
  void Remap(const Var& var, Expr value) { remap_[var.get()] = std::move(value); }

  BlockBuilder builder_;

 private:
  SeqExpr VisitScope(const SeqExpr& seq, const Array<Var>& params);
  std::unordered_map<const Object*, Expr> remap_;
};

/// Calls `visit` on every expression in `expr`, children before parents.
void PostOrderVisit(const Expr& expr, const std::function<void(const Expr&)>& visit);

}  // namespace deuteron::relax
