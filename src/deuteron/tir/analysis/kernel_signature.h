/// \file
/// Which integers a kernel takes besides its buffers (runtime/kernel.h).
#pragma once

#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// The variables behind the `scalars` argument of the kernel of `func`, in order: the symbolic variables of
/// the parameter buffers' shapes (and strides) by first occurrence, scalar parameters left out; then the
/// scalar parameters in order. All are passed as int64: a float's bits or a bool's 0 or 1 in the low bytes.
std::vector<Var> KernelScalars(const PrimFunc& func);

/// What a function of scalars returns (`return n * m`); null for kernels, which return nothing.
PrimExpr ReturnedValue(const PrimFunc& func);
/// The same where the parameters have values `args`.
PrimExpr ReturnedValue(const PrimFunc& func, const Array<PrimExpr>& args);

}  // namespace deuteron::tir
