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
/// A window sees most numbers several times, so that rows come from the first cache, but for their first time. Then the
/// whole sum stays in the unit's registers, and panels come from the second cache: see StreamsPanels. Channels come in
/// blocks of a step each, one after the other, their windows within; where the image is copied into its padding anyway,
/// each block of channels lies by itself there (PackForMatrixUnit): a step's rows are neighbours, which do not compete
/// for places in the caches.
///
/// Where a panel fits whole, or is read whole, rows pass by several panels before the epilogue runs on what these have
/// summed up: it reads and writes long runs of a row of C, where a panel alone would touch a line or two of every row.
#include "deuteron/tir/schedule/rules/matrix_unit.h"

#include <algorithm>
#include <functional>

#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/matrix_unit_plan.h"

namespace deuteron::tir {
namespace {

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

/// Has the copy of an image, in blocks of channels, take a line at a time, which is read once: all blocks of its
/// channels. The loops over images and lines, as far as there are any.
std::vector<Loop> ScheduleLinesOfCopy(Schedule* schedule, const Block& copy) {
  const SBlockRealize realize = schedule->GetRealize(copy);
  const std::vector<Loop> loops = schedule->GetLoops(copy);
  const auto loop_of = [&](int64_t iter) -> std::optional<Loop> {
    // One of a block of lines counts from where that begins.
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      const std::vector<Var> vars = FreeVars(realize->iter_values[iter]);
      const bool is_own = std::any_of(vars.begin(), vars.end(), [&](const Var& var) { return var.same_as(*loop); });
      if (is_own) return *loop;
    }
    return std::nullopt;
  };
  // (image, block, line, …, channel)
  const auto blocks = loop_of(1), lines = loop_of(2);
  schedule->Vectorize(loops.back());
  if (blocks && lines && !lines->same_as(loops.back())) schedule->Reorder({*lines, *blocks});
  std::vector<Loop> outer;
  if (const auto images = loop_of(0)) outer.push_back(*images);
  if (lines) outer.push_back(*lines);
  return outer;
}

}  // namespace

Block PackForMatrixUnit(Schedule* schedule, const Target& target, const Block& anchor) {
  const auto plan = PlanUnit(*schedule, anchor, target);
  if (!plan || !plan->streams_panels) return {};
  const SBlock block = schedule->Get(anchor);
  const Buffer image = ClassifyBlock(block).matmul->lhs_load->buffer;
  const auto* dot = GetReductionUpdate(block)->source.as<CallNode>();
  const int64_t channels = *AsConstInt(block->iter_vars[plan->depth]->dom->extent);
  const int64_t step = DepthOfStep(*FindMatrixUnit(target, dot->op), channels);
  const auto dims = static_cast<int64_t>(image->shape.size());
  const std::vector<Block> copies = schedule->GetProducers(anchor);
  const bool is_copied =
      copies.size() == 1 && !schedule->IsParameter(image) && AsConstInt(image->shape[dims - 1]) == channels;
  if (!is_copied || channels == step || dims < 4) return {};
  std::vector<LayoutDim> layout = {LayoutDim::Whole(0), LayoutDim::Outer(dims - 1, step)};
  for (int64_t dim = 1; dim + 1 < dims; ++dim) layout.push_back(LayoutDim::Whole(dim));
  layout.push_back(LayoutDim::Inner(dims - 1, step));
  schedule->TransformLayout(image, layout);
  schedule->SplitBlockIter(anchor, plan->depth, step);
  if (plan->packs_blocks) return copies[0];
  const std::vector<Loop> lines = ScheduleLinesOfCopy(schedule, copies[0]);
  if (!lines.empty()) schedule->Parallel(FuseAll(schedule, lines));
  return copies[0];
}

bool ScheduleMatrixTiles(Schedule* schedule, const Target& target, const Block& anchor, const Block& epilogue,
                         const std::vector<Block>& followers, const Block& packed) {
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
  if (plan->streams_panels) {
    // What moves the window is within.
    const MatmulRoles roles = *ClassifyBlock(block).matmul;
    std::stable_partition(reduce.begin(), reduce.end(), [&](const Loop& loop) {
      const auto at = std::find(loops.begin(), loops.end(), loop) - loops.begin();
      return !IsOfWindow(block, roles, static_cast<size_t>(at));
    });
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
  } else if (plan->streams_panels) {
    const auto unit = *FindMatrixUnit(target, GetReductionUpdate(block)->source.as<CallNode>()->op);
    const int64_t step = DepthOfStep(unit, *schedule->ConstExtent(loops[plan->depth]));
    const auto split = schedule->Split(loops[plan->depth], std::vector<int64_t>{-1, step});
    reduce.insert(std::find_if(reduce.begin(), reduce.end(), is_long), split[0]);
    reduce.push_back(split[1]);
  } else {
    reduce.push_back(loops[plan->depth]);
  }
  const auto columns = schedule->Split(loops[plan->column], std::vector<int64_t>{-1, plan->panels, plan->num_columns});
  auto rows = schedule->Split(loops[plan->row], std::vector<int64_t>{-1, plan->num_rows});
  const bool packs_blocks = plan->packs_blocks && !packed.empty();
  if (!packs_blocks) outer.push_back(columns[0]);
  if (plan->rows_divide) {
    const auto blocks = schedule->Split(rows[0], std::vector<int64_t>{-1, plan->block_tiles});
    outer.insert(plan->threads_keep_rows && !packs_blocks ? outer.end() - 1 : outer.end(), blocks[0]);
    rows[0] = blocks[1];
  }
  std::vector<Loop> order = outer;
  if (packs_blocks) order.push_back(columns[0]);
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
  if (packs_blocks) {
    schedule->ComputeAt(packed, outer.back());
    ScheduleLinesOfCopy(schedule, packed);
  }
  if (!plan->parts.empty()) FillParts(schedule, plan->parts, part.value_or(outer.back()), target);
  schedule->Parallel(FuseAll(schedule, outer));
  return true;
}

}  // namespace deuteron::tir
