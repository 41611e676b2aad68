#include "deuteron/tir/schedule/rules/row_blocks.h"

#include <algorithm>

#include "deuteron/tir/analysis/cost.h"

namespace deuteron::tir {
namespace {

/// A length of parts, at most `most`: one that divides the extent if it makes few parts more than are needed, else the
/// last part is shorter.
int64_t EvenLength(int64_t extent, int64_t most) {
  const int64_t divisor = LargestDivisor(extent, most);
  if (2 * divisor >= most) return divisor;
  const int64_t parts = (extent + most - 1) / most;
  return (extent + parts - 1) / parts;
}

/// Panels, each of which passes by all tiles of rows, and threads that share out the pieces.
struct SharedPanels {
  int64_t panels = 1;
  int64_t threads = 1;
  /// Whether the blocks of a panel follow each other, or the panels of a block.
  bool blocks_are_inner = false;

  /// Tiles of the thread that has most, in blocks of `length` of `extent` tiles.
  int64_t MostTiles(int64_t extent, int64_t length) const {
    const int64_t blocks = (extent + length - 1) / length, pieces = panels * blocks;
    const int64_t missing = blocks * length - extent;  // of the last block
    int64_t most = 0;
    for (int64_t thread = 0; thread < threads; ++thread) {
      const int64_t begin = pieces * thread / threads, end = pieces * (thread + 1) / threads;
      const int64_t others = pieces - panels;
      const int64_t last =
          blocks_are_inner ? end / blocks - begin / blocks : std::max(end, others) - std::max(begin, others);
      most = std::max(most, (end - begin) * length - last * missing);
    }
    return most;
  }
};

/// The time until the last thread is done must be this much shorter for shorter blocks to be made.
constexpr double kLeastGainOfBalance = 1.05;

/// A length of blocks, at most `length`, of which threads have about as many each: of five panels two threads would
/// take two and three.
int64_t BalancedLength(int64_t extent, int64_t length, const SharedPanels& shared) {
  const auto most_tiles = [&](int64_t rows) { return static_cast<double>(shared.MostTiles(extent, rows)); };
  const double mean = static_cast<double>(extent * shared.panels) / static_cast<double>(shared.threads);
  const int64_t fewest = (extent + length - 1) / length;
  int64_t best = length;
  double least = most_tiles(length);
  for (int64_t blocks = fewest + 1; blocks <= std::min(extent, fewest * shared.threads); ++blocks) {
    if (least <= kLeastGainOfBalance * mean) break;  // nothing is left to gain
    const int64_t shorter = (extent + blocks - 1) / blocks;
    const double most = most_tiles(shorter);
    if (most * kLeastGainOfBalance >= least) continue;
    best = shorter;
    least = most;
  }
  return best;
}

/// Of rows whose number the run tells so many tiles are a piece of work where all of B stays beside it: few, since
/// there may be few rows.
constexpr int64_t kTilesOfOpenPiece = 2;

/// The same where threads have few panels, and not as many each.
constexpr int64_t kTilesOfUnevenPiece = 4;
constexpr int64_t kFewPanelsOfThread = 4;

bool HasUnevenPanels(const ContractionPlan& plan) {
  const int64_t panels = plan.vector_extent / (plan.num_vectors * plan.lanes);
  return panels % plan.pieces != 0 && panels < kFewPanelsOfThread * plan.pieces;
}

/// The same of tiles whose number the run tells, in the loop at `loop`.
RowBlock BlockOfOpenRows(const ContractionPlan& plan, size_t loop) {
  if (plan.b_stays && plan.pieces == 1) return {};
  const int64_t fitting = plan.a_budget / (plan.num_rows * plan.row_bytes);
  int64_t most = std::clamp<int64_t>(fitting, 1, kMostTilesOfOpenBlock);
  if (HasUnevenPanels(plan)) most = std::min(most, kTilesOfUnevenPiece);
  const bool is_piece = plan.b_stays && !plan.RowsAreSerial();
  return {.loop = loop, .length = is_piece ? std::min(most, kTilesOfOpenPiece) : most};
}

/// The same within a batch whose size the run tells, which may be of one: only where there would be too few pieces. All
/// of the batch passes by a panel.
RowBlock BlockWithinOpenBatch(const Schedule& schedule, const ContractionPlan& plan, const std::vector<Loop>& rows) {
  if (rows.size() != 2 || schedule.ConstExtent(rows[1]) || !HasUnevenPanels(plan)) return {};
  RowBlock block = BlockOfOpenRows(plan, 1);
  block.is_within_batch = true;
  return block;
}

}  // namespace

RowBlock BlockOfRows(const Schedule& schedule, const ContractionPlan& plan, const std::vector<Loop>& outer,
                     const std::vector<Loop>& rows) {
  RowBlock block;
  // Of the part of the rows that is cut into these tiles.
  int64_t bytes = plan.a_bytes / plan.row_parts, outside = 1;
  // A single panel passes by all rows once.
  const bool is_single = plan.vector_extent <= plan.num_vectors * plan.lanes;
  const int64_t budget = is_single ? INT64_MAX : plan.a_budget;
  for (; block.loop + 1 < rows.size(); ++block.loop) {
    const auto extent = schedule.ConstExtent(rows[block.loop]);
    if (extent && *extent != 1 && bytes / *extent <= budget) break;
    if (!extent) return BlockWithinOpenBatch(schedule, plan, rows);
    bytes /= *extent;
    outside *= *extent;
  }
  if (rows.empty()) return {};
  const auto extent = schedule.ConstExtent(rows[block.loop]);
  if (!extent) return BlockOfOpenRows(plan, block.loop);
  // The partial tile is the last of all, in a loop of its own.
  const bool is_tile_loop = block.loop + 1 == rows.size() && !plan.rows_divide;
  int64_t most = *extent;
  if (bytes > budget && (plan.RowsAreSerial() || !is_tile_loop)) most = std::min(most, *extent * budget / bytes);
  if (plan.shares_rows && plan.row_parts == 1 && rows.size() > 1)
    most = std::min(most, std::max<int64_t>(*extent * outside / plan.pieces, 1));
  int64_t length = EvenLength(*extent, most);
  if (plan.RowsAreSerial() || is_tile_loop) {
    int64_t panels = outside * plan.vector_extent / (plan.num_vectors * plan.lanes);
    panels /= std::max<int64_t>(plan.copied_for, 1);
    for (const Loop& loop : outer) panels *= schedule.ConstExtent(loop).value_or(kUnknownExtent);
    block.is_within_panel = length == *extent && plan.copied_for == 0;
    length = BalancedLength(*extent, length, {panels, plan.pieces, block.is_within_panel});
  }
  if (length != *extent) block.length = length;
  return block;
}

}  // namespace deuteron::tir
