/// \file
/// Operators as kernels that take no post-operations, and what descriptions of kernels ask of tensors.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/backend/matched_composite.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::backend::dnnl {

/// Of tensors of known shape; a Refusal otherwise.
inline Array<PrimExpr> ShapeOfExpr(const relax::Expr& expr) { return *KnownTensor(expr)->shape; }
inline DataType DTypeOf(const relax::Expr& expr) { return KnownTensor(expr)->dtype; }
/// float32, or bfloat16 where the target multiplies it.
void RequireFloat(const relax::Expr& expr);
inline bool IsUnit(const PrimExpr& dim) { return AsConstInt(dim) == 1; }
/// The padding at the begin of each of `rank` axes, then that at the end of each.
std::vector<int64_t> Padding(const Array<int64_t>& values, size_t rank);

/// A kernel of operands of floats.
JsonKernel KernelOf(const char* op, const Array<relax::Expr>& inputs);
/// Pooling, softmax, layer norm or concatenation, whose result is `result`; nothing if `call` is another operator, a
/// Refusal if oneDNN has no primitive for it.
std::optional<JsonKernel> DescribeOperator(const relax::Call& call, const Array<PrimExpr>& result);

}  // namespace deuteron::backend::dnnl
