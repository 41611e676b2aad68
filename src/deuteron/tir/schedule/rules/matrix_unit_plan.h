/// \file
/// How a product is cut into tiles for a matrix unit; why, says matrix_unit.cc.
#pragma once

#include <optional>

#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// Axes are given by their position among the block's iterators.
struct UnitPlan {
  size_t row = 0, column = 0, depth = 0;
  int64_t num_rows = 0, num_columns = 0;
  bool rows_divide = true;
  /// Tiles of rows in a block, and of how many lines of pixels, along an axis of their own.
  int64_t block_tiles = 1;
  std::optional<size_t> line;
  int64_t block_lines = 1;
  /// Of what of the sum B's panel fits the first cache, along the axis `depth`; 0: of all.
  int64_t part_depth = 0;
  /// Whether panels are read whole, a step of the axis `depth` with all of the window after the other.
  bool streams_panels = false;
  /// Whether what a block of rows reads is copied where the block begins, for all panels.
  bool packs_blocks = false;
  /// Panels of B that a tile of rows passes by before the epilogue runs.
  int64_t panels = 1;
  /// The block that makes the parts of B which are multiplied (kPartsOfWeight), and the axis along which their products
  /// are; empty: B is multiplied as it lies.
  Block parts;
  std::optional<size_t> products;
  /// Rows of a panel of B, all parts of it together.
  int64_t panel_rows = 0;
  bool threads_keep_rows = false;
  bool asks_for_panels = true;
  /// Sums without an epilogue are stored by the unit itself: nothing waits for lines of their rows.
  bool stores_sums = false;
};

/// Nothing if the target has no unit for what is multiplied, or the operands do not lie as it reads them.
std::optional<UnitPlan> PlanUnit(const Schedule& schedule, const Block& anchor, const Target& target);

/// Whether an axis of the sum moves the window: it is added to one of the image.
bool IsOfWindow(const SBlock& block, const MatmulRoles& roles, size_t axis);

}  // namespace deuteron::tir
