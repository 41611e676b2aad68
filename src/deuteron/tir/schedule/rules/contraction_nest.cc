#include "deuteron/tir/schedule/rules/contraction_nest.h"

#include "deuteron/tir/schedule/rules/row_blocks.h"

namespace deuteron::tir {

ContractionNest CutLoops(Schedule* schedule, const ContractionPlan& plan) {
  const SBlock block = schedule->Get(plan.anchor);
  const std::vector<Loop> loops = schedule->GetLoops(plan.anchor);
  const auto vector = schedule->Split(loops[plan.vector], std::vector<int64_t>{-1, plan.num_vectors, plan.lanes});
  ContractionNest nest;
  std::optional<Loop> row_outer;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i == plan.vector) continue;
    if (plan.tile_depth != 0 && i == plan.cut) {
      (plan.parts_in_memory != 0 ? nest.part : nest.sums) = loops[i];
    } else if (!plan.tile_sums.empty() && i == plan.cut + 1) {
      nest.sums = loops[i];
    } else if (plan.tile_depth != 0 ? i > plan.cut : block->iter_vars[i]->type == IterVarType::kReduce) {
      nest.reduce.push_back(loops[i]);
    } else if (plan.row == i) {
      Loop row = loops[i];
      if (plan.row_parts > 1) {
        const auto parts = schedule->Split(row, std::vector<int64_t>{plan.row_parts, -1});
        nest.outer.push_back(parts[0]);
        row = parts[1];
      }
      const auto split = schedule->Split(row, std::vector<int64_t>{-1, plan.num_rows});
      row_outer = split[0];
      nest.tile.push_back(split[1]);
    } else if (plan.line == i && plan.num_lines > 1) {
      const auto split = schedule->Split(loops[i], std::vector<int64_t>{-1, plan.num_lines});
      nest.outer.push_back(split[0]);
      nest.tile.push_back(split[1]);
    } else if (i > plan.vector || Contains(plan.inner_rows, i)) {
      nest.rows.push_back(loops[i]);
    } else {
      nest.outer.push_back(loops[i]);
    }
  }
  if (row_outer) nest.rows.push_back(*row_outer);
  // B's panel stays in the cache while the rows pass by; of more rows than fit beside it, a block at a time.
  const RowBlock block_of_rows = BlockOfRows(*schedule, plan, nest.outer, nest.rows);
  const auto first = nest.rows.begin() + static_cast<int64_t>(block_of_rows.loop);
  std::optional<Loop> blocks;
  if (block_of_rows.length) {
    const bool divides = schedule->ConstExtent(*first).value_or(0) % *block_of_rows.length == 0;
    const auto split = schedule->Split(*first, std::vector<int64_t>{-1, *block_of_rows.length});
    blocks = split[0];
    *first = split[1];
    if (!divides) nest.uneven = *first;
  }
  if (!block_of_rows.is_within_batch) {
    nest.outer.insert(nest.outer.end(), nest.rows.begin(), first);
    nest.rows.erase(nest.rows.begin(), first);
  }
  if (blocks && !block_of_rows.is_within_panel) nest.outer.push_back(*blocks);
  if (plan.copied_for != 0) {
    const auto split = schedule->Split(vector[0], std::vector<int64_t>{-1, plan.copied_for});
    nest.outer.push_back(split[0]);
    nest.panels = split[1];
  } else {
    nest.outer.push_back(vector[0]);
  }
  if (blocks && block_of_rows.is_within_panel) nest.outer.push_back(*blocks);
  nest.tile.push_back(vector[1]);
  nest.tile.push_back(vector[2]);
  std::vector<Loop> order = nest.outer;
  if (nest.panels) order.push_back(*nest.panels);
  if (nest.part) order.push_back(*nest.part);
  order.insert(order.end(), nest.rows.begin(), nest.rows.end());
  if (nest.sums) order.push_back(*nest.sums);
  for (const auto* inner : {&nest.reduce, &nest.tile}) order.insert(order.end(), inner->begin(), inner->end());
  schedule->Reorder(order);
  return nest;
}

}  // namespace deuteron::tir
