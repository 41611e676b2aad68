#include "deuteron/relax/transform/layout/packed_operands.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"

namespace deuteron::relax {
namespace {

/// Neighbours along `axis` of float32, rounded to bfloat16, as pairs.
Tensor PairFloats(const Constant& weight, size_t axis) {
  const Tensor data = CompactData(weight);
  const auto shape = data.shape();
  const Runs runs(weight, axis);
  const int64_t inner = runs.inner, extent = runs.extent, groups = (extent + 1) / 2;
  std::vector<int64_t> packed_shape(shape.begin(), shape.end());
  packed_shape[axis] = groups;
  Tensor packed = runtime::AllocTensor(packed_shape, DataType::Int(32));
  auto* const out = static_cast<uint32_t*>(packed.data_ptr());
  const auto* const floats = static_cast<const float*>(data.data_ptr());
  MakeInParallel(runs.outer * groups, data.numel() * ElementBytes(data.dtype()), [&](int64_t begin, int64_t end) {
    if (inner == 1 && extent % 2 == 0)
      return PairBrainFloats(floats + 2 * begin, floats + 2 * begin + 1, /*step=*/2, end - begin, out + begin);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = row % groups * 2;
      const float* const from = floats + (row / groups * extent + first) * inner;
      PairBrainFloats(from, first + 1 < extent ? from + inner : nullptr, /*step=*/1, inner, out + row * inner);
    }
  });
  return packed;
}

}  // namespace

bool AreFiniteHalves(const Constant& halves) {
  constexpr uint16_t kMagnitude = 0x7fff, kInfinite = 0x7c00;
  const Tensor data = CompactData(halves);
  const std::span codes(static_cast<const uint16_t*>(data.data_ptr()), static_cast<size_t>(data.numel()));
  uint32_t infinite = 0;
  for (const uint16_t code : codes) infinite |= static_cast<uint32_t>((code & kMagnitude) == kInfinite);
  return infinite == 0;
}

Constant InsideOf(const Type& data, const std::vector<int64_t>& pad_width) {
  const Array<PrimExpr>& extents = *data.as<TensorTypeNode>()->shape;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool is_padded = pad_width[2 * i] + pad_width[2 * i + 1] > 0;
    const auto extent = is_padded ? AsConstInt(extents[static_cast<int64_t>(i)]) : std::optional<int64_t>(1);
    if (!extent) return Constant();
    shape.push_back(*extent + pad_width[2 * i] + pad_width[2 * i + 1]);
  }
  Tensor inside = runtime::AllocTensor(shape, DataType::Bool());
  auto* out = static_cast<bool*>(inside.data_ptr());
  for (int64_t place = 0; place < inside.numel(); ++place) {
    bool is_inside = true;
    int64_t rest = place;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) {
      const int64_t at = rest % shape[i];
      is_inside &= at >= pad_width[2 * i] && at < shape[i] - pad_width[2 * i + 1];
    }
    out[place] = is_inside;
  }
  return Constant(std::move(inside));
}

Constant PackWeight(const Constant& weight, size_t axis, const topi::Packing& packing) {
  const bool is_rounded = packing == "bf16x2" && DataType(weight->data.dtype()) == DataType::Float(32);
  return Constant(is_rounded ? PairFloats(weight, axis) : PackNeighbours(weight, axis, topi::NeighboursOf(packing)),
                  weight->span);
}

}  // namespace deuteron::relax
