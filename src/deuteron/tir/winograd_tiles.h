/// \file
/// Where tiles of 2 × 2 elements of a convolution's result lie (topi/winograd.h), for those who compute and those who
/// schedule them.
///
/// The rows of a tile are as far apart as a window's. With a dilation of d the first d tiles begin in rows 0 to d - 1,
/// and the next ones 2 d rows below these; so do columns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {

inline constexpr int64_t kWinogradStep = 2;

/// How many tiles cover so many rows or columns of the result.
inline int64_t WinogradTilesOf(int64_t extent, int64_t dilation) {
  const int64_t step = dilation * kWinogradStep;
  return extent / step * dilation + std::min(extent % step, dilation);
}
inline PrimExpr WinogradTilesOf(const PrimExpr& extent, int64_t dilation) {
  if (const auto known = AsConstInt(extent)) return I64(WinogradTilesOf(*known, dilation));
  if (dilation == 1) return FloorDiv(extent + I64(kWinogradStep - 1), I64(kWinogradStep));
  const PrimExpr step = I64(dilation * kWinogradStep);
  return FloorDiv(extent, step) * I64(dilation) + Min(FloorMod(extent, step), I64(dilation));
}

/// The first row or column of the result that a tile gives; its second one is `dilation` behind it.
inline PrimExpr FirstOfWinogradTile(const PrimExpr& tile, int64_t dilation) {
  if (dilation == 1) return tile * I64(kWinogradStep);
  return FloorDiv(tile, I64(dilation)) * I64(dilation * kWinogradStep) + FloorMod(tile, I64(dilation));
}

/// The tile that gives a row or column of the result, and which one of the tile's it is.
inline PrimExpr WinogradTileOf(const PrimExpr& at, int64_t dilation) {
  if (dilation == 1) return FloorDiv(at, I64(kWinogradStep));
  return FloorDiv(at, I64(dilation * kWinogradStep)) * I64(dilation) + FloorMod(at, I64(dilation));
}
inline PrimExpr PlaceInWinogradTile(const PrimExpr& at, int64_t dilation) {
  return FloorMod(dilation == 1 ? at : FloorDiv(at, I64(dilation)), I64(kWinogradStep));
}

}  // namespace deuteron::tir
