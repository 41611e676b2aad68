#include "deuteron/topi/winograd.h"

#include <functional>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::topi {
namespace {

/// With parts of so many channels the error is about that of the direct sum.
constexpr int64_t kStepsOfSum = 64;

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

te::Tensor WinogradInput(const te::Tensor& data, const std::vector<int64_t>& before, const WinogradGrid& grid) {
  const Array<PrimExpr>& shape = data->shape;
  constexpr int64_t kOverlap = kWinogradTile - kWinogradStep;
  const te::Tensor image = ComputeAx(
      {shape[0], shape[1], I64(grid.down * kWinogradStep + kOverlap), I64(grid.across * kWinogradStep + kOverlap)},
      "pad", [&](const Array<tir::Var>& i) {
        const PrimExpr y = i[2] - before[0], x = i[3] - before[1];
        const PrimExpr inside = y >= 0 && y < shape[2] && x >= 0 && x < shape[3];
        return IfThenElse(inside, data({i[0], i[1], y, x}), MakeConst(data->dtype, int64_t{0}));
      });
  const auto element = [&](const Array<tir::Var>& i, int64_t row, int64_t column) {
    return image({i[2], i[3], FloorDiv(i[4], grid.across) * kWinogradStep + row,
                  FloorMod(i[4], grid.across) * kWinogradStep + column});
  };
  const PrimExpr side = I64(kWinogradTile);
  return te::Compute({side, side, shape[0], shape[1], I64(grid.down * grid.across)},
                     [&](const Array<tir::Var>& i) {
                       return CombineInput(i[1], [&](int64_t column) {
                         return CombineInput(i[0], [&](int64_t row) { return element(i, row, column); });
                       });
                     },
                     "winograd_input", {{tir::kOpPattern, tir::kNeverFused}});
}

te::Tensor WinogradProduct(const te::Tensor& weights, const te::Tensor& tiles) {
  const Array<PrimExpr>& shape = tiles->shape;
  const tir::IterVar c = te::ReduceAxis(shape[3], "c");
  return te::Compute(
      {shape[0], shape[1], shape[2], weights->shape[2], shape[4]},
      [&](const Array<tir::Var>& i) {
        return te::Sum(weights({i[0], i[1], i[3], c->var}) * tiles({i[0], i[1], i[2], c->var, i[4]}), {c});
      },
      "winograd_product", {{tir::kSumSteps, kStepsOfSum}});
}

te::Tensor WinogradOutput(const te::Tensor& products, const Array<PrimExpr>& out_spatial, const WinogradGrid& grid) {
  return te::Compute({products->shape[2], products->shape[3], out_spatial[0], out_spatial[1]},
                     [&](const Array<tir::Var>& i) {
                       const PrimExpr tile =
                           FloorDiv(i[2], kWinogradStep) * grid.across + FloorDiv(i[3], kWinogradStep);
                       return CombineOutput(FloorMod(i[3], kWinogradStep), [&](int64_t column) {
                         return CombineOutput(FloorMod(i[2], kWinogradStep), [&](int64_t row) {
                           return products({I64(row), I64(column), i[0], i[1], tile});
                         });
                       });
                     },
                     "winograd_output", {{tir::kOpPattern, tir::kAcceptsElementwise}});
}

void WinogradWeights(const float* weights, int64_t channels, float* transformed) {
  // G: g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2. In float64: what is rounded once costs nothing at run time.
  const auto combine = [](int64_t u, double g0, double g1, double g2) {
    if (u == 0) return g0;
    return u == 3 ? g2 : (u == 1 ? g0 + g1 + g2 : g0 - g1 + g2) / 2;
  };
  for (int64_t channel = 0; channel < channels; ++channel) {
    const float* g = weights + channel * 9;
    for (int64_t u = 0; u < kWinogradTile; ++u) {
      double row[3];
      for (int64_t j = 0; j < 3; ++j) row[j] = combine(u, g[j], g[3 + j], g[6 + j]);
      for (int64_t v = 0; v < kWinogradTile; ++v) {
        transformed[(u * kWinogradTile + v) * channels + channel] =
            static_cast<float>(combine(v, row[0], row[1], row[2]));
      }
    }
  }
}

}  // namespace deuteron::topi
