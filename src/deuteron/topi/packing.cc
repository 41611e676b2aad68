#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

const DataType kPacked = DataType::Int(32);

/// Elements of `data` along `axis` in groups of `count`, each element as `bits_of` gives it: an int32 whose bits above
/// the 32 / count lowest are 0.
te::Tensor PackNeighbours(const te::Tensor& data, size_t axis, int64_t count, const char* name,
                          const std::function<PrimExpr(const PrimExpr&)>& bits_of) {
  const PrimExpr extent = data.shape()[axis];
  Array<PrimExpr> shape = data.shape();
  shape.Set(static_cast<int64_t>(axis), FloorDiv(extent + (count - 1), count));
  const bool divides = IsZero(arith::Analyzer().Simplify(FloorMod(extent, count)));
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index(vars.begin(), vars.end());
        PrimExpr packed;
        for (int64_t i = 0; i < count; ++i) {
          const PrimExpr at = vars[axis] * count + i;
          index.Set(static_cast<int64_t>(axis), at);
          PrimExpr bits = bits_of(data(index));
          if (!divides && i > 0) bits = IfThenElse(at < extent, bits, MakeConst(kPacked, 0));
          if (i > 0) bits = CallIntrin("shift_left", {bits, MakeConst(kPacked, 32 / count * i)});
          packed = packed.defined() ? CallIntrin("bitwise_or", {packed, bits}) : bits;
        }
        return packed;
      },
      name);
}

}  // namespace

te::Tensor PackI16x2(const te::Tensor& data, const te::Tensor& zero_point, size_t axis) {
  return PackNeighbours(data, axis, 2, "pairs", [&](const PrimExpr& element) {
    const PrimExpr centred = CastTo(kPacked, element) - CastTo(kPacked, zero_point({}));
    return CallIntrin("bitwise_and", {centred, MakeConst(kPacked, 0xffff)});
  });
}

te::Tensor PackU8x4(const te::Tensor& data, size_t axis) {
  return PackNeighbours(data, axis, 4, "bytes", [&](const PrimExpr& element) {
    const PrimExpr wide = CastTo(kPacked, element);
    return data.dtype().is_int() ? wide + MakeConst(kPacked, 128) : wide;
  });
}

te::Tensor PackI8x4(const te::Tensor& data, size_t axis) {
  return PackNeighbours(data, axis, 4, "bytes", [&](const PrimExpr& element) {
    // Of a byte, 128 less is another value of the highest bit.
    const PrimExpr wide = CallIntrin("bitwise_and", {CastTo(kPacked, element), MakeConst(kPacked, 0xff)});
    return data.dtype().is_int() ? wide : CallIntrin("bitwise_xor", {wide, MakeConst(kPacked, 128)});
  });
}

te::Tensor PackBf16x2(const te::Tensor& data, size_t axis) {
  return PackNeighbours(data, axis, 2, "pairs", [](const PrimExpr& element) {
    const PrimExpr code = CallIntrin("reinterpret", DataType::UInt(16), {CastTo(DataType::BFloat16(), element)});
    return CastTo(kPacked, code);
  });
}

PrimExpr PackedProduct(const Packing& packing, const PrimExpr& data, const PrimExpr& weight, DataType accumulator) {
  if (packing.empty()) return CastTo(accumulator, data) * CastTo(accumulator, weight);
  return CallIntrin(("dot_" + packing).c_str(), packing == "bf16x2" ? DataType::Float(32) : kPacked, {data, weight});
}

}  // namespace deuteron::topi
