/// \file
/// What the operators that compute with shapes share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deuteron/relax/op/op_common.h"

namespace deuteron::relax {

/// A tensor type of what is known.
inline Type MakeTensorType(const std::optional<Array<PrimExpr>>& shape, int64_t ndim, DataType dtype,
                           const VDevice& device) {
  if (shape) return TensorType(*shape, dtype, device);
  return TensorType::WithNDim(ndim, dtype, device);
}
/// The type of `like` with another shape or dtype.
inline Type WithShape(const TensorTypeNode* like, const Array<PrimExpr>& shape) {
  return TensorType(shape, like->dtype, like->vdevice);
}
inline Type WithRank(const TensorTypeNode* like, int64_t ndim) {
  return TensorType::WithNDim(ndim, like->dtype, like->vdevice);
}
inline Type WithDType(const TensorTypeNode* like, DataType dtype) {
  return MakeTensorType(ShapeOf(like), like->ndim, dtype, like->vdevice);
}

/// The tensor types in argument `index`, a tuple; a ModelError if one is not a tensor, or there are none.
std::vector<const TensorTypeNode*> TensorTupleArg(const Call& call, size_t index);
/// The fields of a tuple-typed expression as leaves: emits the projections if it is a variable.
Array<Expr> TupleFields(BlockBuilder& builder, const Expr& tuple);
/// The scalars of a tuple of PrimValues; a ModelError if argument `index` is none.
Array<PrimExpr> PrimTupleArg(const Call& call, size_t index);

/// `axis` in [0, ndim), counted from the end if negative.
size_t AxisArg(const Call& call, int64_t axis, int64_t ndim);
/// The same for several.
std::vector<size_t> AxesArg(const Call& call, const Array<int64_t>& axes, int64_t ndim);
/// 0, 1, …, ndim - 1
std::vector<size_t> AllAxes(int64_t ndim);

/// The shape of the (tensor) result of a normalised call whose shapes are known.
Array<PrimExpr> ResultShape(const Call& call);
/// A void dtype is the attribute's null.
inline Optional<DataType> OptionalDType(DataType dtype) {
  return dtype.is_void() ? Optional<DataType>(std::nullopt) : Optional<DataType>(dtype);
}

}  // namespace deuteron::relax
