#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

const DataType kPacked = DataType::Int(32), kWord = DataType::UInt(32), kFloat = DataType::Float(32);

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

PrimExpr BitsOf(const PrimExpr& x) { return CallIntrin("reinterpret", kWord, {x}); }

/// One of the two bfloat16 whose sum a float16 is, in float32; of a float32 the second one is longer. The greater one
/// is what the upper half is of the next smaller float32: so neither is 0 unless the number is, both have its sign, and
/// the sum of the products of all parts of two numbers is what their product is, infinite and undefined ones too.
PrimExpr PartOfHalf(const PrimExpr& half, const PrimExpr& is_greater, bool is_finite) {
  const PrimExpr x = CastTo(kFloat, half);
  const PrimExpr upper =
      CallIntrin("bitwise_and", {BitsOf(x * MakeConst(kFloat, 1 - 0x1p-24)), MakeConst(kWord, int64_t{0xffff0000})});
  const PrimExpr greater = CallIntrin("reinterpret", kFloat, {upper});
  const PrimExpr rest = x - greater;
  return tir::Select(is_greater, greater, is_finite ? rest : tir::Select(tir::EQ(x, greater), x, rest));
}

/// Two neighbours along `axis` as parts in one element; `index` has the pair's place there.
PrimExpr PairOfParts(const te::Tensor& data, size_t axis, Array<PrimExpr> index, const PrimExpr& is_greater,
                     bool is_finite) {
  const PrimExpr& extent = data.shape()[axis];
  const bool divides = IsZero(arith::Analyzer().Simplify(FloorMod(extent, 2 * kPairsOfStep)));
  const PrimExpr first = index[axis] * 2;
  const auto bits_at = [&](const PrimExpr& at) {
    index.Set(static_cast<int64_t>(axis), at);
    const PrimExpr bits = BitsOf(PartOfHalf(data(index), is_greater, is_finite));
    return divides ? bits : IfThenElse(at < extent, bits, MakeConst(kWord, 0));
  };
  const PrimExpr low = CallIntrin("shift_right", {bits_at(first), MakeConst(kWord, 16)});
  const PrimExpr high = CallIntrin("bitwise_and", {bits_at(first + 1), MakeConst(kWord, int64_t{0xffff0000})});
  return CallIntrin("reinterpret", kPacked, {CallIntrin("bitwise_or", {low, high})});
}

}  // namespace

PrimExpr PairsOfHalves(const PrimExpr& extent) {
  return arith::Analyzer().Simplify(FloorDiv(extent + (2 * kPairsOfStep - 1), 2 * kPairsOfStep) * kPairsOfStep);
}

te::Tensor PackF16x2(const te::Tensor& data, size_t axis) {
  const PrimExpr pairs = PairsOfHalves(data.shape()[axis]);
  Array<PrimExpr> shape = data.shape();
  shape.Set(static_cast<int64_t>(axis), pairs * kPartsOfHalf);
  deuteron::Map<String, Any> attrs = {{tir::kOpPattern, tir::kNeverFused}};
  if (const auto length = AsConstInt(pairs); length && axis + 1 == shape.size()) attrs.Set(tir::kPartLength, *length);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index(vars.begin(), vars.end());
        index.Set(static_cast<int64_t>(axis), FloorMod(vars[axis], pairs));
        return PairOfParts(data, axis, index, vars[axis] < pairs, /*is_finite=*/false);
      },
      "parts", attrs);
}

te::Tensor PartsOfWeight(const te::Tensor& weight, size_t axis) {
  Array<PrimExpr> shape = weight.shape();
  shape.Set(static_cast<int64_t>(axis), PairsOfHalves(shape[axis]));
  shape.insert(shape.begin(), I64(kPartsOfHalf));
  return te::Compute(shape,
                     [&](const Array<tir::Var>& vars) {
                       return PairOfParts(weight, axis, Array<PrimExpr>(vars.begin() + 1, vars.end()),
                                          tir::EQ(vars[0], I64(0)),
                                          /*is_finite=*/true);
                     },
                     "parts_of_weight", {{tir::kPartsOfWeight, true}});
}

tir::IterVar ProductsOfParts() { return te::ReduceAxis(I64(kPartsOfHalf * kPartsOfHalf), "product"); }

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

std::string DotOf(const Packing& packing) { return "dot_" + (packing == kHalvesInParts ? "bf16x2" : packing); }

PrimExpr PackedProduct(const Packing& packing, const PrimExpr& data, const PrimExpr& weight, DataType accumulator) {
  if (packing.empty()) return CastTo(accumulator, data) * CastTo(accumulator, weight);
  const std::string dot = DotOf(packing);
  return CallIntrin(dot.c_str(), dot == "dot_bf16x2" ? kFloat : kPacked, {data, weight});
}

}  // namespace deuteron::topi
