/// \file
/// Affine quantisation.
#pragma once

#include <string>
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

/// pack_i16x2, pack_u8x4, pack_i8x4, pack_bf16x2 and pack_f16x2.
class PackNeighboursAttrsNode : public AttrsNode {
 public:
  int64_t axis = -1;
  DEUTERON_NODE("deuteron.relax.PackNeighboursAttrs", PackNeighboursAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(PackNeighboursAttrs)

/// fake_quantize.
class FakeQuantizeAttrsNode : public AttrsNode {
 public:
  int64_t block = 32;
  DEUTERON_NODE("deuteron.relax.FakeQuantizeAttrs", FakeQuantizeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(FakeQuantizeAttrs)

/// Rows of the table.
std::vector<OpInfo> QdqOps();

/// Throws unless `packing` is one (topi::Packing) of the types of the operands of `call` and of `result`.
void CheckPacking(const Call& call, const std::string& packing, DataType result);

/// clamp(round(data / scale) + zero_point); scale and zero_point are scalars or vectors along `axis`. Floats of 8 bits
/// and fewer are clamped and not rounded to integers, wider ones neither.
Expr Quantize(Expr data, Expr scale, Expr zero_point, int64_t axis = -1, DataType out_dtype = DataType::Int(8));
/// scale * (data - zero_point)
Expr Dequantize(Expr data, Expr scale, Expr zero_point, int64_t axis = -1, DataType out_dtype = DataType::Float(32));
/// Floats as bytes would have them that a block of `block` elements of the last axis shares a scale of: of each block,
/// s = max|x| / 127 and the elements round(x / s) * s. Blocks of magnitudes below 1e-30 are zeros, those with an
/// element that is no finite number undefined.
Expr FakeQuantize(Expr data, int64_t block = 32);
/// Of each byte what a table of 256 has at its place, that of the number with its bits: -1 is the last.
Expr ByteTable(Expr data, Expr table);
/// Integers less a zero point (a scalar), modulo 2^16, in pairs: int32 whose low half is the first of two neighbours
/// along `axis`, and whose high half is the second, or 0 where there is none. Operands of dense_pack and conv_pack.
Expr PackI16x2(Expr data, Expr zero_point, int64_t axis = -1);
/// uint8, or int8 plus 128, four neighbours along `axis` in an int32 whose lowest byte is the first; 0 beyond the last.
Expr PackU8x4(Expr data, int64_t axis = -1);
/// int8, or uint8 less 128, likewise.
Expr PackI8x4(Expr data, int64_t axis = -1);
/// Floats rounded to bfloat16, pairs of neighbours along `axis` in an int32 whose low half is the first; 0 beyond the
/// last.
Expr PackBf16x2(Expr data, int64_t axis = -1);
Expr PackF16x2(Expr data, int64_t axis = -1);

}  // namespace deuteron::relax
