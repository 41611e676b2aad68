/// \file
/// The loops of a contraction once they are cut into tiles.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {

/// The loops of a block in tiles, outermost first.
struct ContractionNest {
  /// Batches, blocks of rows, panels of vectors.
  std::vector<Loop> outer;
  /// Panels that share a copy of A.
  std::optional<Loop> panels;
  /// Parts of the sum.
  std::optional<Loop> part;
  /// Tiles of rows, and other axes that share a panel.
  std::vector<Loop> rows;
  /// The one of them that ends early in the last block of rows.
  std::optional<Loop> uneven;
  /// Parts of the sum within a tile.
  std::optional<Loop> sums;
  std::vector<Loop> reduce;
  /// Within a tile; the last two are its vectors and their lanes.
  std::vector<Loop> tile;

  /// The innermost loop around a tile and its reduction.
  Loop TileLoop() const { return !rows.empty() ? rows.back() : part.value_or(PanelLoop()); }
  /// The innermost loop around a panel.
  Loop PanelLoop() const { return panels.value_or(outer.back()); }
};

/// Cuts the loops of `plan.anchor` as the plan says, and orders them.
ContractionNest CutLoops(Schedule* schedule, const ContractionPlan& plan);

/// Does all that the plan says: see contraction_tile.cc.
void TileContraction(Schedule* schedule, ContractionPlan plan, const Target& target);

}  // namespace deuteron::tir
