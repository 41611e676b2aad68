#include "deuteron/tir/schedule/rules/matrix_unit_plan.h"

#include <algorithm>
#include <limits>

#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/block_annotations.h"

namespace deuteron::tir {
namespace {

/// Registers of rows, and of columns, in a tile.
constexpr int64_t kTilesASide = 2;

/// The axis of `axes` along which the last index grows by one, in blocks of which length if in blocks: from where
/// others of the sum, or a group, begin.
struct Contiguous {
  size_t axis = 0;
  int64_t block = 0;
};
std::optional<Contiguous> ContiguousAxis(const SBlock& block, const std::vector<size_t>& axes,
                                         const std::vector<size_t>& groups, const BufferLoad& load) {
  PrimExpr last = load->indices.back();
  int64_t length = 0;
  if (last->kind == ExprKind::kFloorMod) {
    const auto* rest = static_cast<const BinaryNode*>(last.get());
    length = AsConstInt(rest->b).value_or(0);
    if (length == 0) return std::nullopt;
    last = rest->a;
  }
  const auto is_summed = [&](const Var& var) {
    return std::any_of(block->iter_vars.begin(), block->iter_vars.end(), [&](const IterVar& iter) {
      return iter->type == IterVarType::kReduce && iter->var.same_as(var);
    });
  };
  const auto may_be_before = [&](const Var& var) {
    return is_summed(var) || std::any_of(groups.begin(), groups.end(),
                                         [&](size_t axis) { return block->iter_vars[axis]->var.same_as(var); });
  };
  if (const auto* sum = last.as<AddNode>()) {
    const bool is_first = sum->a->kind == ExprKind::kVar;
    const std::vector<Var> before = FreeVars(is_first ? sum->b : sum->a);
    if (std::all_of(before.begin(), before.end(), may_be_before)) last = is_first ? sum->a : sum->b;
  }
  for (const size_t axis : axes) {
    const IterVar& iter = block->iter_vars[axis];
    const auto extent = AsConstInt(iter->dom->extent);
    if (extent && last.same_as(iter->var)) return Contiguous{axis, length == 0 ? *extent : length};
  }
  return std::nullopt;
}

/// The greatest number of columns that are whole registers, at most `most`, and divide a block; all of a small block.
int64_t ColumnsOfTile(int64_t block, int64_t most, const MatrixUnit& unit) {
  if (block <= unit.columns) return block;
  for (int64_t columns = most; columns > 0; columns -= unit.columns) {
    if (block % columns == 0) return columns;
  }
  return 0;
}

/// Rows of a tile: as many as divide their axis without many more tiles, else about the same number in each.
int64_t RowsOfTile(std::optional<int64_t> rows, int64_t most) {
  if (!rows) return most;
  const int64_t divisor = LargestDivisor(*rows, most);
  if (divisor > most * 3 / 4) return divisor;
  return CeilDiv(*rows, CeilDiv(*rows, most));
}

/// How often a step of the window along the rows of a tile finds a row there that it has seen.
double RowsAgain(const SBlock& block, const MatmulRoles& roles, const UnitPlan& plan) {
  for (const PrimExpr& index : roles.lhs_load->indices) {
    const int64_t row_step = StepAlong(index, block->iter_vars[plan.row]).value_or(0);
    if (row_step <= 0) continue;
    for (const size_t axis : roles.k) {
      const auto taps = AsConstInt(block->iter_vars[axis]->dom->extent);
      if (StepAlong(index, block->iter_vars[axis]).value_or(0) <= 0 || !taps) continue;
      const double step = static_cast<double>(*StepAlong(index, block->iter_vars[axis]));
      const double seen =
          static_cast<double>((plan.num_rows - 1) * row_step) + step * static_cast<double>(*taps - 1) + 1;
      const double all = static_cast<double>(plan.num_rows * *taps);
      return std::max(all / seen, 1.0);
    }
  }
  return 1;
}

/// Whether a tile's whole sum is done at once, B's panel from the second cache, rather than parts of it for several
/// tiles, with B's from the first one: then sums move to registers and back for each part.
bool StreamsPanels(const SBlock& block, const MatmulRoles& roles, const MatrixUnit& unit, const Target& target,
                   const UnitPlan& plan) {
  constexpr double kCyclesOfProduct = 16, kCyclesToMoveTile = 32;
  // Of what vectors get from the second cache; tiles of whole lines wait for each other less.
  constexpr double kTileLoads = 1.4;
  const CostModel costs(target.machine);
  if (!plan.parts.empty()) return false;
  const int64_t panel_bytes = plan.panel_rows * plan.num_columns * 4;
  if (panel_bytes > costs.PanelBytes()) return false;
  const double rate = target.machine.l2.load_bytes_per_cycle * kTileLoads;
  const double tiles = static_cast<double>(CeilDiv(plan.num_rows, unit.rows) * CeilDiv(plan.num_columns, unit.columns));
  const double step = static_cast<double>(DepthOfStep(unit, *AsConstInt(block->iter_vars[plan.depth]->dom->extent)));
  const double a_bytes = static_cast<double>(plan.num_rows) * step * 4 / RowsAgain(block, roles, plan);
  const double b_bytes = static_cast<double>(plan.num_columns) * step * 4;
  const double whole = std::max(tiles * kCyclesOfProduct, (a_bytes + b_bytes) / rate);
  const double steps_of_part = static_cast<double>(costs.PartialPanelBytes()) / b_bytes;
  const double in_parts =
      std::max(tiles * kCyclesOfProduct, a_bytes / rate) + tiles * kCyclesToMoveTile / std::max(steps_of_part, 1.0);
  return whole < in_parts;
}

/// Lines of the image that a block sees, for each that it steps over.
double LinesOfBlock(const SBlock& block, const MatmulRoles& roles, const UnitPlan& plan) {
  for (const PrimExpr& index : roles.lhs_load->indices) {
    const int64_t step = StepAlong(index, block->iter_vars[*plan.line]).value_or(0);
    if (step <= 0) continue;
    int64_t seen = (plan.block_lines - 1) * step + 1;
    for (const size_t axis : roles.k) {
      const int64_t taps = AsConstInt(block->iter_vars[axis]->dom->extent).value_or(1);
      seen += StepAlong(index, block->iter_vars[axis]).value_or(0) * (taps - 1);
    }
    return static_cast<double>(seen) / static_cast<double>(step);
  }
  return std::numeric_limits<double>::infinity();
}

/// Takes so many tiles of rows, and lines of them, that what they read of A stays in the second cache while panels
/// pass by.
void BlockRows(const SBlock& block, const MatmulRoles& roles, const Target& target, UnitPlan* plan) {
  const CostModel costs(target.machine);
  const auto extent_of = [&](size_t axis) { return AssumedExtent(block->iter_vars[axis]->dom->extent); };
  int64_t depth = 1, pieces = extent_of(plan->column) / plan->num_columns;
  for (const size_t axis : roles.k) depth *= IsOfWindow(block, roles, axis) ? 1 : extent_of(axis);
  const int64_t row_bytes = depth * 4, tiles = CeilDiv(extent_of(plan->row), plan->num_rows);
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (block->iter_vars[i]->type == IterVarType::kSpatial && i != plan->row && i != plan->column) {
      pieces *= extent_of(i);
    }
  }
  pieces *= tiles;
  const int64_t most = std::min(costs.BesidePanelBytes() / (plan->num_rows * row_bytes), pieces / costs.EnoughPieces());
  if (plan->rows_divide) plan->block_tiles = LargestDivisor(tiles, std::max<int64_t>(most, 1));
  if ((plan->rows_divide && plan->block_tiles != tiles) || roles.m.size() < 2) return;
  plan->line = roles.m[roles.m.size() - 2];
  const auto lines = AsConstInt(block->iter_vars[*plan->line]->dom->extent);
  plan->block_lines = lines ? LargestDivisor(*lines, std::max<int64_t>(most / tiles, 1)) : 1;
  // Lines that blocks have in common are copied by both.
  constexpr double kMostCopied = 1.5;
  const int64_t blocks = pieces / (tiles * extent_of(plan->column) / plan->num_columns) / plan->block_lines;
  plan->packs_blocks = blocks >= costs.EnoughPieces() &&
                       LinesOfBlock(block, roles, *plan) <= kMostCopied * static_cast<double>(plan->block_lines);
}

/// Cuts the sum into parts of which B's panel fits the first cache, and rows, and lines of them, into blocks.
void CutPanel(const SBlock& block, const MatmulRoles& roles, const MatrixUnit& unit, const Target& target,
              UnitPlan* plan) {
  const CostModel costs(target.machine);
  const auto extent_of = [&](size_t axis) { return AssumedExtent(block->iter_vars[axis]->dom->extent); };
  const int64_t share = plan->parts.empty() ? costs.PartialPanelBytes() : costs.FilledPanelBytes();
  const int64_t row_bytes = plan->num_columns * 4;
  const int64_t steps = plan->panel_rows;
  if (steps * row_bytes <= share) return;
  if (StreamsPanels(block, roles, unit, target, *plan)) {
    plan->streams_panels = true;
    return BlockRows(block, roles, target, plan);
  }
  const int64_t depth = extent_of(plan->depth);
  const int64_t step = DepthOfStep(unit, depth);
  plan->part_depth = step * LargestDivisor(depth / step, share / (row_bytes * step * (steps / depth)));
  if (!plan->rows_divide) return;  // then a block has all rows
  const int64_t tiles = extent_of(plan->row) / plan->num_rows;
  int64_t pieces = tiles * extent_of(plan->column) / plan->num_columns;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    const bool is_outer = block->iter_vars[i]->type == IterVarType::kSpatial && i != plan->row && i != plan->column;
    if (is_outer) pieces *= extent_of(i);
  }
  const int64_t most = std::min(share / (plan->num_rows * row_bytes), pieces / costs.EnoughPieces());
  plan->block_tiles = LargestDivisor(tiles, std::max<int64_t>(most, 1));
  if (plan->block_tiles != tiles || roles.m.size() < 2) return;
  plan->line = roles.m[roles.m.size() - 2];
  const auto lines = AsConstInt(block->iter_vars[*plan->line]->dom->extent);
  plan->block_lines = lines ? LargestDivisor(*lines, std::max<int64_t>(most / tiles, 1)) : 1;
}

/// Has a tile of rows pass by several panels' parts where all rows outgrow the second cache: else they would come from
/// behind it again for each panel.
void GroupParts(const SBlock& block, const MatmulRoles& roles, const Target& target, UnitPlan* plan) {
  constexpr int64_t kPanelsOfGroup = 4;
  const CostModel costs(target.machine);
  const Buffer& a = roles.lhs_load->buffer;
  if (AssumedProduct(a->shape) * a->dtype.bytes() <= static_cast<double>(target.machine.l2.Share())) return;
  int64_t panels = AssumedExtent(block->iter_vars[plan->column]->dom->extent) / plan->num_columns;
  plan->panels = LargestDivisor(panels, std::clamp<int64_t>(panels / costs.EnoughPieces(), 1, kPanelsOfGroup));
}

/// Takes as many panels together as fit the second cache with the rows' sums and leave the threads enough pieces.
void GroupPanels(const SBlock& block, const Target& target, UnitPlan* plan) {
  const CostModel costs(target.machine);
  int64_t pieces = 1;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type == IterVarType::kSpatial) pieces *= AssumedExtent(iter->dom->extent);
  }
  pieces /= plan->num_rows * plan->num_columns;
  const int64_t bytes = (plan->panel_rows + plan->num_rows) * plan->num_columns * 4;
  const int64_t most = std::min(costs.BesidePanelBytes() / bytes, pieces / costs.EnoughPieces());
  const int64_t panels = AssumedExtent(block->iter_vars[plan->column]->dom->extent) / plan->num_columns;
  plan->panels = LargestDivisor(panels, std::max<int64_t>(most, 1));
}

/// Whether the next panel is to be asked for while rows pass by one: they take as long as it takes to come. Else what
/// is asked for is in the way of what the unit waits for, which comes as fast by itself, in the order of memory.
bool AsksForPanels(const SBlock& block, const MatmulRoles& roles, const MatrixUnit& unit, const Target& target,
                   const UnitPlan& plan) {
  const CostModel costs(target.machine);
  double rows = 1;
  for (const size_t axis : roles.m) rows *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  const Buffer& b = roles.rhs_load->buffer;
  double elements = AssumedProduct(b->shape), products = 1;
  if (plan.products) {
    elements /= static_cast<double>(*AsConstInt(b->shape[0]));  // parts
    products = static_cast<double>(AssumedExtent(block->iter_vars[*plan.products]->dom->extent));
  }
  // A row of A and a register of B take a cycle.
  const double cycles = rows * products * elements / static_cast<double>(unit.rows * unit.columns);
  return costs.SecondsOfCycles(cycles) >= costs.SecondsToMove(elements * b->dtype.bytes());
}

/// Whether threads are to keep rows, not columns: each reads all of the other operand, which should be the smaller
/// one, and B again for each block of rows.
bool ThreadsKeepRows(const MatmulRoles& roles, const Target& target) {
  const auto bytes = [](const Buffer& buffer) { return AssumedProduct(buffer->shape) * buffer->dtype.bytes(); };
  const double b_bytes = bytes(roles.rhs_load->buffer);
  return b_bytes <= bytes(roles.lhs_load->buffer) &&
         b_bytes <= static_cast<double>(CostModel(target.machine).PanelBytes());
}

/// The axis that tells which parts are multiplied: the one that the first index of B depends on.
std::optional<size_t> AxisOfProducts(const SBlock& block, const MatmulRoles& roles) {
  const std::vector<Var> vars = FreeVars(roles.rhs_load->indices[0]);
  for (const size_t axis : roles.k) {
    const IterVar& iter = block->iter_vars[axis];
    if (vars.size() == 1 && vars[0].same_as(iter->var) && AsConstInt(iter->dom->extent)) return axis;
  }
  return std::nullopt;
}

/// The block that makes the parts of B for the anchor alone; empty if none does.
Block FindParts(const Schedule& schedule, const Block& anchor) {
  for (const Block& block : schedule.GetProducers(anchor)) {
    if (schedule.Get(block)->annotations.count(kPartsOfWeight) == 0 || WritesParameter(schedule, block)) continue;
    if (schedule.GetConsumers(block) == std::vector{anchor}) return block;
  }
  return {};
}

/// Whether a buffer is small enough for its rows not to be in one another's way in a cache.
bool StaysInCache(const Buffer& buffer, const Target& target) {
  const double bytes = AssumedProduct(buffer->shape) * buffer->dtype.bytes();
  return bytes <= static_cast<double>(target.machine.l2.Share()) / 4;
}

}  // namespace

bool IsOfWindow(const SBlock& block, const MatmulRoles& roles, size_t axis) {
  const Array<PrimExpr>& indices = roles.lhs_load->indices;
  return std::any_of(indices.begin(), indices.end(), [&](const PrimExpr& index) {
    const std::vector<Var> vars = FreeVars(index);
    const auto has = [&](size_t of) {
      return std::any_of(vars.begin(), vars.end(),
                         [&](const Var& var) { return var.same_as(block->iter_vars[of]->var); });
    };
    return has(axis) && std::any_of(roles.m.begin(), roles.m.end(), has);
  });
}

std::optional<UnitPlan> PlanUnit(const Schedule& schedule, const Block& anchor, const Target& target) {
  const SBlock block = schedule.Get(anchor);
  const auto written = GetReductionUpdate(block);
  const auto* dot = written ? written->source.as<CallNode>() : nullptr;
  const auto unit = dot == nullptr ? std::nullopt : FindMatrixUnit(target, dot->op);
  if (!unit) return std::nullopt;
  const BlockInfo info = ClassifyBlock(block);
  if (info.kind != BlockClass::kMatmul) return std::nullopt;
  const MatmulRoles& roles = *info.matmul;
  const auto depth = ContiguousAxis(block, roles.k, roles.batch, roles.lhs_load);
  const auto column = ContiguousAxis(block, roles.n, roles.batch, roles.rhs_load);
  if (!depth || !column || roles.m.empty()) return std::nullopt;
  const IterVar& k = block->iter_vars[depth->axis];
  if (depth->block != *AsConstInt(k->dom->extent) || DepthOfStep(*unit, depth->block) < kFewestOfStep)
    return std::nullopt;
  if (StepAlong(written->indices.back(), block->iter_vars[column->axis]) != 1) return std::nullopt;
  UnitPlan plan{.row = roles.m.back(), .column = column->axis, .depth = depth->axis};
  const auto known_rows = AsConstInt(block->iter_vars[plan.row]->dom->extent);
  if (known_rows && *known_rows < kFewestRowsOfUnit) return std::nullopt;
  plan.num_columns = ColumnsOfTile(column->block, kTilesASide * unit->columns, *unit);
  if (plan.num_columns == 0) return std::nullopt;
  plan.num_rows = RowsOfTile(known_rows, kTilesASide * unit->rows);
  plan.panel_rows = 1;
  for (const size_t axis : roles.k) plan.panel_rows *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  plan.parts = FindParts(schedule, anchor);
  if (!plan.parts.empty()) {
    plan.products = AxisOfProducts(block, roles);
    if (!plan.products) return std::nullopt;
    const int64_t parts = *AsConstInt(roles.rhs_load->buffer->shape[0]);
    plan.panel_rows = plan.panel_rows / *AsConstInt(block->iter_vars[*plan.products]->dom->extent) * parts;
  }
  plan.rows_divide = known_rows && *known_rows % plan.num_rows == 0;
  CutPanel(block, roles, *unit, target, &plan);
  if (plan.part_depth == 0 && plan.rows_divide) GroupPanels(block, target, &plan);
  if (plan.part_depth != 0) GroupParts(block, roles, target, &plan);
  plan.threads_keep_rows = ThreadsKeepRows(roles, target);
  plan.asks_for_panels = AsksForPanels(block, roles, *unit, target, plan);
  plan.stores_sums = plan.part_depth == 0 && plan.parts.empty() && StaysInCache(written->buffer, target);
  return plan;
}

}  // namespace deuteron::tir
