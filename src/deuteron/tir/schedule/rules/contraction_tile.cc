/// \file
/// What becomes of the plan of a contraction: register tiles.
///
/// One operand (B: the weights) is contiguous along an axis of the output, the vector axis; the other (A: the
/// activations) does not depend on it. A tile is MR values of an axis of A × NV vectors of the vector axis; its
/// accumulators stay in registers while the reduction runs: each step loads NV vectors of B, broadcasts MR scalars of A
/// and does MR × NV multiply-adds. Then the epilogue runs on the tile:
///  - directly on the accumulators where the output is contiguous along the vector axis (x · W), else
///  - on a copy in the first cache, transposed (a convolution in NCHW, its vector axis the channels).
/// A pointwise convolution in NCHW has the roles reversed: the pixels of a row are the vector axis, contiguous in the
/// image and in the output; the weights are the scalars. The tile is small enough for the registers of the target. The
/// vectors divide their axis but for that of pixels; a last tile of fewer rows stands at the end of a serial loop, from
/// which lowering splits it off.
///
/// A sum is cut into parts that the accumulators add up, and the tile's sums in the first cache take: its error is that
/// of the parts (contraction_sums.cc). Of a long one, so many of them are a part again: the panel of B that it reads
/// stays in the cache while all rows pass by, the sums of these parts are added up where the result lies, and the
/// epilogue runs on a panel of results. Rows of A that compete
/// for the same places of the first cache are copied to lie side by side, once for several panels of B. Constant
/// weights are laid out at compile time (PackWeights), and while the rows pass by one panel of them the next comes from
/// memory (kPrefetchNext). After K. Goto, R. van de Geijn, "Anatomy of High-Performance
/// Matrix Multiplication", TOMS 2008.
#include <algorithm>
#include <optional>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/contraction_nest.h"

namespace deuteron::tir {
namespace {

/// The loops of a block that lie under `loop`, outermost first.
std::vector<Loop> LoopsUnder(const Schedule& schedule, const Block& block, const Loop& loop) {
  const std::vector<Loop> loops = schedule.GetLoops(block);
  const auto position = std::find_if(loops.begin(), loops.end(), [&](const Loop& each) { return each.same_as(loop); });
  return {position + 1, loops.end()};
}

/// Which of the loops is that of the vector axis: as long as a tile is wide, the innermost such.
std::optional<size_t> VectorLoop(const Schedule& schedule, const std::vector<Loop>& loops,
                                 const ContractionPlan& plan) {
  const int64_t width = std::min(plan.lanes * plan.num_vectors, plan.vector_extent);
  for (size_t i = loops.size(); i-- > 0;) {
    if (schedule.ConstExtent(loops[i]) == width) return i;
  }
  // Of a single panel the result has less, where it was padded.
  const int64_t last = loops.empty() ? 0 : schedule.ConstExtent(loops.back()).value_or(0);
  if (plan.contiguous_output && last > width - plan.lanes && last < width) return loops.size() - 1;
  return std::nullopt;
}

/// Marks the loops of a block that copies a tile: all unrolled, the vector axis innermost and in vectors.
void MarkTile(Schedule* schedule, const Block& block, const Loop& tile, const ContractionPlan& plan) {
  const std::vector<Loop> inner = LoopsUnder(*schedule, block, tile);
  if (inner.empty()) return;
  auto vector = VectorLoop(*schedule, inner, plan);
  if (!vector) {
    // An epilogue of slices of the results, all of which are in the tile: gates, each so many of the columns.
    if (schedule->ConstExtent(inner.back()).value_or(1) % plan.lanes != 0) return;
    vector = inner.size() - 1;
  }
  const auto split = schedule->Split(inner[*vector], std::vector<int64_t>{-1, plan.lanes});
  std::vector<Loop> order;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (i != *vector) order.push_back(inner[i]);
  }
  order.push_back(split[0]);
  order.push_back(split[1]);
  schedule->Reorder(order);
  for (size_t i = 0; i + 1 < order.size(); ++i) schedule->Unroll(order[i]);
  schedule->Vectorize(split[1]);
}

/// The dimension of what a block writes that is its iterator at `position`.
size_t DimensionOf(const Schedule& schedule, const Block& name, size_t position) {
  const SBlock block = schedule.Get(name);
  const Array<PrimExpr> indices = GetReductionUpdate(block)->indices;
  const Var& var = block->iter_vars[position]->var;
  const auto at =
      std::find_if(indices.begin(), indices.end(), [&](const PrimExpr& index) { return index.same_as(var); });
  return static_cast<size_t>(at - indices.begin());
}

/// Makes every index of what a block stores one of its iterators: groups of channels become a dimension.
void SplitDimensions(Schedule* schedule, const Block& name) {
  const SBlock block = schedule->Get(name);
  const Array<PrimExpr> indices = GetReductionUpdate(block)->indices;
  std::vector<LayoutDim> layout;
  for (int64_t dim = 0; dim < std::ssize(indices); ++dim) {
    std::optional<int64_t> length;
    for (const IterVar& iter : block->iter_vars) {
      const bool is_inner = !indices[dim].same_as(iter->var) && StepAlong(indices[dim], iter) == 1;
      if (is_inner) length = AsConstInt(iter->dom->extent);
    }
    layout.push_back(length ? LayoutDim::Outer(dim, *length) : LayoutDim::Whole(dim));
    if (length) layout.push_back(LayoutDim::Inner(dim, *length));
  }
  if (layout.size() != indices.size()) schedule->TransformLayout(schedule->WriteBuffer(name), layout);
}

/// Lays out what the sums are stored in, and those of their parts, so that vectors are contiguous.
void MoveVectorsLast(Schedule* schedule, const ContractionPlan& plan) {
  MoveDimensionLast(schedule, schedule->WriteBuffer(plan.sums), plan.vector_dim);
  if (plan.tile_depth == 0) return;
  for (const Block& block : {plan.anchor, plan.tile_sums}) {
    if (block.empty()) continue;
    MoveDimensionLast(schedule, schedule->WriteBuffer(block), DimensionOf(*schedule, block, plan.vector));
  }
}

/// Makes the anchor the sums of the parts that `parts` runs over, which becomes a loop behind the first `spatial` ones;
/// what adds them up is the block that was the anchor.
void FactorSums(Schedule* schedule, ContractionPlan* plan, const Loop& parts, int64_t spatial) {
  const std::vector<Loop> loops = schedule->GetLoops(plan->anchor);
  std::vector<Loop> order = {parts};
  for (size_t i = 0; !loops[i].same_as(parts); ++i) order.push_back(loops[i]);
  schedule->Reorder(order);  // else the two blocks would share loops
  plan->anchor = schedule->RFactor(parts, 0);
  SplitDimensions(schedule, plan->anchor);
  schedule->SetScope(schedule->WriteBuffer(plan->anchor), "local");
  order = schedule->GetLoops(plan->anchor);
  std::rotate(order.begin(), order.begin() + 1, order.begin() + spatial + 1);
  schedule->Reorder(order);
}

/// Makes the anchor the sums of parts, which registers hold, and what adds them up a block behind it, or two.
void SplitSums(Schedule* schedule, ContractionPlan* plan) {
  const Array<IterVar> iters = schedule->Get(plan->anchor)->iter_vars;
  const auto spatial = std::count_if(iters.begin(), iters.end(),
                                     [](const IterVar& iter) { return iter->type == IterVarType::kSpatial; });
  const std::vector<Loop> loops = schedule->GetLoops(plan->anchor);
  std::vector<Loop> parts(loops.begin() + spatial, loops.begin() + static_cast<int64_t>(plan->cut));
  parts.push_back(schedule->Split(loops[plan->cut], std::vector<int64_t>{-1, plan->tile_depth})[0]);
  Loop all = FuseAll(schedule, parts);
  plan->cut = static_cast<size_t>(spatial);
  const bool has_two = plan->parts_in_memory > 1;
  if (has_two) all = schedule->Split(all, std::vector<int64_t>{-1, plan->parts_in_memory})[0];
  FactorSums(schedule, plan, all, spatial);
  if (!has_two) return;
  plan->tile_sums = plan->anchor;
  FactorSums(schedule, plan, schedule->GetLoops(plan->anchor)[plan->cut + 1], spatial + 1);
}

/// Sets the sums of a tile, which `reduce` runs over, to 0 before that loop, within `tile`.
void InitTile(Schedule* schedule, const Block& sum, const Loop& reduce, const Loop& tile) {
  const Block init = schedule->DecomposeReduction(sum, reduce);
  // It has copies of the tile's loops, rows × vectors × lanes.
  const std::vector<Loop> loops = LoopsUnder(*schedule, init, tile);
  for (size_t i = 0; i + 1 < loops.size(); ++i) schedule->Unroll(loops[i]);
  schedule->Vectorize(loops.back());
}

/// Sets the sums of a tile to 0 before the loop over its parts, within `tile`, and adds up a part in each iteration.
void AddUpParts(Schedule* schedule, const Block& sums, const Loop& parts, const Loop& tile,
                const ContractionPlan& plan) {
  MarkTile(schedule, schedule->DecomposeReduction(sums, parts), tile, plan);
  MarkTile(schedule, sums, parts, plan);
}

/// Of so many parts each has code of its own; of more it would take longer to fetch.
constexpr int64_t kFewParts = 2;
/// Unless they are transposed behind it, masked at the end of a line, or more operations follow than this: what those
/// need in registers would take the places of sums before.
constexpr double kFewOps = 8;

/// Of a window's taps along a line, at most so many.
constexpr int64_t kMostTaps = 7;

/// Terms of a sum beside which what is done with it takes no time.
constexpr int64_t kManyTerms = 200;

/// Terms of each sum of a tile, symbols as they are assumed.
int64_t TermsOf(const Schedule& schedule, const ContractionPlan& plan) {
  int64_t terms = 1;
  for (const Block& block : {plan.anchor, plan.sums}) {
    for (const IterVar& iter : schedule.Get(block)->iter_vars) {
      if (iter->type == IterVarType::kReduce) terms *= AssumedExtent(iter->dom->extent);
    }
    if (plan.anchor == plan.sums) break;
  }
  return terms;
}

/// Makes loops over a tile of what runs on sums that it has stored. Transposed, the rows are contiguous in the output;
/// unrolled, the loads of neighbouring channels are known to be such.
void LoopOverTile(Schedule* schedule, const Block& block, const Loop& tile, const ContractionPlan& plan) {
  const std::vector<Loop> inner = LoopsUnder(*schedule, block, tile);
  const auto vector = VectorLoop(*schedule, inner, plan);
  if (plan.contiguous_output) {
    if (vector) {
      const auto split = schedule->Split(inner[*vector], std::vector<int64_t>{plan.num_vectors, plan.lanes});
      schedule->Vectorize(split[1]);
      if (!plan.has_long_code) schedule->Unroll(split[0]);
    }
    if (plan.has_long_code) return;
    for (size_t i = 0; i < inner.size(); ++i) {
      if (i != vector) schedule->Annotate(inner[i], "pragma_no_unroll", 1);
    }
    return;
  }
  const auto extent = inner.empty() ? std::nullopt : schedule->ConstExtent(inner.back());
  if (!extent || *extent <= 1 || *extent > 2 * plan.lanes) return;
  schedule->Vectorize(inner.back());
  int64_t copies = 1;
  for (size_t i = 0; i + 1 < inner.size(); ++i) {
    copies *= schedule->ConstExtent(inner[i]).value_or(plan.most_copies + 1);
  }
  if (copies > plan.most_copies) return;
  const bool is_long = TermsOf(*schedule, plan) >= kManyTerms;
  for (size_t i = 0; i + 1 < inner.size(); ++i) {
    Loop copied = inner[i];
    // A vector of channels is transposed like the next one: the same code, where it takes no time beside the sums.
    if (vector == i && is_long && plan.num_vectors > 1 &&
        schedule->ConstExtent(copied) == plan.num_vectors * plan.lanes) {
      const auto split = schedule->Split(copied, std::vector<int64_t>{plan.num_vectors, plan.lanes});
      schedule->Annotate(split[0], "pragma_no_unroll", 1);
      copied = split[1];
    }
    schedule->Unroll(copied);
  }
}

/// A tile whose accumulators, or sums of parts, hold the whole sum, followed by what runs on it.
void SumWhole(Schedule* schedule, const ContractionPlan& plan, const ContractionNest& nest) {
  const Loop tile = nest.TileLoop();
  // The epilogue reads contiguous accumulators as they are, unless its copies, one for each vector, are too many: then
  // it is a loop over a copy of the tile, or the sums of its parts.
  const double ops = plan.epilogue.empty() ? 0 : OpsPerInstance(schedule->Get(plan.epilogue));
  const bool is_loop = !plan.epilogue.empty() && (!plan.contiguous_output || !plan.has_long_code ||
                                                  plan.num_rows * plan.num_vectors > plan.most_copies);
  const bool is_copied = plan.epilogue.empty() || (is_loop && !nest.sums);
  std::vector<Block> stages;
  if (is_copied) stages.push_back(schedule->CacheWrite(plan.sums, "local"));
  if (!plan.epilogue.empty()) stages.push_back(plan.epilogue);
  const Block first = stages.front();
  if (first == plan.epilogue) schedule->SetScope(schedule->WriteBuffer(plan.sums), "local");
  if (!plan.contiguous_output) {
    // Registers hold vectors of the vector axis, and so does the copy that the epilogue reads.
    MoveVectorsLast(schedule, plan);
    if (is_copied && is_loop) MoveDimensionLast(schedule, schedule->WriteBuffer(first), plan.vector_dim);
  }
  if (nest.sums) {
    schedule->ReverseComputeAt(plan.sums, *nest.sums);
    InitTile(schedule, plan.anchor, nest.reduce.front(), *nest.sums);
  }
  stages.insert(stages.end(), plan.followers.begin(), plan.followers.end());
  for (const Block& stage : stages) schedule->ReverseComputeAt(stage, tile);
  if (nest.sums) {
    AddUpParts(schedule, plan.sums, *nest.sums, tile, plan);
    // Of two parts the first one is stored, rather than added to zeros.
    const int64_t parts = *schedule->ConstExtent(*nest.sums);
    if (parts <= kFewParts && ops <= kFewOps && plan.contiguous_output && plan.has_whole_vectors && plan.has_long_code)
      schedule->Annotate(*nest.sums, "pragma_unroll_factor", parts);
  } else {
    InitTile(schedule, plan.sums, nest.reduce.front(), tile);
  }
  const auto has_copies = [&](const Block& follower) {
    return !is_loop && plan.contiguous_output && OpsPerInstance(schedule->Get(follower)) <= kFewOps;
  };
  for (const Block& stage : stages) {
    if (stage == first ? is_copied || !is_loop : has_copies(stage)) {
      MarkTile(schedule, stage, tile, plan);
    } else {
      LoopOverTile(schedule, stage, tile, plan);
    }
  }
}

/// Makes the loop of the vector axis the innermost one of a block that fills a panel of results.
Loop MoveVectorLast(Schedule* schedule, const Block& block, const ContractionPlan& plan) {
  const std::vector<Loop> loops = schedule->GetLoops(block);
  const auto vector = VectorLoop(*schedule, loops, plan);
  if (!vector) return loops.back();
  std::vector<Loop> order(loops.begin() + static_cast<int64_t>(*vector) + 1, loops.end());
  order.push_back(loops[*vector]);
  schedule->Reorder(order);
  return loops[*vector];
}

/// Tiles whose accumulators hold a part of the sum; they are added up where the sum is stored, or before the epilogue
/// reads it.
void SumParts(Schedule* schedule, const ContractionPlan& plan, const ContractionNest& nest) {
  std::vector<Block> stages = plan.followers;
  if (!plan.epilogue.empty()) {
    stages.insert(stages.begin(), plan.epilogue);
  } else if (!plan.contiguous_output) {
    stages.insert(stages.begin(), schedule->CacheWrite(plan.sums, "global"));
  }
  if (!plan.contiguous_output) MoveVectorsLast(schedule, plan);
  const Loop tile = nest.TileLoop();
  if (nest.sums) schedule->ReverseComputeAt(plan.tile_sums, *nest.sums);
  InitTile(schedule, plan.anchor, nest.reduce.front(), nest.sums.value_or(tile));
  schedule->ReverseComputeAt(plan.sums, tile);
  if (nest.sums) AddUpParts(schedule, plan.tile_sums, *nest.sums, tile, plan);
  const Block init = schedule->DecomposeReduction(plan.sums, *nest.part);
  MarkTile(schedule, plan.sums, tile, plan);
  schedule->Vectorize(MoveVectorLast(schedule, init, plan));
  for (const Block& stage : stages) {
    schedule->ReverseComputeAt(stage, nest.PanelLoop());
    schedule->Vectorize(schedule->GetLoops(stage).back());
  }
}

/// The operand that has the rows, before sums are cut.
Buffer OperandOfRows(const Schedule& schedule, const ContractionPlan& plan) {
  const MatmulRoles roles = *ClassifyBlock(schedule.Get(plan.anchor)).matmul;
  return (Contains(roles.m, *plan.row) ? roles.lhs_load : roles.rhs_load)->buffer;
}

/// The rows of A that an iteration around the panels reads, a vector of each row after the other: tiles read
/// neighbouring lines then, which do not compete for places in the caches.
void CopyRows(Schedule* schedule, const ContractionPlan& plan, const Buffer& a, ContractionNest* nest) {
  const Block copy = CopyOperand(schedule, plan.anchor, a);
  const auto depth = static_cast<int64_t>(a->shape.size()) - 1;
  std::vector<LayoutDim> layout = {LayoutDim::Outer(depth, plan.lanes)};
  for (int64_t dim = 0; dim < depth; ++dim) layout.push_back(LayoutDim::Whole(dim));
  layout.push_back(LayoutDim::Inner(depth, plan.lanes));
  schedule->TransformLayout(schedule->WriteBuffer(copy), layout);
  schedule->ComputeAt(copy, nest->outer.back());
  schedule->Vectorize(schedule->GetLoops(copy).back());
  const auto split = schedule->Split(nest->reduce.front(), std::vector<int64_t>{-1, plan.lanes});
  nest->reduce = split;
}

/// Whether the loops around the rows are work enough for all threads.
bool HasEnoughPieces(const Schedule& schedule, const ContractionPlan& plan, const ContractionNest& nest) {
  int64_t pieces = 1;
  for (const Loop& loop : nest.outer) pieces *= schedule.ConstExtent(loop).value_or(kUnknownExtent);
  return pieces >= plan.enough_pieces;
}

/// Whether the next panel is asked for while the rows pass by one: there are several, for each thread some, or one for
/// each of the products of transformed tiles.
bool AsksForPanels(const Schedule& schedule, const ContractionPlan& plan, const ContractionNest& nest) {
  if (nest.rows.empty() || !plan.panel_is_run || (!plan.panels.empty() && !plan.fills_panels)) return false;
  if (schedule.Get(plan.anchor)->annotations.count(kTransformedTiles) != 0) return true;
  if (plan.vector_extent <= plan.num_vectors * plan.lanes) return false;
  return plan.RowsAreSerial() || HasEnoughPieces(schedule, plan, nest);
}

}  // namespace

void TileContraction(Schedule* schedule, ContractionPlan plan, const Target& target) {
  // Sums that are transposed where they are stored are so by a loop over a copy of the tile, as by any epilogue:
  // vectors of registers would be stored one number after the other.
  if (plan.epilogue.empty() && !plan.contiguous_output && plan.parts_in_memory == 0 && !plan.has_blocks)
    plan.epilogue = schedule->CacheWrite(plan.anchor, "local");
  if (!plan.has_blocks) plan.sums = plan.anchor;
  const Buffer copied = plan.copied_for != 0 && !plan.widens_copy ? OperandOfRows(*schedule, plan) : Buffer();
  if (plan.tile_depth != 0 && !plan.has_blocks) SplitSums(schedule, &plan);
  ContractionNest nest = CutLoops(schedule, plan);
  if (plan.widens_copy && nest.panels) {
    schedule->ComputeAt(plan.widened, nest.outer.back());
    VectorizeInner(schedule, plan.widened, schedule->GetLoops(plan.widened).size() - 1, Lanes(target));
  } else if (nest.panels) {
    CopyRows(schedule, plan, copied, &nest);
    if (!plan.widened.empty()) schedule->ComputeInline(plan.widened);
  } else if (plan.widens_by_tile) {
    schedule->ComputeAt(plan.widened, nest.TileLoop());
    VectorizeInner(schedule, plan.widened, schedule->GetLoops(plan.widened).size() - 1, Lanes(target));
  } else if (!plan.widened.empty()) {
    ScheduleSpatial(schedule, plan.widened, target);
  }
  const bool dequantizes_steps = plan.DequantizesVectors() || (plan.DequantizesPanels() && plan.fills_panels);
  if (dequantizes_steps) CutByScales(schedule, plan.dequantized, &nest.reduce);
  if (plan.unrolled_steps > 1)
    nest.reduce = schedule->Split(nest.reduce.back(), std::vector<int64_t>{-1, plan.unrolled_steps});
  if (nest.part) {
    SumParts(schedule, plan, nest);
  } else {
    SumWhole(schedule, plan, nest);
  }
  for (size_t i = 0; i + 1 < nest.tile.size(); ++i) schedule->Unroll(nest.tile[i]);
  schedule->Vectorize(nest.tile.back());
  if (dequantizes_steps) UnrollRowsOfByte(schedule, &nest.reduce);
  if (plan.unrolled_steps > 1) {
    schedule->Unroll(nest.reduce.back());
    nest.reduce.pop_back();
  }
  // Steps that follow each other share scalars of A, for which there are no registers.
  for (const Loop& loop : nest.reduce) {
    const bool is_taps = nest.reduce.size() > 1 && loop.same_as(nest.reduce.back());
    const bool unrolls_taps =
        plan.unrolls_taps && is_taps && schedule->ConstExtent(loop).value_or(kMostTaps + 1) <= kMostTaps;
    if ((plan.unrolls_parts && plan.tile_depth != 0) || unrolls_taps) {
      schedule->Annotate(loop, "pragma_unroll_factor", *schedule->ConstExtent(loop));
    } else {
      schedule->Annotate(loop, "pragma_no_unroll", 1);
    }
  }
  // Windows load the same lines for several of their taps: of a sum over one axis what comes next is asked for.
  std::vector<Loop> steps = nest.reduce;
  std::erase_if(steps, [&](const Loop& loop) { return schedule->ConstExtent(loop) == 1; });
  if (!steps.empty() && (steps.size() == 1 || nest.panels || plan.has_whole_vectors))
    schedule->Annotate(steps.back(), kPrefetchSteps, plan.prefetch_steps);
  std::vector<Loop> parallel = nest.outer;
  std::optional<Loop> tiles = nest.rows.empty() ? std::nullopt : std::optional(nest.rows.back());
  if (!plan.panels.empty()) {
    if (plan.fills_panels && !nest.rows.empty() && !steps.empty()) {
      FillPanel(schedule, plan, nest.rows, steps.back());
    } else {
      PlacePanels(schedule, plan, nest.part.value_or(nest.PanelLoop()));
    }
  }
  if (plan.DequantizesVectors()) schedule->ComputeInline(plan.dequantized);
  const bool asks_for_panels = AsksForPanels(*schedule, plan, nest);
  if (asks_for_panels) schedule->Annotate(nest.rows.front(), kPrefetchNext, 1);
  // Rows that one thread passes by in a row ask for the next ones.
  if (!plan.RowsAreSerial() && !asks_for_panels && !HasEnoughPieces(*schedule, plan, nest)) {
    parallel.insert(parallel.end(), nest.rows.begin(), nest.rows.end());
    // A partial tile, or block, is split off from a loop of its own, so that loop stays out of the parallel one.
    auto serial = parallel.end();
    if (nest.uneven) {
      serial =
          std::find_if(parallel.begin(), parallel.end(), [&](const Loop& loop) { return loop.same_as(*nest.uneven); });
    } else if (!plan.rows_divide) {
      --serial;
    }
    if (serial == parallel.begin()) serial = parallel.end();
    if (serial == parallel.end()) tiles.reset();
    parallel.erase(serial, parallel.end());
  }
  // Of a part of each row the next one does not follow.
  if (tiles && steps.size() == 1 && !nest.part && !plan.widens_by_tile) schedule->Annotate(*tiles, kPrefetchRows, 1);
  schedule->Parallel(FuseAll(schedule, parallel));
}

}  // namespace deuteron::tir
