/// \file
/// What the operators on quantised tensors, of ONNX and of com.microsoft, are made of.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// A scale or zero point, a scalar or a vector along `axis`, shaped to broadcast with a tensor of `rank`.
relax::Expr Along(const NodeContext& node, const relax::Expr& parameter, int64_t axis, int64_t rank);
/// A scale or zero point as relax takes it: a scalar or a vector.
relax::Expr Parameter(const NodeContext& node, const relax::Expr& parameter);
/// Zero points of `dtype`: `zero`, or 0 if it is null.
relax::Expr ZeroPointOr0(const NodeContext& node, const relax::Expr& zero, DataType dtype);
/// round(value) + zero_point, saturated to `to`.
relax::Expr Saturate(const NodeContext& node, const relax::Expr& value, const relax::Expr& zero_point, DataType to);
/// (x - zero_point) as int32; the zero point may be null.
relax::Expr Centred(const NodeContext& node, const relax::Expr& x, const relax::Expr& zero_point);
/// Input `input`, a zero point or scale of one element or one a row (`last` axis dropped) or column of a matrix; null
/// if it is left out.
relax::Expr MatrixParameter(const NodeContext& node, size_t input, bool by_row);

/// Bytes that a tensor of floats is quantised to by its own range.
struct DynamicallyQuantized {
  relax::Expr numbers;
  relax::Expr scale;
  relax::Expr zero_point;
};
DynamicallyQuantized QuantizeDynamically(const NodeContext& node, const relax::Expr& x);

/// The tensor that inputs `first` … are: integers, scale, zero point (may be left out).
relax::Expr Dequantized(const NodeContext& node, size_t first, int64_t axis = 0);
/// `value` quantised by inputs `first` (the scale) and the next (the zero point, of the dtype of the result;
/// `otherwise` if it is left out).
Results Quantized(const NodeContext& node, const relax::Expr& value, size_t first, DataType otherwise);

/// Bytes (…, n), each of several numbers of `bits` bits, the lowest first: (…, n * 8 / bits), still bytes.
relax::Expr Unpacked(const NodeContext& node, const relax::Expr& bytes, int64_t bits);
/// The first `length` of the last axis.
relax::Expr Shortened(const NodeContext& node, const relax::Expr& x, const PrimExpr& length);

/// What QLinearConv makes of `data`, bytes with their channels second, by the node's other inputs and attributes.
relax::Expr QLinearConvolved(const NodeContext& node, const relax::Expr& data);

/// The product of integers, less their zero points (may be null), times `scale`, in its dtype.
relax::Expr IntegerProduct(const NodeContext& node, const relax::Expr& a, const relax::Expr& b,
                           const relax::Expr& a_zero, const relax::Expr& b_zero, const relax::Expr& scale);

}  // namespace deuteron::onnx
