/// \file
/// What all rules may assume of a softmax.
#pragma once

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// `func`, in which the weights of a softmax are 0 that would be denormal before they are divided by their sum.
///
/// Beside the weight 1 of the greatest element they are less than float32 can tell of any result. Masks make many of
/// them (exp(-100) is denormal), and processors take a hundred times as long for a product with one.
PrimFunc WithoutDenormalWeights(const PrimFunc& func);

/// The exponential that a weight of a softmax is, where others may be 0 instead.
PrimExpr WithoutDenormals(const PrimExpr& exponential);
/// What `WithoutDenormals` was made of, if it was.
PrimExpr WithDenormals(const PrimExpr& value);

}  // namespace deuteron::tir
