#include "deuteron/relax/transform/operators/winograd_weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/topi/winograd.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kSide = topi::kWinogradTile, kPlanes = kSide * kSide, kTaps = 9;
/// Of the sixteen, the one that the sums of four elements of a tile are multiplied by; others are those of differences.
constexpr size_t kSumPlane = kSide + 1;

Constant Transformed(const Constant& weights, const ffi::Shape& shape, int64_t plane,
                     const std::function<int64_t(int64_t)>& position) {
  const int64_t results = weights->data.shape()[0];
  Tensor transformed = runtime::AllocTensor(shape, DataType::Float(32));
  const Tensor data = ContiguousData(weights);
  const char* from = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
  const DataType dtype(weights->data.dtype());
  auto* to = static_cast<float*>(transformed.data_ptr());
  // Windows, or slices of them, of one result.
  const int64_t of_result = weights->data.numel() / results / kTaps;
  MakeInParallel(results, transformed.numel() * 4, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * of_result;
    topi::WinogradWeights(
        from + first * kTaps * dtype.bytes(), dtype, end * of_result - first, plane,
        [&](int64_t slice) { return position(first + slice); }, to);
  });
  LetGoOfData(weights);
  return Constant(std::move(transformed), weights->span);
}

/// (k, c, 3, 3) as (4, 4, k, c).
Constant Transformed(const Constant& weights) {
  const auto shape = weights->data.shape();
  return Transformed(weights, {kSide, kSide, shape[0], shape[1]}, shape[0] * shape[1],
                     [](int64_t pair) { return pair; });
}

/// (k, c, 3, 3) as (⌈k / l⌉, 4, 4, c, l), and (k, c, t, 3, 3) as (⌈k / l⌉, 4, 4, t, c, l): what a tile of registers
/// reads, and what it reads next, is one run of memory. The last panel is filled up with zeros.
Constant InPanels(const Constant& weights, int64_t length) {
  const auto shape = weights->data.shape();
  const bool has_taps = shape.size() == 5;
  const int64_t k = shape[0], c = shape[1], taps = has_taps ? shape[2] : 1, panels = (k + length - 1) / length;
  std::vector<int64_t> made_shape = {panels, kSide, kSide};
  if (has_taps) made_shape.push_back(taps);
  made_shape.insert(made_shape.end(), {c, length});
  const int64_t rows = kSide * kSide * taps * c;
  Constant made = Transformed(weights, made_shape, taps * c * length, [=](int64_t slice) {
    const int64_t tap = slice % taps, channel = slice / taps % c, result = slice / taps / c;
    return (result / length * rows + tap * c + channel) * length + result % length;
  });
  auto* row = static_cast<float*>(made->data.data_ptr()) + (panels - 1) * rows * length;
  const int64_t of_last = k - (panels - 1) * length;
  for (int64_t i = 0; i < rows; ++i, row += length) std::fill(row + of_last, row + length, 0.0F);
  return made;
}

/// Of centred data, the least and the greatest, zeros around the image among them.
std::pair<int64_t, int64_t> RangeOf(const CentredBytes& data) {
  const auto range_of = [](const Expr& bytes) -> std::pair<int64_t, int64_t> {
    const auto* type = bytes.ty().as<TensorTypeNode>();
    if (type->dtype == DataType::UInt(8)) return {0, 255};
    if (type->dtype == DataType::Int(8)) return {-128, 127};
    return {-255, 255};
  };
  const auto [least, most] = range_of(data.data);
  auto [least_zero, most_zero] = range_of(data.zero_point);
  if (const auto zero = ConstantScalar(data.zero_point)) least_zero = most_zero = *zero;
  return {std::min<int64_t>(least - most_zero, 0), std::max<int64_t>(most - least_zero, 0)};
}

}  // namespace

Constant WinogradWeights::OfFloats(const Constant& weights, int64_t panel) {
  Shared& shared = transformed_[{weights->data.GetDLTensorPtr(), panel}];
  if (!shared.transformed.defined()) shared = {weights, panel == 0 ? Transformed(weights) : InPanels(weights, panel)};
  return shared.transformed;
}

Constant WinogradWeights::OfIntegers(const Constant& weights, int64_t panel, const CentredBytes& data) {
  Shared& shared = transformed_[{weights->data.GetDLTensorPtr(), panel}];
  if (!shared.weights.defined()) {
    const Tensor held = ContiguousData(weights);
    const char* const from = static_cast<const char*>(held.data_ptr()) + held.byte_offset();
    shared = DataType(held.dtype()) == DataType::Int(8) ? Pairs(weights, reinterpret_cast<const int8_t*>(from), panel)
                                                        : Pairs(weights, reinterpret_cast<const int32_t*>(from), panel);
    LetGoOfData(weights);
  }
  const auto [least, most] = RangeOf(data);
  const int64_t greatest_sum = 4 * std::max(-least, most), greatest_difference = 2 * (most - least);
  const int64_t bound = shared.of_sums * greatest_sum + shared.of_others * greatest_difference;
  return bound <= std::numeric_limits<int32_t>::max() ? shared.transformed : Constant();
}

template <typename Integer>
WinogradWeights::Shared WinogradWeights::Pairs(const Constant& weights, const Integer* from, int64_t length) {
  const auto shape = weights->data.shape();
  const int64_t k = shape[0], c = shape[1], pairs = (c + 1) / 2, panels = (k + length - 1) / length;
  // Of weights beyond, transformed ones may not fit 16 bits.
  constexpr int32_t kMost = std::numeric_limits<int16_t>::max() / kTaps;
  Tensor transformed = runtime::AllocTensor({panels, kSide, kSide, pairs, length}, DataType::Int(32));
  auto* const to = static_cast<uint32_t*>(transformed.data_ptr());
  std::fill(to + (panels - 1) * kPlanes * pairs * length, to + transformed.numel(), 0U);
  Shared made{weights, Constant()};
  bool fit = true;
  std::mutex mutex;
  MakeInParallel(k, transformed.numel() * 4, [&](int64_t begin, int64_t end) {
    bool are_small = true;
    int64_t of_sums = 0, of_others = 0;
    const auto window = [&](int64_t result, int64_t channel) {
      std::array<int32_t, kTaps> taps{};
      if (channel < c) std::copy_n(from + (result * c + channel) * kTaps, kTaps, taps.begin());
      const auto [least, most] = std::minmax_element(taps.begin(), taps.end());
      are_small = are_small && *least >= -kMost && *most <= kMost;
      return are_small ? topi::WinogradIntegers(taps) : std::array<int32_t, kPlanes>{};
    };
    for (int64_t result = begin; result < end; ++result) {
      std::array<int64_t, kPlanes> magnitudes{};
      auto* const row = to + result / length * kPlanes * pairs * length + result % length;
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const auto low = window(result, 2 * pair), high = window(result, 2 * pair + 1);
        for (size_t plane = 0; plane < kPlanes; ++plane) {
          magnitudes[plane] += std::abs(low[plane]) + std::abs(high[plane]);
          row[(static_cast<int64_t>(plane) * pairs + pair) * length] =
              (static_cast<uint32_t>(low[plane]) & 0xffff) | static_cast<uint32_t>(high[plane]) << 16;
        }
      }
      of_sums = std::max(of_sums, magnitudes[kSumPlane]);
      const int64_t all = std::accumulate(magnitudes.begin(), magnitudes.end(), int64_t{0});
      of_others = std::max(of_others, all - magnitudes[kSumPlane]);
    }
    const std::scoped_lock lock(mutex);
    fit = fit && are_small;
    made.of_sums = std::max(made.of_sums, of_sums);
    made.of_others = std::max(made.of_others, of_others);
  });
  if (fit) made.transformed = Constant(std::move(transformed), weights->span);
  return made;
}

}  // namespace deuteron::relax
