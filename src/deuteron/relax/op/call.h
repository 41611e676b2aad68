/// \file
/// The operators that call functions: call_tir and its like (constructors in relax/call_tir.h), closures, printing.
#pragma once

#include <vector>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// R.loop(body, trips, states, condition): calls `body` at most `trips` times, and only while the condition holds, if
/// there is one (a scalar). The body takes the number of the step as a shape of one dimension, then the states, which
/// are tensors; it gives a tuple of the condition (if there is one), the next states and the step's rows of further
/// outputs. The result, of type `result`, is a tuple of the last states and of the outputs, their rows stacked.
Call Loop(const Expr& body, const PrimExpr& trips, const Array<Expr>& states, const Expr& condition, TupleType result);

/// Rows of the table.
std::vector<OpInfo> CallOps();

}  // namespace deuteron::relax
