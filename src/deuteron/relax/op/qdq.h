/// \file
/// Affine quantisation.
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// quantize and dequantize.
class QuantizeAttrsNode : public AttrsNode {
 public:
  DataType out_dtype;
  /// Axis of scales and zero points that are vectors.
  int64_t axis = -1;
  DEUTERON_NODE("deuteron.relax.QuantizeAttrs", QuantizeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(QuantizeAttrs)

/// Rows of the table.
std::vector<OpInfo> QdqOps();

/// clamp(round(data / scale) + zero_point); scale and zero_point are scalars or vectors along `axis`. Floats of 8 bits
/// and fewer are clamped and not rounded to integers, wider ones neither.
Expr Quantize(Expr data, Expr scale, Expr zero_point, int64_t axis = -1, DataType out_dtype = DataType::Int(8));
/// scale * (data - zero_point)
Expr Dequantize(Expr data, Expr scale, Expr zero_point, int64_t axis = -1, DataType out_dtype = DataType::Float(32));

}  // namespace deuteron::relax
