/// \file
/// Tiles come from enumeration: each that the registers hold is scored by the cycles that its steps take on the target
/// (`CostModel::CyclesOfTileStep`).
#include "deuteron/tir/schedule/rules/contraction_plan.h"

#include <algorithm>
#include <limits>

#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// The most rows of A that a tile may read side by side, each a stream of scalars: rows that are a multiple of the
/// first cache's ways apart share its sets, and drive each other out where there are more than two thirds of the ways.
/// The rest is enough for B, of which a line falls into such a set in some ten steps.
int64_t MostStreams(const BufferLoad& a, const IterVar& row, const Target& target) {
  for (size_t dim = 0; dim < a->indices.size(); ++dim) {
    if (!a->indices[static_cast<int64_t>(dim)].same_as(row->var)) continue;
    const auto stride = ConstStride(a->buffer, dim);
    if (!stride) return INT64_MAX;
    const int64_t places = CostModel(target.machine).Places(target.machine.l1, *stride * a->buffer->dtype.bytes());
    return std::max<int64_t>(places * 2 / 3, 1);
  }
  return INT64_MAX;
}

/// Whether the rows of A can be copied a whole vector of a row after the other: they are one dimension of it, and what
/// is summed over, in whole vectors, is the last.
bool MayCopyRows(const SBlock& block, const MatmulRoles& roles, const BufferLoad& a, const IterVar& row,
                 const Target& target) {
  if (roles.k.size() != 1) return false;
  const IterVar& depth = block->iter_vars[roles.k[0]];
  const auto extent = AsConstInt(depth->dom->extent);
  return extent && *extent % Lanes(target) == 0 && a->indices.back().same_as(depth->var) && IsPlain(a) &&
         std::any_of(a->indices.begin(), a->indices.end(),
                     [&](const PrimExpr& index) { return index.same_as(row->var); });
}

/// Products of a batch, and rows beside those of an axis.
int64_t OthersThan(const SBlock& block, size_t row, const ContractionPlan& plan) {
  int64_t others = 1;
  for (size_t i = 0; i < plan.vector; ++i) {
    const IterVar& axis = block->iter_vars[i];
    if (i != row && axis->type == IterVarType::kSpatial) others *= AssumedExtent(axis->dom->extent);
  }
  return others;
}

/// Panels of so many columns that share a copy of A and leave so many pieces of work.
int64_t SharersOfCopy(const SBlock& block, size_t row, int64_t columns, const ContractionPlan& plan, int64_t pieces) {
  const int64_t panels = plan.vector_extent / columns;
  return LargestDivisor(panels, std::max<int64_t>(panels * OthersThan(block, row, plan) / pieces, 1));
}

/// Rows of A that are widened: by all threads, for all, in which case each gets most from others, at so many cycles for
/// a step of a vector of a row; or in copies that so many panels share (0: in none), by the thread that reads them.
struct WidenedRows {
  double cycles = 0;
  int64_t sharers = 0;
  double cycles_of_copy = 0;
};

/// The same of tiles of so many rows and vectors; `cycles` are those of their steps.
WidenedRows WidenRows(const SBlock& block, size_t row, const CostModel::TileRows& tile, int64_t vectors,
                      const ContractionPlan& plan, const Target& target) {
  const Machine& machine = target.machine;
  // Each thread has its own rows, or few sums wait for each other, which a copy does not let be cut (CutSums).
  if (machine.threads == 1 || plan.shares_rows || tile.rows * vectors <= machine.latency * machine.vector_pipes)
    return {};
  const CostModel costs(machine);
  const auto threads = static_cast<double>(machine.threads);
  constexpr int64_t kBytes = sizeof(float);
  const double widening = costs.CyclesToWiden() / static_cast<double>(plan.lanes) + costs.CyclesOfCopy(kBytes) / 2;
  const double exchange = costs.CyclesOfExchange(kBytes * (threads - 1) / threads);
  const int64_t all_vectors = plan.vector_extent / plan.lanes;
  const int64_t columns = vectors * plan.lanes, others = OthersThan(block, row, plan);
  const double cycles = (widening / threads + exchange) * threads / static_cast<double>(all_vectors);
  const int64_t sharers = SharersOfCopy(block, row, columns, plan, machine.threads);
  if (sharers == 1) return {.cycles = cycles};  // what each tile may as well do
  // Of fewer pieces of work some threads may have more than others.
  const auto rounds = [&](int64_t pieces) { return (pieces + machine.threads - 1) / machine.threads; };
  const int64_t panels = plan.vector_extent / columns * others;
  const double balance = static_cast<double>(rounds(panels / sharers) * sharers) / static_cast<double>(rounds(panels));
  return {.cycles = cycles,
          .sharers = sharers,
          .cycles_of_copy = (balance - 1) * tile.cycles + widening / static_cast<double>(sharers * vectors)};
}

/// A part of the rows has so many that the partial tile at its end does not count.
constexpr int64_t kFewestRowsOfPart = 24;

/// Parts of the row axis for threads to share out, of equal length; 1 where other rows serve for that.
int64_t PartsOfRows(const SBlock& block, const std::vector<size_t>& row_axes, size_t row, const ContractionPlan& plan,
                    const Target& target) {
  const auto extent = AsConstInt(block->iter_vars[row]->dom->extent);
  if (!plan.shares_rows || !extent) return 1;
  // A batch whose size the run tells may be of one.
  int64_t others = 1;
  for (const size_t axis : row_axes) {
    others *= axis == row ? 1 : AsConstInt(block->iter_vars[axis]->dom->extent).value_or(1);
  }
  const int64_t threads = target.machine.threads;
  if (others >= threads) return 1;
  for (int64_t parts = threads; parts <= *extent / kFewestRowsOfPart; ++parts) {
    if (*extent % parts == 0) return parts;
  }
  return 1;
}

/// The last tile of rows whose number the run tells lacks some, and its others take longer: tiles of half the rows are
/// taken unless theirs take this much longer, too.
constexpr double kMostCyclesOfHalf = 1.03;

/// A tile of the rows that are left is compiled besides the others: tiles that leave none are taken if they take no
/// more than this time, have this part of the rows at least (of which the model does not see all that it is worth), and
/// do not wait for what they load. Rows that are stored along a line are as many as can be, as each store takes as
/// long.
constexpr double kLeastRowsOfWhole = 6.0 / 7;
constexpr double kMostCyclesOfWhole = 1.018;

/// Instructions of a vector of a tile: what sets its sum to 0, adds to it, and a few that follow.
constexpr double kInstructionsOfSum = 4;

/// Of rows that few calls compute, how many a tile has so that these and its code take the least time: those that
/// divide all, or `best`, with a tile for the rest. A call has `steps` steps of sums of a vector.
int64_t RowsOfFewCalls(const CostModel::TileRows& best, int64_t extent, int64_t vectors, double steps,
                       const CostModel& costs) {
  const auto to_make = [&](int64_t rows) {
    return costs.CyclesToMake(static_cast<double>(rows * vectors) * kInstructionsOfSum);
  };
  int64_t chosen = best.rows;
  double least = best.cycles * steps + to_make(best.rows + extent % best.rows);
  for (int64_t rows = 1; rows <= best.rows; ++rows) {
    if (extent % rows != 0) continue;
    const double cycles =
        costs.CyclesOfTileStep(rows, vectors) / static_cast<double>(rows * vectors) * steps + to_make(rows);
    if (cycles >= least) continue;
    least = cycles;
    chosen = rows;
  }
  return chosen;
}

/// A copy of A must make a tile's steps this much faster, so as not to be made for what the model cannot tell.
constexpr double kLeastGainOfCopy = 1.1;

/// Chooses rows and vectors by the cycles of their steps. Of B in blocks of `channels` a tile has a whole block if it
/// can: its panel is one run of memory then.
void ChooseTile(const SBlock& block, const MatmulRoles& roles, const BufferLoad& a, const std::vector<size_t>& row_axes,
                std::optional<int64_t> channels, bool is_widened, const Target& target, ContractionPlan* plan) {
  const CostModel costs(target.machine);
  const int64_t budget = costs.Accumulators();
  const auto extent_of = [&](size_t position) { return AsConstInt(block->iter_vars[position]->dom->extent); };
  // The panel of B that a tile reads, all of the reduction deep, stays in the second cache while the rows pass by; if
  // one tile has all rows, B is read once, and best in long pieces, some for each thread.
  int64_t depth = 1, num_rows = 1;
  for (const size_t axis : roles.k) depth *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  for (const size_t axis : row_axes) num_rows *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  const int64_t all_rows = num_rows * plan->vector_extent / plan->lanes;
  const double all_steps = static_cast<double>(depth) * static_cast<double>(all_rows);
  depth = std::min(depth, kMostDepth);  // of more, a part at a time
  const int64_t all_vectors = channels.value_or(plan->panel_length.value_or(plan->vector_extent)) / plan->lanes;
  const int64_t panel = std::max<int64_t>(costs.PanelBytes() / (depth * target.machine.vector_bits / 8), 1);
  const int64_t piece = std::max<int64_t>(all_vectors / target.machine.threads, 1);
  double least = 0;
  const auto consider = [&](std::optional<size_t> row, int64_t vectors, const CostModel::TileRows& choice,
                            double cycles, int64_t copied_for, bool widens_copy = false) {
    if (least != 0 && cycles >= least) return;
    least = cycles;
    plan->row = row;
    plan->num_rows = choice.rows;
    plan->num_vectors = vectors;
    plan->row_parts = row ? PartsOfRows(block, row_axes, *row, *plan, target) : 1;
    plan->rows_divide = !row || extent_of(*row).value_or(1) / plan->row_parts % choice.rows == 0;
    plan->copied_for = copied_for;
    plan->widens_copy = widens_copy;
  };
  // A partial tile at the end of one group's channels would reach into the next group's: there rows divide.
  const Array<PrimExpr> output = GetReductionUpdate(block)->indices;
  const auto last = LastIndexIter(block, output);
  const bool writes_vectors = last && last->iter == plan->vector;
  const auto choose_rows = [&](size_t axis, int64_t most, int64_t vectors) -> CostModel::TileRows {
    const bool is_plain = std::any_of(output.begin(), output.end(), [&](const PrimExpr& index) {
      return index.same_as(block->iter_vars[axis]->var);
    });
    if (is_plain) {
      auto extent = extent_of(axis);
      if (extent) *extent /= PartsOfRows(block, row_axes, axis, *plan, target);
      // Of a line whose length the run tells a tile has no more than an image may have there.
      const int64_t all = AssumedExtent(block->iter_vars[axis]->dom->extent, kUnknownSide);
      const CostModel::TileRows best = costs.BestTileRows(extent, std::min(most, std::max<int64_t>(all, 1)), vectors);
      if (extent && writes_vectors) {
        const CostModel::TileRows whole = costs.BestWholeTileRows(*extent, most, vectors);
        const bool is_fast = !costs.WaitsForLoads(whole.rows, vectors) &&
                             static_cast<double>(whole.rows) >= kLeastRowsOfWhole * static_cast<double>(best.rows) &&
                             whole.cycles <= kMostCyclesOfWhole * best.cycles;
        const int64_t rows = is_fast ? whole.rows : best.rows;
        if (costs.machine().expected_calls == 0) return {rows, best.cycles};
        return {RowsOfFewCalls(best, *extent, vectors, all_steps, costs), best.cycles};
      }
      if (extent || best.rows == 1) return best;
      const CostModel::TileRows half = costs.BestTileRows(extent, best.rows / 2, vectors);
      return half.cycles <= kMostCyclesOfHalf * best.cycles ? half : best;
    }
    const int64_t rows = LargestDivisor(extent_of(axis).value_or(1), most);
    return {rows, costs.CyclesOfTileStep(rows, vectors) / static_cast<double>(rows * vectors)};
  };
  // Of an axis whose length the run tells a tile may find little: of a batch, one. Of several such, the last is rows.
  const bool has_known_rows = std::any_of(row_axes.begin(), row_axes.end(),
                                          [&](size_t axis) { return extent_of(axis).value_or(0) >= kFewestLanes; });
  const auto last_open =
      std::find_if(row_axes.rbegin(), row_axes.rend(), [&](size_t axis) { return !extent_of(axis); });
  for (int64_t vectors = std::min(all_vectors, budget); vectors >= 1; --vectors) {
    if (all_vectors % vectors != 0) continue;
    const int64_t most = std::max<int64_t>(costs.MostRows(vectors), 1);
    if (vectors > (num_rows <= most ? std::max(panel, piece) : panel) && vectors > 1) continue;
    if (row_axes.empty()) {
      const CostModel::TileRows none{1, costs.CyclesOfTileStep(1, vectors)};
      consider(std::nullopt, vectors, none, none.cycles, 0);
    }
    for (auto axis = row_axes.rbegin(); axis != row_axes.rend(); ++axis) {
      const IterVar& row = block->iter_vars[*axis];
      if (!extent_of(*axis) && (has_known_rows || axis != last_open)) continue;
      const int64_t streams = MostStreams(a, row, target);
      const bool may_copy = MayCopyRows(block, roles, a, row, target);
      const CostModel::TileRows tile = choose_rows(*axis, std::min(most, streams), vectors);
      const WidenedRows widened =
          is_widened && may_copy ? WidenRows(block, *axis, tile, vectors, *plan, target) : WidenedRows();
      consider(*axis, vectors, tile, tile.cycles + widened.cycles, 0);
      if (widened.sharers > 0)
        consider(*axis, vectors, tile, tile.cycles + widened.cycles_of_copy, widened.sharers, /*widens_copy=*/true);
      if (streams >= most || !may_copy) continue;
      const int64_t sharers = SharersOfCopy(block, *axis, vectors * plan->lanes, *plan, costs.EnoughPieces());
      const double copying = costs.CyclesOfCopy(a->buffer->dtype.bytes()) / static_cast<double>(sharers * vectors);
      const CostModel::TileRows copied = choose_rows(*axis, most, vectors);
      consider(*axis, vectors, copied, kLeastGainOfCopy * (copied.cycles + copying), sharers);
    }
    if (channels) break;
  }
}

/// Of an operand, at least so many bytes that one product of a batch reads: dimensions that the run tells may be of one
/// element.
int64_t LeastBytesOfProduct(const SBlock& block, const MatmulRoles& roles, const BufferLoad& operand) {
  int64_t bytes = operand->buffer->dtype.bytes();
  for (const PrimExpr& extent : operand->buffer->shape) bytes *= AsConstInt(extent).value_or(1);
  for (const size_t axis : roles.batch) bytes /= AsConstInt(block->iter_vars[axis]->dom->extent).value_or(1);
  return bytes;
}

/// The same; 0 where that is not known.
int64_t BytesOfProduct(const SBlock& block, const MatmulRoles& roles, const BufferLoad& operand) {
  return AsConstInts(operand->buffer->shape) ? LeastBytesOfProduct(block, roles, operand) : 0;
}

/// Bytes of an operand along the dimensions that only what is summed over runs through: those of one row, or pixel.
int64_t BytesOfRow(const SBlock& block, const BufferLoad& operand) {
  int64_t bytes = operand->buffer->dtype.bytes();
  for (int64_t dim = 0; dim < std::ssize(operand->indices); ++dim) {
    const bool is_spatial = UsesVar(operand->indices[dim], [&](const VarNode* var) {
      return std::any_of(block->iter_vars.begin(), block->iter_vars.end(), [&](const IterVar& iter) {
        return iter->type == IterVarType::kSpatial && iter->var.get() == var;
      });
    });
    if (!is_spatial) bytes *= AssumedExtent(operand->buffer->shape[dim]);
  }
  return bytes;
}

/// More rows must take this much less time to pass by each panel than blocks that stay beside one, which is what is
/// rather done.
constexpr double kLeastGainOfMoreRows = 2;

/// Bytes of the rows of A that pass by a panel of B before the next: a block that stays in the second cache beside it,
/// unless rows from a cache further out pass by sooner, since there are fewer blocks then, each of which reads all of
/// B. A block has whole tiles of the `rows` that A has.
int64_t BytesOfPassingRows(int64_t a_bytes, int64_t b_bytes, int64_t rows, const ContractionPlan& plan,
                           const Target& target) {
  // What dequantises a panel, or fills one that lies in the first cache, reads it again for each block: these may take
  // the rest of the second.
  const int64_t beside = plan.DequantizesPanels() || plan.fills_panels ? 2 * plan.a_budget : plan.a_budget;
  if (plan.copied_for != 0) return beside;
  const CostModel costs(target.machine);
  const int64_t tile = std::max<int64_t>(a_bytes / rows * plan.num_rows, 1);
  const auto times = [](int64_t whole, int64_t part) {
    const int64_t parts = (whole + part - 1) / part;
    return static_cast<double>(parts);
  };
  const double panels = times(plan.vector_extent, plan.num_vectors * plan.lanes);
  double of_b = costs.SecondsToMove(static_cast<double>(b_bytes));
  // The first rows of each block widen all of B.
  if (plan.fills_panels) {
    const int64_t vector_bytes = target.machine.vector_bits / 8;
    const double cycles = costs.CyclesToWiden() + costs.CyclesOfCopy(vector_bytes) / 2;
    of_b += costs.SecondsOfCycles(cycles * 2 * static_cast<double>(b_bytes) / static_cast<double>(vector_bytes));
  }
  double least = times(a_bytes, std::max(beside / tile * tile, tile)) * of_b;
  int64_t best = beside;
  for (const int64_t bytes : {target.machine.l3.Share() / 2, a_bytes}) {
    if (bytes <= beside || bytes > a_bytes) continue;
    const double blocks = static_cast<double>(a_bytes) / static_cast<double>(bytes);
    const double passing = panels * blocks * costs.SecondsToMove(static_cast<double>(bytes));
    const double seconds = kLeastGainOfMoreRows * passing + (times(a_bytes, bytes) - 1) * of_b;
    if (seconds >= least) continue;
    least = seconds;
    best = bytes;
  }
  return best;
}

/// So many columns are assumed where the run tells their number: whole panels.
int64_t AssumedColumns(int64_t panel) { return (kUnknownExtent + panel - 1) / panel * panel; }

/// Chooses a tile whose vectors divide their axis; false if there is none. `widened` is what plan->widened stores.
bool PlanWholeVectors(const SBlock& block, const MatmulRoles& roles, const Array<PrimExpr>& output,
                      const Buffer& widened, const Target& target, ContractionPlan* plan) {
  // B runs along its own free axis: the second operand if both do, unless the result runs along that of the first,
  // whole vectors of it, and the second was not laid out in blocks on purpose.
  const CostModel costs(target.machine);
  std::vector<size_t> row_axes;
  const auto lhs_last = LastIndexIter(block, roles.lhs_load->indices);
  const auto rhs_last = LastIndexIter(block, roles.rhs_load->indices);
  const auto output_last = LastIndexIter(block, output);
  std::optional<int64_t> channels;  // that are contiguous
  const bool may_be_lhs = lhs_last && Contains(roles.m, lhs_last->iter);
  const bool has_blocks = rhs_last && rhs_last->block;
  const auto extent_of = [&](size_t position) { return AsConstInt(block->iter_vars[position]->dom->extent); };
  const bool rhs_runs = rhs_last && Contains(roles.n, rhs_last->iter);
  const bool is_lhs = may_be_lhs && !has_blocks && output_last && output_last->iter == lhs_last->iter &&
                      (!rhs_runs || costs.DividingLanes(extent_of(lhs_last->iter).value_or(1)) > 0);
  const bool vector_is_rhs = !is_lhs && rhs_runs;
  if (vector_is_rhs) {
    plan->vector = rhs_last->iter;
    channels = rhs_last->block;
    row_axes = roles.m;
  } else if (may_be_lhs) {
    plan->vector = lhs_last->iter;
    channels = lhs_last->block;
    row_axes = roles.n;
  } else {
    return false;
  }
  const auto vector_extent = extent_of(plan->vector);
  if (!vector_extent && !plan->panel_length) return false;
  plan->vector_extent = vector_extent ? *vector_extent : AssumedColumns(*plan->panel_length);
  if (plan->vector_extent % channels.value_or(1) != 0) return false;
  plan->lanes = costs.DividingLanes(channels.value_or(plan->vector_extent));
  if (plan->lanes == 0) return false;
  const BufferLoad& a = vector_is_rhs ? roles.lhs_load : roles.rhs_load;
  const BufferLoad& b = vector_is_rhs ? roles.rhs_load : roles.lhs_load;
  plan->a_bytes = BytesOfProduct(block, roles, a);
  plan->a_budget = costs.BesidePanelBytes();
  plan->has_whole_vectors = true;
  // Panels that are widened are filled by each thread, whose work is that of the numbers that they hold.
  const bool widens_b = !plan->panels.empty() && Is16BitFloat(b->dtype);
  const int64_t panel_bytes = LeastBytesOfProduct(block, roles, b) * (widens_b ? 2 : 1);
  plan->shares_rows =
      target.machine.threads > 1 &&
      ThreadsShareRows(static_cast<double>(LeastBytesOfProduct(block, roles, a)), static_cast<double>(panel_bytes));
  ChooseTile(block, roles, a, row_axes, channels, a->buffer.same_as(widened), target, plan);
  const auto is_loop = [&](size_t axis) { return extent_of(axis) != 1; };
  if (const auto last = std::find_if(roles.k.rbegin(), roles.k.rend(), is_loop); last != roles.k.rend()) {
    const IterVar& step = block->iter_vars[*last];
    plan->panel_is_run = ElementsAlong(b, step) == plan->num_vectors * plan->lanes;
  }
  for (size_t dim = 0; dim < output.size(); ++dim) {
    const VarNode* vector = block->iter_vars[plan->vector]->var.get();
    if (UsesVar(output[dim], [&](const VarNode* var) { return var == vector; })) plan->vector_dim = dim;
  }
  plan->contiguous_output = output_last && output_last->iter == plan->vector;
  const int64_t b_bytes = BytesOfProduct(block, roles, b);
  plan->row_bytes = BytesOfRow(block, a);
  plan->b_stays = b_bytes != 0 && b_bytes <= costs.PanelBytes();
  if (b_bytes > costs.PanelBytes()) {
    for (const size_t axis : row_axes) {
      if (axis < plan->vector && axis != plan->row) plan->inner_rows.push_back(axis);
    }
  } else if (plan->contiguous_output && plan->panels.empty()) {
    plan->a_budget = costs.PartialPanelBytes();
  }
  if (!plan->row) return true;
  if (const auto rows = extent_of(*plan->row); rows && plan->a_bytes > 0) {
    plan->a_budget = BytesOfPassingRows(plan->a_bytes, b_bytes, *rows, *plan, target);
  } else if (!rows) {
    const int64_t most = kMostTilesOfOpenBlock * plan->num_rows;
    plan->a_budget = BytesOfPassingRows(most * plan->row_bytes, b_bytes, most, *plan, target);
  }
  return true;
}

/// Whether to widen the rows of A again for each panel of B is less than to store all of them and load them again.
bool WidensByTile(const SBlock& block, const MatmulRoles& roles, const Target& target, const ContractionPlan& plan) {
  if (plan.widened.empty() || plan.parts_in_memory != 0 || plan.copied_for != 0 || !plan.row) return false;
  const auto is_long = [&](size_t axis) { return AsConstInt(block->iter_vars[axis]->dom->extent) != 1; };
  if (!plan.has_whole_vectors || !Contains(roles.n, plan.vector) ||
      std::count_if(roles.k.begin(), roles.k.end(), is_long) != 1)
    return false;
  // Of a vector: widened within the first cache; stored for all threads and loaded again.
  const CostModel costs(target.machine);
  const double copying = costs.CyclesOfCopy(target.machine.vector_bits / 8);
  const int64_t again = plan.vector_extent / (plan.num_vectors * plan.lanes) - 1;
  return static_cast<double>(again) * (costs.CyclesToWiden() + copying / 2) <= 2 * copying;
}

/// An epilogue of more operations needs the registers of the sums that wait for it, unless these are so few vectors.
constexpr double kOpsOfLong = 8;
constexpr int64_t kFewVectors = 4;

/// Copies of the epilogue of so many operations that may follow each other: those that run from the cache of
/// instructions. Of long ones few, where the sums lie in memory anyway, or in no time come to it: stores of a result
/// that does not stay in the cache would have those wait.
int64_t MostCopiesOf(const Schedule& schedule, const ContractionPlan& plan, double ops, const Target& target) {
  const int64_t most = CostModel(target.machine).MostCopies(ops);
  if (ops <= kOpsOfLong || !plan.contiguous_output) return most;
  const Buffer result = schedule.WriteBuffer(plan.epilogue);
  auto bytes = static_cast<double>(result->dtype.bytes());
  for (const PrimExpr& extent : result->shape) bytes *= static_cast<double>(AssumedExtent(extent));
  const bool stays = bytes <= static_cast<double>(target.machine.l2.bytes);
  return plan.tile_depth != 0 || stays ? std::min(most, kFewVectors) : most;
}

/// Whether copies of what follows the sums of a tile, one for each row, are worth their code. Else each sum is stored
/// and loaded again.
bool IsWorthCopies(const SBlock& block, const ContractionPlan& plan, double ops, const CostModel& costs) {
  double results = 1;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type == IterVarType::kSpatial) results *= static_cast<double>(AssumedExtent(iter->dom->extent));
  }
  const auto vectors = static_cast<double>(plan.num_rows * plan.num_vectors);
  const double copies = vectors - static_cast<double>(plan.num_vectors);
  return 2 * results / static_cast<double>(plan.lanes * costs.machine().load_pipes) >=
         costs.CyclesToMake(copies * (ops + 1) - vectors);
}

}  // namespace

bool Contains(const std::vector<size_t>& positions, size_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

bool IsPlain(const BufferLoad& load) {
  return std::all_of(load->indices.begin(), load->indices.end(),
                     [](const PrimExpr& index) { return index->kind == ExprKind::kVar || AsConstInt(index); });
}

bool PlanContraction(const Schedule& schedule, const Target& any_target, ContractionPlan* plan) {
  const SBlock block = schedule.Get(plan->anchor);
  // Nothing is computed, or sums of nothing.
  for (const tir::IterVar& axis : block->iter_vars) {
    if (AsConstInt(axis->dom->extent) == 0) return false;
  }
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  const auto written = GetReductionUpdate(block);
  if (!written) return false;
  Target target = any_target;
  const auto* dot = written->source.as<CallNode>();
  if (dot != nullptr) target.machine = MachineOfDot(target.machine, dot->op);
  const Buffer widened = plan->widened.empty() ? Buffer() : schedule.WriteBuffer(plan->widened);
  const bool whole = PlanWholeVectors(block, roles, written->indices, widened, target, plan);
  if (!whole || !plan->contiguous_output || plan->lanes != Lanes(target)) {
    ContractionPlan pixels{.anchor = plan->anchor,
                           .epilogue = plan->epilogue,
                           .followers = plan->followers,
                           .panels = plan->panels,
                           .panel_length = plan->panel_length,
                           .widened = plan->widened,
                           .dequantized = plan->dequantized};
    const bool is_image = PlanPixels(block, roles, written->indices, target, &pixels);
    if (!whole && !is_image) return false;
    if (is_image && (!whole || PixelsPay(block, roles, *plan, pixels, target))) *plan = pixels;
  }
  CutSums(block, roles, target, plan);
  plan->unrolls_taps = dot != nullptr && dot->op.same_as(DotOfPairs());
  plan->widens_by_tile = WidensByTile(block, roles, target, *plan);
  plan->prefetch_steps = CostModel(target.machine).StepsOfLatency(plan->num_rows, plan->num_vectors * plan->num_lines);
  plan->pieces = target.machine.threads;
  plan->enough_pieces = CostModel(target.machine).EnoughPieces();
  const double ops = plan->epilogue.empty() ? 0 : OpsPerInstance(schedule.Get(plan->epilogue));
  plan->most_copies = MostCopiesOf(schedule, *plan, ops, target);
  plan->has_long_code = !plan->contiguous_output || IsWorthCopies(block, *plan, ops, CostModel(target.machine));
  return true;
}

}  // namespace deuteron::tir
