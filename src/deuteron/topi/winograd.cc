#include "deuteron/topi/winograd.h"

#include <algorithm>
#include <cstring>

#include "deuteron/support/element.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

/// With parts of so many channels, and two of them where there are more than so few, the error is about that of the
/// direct sum.
constexpr int64_t kStepsOfSum = 64;
constexpr int64_t kFewSteps = 32;
int64_t StepsOfSum(const PrimExpr& channels) {
  const auto count = AsConstInt(channels);
  return count ? std::clamp((*count + 1) / 2, kFewSteps, kStepsOfSum) : kStepsOfSum;
}

/// The element of a short list of constants at `index`, which is one of its positions.
PrimExpr Pick(const PrimExpr& index, const std::vector<PrimExpr>& values) {
  PrimExpr result = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    result = SelectExpr(Equal(index, static_cast<int64_t>(i)), values[i], result);
  }
  return result;
}

/// Whether elements of that type are pairs of channels.
bool ArePairs(DataType dtype) { return dtype == DataType::Int(32); }

PrimExpr Sum(const PrimExpr& a, const PrimExpr& b) {
  return ArePairs(a.dtype()) ? CallIntrin("add_i16x2", a.dtype(), {a, b}) : a + b;
}
PrimExpr Difference(const PrimExpr& a, const PrimExpr& b) {
  return ArePairs(a.dtype()) ? CallIntrin("subtract_i16x2", a.dtype(), {a, b}) : a - b;
}

/// Row u of B': d0 - d2, d1 + d2, d2 - d1, d1 - d3.
PrimExpr CombineInput(const PrimExpr& u, const std::function<PrimExpr(int64_t)>& d) {
  return Pick(u, {Difference(d(0), d(2)), Sum(d(1), d(2)), Difference(d(2), d(1)), Difference(d(1), d(3))});
}

/// Row a of A': m0 + m1 + m2, m1 - m2 - m3.
PrimExpr CombineOutput(const PrimExpr& a, const std::function<PrimExpr(int64_t)>& m) {
  return Pick(a, {m(0) + m(1) + m(2), m(1) - m(2) - m(3)});
}

/// 4 G g G' of a 3 × 3 window g, by rows. 2 G: 2 g0, g0 + g1 + g2, g0 - g1 + g2, 2 g2.
template <typename Number>
std::array<Number, 16> FourTimesTransformed(const Number* g) {
  const auto combine = [](size_t u, Number g0, Number g1, Number g2) {
    if (u == 0) return 2 * g0;
    return u == 3 ? 2 * g2 : u == 1 ? g0 + g1 + g2 : g0 - g1 + g2;
  };
  std::array<Number, 16> transformed{};
  for (size_t u = 0; u < kWinogradTile; ++u) {
    Number row[3];
    for (size_t j = 0; j < 3; ++j) row[j] = combine(u, g[j], g[3 + j], g[6 + j]);
    for (size_t v = 0; v < kWinogradTile; ++v) transformed[u * kWinogradTile + v] = combine(v, row[0], row[1], row[2]);
  }
  return transformed;
}

}  // namespace

te::Tensor WinogradInput(const te::Tensor& data, const std::vector<int64_t>& before, const WinogradGrid& grid,
                         bool channels_last, const PrimExpr& slices) {
  const Array<PrimExpr>& shape = data->shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t down = channels_last ? rank - 3 : rank - 2, across = down + 1, channel = channels_last ? rank - 1 : 1;
  // The spatial axes, a slice of an image that has some among them.
  const int64_t first = channels_last ? 1 : 2;
  const auto padded_extent = [](const PrimExpr& tiles, int64_t dilation) {
    constexpr int64_t kOverlap = kWinogradTile - kWinogradStep;
    const PrimExpr steps = dilation == 1 ? tiles : CeilDiv(tiles, I64(dilation));
    return steps * (dilation * kWinogradStep) + kOverlap * dilation;
  };
  Array<PrimExpr> padded = shape;
  if (slices.defined()) padded.Set(first, slices);
  padded.Set(down, padded_extent(grid.down, grid.row_dilation));
  padded.Set(across, padded_extent(grid.across, grid.column_dilation));
  const DataType wide = AccumulatorType(data.dtype());
  const te::Tensor image = ComputeAx(padded, "pad", [&](const Array<tir::Var>& i) {
    PrimExpr inside = True();
    Array<PrimExpr> at(i.begin(), i.end());
    for (int64_t axis = first; axis <= across; ++axis) {
      const PrimExpr place = i[axis] - before[static_cast<size_t>(axis - first)];
      inside = inside && place >= 0 && place < shape[axis];
      at.Set(axis, place);
    }
    return IfThenElse(inside, CastTo(wide, data(at)), MakeConst(wide, int64_t{0}));
  });
  const auto element = [&](const Array<tir::Var>& i, int64_t row, int64_t column) {
    const size_t tile = i.size() - 3;  // with channels last
    const PrimExpr tile_down = channels_last ? PrimExpr(i[tile]) : FloorDiv(i[4], grid.across);
    const PrimExpr tile_across = channels_last ? PrimExpr(i[tile + 1]) : FloorMod(i[4], grid.across);
    const PrimExpr y = tir::FirstOfWinogradTile(tile_down, grid.row_dilation) + row * grid.row_dilation;
    const PrimExpr x = tir::FirstOfWinogradTile(tile_across, grid.column_dilation) + column * grid.column_dilation;
    if (!channels_last) return image({i[2], i[3], y, x});
    return slices.defined() ? image({i[2], i[3], y, x, i[6]}) : image({i[2], y, x, i[5]});
  };
  const PrimExpr side = I64(kWinogradTile);
  Array<PrimExpr> result = {side, side, shape[0], shape[channel], grid.down * grid.across};
  if (channels_last) {
    result = {side, side, shape[0]};
    if (slices.defined()) result.push_back(slices);
    for (const PrimExpr& extent : {grid.down, grid.across, shape[channel]}) result.push_back(extent);
  }
  return te::Compute(result,
                     [&](const Array<tir::Var>& i) {
                       return CombineInput(i[1], [&](int64_t column) {
                         return CombineInput(i[0], [&](int64_t row) { return element(i, row, column); });
                       });
                     },
                     "winograd_input", {{tir::kOpPattern, tir::kNeverFused}});
}

te::Tensor WinogradProduct(const te::Tensor& weights, const te::Tensor& tiles, const WinogradGrid& grid) {
  const Array<PrimExpr>& shape = tiles->shape;
  if (shape.size() == 5) {
    const tir::IterVar c = te::ReduceAxis(shape[3], "c");
    return te::Compute(
        {shape[0], shape[1], shape[2], weights->shape[2], shape[4]},
        [&](const Array<tir::Var>& i) {
          return te::Sum(weights({i[0], i[1], i[3], c->var}) * tiles({i[0], i[1], i[2], c->var, i[4]}), {c});
        },
        "winograd_product", {{tir::kSumSteps, StepsOfSum(shape[3])}});
  }
  const auto channel = static_cast<int64_t>(shape.size()) - 1;
  const bool has_slices = shape.size() == 7;
  const tir::IterVar c = te::ReduceAxis(shape[channel], "c");
  const PrimExpr& length = weights->shape[static_cast<int64_t>(weights->shape.size()) - 1];
  const PrimExpr taps = has_slices ? weights->shape[3] : I64(1);
  const bool has_taps = !IsOne(taps);
  const tir::IterVar t = te::ReduceAxis(taps, "t");
  Array<PrimExpr> result = shape;
  if (has_slices) result.Set(3, shape[3] - (taps - 1));
  result.Set(channel, weights->shape[0] * length);
  ffi::Map<String, Any> annotations = {{tir::kTransformedTiles, int64_t{1}}};
  const DataType dtype = tiles.dtype();
  if (dtype.is_float()) annotations.Set(tir::kSumSteps, StepsOfSum(shape[channel] * taps));
  if (grid.row_dilation != 1) annotations.Set(tir::kRowDilation, grid.row_dilation);
  if (grid.column_dilation != 1) annotations.Set(tir::kColumnDilation, grid.column_dilation);
  return te::Compute(
      result,
      [&](const Array<tir::Var>& i) {
        Array<PrimExpr> tile(i.begin(), i.end());
        if (has_taps) tile.Set(3, i[3] + t->var);
        tile.Set(channel, c->var);
        Array<PrimExpr> weight = {FloorDiv(i[channel], length), i[0], i[1]};
        if (has_slices) weight.push_back(has_taps ? PrimExpr(t->var) : I64(0));
        weight.push_back(c->var);
        weight.push_back(FloorMod(i[channel], length));
        const PrimExpr product = PackedProduct(ArePairs(dtype) ? "i16x2" : "", tiles(tile), weights(weight), dtype);
        return has_taps ? te::Sum(product, {t, c}) : te::Sum(product, {c});
      },
      "winograd_product", annotations);
}

te::Tensor WinogradOutput(const te::Tensor& products, const Array<PrimExpr>& extents, const WinogradGrid& grid) {
  const Array<PrimExpr>& shape = products->shape;
  const bool channels_last = shape.size() >= 6, has_slices = shape.size() == 7;
  const int64_t down = !channels_last || has_slices ? 2 : 1, across = down + 1;
  Array<PrimExpr> result = {shape[2], shape[3], extents[0], extents[1]};
  if (channels_last) {
    result = {shape[2]};
    if (has_slices) result.push_back(shape[3]);
    for (const PrimExpr& extent : extents) result.push_back(extent);
  }
  return te::Compute(result,
                     [&](const Array<tir::Var>& i) {
                       const PrimExpr tile_down = tir::WinogradTileOf(i[down], grid.row_dilation);
                       const PrimExpr tile_across = tir::WinogradTileOf(i[across], grid.column_dilation);
                       const PrimExpr place_down = tir::PlaceInWinogradTile(i[down], grid.row_dilation);
                       const PrimExpr place_across = tir::PlaceInWinogradTile(i[across], grid.column_dilation);
                       return CombineOutput(place_across, [&](int64_t column) {
                         return CombineOutput(place_down, [&](int64_t row) {
                           const PrimExpr u = I64(row), v = I64(column);
                           if (has_slices) return products({u, v, i[0], i[1], tile_down, tile_across, i[4]});
                           if (channels_last) return products({u, v, i[0], tile_down, tile_across, i[3]});
                           return products({u, v, i[0], i[1], tile_down * grid.across + tile_across});
                         });
                       });
                     },
                     "winograd_output", {{tir::kOpPattern, tir::kAcceptsElementwise}});
}

te::Tensor WinogradConv(const te::Tensor& data, const te::Tensor& weights, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& dilation, const Array<PrimExpr>& extents) {
  const bool has_slices = data->shape.size() == 5;
  const size_t rows = has_slices ? 1 : 0, columns = rows + 1;
  const auto extent = [&](size_t axis) { return extents[static_cast<int64_t>(axis)]; };
  const WinogradGrid grid{tir::WinogradTilesOf(extent(rows), dilation[rows]),
                          tir::WinogradTilesOf(extent(columns), dilation[columns]), dilation[rows], dilation[columns]};
  const PrimExpr slices = has_slices ? extent(0) + (weights->shape[3] - 1) : PrimExpr();
  const te::Tensor transformed = WinogradInput(data, before, grid, /*channels_last=*/true, slices);
  const Array<PrimExpr> of_plane = {extent(rows), extent(columns), extent(columns + 1)};
  const te::Tensor result = WinogradOutput(WinogradProduct(weights, transformed, grid), of_plane, grid);
  if (!ArePairs(data.dtype())) return CastBack(result, data.dtype());
  return ComputeAx(result->shape, "quarter", [&](const Array<tir::Var>& i) {
    return CallIntrin("shift_right",
                      {result(Array<PrimExpr>(i.begin(), i.end())), MakeConst(data.dtype(), int64_t{2})});
  });
}

std::array<int32_t, 16> WinogradIntegers(const std::array<int32_t, 9>& weights) {
  return FourTimesTransformed(weights.data());
}

void WinogradWeights(const char* weights, DataType dtype, int64_t channels, int64_t plane,
                     const std::function<int64_t(int64_t)>& position, float* transformed) {
  for (int64_t channel = 0; channel < channels; ++channel) {
    // In float64: what is rounded once costs nothing at run time, and a quarter is exact.
    double g[9];
    if (dtype == DataType::Float(32)) {
      float window[9];
      std::memcpy(window, weights + channel * static_cast<int64_t>(sizeof window), sizeof window);
      std::copy_n(window, 9, g);
    } else {
      for (int64_t i = 0; i < 9; ++i) g[i] = LoadFloat(weights + (channel * 9 + i) * dtype.bytes(), dtype);
    }
    float* to = transformed + position(channel);
    const std::array<double, 16> fourfold = FourTimesTransformed(g);
    for (size_t i = 0; i < fourfold.size(); ++i)
      to[static_cast<int64_t>(i) * plane] = static_cast<float>(fourfold[i] / 4);
  }
}

}  // namespace deuteron::topi
