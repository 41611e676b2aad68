/// \file
/// Blocks of the rows that pass by the panels of a product: for the caches, and for threads.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {

/// Where a block of rows begins: the loops of rows before `loop` are outside of it, and of that loop `length`
/// iterations within, or all. Each panel passes by a block, or all blocks pass by a panel.
struct RowBlock {
  size_t loop = 0;
  std::optional<int64_t> length;
  bool is_within_panel = false;
  /// Whether the loops over rows before `loop` stay within a panel, rather than around all of them.
  bool is_within_batch = false;
};

/// The block that uses as much of A as fits its share of the cache and, if threads share blocks only, leaves work for
/// each of them. `outer` are the loops around, without that of the panels.
RowBlock BlockOfRows(const Schedule& schedule, const ContractionPlan& plan, const std::vector<Loop>& outer,
                     const std::vector<Loop>& rows);

}  // namespace deuteron::tir
