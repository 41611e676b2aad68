/// \file
/// How much work a loop is, to decide how small a piece is worth a thread's while.
#pragma once

#include <functional>

#include "deuteron/tir/function.h"

namespace deuteron::codegen {

/// The least number of iterations of a parallel loop that one thread should be given, as an expression in the
/// variables for which `visible` holds (those defined outside of the loop): annotation "grain" of the loop if
/// there, else so many that a piece is worth a fork-join.
PrimExpr ParallelGrain(const tir::ForNode* loop, const std::function<bool(const tir::VarNode*)>& visible);

}  // namespace deuteron::codegen
