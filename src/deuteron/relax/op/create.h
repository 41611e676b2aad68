/// \file
/// Tensors made from scalars.
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class InitAttrsNode : public AttrsNode {
 public:
  /// Null: as the fill value, or the tensor that it is like.
  Optional<DataType> dtype;
  DEUTERON_NODE("deuteron.relax.InitAttrs", InitAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(InitAttrs)

/// Rows of the table.
std::vector<OpInfo> CreateOps();

/// A void dtype means the attribute's null. fill_value: a tensor of rank 0.
Expr Full(Array<PrimExpr> shape, Expr fill_value, DataType dtype = DataType::Void());
/// `shape` of type R.Shape.
Expr Full(Expr shape, Expr fill_value, DataType dtype = DataType::Void());
Expr FullLike(Expr data, Expr fill_value, DataType dtype = DataType::Void());
Expr Ones(Array<PrimExpr> shape, DataType dtype);
Expr Ones(Expr shape, DataType dtype);
Expr OnesLike(Expr data, DataType dtype = DataType::Void());
Expr Zeros(Array<PrimExpr> shape, DataType dtype);
Expr Zeros(Expr shape, DataType dtype);
Expr ZerosLike(Expr data, DataType dtype = DataType::Void());
/// start, start + step, … below `end` (above it if the step is negative).
Expr Arange(PrimExpr start, PrimExpr end, PrimExpr step, DataType dtype);
/// Zero above (tril) or below (triu) the k-th diagonal of the last two axes.
Expr Tril(Expr data, PrimExpr k);
Expr Tril(Expr data, int64_t k = 0);
Expr Triu(Expr data, PrimExpr k);
Expr Triu(Expr data, int64_t k = 0);
/// n × m with ones on the k-th diagonal.
Expr Eye(PrimExpr n, PrimExpr m, PrimExpr k, DataType dtype);
/// alpha - beta · cos(2π i / period) for i below window_size; the period is window_size, or one less if not `periodic`.
Expr HammingWindow(PrimExpr window_size, bool periodic, double alpha, double beta, DataType dtype);
Expr EyeLike(Expr data, PrimExpr k, DataType dtype = DataType::Void());

}  // namespace deuteron::relax
