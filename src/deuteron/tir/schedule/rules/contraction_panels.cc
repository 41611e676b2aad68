/// \file
/// Copies of a product's operands, in the order in which tiles read them.
#include <algorithm>

#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {
namespace {

/// Of fewer rows, each panel is read about as often as it would be copied.
constexpr int64_t kFewestRowsOfPanels = 8;
/// The same of panels whose lines lie in each other's way: these are read anew, for each tile of rows, from where they
/// have been driven to (measured: 1.1 to 1.5 times as long, for a copy of two or three hundredths).
constexpr int64_t kFewestRowsOfScattered = 48;
/// Prefetching by the machine ends with a page; of fewer lines than these it has nothing to go by.
constexpr int64_t kLinesOfPrefetch = 4;
/// Of fewer tiles, to widen a panel, or to have the first one do so, takes as long as each of them takes to widen what
/// it loads.
constexpr int64_t kFewestTilesOfWidened = 12, kFewestTilesOfFilled = 3;
/// To dequantise takes more, and to store a panel and load it again is as long as that for one tile.
constexpr int64_t kMostTilesOfDequantized = 2;
/// Of numbers of 4 bits: each byte is loaded once for both.
constexpr int64_t kRowsOfByte = 2;

/// Whether the block brings what it loads, floats of 16 bits, to float32.
bool IsWidened(const SBlock& block, const BufferLoad& load) {
  if (!load.defined() || !Is16BitFloat(load->dtype)) return false;
  bool is_widened = false;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* cast = node.as<CastNode>();
    is_widened |= cast != nullptr && cast->dtype == DataType::Float(32) && cast->value.same_as(load);
  });
  return is_widened;
}

/// Of the space of so many axes of a block, symbols as they are assumed.
int64_t AssumedElements(const SBlock& block, const std::vector<size_t>& axes) {
  int64_t count = 1;
  for (const size_t axis : axes) count *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  return count;
}

/// Whether the first cache cannot hold a panel of so many rows as they lie, so many bytes apart, and the machine does
/// not see ahead which comes next.
bool IsScattered(int64_t row_bytes, int64_t rows, const Target& target) {
  const Machine& machine = target.machine;
  if (row_bytes * kLinesOfPrefetch < machine.page_bytes) return false;
  return rows > CostModel(machine).Places(machine.l1, row_bytes);
}

}  // namespace

Block CopyOperand(Schedule* schedule, const Block& block, const Buffer& operand) {
  const Array<BufferRegion> reads = schedule->Get(block)->reads;
  size_t index = 0;
  while (!reads[static_cast<int64_t>(index)]->buffer.same_as(operand)) ++index;
  return schedule->CacheRead(block, index, "global");
}

Block CopyNarrowRows(Schedule* schedule, const Target& target, const ContractionPlan& plan) {
  const SBlock block = schedule->Get(plan.anchor);
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  if (!plan.has_whole_vectors || plan.copied_for != 0) return {};
  const BufferLoad& a = Contains(roles.n, plan.vector) ? roles.lhs_load : roles.rhs_load;
  if (!IsWidened(block, a) || !schedule->IsParameter(a->buffer)) return {};
  if (!FitsWidened(a->buffer->shape, target)) return {};
  for (size_t dim = 0; dim < a->indices.size(); ++dim) {
    const auto at = static_cast<int64_t>(dim);
    const auto runs = [&](const IterVar& iter) {
      return a->indices[at].same_as(iter->var) && ExprEqual(iter->dom->extent, a->buffer->shape[at]);
    };
    if (!IsOne(a->buffer->shape[at]) && std::none_of(block->iter_vars.begin(), block->iter_vars.end(), runs)) return {};
  }
  return CopyOperand(schedule, plan.anchor, a->buffer);
}

void WidenPanels(Schedule* schedule, const Target& target, ContractionPlan* plan) {
  const SBlock block = schedule->Get(plan->anchor);
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  const auto written = GetReductionUpdate(block);
  const auto columns = written ? LastIndexIter(block, written->indices) : std::nullopt;
  if (!columns || columns->block) return;
  const bool is_rhs = Contains(roles.n, columns->iter);
  if (!is_rhs && !Contains(roles.m, columns->iter)) return;
  const BufferLoad& b = is_rhs ? roles.rhs_load : roles.lhs_load;
  if (!IsWidened(block, b) || !schedule->IsParameter(b->buffer)) return;
  const CostModel costs(target.machine);
  const int64_t rows = AssumedElements(block, is_rhs ? roles.m : roles.n);
  const int64_t depth = std::min(AssumedElements(block, roles.k), kMostDepth);
  const int64_t vectors = costs.PanelVectors(AssumedExtent(block->iter_vars[columns->iter]->dom->extent));
  const int64_t bytes = depth * vectors * Lanes(target) * static_cast<int64_t>(sizeof(float));
  const int64_t tiles = plan->may_fill_panels ? kFewestTilesOfFilled : kFewestTilesOfWidened;
  const int64_t fewest = tiles * costs.BestTile(rows, vectors).rows;
  const int64_t passing = fewest * depth * static_cast<int64_t>(sizeof(float));
  if (rows < fewest || passing > costs.BesidePanelBytes() || bytes > costs.PanelBytes()) return;
  plan->panels = CopyOperand(schedule, plan->anchor, b->buffer);
  plan->fills_panels = plan->may_fill_panels;
}

Block FindDequantized(const Schedule& schedule, const Block& anchor) {
  for (const Block& block : schedule.GetProducers(anchor)) {
    if (schedule.Get(block)->annotations.count(kDequantizedWeight) == 0 || WritesParameter(schedule, block)) continue;
    if (schedule.GetConsumers(block) == std::vector{anchor}) return block;
  }
  return {};
}

void CutByScales(Schedule* schedule, const Block& dequantized, std::vector<Loop>* depth) {
  const int64_t rows = schedule->Get(dequantized)->annotations.at(kDequantizedWeight).cast<int64_t>();
  for (const int64_t length : {rows, kRowsOfByte}) {
    const auto extent = schedule->ConstExtent(depth->back());
    if (!extent || length <= 1 || *extent <= length || *extent % length != 0) continue;
    const auto split = schedule->Split(depth->back(), std::vector<int64_t>{-1, length});
    depth->back() = split[0];
    depth->push_back(split[1]);
  }
}

void UnrollRowsOfByte(Schedule* schedule, std::vector<Loop>* depth) {
  if (depth->size() < 2 || schedule->ConstExtent(depth->back()) != kRowsOfByte) return;
  schedule->Unroll(depth->back());
  depth->pop_back();
}

void PlacePanels(Schedule* schedule, const ContractionPlan& plan, const Loop& at) {
  schedule->ComputeAt(plan.panels, at);
  const std::vector<Loop> loops = schedule->GetLoops(plan.panels);
  schedule->Vectorize(loops.back());
  if (!plan.DequantizesPanels()) return;
  std::vector<Loop> depth = {loops[loops.size() - 2]};
  CutByScales(schedule, plan.dequantized, &depth);
  UnrollRowsOfByte(schedule, &depth);
}

void FillPanel(Schedule* schedule, const ContractionPlan& plan, const std::vector<Loop>& rows, const Loop& step) {
  schedule->ComputeAt(plan.panels, step);
  const std::vector<Loop> loops = schedule->GetLoops(plan.panels);
  const auto under = std::find_if(loops.begin(), loops.end(), [&](const Loop& loop) { return loop.same_as(step); });
  for (auto loop = under + 1; loop + 1 != loops.end(); ++loop) schedule->Unroll(*loop);
  const auto vectors = schedule->Split(loops.back(), std::vector<int64_t>{-1, plan.lanes});
  schedule->Unroll(vectors[0]);
  schedule->Vectorize(vectors[1]);
  schedule->FillOnce(plan.panels, rows);
}

void DequantizePanels(const Schedule& schedule, const Target& target, ContractionPlan* plan) {
  const SBlock block = schedule.Get(plan->anchor);
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  const bool is_rhs = roles.rhs_load->buffer.same_as(schedule.WriteBuffer(plan->dequantized));
  const int64_t rows = AssumedElements(block, is_rhs ? roles.m : roles.n);
  const int64_t columns = AssumedElements(block, is_rhs ? roles.n : roles.m);
  const CostModel costs(target.machine);
  const int64_t tile_rows = costs.BestTile(rows, costs.PanelVectors(columns)).rows;
  if (rows <= kMostTilesOfDequantized * tile_rows) return;
  plan->panels = plan->dequantized;
  // Of rows that the run counts there may be one, which needs no panel.
  const std::vector<size_t>& axes = is_rhs ? roles.m : roles.n;
  const bool is_open = std::any_of(axes.begin(), axes.end(),
                                   [&](size_t axis) { return !AsConstInt(block->iter_vars[axis]->dom->extent); });
  plan->fills_panels = is_open && plan->may_fill_panels;
}

void LayPanels(Schedule* schedule, const Target& target, ContractionPlan* plan) {
  const SBlock block = schedule->Get(plan->anchor);
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  const auto written = GetReductionUpdate(block);
  if (!written || roles.k.size() != 1 || !IsPlain(roles.lhs_load) || !IsPlain(roles.rhs_load)) return;
  if (roles.lhs_load->buffer.same_as(roles.rhs_load->buffer)) return;
  const auto axis_of = [&](const std::vector<size_t>& axes) -> std::optional<size_t> {
    for (const size_t axis : axes) {
      if (written->indices.back().same_as(block->iter_vars[axis]->var)) return axis;
    }
    return std::nullopt;
  };
  const bool is_rhs = axis_of(roles.n).has_value();
  const auto vector = is_rhs ? axis_of(roles.n) : axis_of(roles.m);
  if (!vector) return;
  const BufferLoad& b = is_rhs ? roles.rhs_load : roles.lhs_load;
  const int64_t rows = AssumedElements(block, is_rhs ? roles.m : roles.n);
  if (rows < kFewestRowsOfPanels) return;
  const PrimExpr& extent = block->iter_vars[*vector]->dom->extent;
  const auto columns = AsConstInt(extent);
  if (columns == 1) return;  // sums of rows
  const bool along = b->indices.back().same_as(block->iter_vars[*vector]->var);
  int64_t row_bytes = AssumedExtent(b->buffer->shape.back()) * b->buffer->dtype.bytes();
  for (size_t dim = 0; dim < b->indices.size(); ++dim) {
    if (!b->indices[static_cast<int64_t>(dim)].same_as(block->iter_vars[roles.k[0]]->var)) continue;
    if (const auto stride = ConstStride(b->buffer, dim)) row_bytes = *stride * b->buffer->dtype.bytes();
  }
  const CostModel costs(target.machine);
  const int64_t length = costs.PanelVectors(AssumedExtent(extent)) * Lanes(target);
  const bool is_panel = along && columns && *columns % Lanes(target) == 0 && row_bytes < target.machine.page_bytes;
  const int64_t steps = AssumedElements(block, roles.k);
  if (is_panel && (rows < kFewestRowsOfScattered || !IsScattered(row_bytes, steps, target))) return;
  if (plan->epilogue.empty()) plan->epilogue = schedule->CacheWrite(plan->anchor, "local");
  plan->panels = CopyOperand(schedule, plan->anchor, b->buffer);
  schedule->PadIter(plan->anchor, *vector, length);
  if (!columns) plan->panel_length = length;
  const PrimExpr& depth = block->iter_vars[roles.k[0]]->var;
  std::vector<LayoutDim> layout;
  LayoutDim outer, whole, inner;
  for (size_t dim = 0; dim < b->indices.size(); ++dim) {
    const auto at = static_cast<int64_t>(dim);
    if (b->indices[at].same_as(block->iter_vars[*vector]->var)) {
      outer = LayoutDim::Outer(at, length);
      inner = LayoutDim::Inner(at, length);
    } else if (b->indices[at].same_as(depth)) {
      whole = LayoutDim::Whole(at);
    } else {
      layout.push_back(LayoutDim::Whole(at));
    }
  }
  layout.insert(layout.end(), {outer, whole, inner});
  schedule->TransformLayout(schedule->WriteBuffer(plan->panels), layout);
}

}  // namespace deuteron::tir
