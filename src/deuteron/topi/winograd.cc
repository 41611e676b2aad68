#include "deuteron/topi/winograd.h"

#include <algorithm>
#include <cstring>

#include "deuteron/support/element.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"

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

/// Row u of B': d0 - d2, d1 + d2, d2 - d1, d1 - d3.
PrimExpr CombineInput(const PrimExpr& u, const std::function<PrimExpr(int64_t)>& d) {
  return Pick(u, {d(0) - d(2), d(1) + d(2), d(2) - d(1), d(1) - d(3)});
}

/// Row a of A': m0 + m1 + m2, m1 - m2 - m3.
PrimExpr CombineOutput(const PrimExpr& a, const std::function<PrimExpr(int64_t)>& m) {
  return Pick(a, {m(0) + m(1) + m(2), m(1) - m(2) - m(3)});
}

}  // namespace

te::Tensor WinogradInput(const te::Tensor& data, const std::vector<int64_t>& before, const WinogradGrid& grid,
                         bool channels_last) {
  const Array<PrimExpr>& shape = data->shape;
  const int64_t down = channels_last ? 1 : 2, across = down + 1, channel = channels_last ? 3 : 1;
  constexpr int64_t kOverlap = kWinogradTile - kWinogradStep;
  Array<PrimExpr> padded = shape;
  padded.Set(down, grid.down * kWinogradStep + kOverlap);
  padded.Set(across, grid.across * kWinogradStep + kOverlap);
  const DataType wide = AccumulatorType(data.dtype());
  const te::Tensor image = ComputeAx(padded, "pad", [&](const Array<tir::Var>& i) {
    const PrimExpr y = i[down] - before[0], x = i[across] - before[1];
    const PrimExpr inside = y >= 0 && y < shape[down] && x >= 0 && x < shape[across];
    Array<PrimExpr> at(i.begin(), i.end());
    at.Set(down, y);
    at.Set(across, x);
    return IfThenElse(inside, CastTo(wide, data(at)), MakeConst(wide, int64_t{0}));
  });
  const auto element = [&](const Array<tir::Var>& i, int64_t row, int64_t column) {
    const PrimExpr tile_down = channels_last ? PrimExpr(i[3]) : FloorDiv(i[4], grid.across);
    const PrimExpr tile_across = channels_last ? PrimExpr(i[4]) : FloorMod(i[4], grid.across);
    const PrimExpr y = tile_down * kWinogradStep + row, x = tile_across * kWinogradStep + column;
    return channels_last ? image({i[2], y, x, i[5]}) : image({i[2], i[3], y, x});
  };
  const PrimExpr side = I64(kWinogradTile);
  Array<PrimExpr> result = {side, side, shape[0], shape[channel], grid.down * grid.across};
  if (channels_last) result = {side, side, shape[0], grid.down, grid.across, shape[channel]};
  return te::Compute(result,
                     [&](const Array<tir::Var>& i) {
                       return CombineInput(i[1], [&](int64_t column) {
                         return CombineInput(i[0], [&](int64_t row) { return element(i, row, column); });
                       });
                     },
                     "winograd_input", {{tir::kOpPattern, tir::kNeverFused}});
}

te::Tensor WinogradProduct(const te::Tensor& weights, const te::Tensor& tiles) {
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
  const tir::IterVar c = te::ReduceAxis(shape[5], "c");
  const PrimExpr& length = weights->shape[4];
  return te::Compute(
      {shape[0], shape[1], shape[2], shape[3], shape[4], weights->shape[0] * length},
      [&](const Array<tir::Var>& i) {
        const PrimExpr tile = tiles({i[0], i[1], i[2], i[3], i[4], c->var});
        return te::Sum(tile * weights({FloorDiv(i[5], length), i[0], i[1], c->var, FloorMod(i[5], length)}), {c});
      },
      "winograd_product", {{tir::kSumSteps, StepsOfSum(shape[5])}, {tir::kTransformedTiles, int64_t{1}}});
}

te::Tensor WinogradOutput(const te::Tensor& products, const Array<PrimExpr>& extents, const WinogradGrid& grid) {
  const Array<PrimExpr>& shape = products->shape;
  const bool channels_last = shape.size() == 6;
  const int64_t down = channels_last ? 1 : 2, across = down + 1;
  Array<PrimExpr> result = {shape[2], shape[3], extents[0], extents[1]};
  if (channels_last) result = {shape[2], extents[0], extents[1], extents[2]};
  return te::Compute(result,
                     [&](const Array<tir::Var>& i) {
                       const PrimExpr tile_down = FloorDiv(i[down], kWinogradStep);
                       const PrimExpr tile_across = FloorDiv(i[across], kWinogradStep);
                       return CombineOutput(FloorMod(i[across], kWinogradStep), [&](int64_t column) {
                         return CombineOutput(FloorMod(i[down], kWinogradStep), [&](int64_t row) {
                           if (channels_last)
                             return products({I64(row), I64(column), i[0], tile_down, tile_across, i[3]});
                           return products({I64(row), I64(column), i[0], i[1], tile_down * grid.across + tile_across});
                         });
                       });
                     },
                     "winograd_output", {{tir::kOpPattern, tir::kAcceptsElementwise}});
}

te::Tensor WinogradConv2D(const te::Tensor& data, const te::Tensor& weights, const std::vector<int64_t>& before,
                          const Array<PrimExpr>& extents) {
  const auto tiles = [](const PrimExpr& extent) { return FloorDiv(extent + (kWinogradStep - 1), kWinogradStep); };
  const WinogradGrid grid{tiles(extents[0]), tiles(extents[1])};
  const te::Tensor transformed = WinogradInput(data, before, grid, /*channels_last=*/true);
  return CastBack(WinogradOutput(WinogradProduct(weights, transformed), extents, grid), data.dtype());
}

void WinogradWeights(const char* weights, DataType dtype, int64_t channels, int64_t plane,
                     const std::function<int64_t(int64_t)>& position, float* transformed) {
  // G: g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2. In float64: what is rounded once costs nothing at run time.
  const auto combine = [](int64_t u, double g0, double g1, double g2) {
    if (u == 0) return g0;
    return u == 3 ? g2 : (u == 1 ? g0 + g1 + g2 : g0 - g1 + g2) / 2;
  };
  for (int64_t channel = 0; channel < channels; ++channel) {
    float g[9];
    if (dtype == DataType::Float(32)) {
      std::memcpy(g, weights + channel * static_cast<int64_t>(sizeof g), sizeof g);
    } else {
      for (int64_t i = 0; i < 9; ++i)
        g[i] = static_cast<float>(LoadFloat(weights + (channel * 9 + i) * dtype.bytes(), dtype));
    }
    float* to = transformed + position(channel);
    for (int64_t u = 0; u < kWinogradTile; ++u) {
      double row[3];
      for (int64_t j = 0; j < 3; ++j) row[j] = combine(u, g[j], g[3 + j], g[6 + j]);
      for (int64_t v = 0; v < kWinogradTile; ++v) {
        to[(u * kWinogradTile + v) * plane] = static_cast<float>(combine(v, row[0], row[1], row[2]));
      }
    }
  }
}

}  // namespace deuteron::topi
