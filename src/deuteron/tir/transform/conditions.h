/// \file
/// Conditions of tails and of padding, and copies of loops that do without.
#pragma once

#include <unordered_set>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/function.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// Whether it is a tir.if_then_else.
bool IsIfThenElse(const CallNode* op);

/// Whether it compares scalar integers by order.
bool IsIntegerComparison(const PrimExpr& condition);

/// Whether an expression uses a variable.
bool Uses(const PrimExpr& expr, const Var& var);
/// Whether one of them does.
bool Uses(const Array<PrimExpr>& exprs, const Var& var);

/// Whether what is stored is made of what is in that buffer.
bool AddsUp(const BufferStoreNode* store);

/// Whether it loads, or calls what may.
bool ReadsMemory(const PrimExpr& expr);

/// The statement where the comparisons `known`, by their nodes, hold.
Stmt WithoutConditions(const Stmt& stmt, const std::unordered_set<const Object*>& known);

/// A copy with variables and buffers of its own.
Stmt CopyOf(const Stmt& stmt);

/// Iterations [begin, end) of a loop as `body` says them, a loop with a variable of its own; of a single one, its body.
Stmt Iterations(const ForNode* op, int64_t begin, int64_t end, const Stmt& body);

}  // namespace deuteron::tir
