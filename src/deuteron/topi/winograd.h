/// \file
/// The two sides of a convolution of 3 × 3 windows with stride 1 as products of transformed tiles: F(2 × 2, 3 × 3) of
/// A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016. A tile of 4 × 4 elements of
/// the image gives 2 × 2 of the result, by 16 products instead of 36.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// Extents of a tile of the image, and of the result.
inline constexpr int64_t kWinogradTile = 4;
inline constexpr int64_t kWinogradStep = 2;

/// Tiles down and across an image.
struct WinogradGrid {
  PrimExpr down;
  PrimExpr across;
};

/// B' d B of each tile d, widened where floats are narrow, of an image (n, c, h, w), as (4, 4, n, c, tiles); of one (n,
/// h, w, c) with `channels_last`, as (4, 4, n, down, across, c). `before`: rows and columns of zeros above and left of
/// the image; beyond it are zeros, too.
te::Tensor WinogradInput(const te::Tensor& data, const std::vector<int64_t>& before, const WinogradGrid& grid,
                         bool channels_last);
/// The products of transformed weights (4, 4, k, c) and tiles (4, 4, n, c, tiles), as (4, 4, n, k, tiles); of weights
/// (panels, 4, 4, c, l) and tiles (4, 4, n, down, across, c) as (4, 4, n, down, across, panels * l). The transform of
/// the result adds what was rounded in nine of them, so that they are summed in shorter parts than others.
te::Tensor WinogradProduct(const te::Tensor& weights, const te::Tensor& tiles);
/// A' m A of each tile m of the products (4, 4, n, k, tiles), as an image (n, k, h, w) of `extents` h, w; of products
/// (4, 4, n, down, across, ≥ k) as an image (n, h, w, k) of `extents` h, w, k.
te::Tensor WinogradOutput(const te::Tensor& products, const Array<PrimExpr>& extents, const WinogradGrid& grid);

/// The convolution of an image (n, h, w, c) by transformed weights (⌈k / l⌉, 4, 4, c, l), as an image (n, h, w, k) of
/// `extents` h, w, k and of the first one's type: the three above, in one function.
te::Tensor WinogradConv2D(const te::Tensor& data, const te::Tensor& weights, const std::vector<int64_t>& before,
                          const Array<PrimExpr>& extents);

/// G g G' of 3 × 3 weights of `dtype`, float32 or narrower, at any address, of so many pairs of channels: the 16
/// numbers of the i-th pair, `plane` from one to the next, the first at `position(i)`.
void WinogradWeights(const char* weights, DataType dtype, int64_t channels, int64_t plane,
                     const std::function<int64_t(int64_t)>& position, float* transformed);

}  // namespace deuteron::topi
