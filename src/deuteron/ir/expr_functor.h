/// \file
/// Visitors and mutators of scalar expressions. See tir/functor.h for those of statements.
#pragma once

#include <functional>
#include <unordered_map>

#include "deuteron/ir/prim_ops.h"

namespace deuteron {

/// Visits an expression and its children, in evaluation order.
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  virtual void VisitExpr(const PrimExpr& expr);

 protected:
  virtual void VisitVar_(const tir::VarNode* op) {}
  virtual void VisitImm_(const PrimExprNode* op) {}
  virtual void VisitCast_(const tir::CastNode* op);
  virtual void VisitBinary_(const tir::BinaryNode* op);
  virtual void VisitNot_(const tir::NotNode* op);
  virtual void VisitSelect_(const tir::SelectNode* op);
  virtual void VisitLet_(const tir::LetNode* op);
  virtual void VisitRamp_(const tir::RampNode* op);
  virtual void VisitBroadcast_(const tir::BroadcastNode* op);
  virtual void VisitShuffle_(const tir::ShuffleNode* op);
  virtual void VisitCall_(const tir::CallNode* op);
  virtual void VisitBufferLoad_(const tir::BufferLoadNode* op);
  virtual void VisitProducerLoad_(const tir::ProducerLoadNode* op);
  virtual void VisitReduce_(const tir::ReduceNode* op);
};

/// Rewrites an expression bottom up; nodes whose children did not change are returned as they are.
class ExprMutator {
 public:
  virtual ~ExprMutator() = default;
  virtual PrimExpr VisitExpr(const PrimExpr& expr);

 protected:
  virtual PrimExpr VisitVar_(const tir::VarNode* op);
  virtual PrimExpr VisitImm_(const PrimExprNode* op);
  virtual PrimExpr VisitCast_(const tir::CastNode* op);
  virtual PrimExpr VisitBinary_(const tir::BinaryNode* op);
  virtual PrimExpr VisitNot_(const tir::NotNode* op);
  virtual PrimExpr VisitSelect_(const tir::SelectNode* op);
  virtual PrimExpr VisitLet_(const tir::LetNode* op);
  virtual PrimExpr VisitRamp_(const tir::RampNode* op);
  virtual PrimExpr VisitBroadcast_(const tir::BroadcastNode* op);
  virtual PrimExpr VisitShuffle_(const tir::ShuffleNode* op);
  virtual PrimExpr VisitCall_(const tir::CallNode* op);
  virtual PrimExpr VisitBufferLoad_(const tir::BufferLoadNode* op);
  virtual PrimExpr VisitProducerLoad_(const tir::ProducerLoadNode* op);
  virtual PrimExpr VisitReduce_(const tir::ReduceNode* op);

  /// Rewrites each element; the same array if none changed.
  Array<PrimExpr> VisitExprs(const Array<PrimExpr>& exprs);
};

/// Values for variables.
using ExprVarMap = std::unordered_map<tir::Var, PrimExpr, ObjectPtrHash, ObjectPtrEqual>;
/// `expr` with variables replaced.
PrimExpr Substitute(const PrimExpr& expr, const ExprVarMap& values);
Array<PrimExpr> Substitute(const Array<PrimExpr>& exprs, const ExprVarMap& values);

/// Calls `visit` on every node of `expr`, children before parents.
void PostOrderVisit(const PrimExpr& expr, const std::function<void(const PrimExpr&)>& visit);

/// The variables in `expr`, each once, in order of first occurrence.
std::vector<tir::Var> FreeVars(const PrimExpr& expr);
/// Whether one of the variables in `expr` satisfies `predicate`.
bool UsesVar(const PrimExpr& expr, const std::function<bool(const tir::VarNode*)>& predicate);

/// Structural equality of expressions, by a loop over the nodes that needs no reflection: fast.
bool ExprEqual(const PrimExpr& a, const PrimExpr& b);
bool ExprEqual(const Array<PrimExpr>& a, const Array<PrimExpr>& b);
size_t ExprHash(const PrimExpr& expr);

}  // namespace deuteron
