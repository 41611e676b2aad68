/// \file
/// The two sides of a convolution of 3 × 3 windows with stride 1 as products of transformed tiles: F(2 × 2, 3 × 3) of
/// A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016. A tile of 4 × 4 elements of
/// the image gives 2 × 2 of the result, by 16 products instead of 36.
///
/// Elements of int32 are pairs of int16 (Packing "i16x2"), which stand for two channels: transformed weights are four
/// times those of floats, whole numbers then, and the result is divided by four, which leaves no rest. Sums are exact
/// while tiles fit 16 bits, and what is added up of them 32.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "deuteron/te/tensor.h"
#include "deuteron/tir/winograd_tiles.h"

namespace deuteron::topi {

/// Extents of a tile of the image, and of the result.
inline constexpr int64_t kWinogradTile = 4;
inline constexpr int64_t kWinogradStep = tir::kWinogradStep;

/// Tiles down and across an image, and how far apart a window's rows and columns are (tir/winograd_tiles.h).
struct WinogradGrid {
  PrimExpr down;
  PrimExpr across;
  int64_t row_dilation = 1;
  int64_t column_dilation = 1;
};

/// B' d B of each tile d, widened where floats are narrow, of an image (n, c, h, w), as (4, 4, n, c, tiles); of one (n,
/// h, w, c) with `channels_last`, as (4, 4, n, down, across, c); of one (n, d, h, w, c), whose windows are so many
/// `slices` deep, as (4, 4, n, slices that windows see, down, across, c). `before`: slices, rows and columns of zeros
/// before the image; beyond it are zeros, too.
te::Tensor WinogradInput(const te::Tensor& data, const std::vector<int64_t>& before, const WinogradGrid& grid,
                         bool channels_last, const PrimExpr& slices = PrimExpr());
/// The products of transformed weights (4, 4, k, c) and tiles (4, 4, n, c, tiles), as (4, 4, n, k, tiles); of weights
/// (panels, 4, 4, c, l) and tiles (4, 4, n, down, across, c) as (4, 4, n, down, across, panels * l); of weights
/// (panels, 4, 4, t, c, l) and tiles (4, 4, n, d + t - 1, down, across, c) as (4, 4, n, d, down, across, panels * l).
/// The transform of the result adds what was rounded in nine of them, so that they are summed in shorter parts than
/// others.
te::Tensor WinogradProduct(const te::Tensor& weights, const te::Tensor& tiles, const WinogradGrid& grid);
/// A' m A of each tile m of the products (4, 4, n, k, tiles), as an image (n, k, h, w) of `extents` h, w; of products
/// (4, 4, n, down, across, ≥ k) as an image (n, h, w, k) of `extents` h, w, k; of products with slices as an image
/// (n, d, h, w, k).
te::Tensor WinogradOutput(const te::Tensor& products, const Array<PrimExpr>& extents, const WinogradGrid& grid);

/// The convolution of an image (n, h, w, c) by transformed weights (⌈k / l⌉, 4, 4, c, l), as an image (n, h, w, k) of
/// `extents` h, w, k and of the first one's type: the three above, in one function. The same of an image (n, d, h, w,
/// c) by weights (⌈k / l⌉, 4, 4, t, c, l), the sum over the t slices that a window is deep.
te::Tensor WinogradConv(const te::Tensor& data, const te::Tensor& weights, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& dilation, const Array<PrimExpr>& extents);

/// G g G' of 3 × 3 weights of `dtype`, float32 or narrower, at any address, of so many pairs of channels: the 16
/// numbers of the i-th pair, `plane` from one to the next, the first at `position(i)`.
void WinogradWeights(const char* weights, DataType dtype, int64_t channels, int64_t plane,
                     const std::function<int64_t(int64_t)>& position, float* transformed);
/// 4 G g G' of one 3 × 3 window of integers, by rows.
std::array<int32_t, 16> WinogradIntegers(const std::array<int32_t, 9>& weights);

}  // namespace deuteron::topi
