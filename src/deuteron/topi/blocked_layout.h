/// \file
/// Layouts of channels in blocks, as text: "NCHW16c" is (N, C / 16, H, W, C % 16).
#pragma once

#include <string>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::topi {

/// One axis of a layout.
struct LayoutAxis {
  /// In upper case.
  char letter;
  /// 0: the quotient by the blocks of the letter; else the position in a block of that length.
  int64_t block = 0;
  friend bool operator==(const LayoutAxis&, const LayoutAxis&) = default;
};
using LayoutAxes = std::vector<LayoutAxis>;

/// The axes of a well-formed layout, first to last.
LayoutAxes ParseAxes(const std::string& layout);
/// The product of the blocks of `letter`.
int64_t BlockFactor(const LayoutAxes& axes, char letter);
/// The length along `letter` of a tensor of shape `shape`, blocks included.
PrimExpr LengthAlong(const Array<PrimExpr>& shape, const LayoutAxes& axes, char letter);
/// The position along `letter` of the element at `indices`.
PrimExpr PositionAlong(const Array<PrimExpr>& indices, const LayoutAxes& axes, char letter);
/// The indices of the element at `position(letter)` along each letter, simplified by `analyzer`.
template <typename Position>
Array<PrimExpr> IndicesIn(const LayoutAxes& axes, const Position& position, arith::Analyzer* analyzer) {
  Array<PrimExpr> indices;
  for (size_t i = 0; i < axes.size(); ++i) {
    // Blocks of a letter stand from outer to inner.
    int64_t inner = 1;
    for (size_t j = i + 1; j < axes.size(); ++j) {
      if (axes[j].letter == axes[i].letter && axes[j].block != 0) inner *= axes[j].block;
    }
    if (axes[i].block == 0) inner = BlockFactor(axes, axes[i].letter);
    PrimExpr index = position(axes[i].letter);
    if (inner != 1) index = FloorDiv(index, inner);
    if (axes[i].block != 0) index = FloorMod(index, axes[i].block);
    indices.push_back(inner == 1 && axes[i].block == 0 ? index : analyzer->Simplify(index));
  }
  return indices;
}

}  // namespace deuteron::topi
