/// \file
/// Shapes as values.
#pragma once

#include <vector>

#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> ShapeOps();

/// Tensor → R.Shape
Expr ShapeOf(Expr x);
/// R.Shape of rank n → int64 tensor (n,)
Expr ShapeToTensor(Expr shape);
/// int64 tensor (n,) → R.Shape of rank n
Expr TensorToShape(Expr tensor);
/// Number of elements, an int64 tensor of rank 0.
Expr Size(Expr x);

namespace inspect {
/// Dimension `axis` of a tensor, a scalar (R.Prim).
Expr TensorShapeI(Expr x, int64_t axis);
}  // namespace inspect
}  // namespace deuteron::relax
