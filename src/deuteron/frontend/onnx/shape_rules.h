/// \file
/// Arithmetic on symbolic shapes.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The shape that `target` means for a tensor of shape `source`: -1 follows from the others, 0 is the source's
/// (unless `keep_zero`). A ModelError where numbers of elements cannot match.
Array<PrimExpr> ResolveReshape(const NodeContext& node, const Array<PrimExpr>& source, const Array<PrimExpr>& target,
                               bool keep_zero);

/// The quotient of two products of dimensions, common factors cancelled first: n * s * 768 by n * s * 12 is 64.
PrimExpr DivideProducts(const NodeContext& node, std::vector<PrimExpr> numerator, std::vector<PrimExpr> denominator);

/// The numpy broadcast of two shapes. Of a symbolic dimension and a number other than 1 the number is taken, of two
/// symbolic ones that may differ the one that is not 1. A ModelError where they cannot match.
Array<PrimExpr> BroadcastDims(const NodeContext& node, const Array<PrimExpr>& a, const Array<PrimExpr>& b);

/// `x`, of which dimension `axis` has to be `dim`: checked at run time where the types do not show whether it is. As it
/// is where both are numbers.
relax::Expr WithDim(const NodeContext& node, const relax::Expr& x, int64_t axis, const PrimExpr& dim);

/// `operands` for an operator that broadcasts them. Where their types do not tell how (N against 3, N against M), those
/// that may have to be stretched are, explicitly: whether they can be is checked at run time.
/// The last `kept` axes of each are not broadcast: those of matrices.
std::vector<relax::Expr> BroadcastOperands(const NodeContext& node, std::vector<relax::Expr> operands, size_t kept = 0);

/// The matrix products of such operands.
relax::Expr MatrixProduct(const NodeContext& node, const relax::Expr& a, const relax::Expr& b);

/// a + b and a · b of such operands.
relax::Expr SumOf(const NodeContext& node, const relax::Expr& a, const relax::Expr& b);
relax::Expr ProductOf(const NodeContext& node, const relax::Expr& a, const relax::Expr& b);

}  // namespace deuteron::onnx
