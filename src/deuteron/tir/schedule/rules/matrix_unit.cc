/// \file
/// Products of elements that a matrix unit multiplies (AMX; tir/analysis/matrix_unit.h): pairs of bfloat16, fours of
/// bytes.
///
/// The rows of A, contiguous along what is summed over, are tokens or pixels; B is a panel of constant weights, its
/// rows contiguous along output channels (PackWeights). A tile of C has two registers of rows by two of columns, so
/// that each register of an operand that is loaded serves two products.
///
/// The unit multiplies as fast as one of its operands comes from the second cache, not both: the sum is cut into parts
/// of which B's panel stays in the first cache while a block of rows passes by. What a block of rows has summed up so
/// far is kept beside it, and the epilogue runs on it there.
///
/// Where B is multiplied in parts that are made of it (kPartsOfWeight), these are made of a part of a panel at a time,
/// in the first cache, before the rows pass by; and rows that outgrow the second cache pass by those of several panels.
///
/// Where a panel fits whole, rows pass by several panels before the epilogue runs on what these have summed up: it
/// reads and writes long runs of a row of C, where a panel alone would touch a line or two of every row.
#include "deuteron/tir/schedule/rules/matrix_unit.h"

#include <algorithm>
#include <functional>

#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/block_annotations.h"

namespace deuteron::tir {
namespace {

/// Registers of rows, and of columns, in a tile.
constexpr int64_t kTilesASide = 2;

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

/// Cuts the sum into parts of which B's panel fits the first cache, and rows, and lines of them, into blocks.
void CutPanel(const SBlock& block, const MatmulRoles& roles, const MatrixUnit& unit, const Target& target,
              UnitPlan* plan) {
  const CostModel costs(target.machine);
  const auto extent_of = [&](size_t axis) { return AssumedExtent(block->iter_vars[axis]->dom->extent); };
  const int64_t share = plan->parts.empty() ? costs.PartialPanelBytes() : costs.FilledPanelBytes();
  const int64_t row_bytes = plan->num_columns * 4;
  const int64_t steps = plan->panel_rows;
  if (steps * row_bytes <= share) return;
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

/// Makes vectors of the innermost loop of a block that fills or reads a tile. The loop over them; that over rows where
/// a row is less than one.
Loop VectorizeColumns(Schedule* schedule, const Block& block, const Target& target) {
  const std::vector<Loop> loops = schedule->GetLoops(block);
  const int64_t extent = schedule->ConstExtent(loops.back()).value_or(1);
  if (extent < Lanes(target)) {
    schedule->Vectorize(loops.back());
    return loops[loops.size() - 2];
  }
  const std::vector<Loop> split = schedule->Split(loops.back(), std::vector<int64_t>{-1, Lanes(target)});
  schedule->Vectorize(split.back());
  return split.front();
}

/// Has the parts of B made where `loop` begins, all of a number from what is loaded once.
void FillParts(Schedule* schedule, const Block& parts, const Loop& loop, const Target& target) {
  schedule->ComputeAt(parts, loop);
  std::vector<Loop> loops = schedule->GetLoops(parts);
  const auto under = std::find_if(loops.begin(), loops.end(), [&](const Loop& each) { return each.same_as(loop); });
  loops.erase(loops.begin(), under + 1);
  const Loop each_part = loops.front();
  const auto columns = schedule->Split(loops.back(), std::vector<int64_t>{-1, Lanes(target)});
  std::vector<Loop> order(loops.begin() + 1, loops.end() - 1);
  order.insert(order.end(), {columns[0], each_part, columns[1]});
  schedule->Reorder(order);
  schedule->Unroll(each_part);
  schedule->Vectorize(columns[1]);
  schedule->Annotate(order.front(), kFillsPassed, 1);
}

}  // namespace

bool ScheduleMatrixTiles(Schedule* schedule, const Target& target, const Block& anchor, const Block& epilogue,
                         const std::vector<Block>& followers) {
  const SBlock block = schedule->Get(anchor);
  const auto plan = PlanUnit(*schedule, anchor, target);
  if (!plan) return false;
  const std::vector<Loop> loops = schedule->GetLoops(anchor);
  std::vector<Loop> outer, reduce;
  std::optional<Loop> line;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i == plan->row || i == plan->column || i == plan->depth || i == plan->products) continue;
    if (i == plan->line && plan->block_lines > 1) {
      const auto split = schedule->Split(loops[i], std::vector<int64_t>{-1, plan->block_lines});
      outer.push_back(split[0]);
      line = split[1];
      continue;
    }
    (block->iter_vars[i]->type == IterVarType::kReduce ? reduce : outer).push_back(loops[i]);
  }
  // Loops of one iteration stand around the others: they will be none.
  const auto is_long = [&](const Loop& loop) { return schedule->ConstExtent(loop) != 1; };
  std::stable_partition(reduce.begin(), reduce.end(), std::not_fn(is_long));
  if (plan->products) reduce.push_back(loops[*plan->products]);
  std::optional<Loop> part;
  if (plan->part_depth != 0) {
    const auto split = schedule->Split(loops[plan->depth], std::vector<int64_t>{-1, plan->part_depth});
    part = split[0];
    reduce.push_back(split[1]);
  } else {
    reduce.push_back(loops[plan->depth]);
  }
  const auto columns = schedule->Split(loops[plan->column], std::vector<int64_t>{-1, plan->panels, plan->num_columns});
  auto rows = schedule->Split(loops[plan->row], std::vector<int64_t>{-1, plan->num_rows});
  outer.push_back(columns[0]);
  if (plan->rows_divide) {
    const auto blocks = schedule->Split(rows[0], std::vector<int64_t>{-1, plan->block_tiles});
    outer.insert(plan->threads_keep_rows ? outer.end() - 1 : outer.end(), blocks[0]);
    rows[0] = blocks[1];
  }
  std::vector<Loop> order = outer;
  if (part) order.push_back(*part);
  if (line) order.push_back(*line);
  order.push_back(rows[0]);
  order.push_back(columns[1]);
  order.insert(order.end(), reduce.begin(), reduce.end());
  order.push_back(rows[1]);
  order.push_back(columns[2]);
  schedule->Reorder(order);

  Block stage = epilogue;
  if (!epilogue.empty()) {
    schedule->SetScope(schedule->WriteBuffer(anchor), "local");
  } else if (!plan->stores_sums || !followers.empty()) {
    stage = schedule->CacheWrite(anchor, "local");
  }
  if (!stage.empty()) schedule->ReverseComputeAt(stage, part ? outer.back() : rows[0]);
  VectorizeColumns(schedule, schedule->DecomposeReduction(anchor, part.value_or(reduce.front())), target);
  if (!stage.empty()) {
    const Loop vectors = VectorizeColumns(schedule, stage, target);
    // What follows takes each vector as it is stored.
    for (const Block& follower : followers) {
      schedule->ReverseComputeAt(follower, vectors);
      schedule->Vectorize(schedule->GetLoops(follower).back());
    }
  }
  const auto first = std::find_if(reduce.begin(), reduce.end(), is_long);
  schedule->Annotate(*first, kMatrixTile, static_cast<int64_t>(reduce.end() - first));
  if (plan->asks_for_panels) schedule->Annotate(line.value_or(rows[0]), kPrefetchNext, 1);
  if (!plan->parts.empty()) FillParts(schedule, plan->parts, part.value_or(outer.back()), target);
  schedule->Parallel(FuseAll(schedule, outer));
  return true;
}

}  // namespace deuteron::tir
