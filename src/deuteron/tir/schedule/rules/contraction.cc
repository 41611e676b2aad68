/// \file
/// Matrix products and dense convolutions in register tiles.
///
/// One operand (B: the weights) is contiguous along an axis of the output, the vector axis; the other (A: the
/// activations) does not depend on it. A tile is MR values of an axis of A × NV vectors of the vector axis; its
/// accumulators stay in registers while all of the reduction runs: each step loads NV vectors of B, broadcasts MR
/// scalars of A and does MR × NV multiply-adds. Then the epilogue runs on the tile:
///  - directly on the accumulators where the output is contiguous along the vector axis (x · W), else
///  - on a copy in the first cache, transposed (a convolution in NCHW, its vector axis the channels).
/// A pointwise convolution in NCHW has the roles reversed: the pixels of a row are the vector axis, contiguous in the
/// image and in the output; the weights are the scalars. The tile is small enough for the registers of the target. The
/// vectors divide their axis but for that of pixels; a last tile of fewer rows stands at the end of a serial loop, from
/// which lowering splits it off. After K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
/// TOMS 2008, without its packing: weights are laid out at compile time (PackWeights).
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

struct Plan {
  Block anchor;
  Block epilogue;
  /// Positions among the anchor's iterators.
  size_t vector = 0;
  std::optional<size_t> row;
  /// Dimension of the output that the vector axis is; the last if the output is contiguous along it.
  size_t vector_dim = 0;
  bool contiguous_output = false;
  int64_t vector_extent = 1;
  int64_t lanes = 1;
  int64_t num_vectors = 1;
  int64_t num_rows = 1;
  /// An axis of which a tile has some values besides, each with vectors of its own: lines of pixels.
  std::optional<size_t> line;
  int64_t num_lines = 1;
  /// Bytes of A, and how many of them may stay in the second cache; 0 where not known.
  int64_t a_bytes = 0;
  int64_t a_budget = 0;
  /// Whether `num_rows` divides the row axis: else its last tile is partial.
  bool rows_divide = true;
};

/// The iterator that the last index of an access is: plainly, or in blocks of `block` (of channels, their number being
/// the access's dimension before).
struct LastIndex {
  size_t iter;
  std::optional<int64_t> block;
};
std::optional<LastIndex> LastIndexIter(const SBlock& block, const Array<PrimExpr>& indices) {
  if (indices.empty()) return std::nullopt;
  PrimExpr last = indices.back();
  std::optional<int64_t> length;
  if (last->kind == ExprKind::kFloorMod) {
    const auto* rest = static_cast<const BinaryNode*>(last.get());
    length = AsConstInt(rest->b);
    if (!length) return std::nullopt;
    last = rest->a;
  }
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (last.same_as(block->iter_vars[i]->var)) return LastIndex{i, length};
  }
  return std::nullopt;
}

bool Contains(const std::vector<size_t>& positions, size_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

/// The shortest vectors that are made, and the shortest rows of pixels.
constexpr int64_t kFewestLanes = 4;

/// The widest vector and the number of vectors that divide `extent` and fit `budget` accumulators with `rows` rows.
bool ChooseVectors(int64_t extent, int64_t full_lanes, int64_t budget, Plan* plan) {
  for (int64_t lanes = full_lanes; lanes >= kFewestLanes; lanes /= 2) {
    if (extent % lanes != 0) continue;
    plan->lanes = lanes;
    plan->num_vectors = LargestDivisor(extent / lanes, std::max<int64_t>(budget / plan->num_rows, 1));
    return true;
  }
  return false;
}

/// Where whole vectors of channels are the alternative, rows of pixels pay that fill so many.
constexpr int64_t kPayingRowVectors = 3;

/// Registers for accumulators; the others hold a step's operands and what the epilogue needs.
int64_t AccumulatorBudget(const Target& target) { return target.machine.vector_registers * 7 / 8; }

/// The stride at which `load` runs through the image as output axis `x` does, wherever the reduction stands; nothing if
/// it is none of a few elements at most.
std::optional<int64_t> StrideAlong(const BufferLoad& load, const IterVar& x) {
  arith::Analyzer analyzer;
  const PrimExpr& index = load->indices.back();
  const PrimExpr next = Substitute(index, ExprVarMap{{x->var, x->var + MakeConst(x->var.dtype(), 1)}});
  const auto stride = AsConstInt(analyzer.Simplify(next - index));
  return stride && *stride > 0 && *stride <= 2 ? stride : std::nullopt;
}

/// Whether the convolution's window is one element.
bool IsPointwise(const SBlock& block, const BufferLoad& load, const IterVar& x) {
  arith::Analyzer analyzer;
  const PrimExpr index = analyzer.Simplify(Substitute(load->indices.back(), UnitReductions(block)));
  const auto vars = FreeVars(index);
  return std::all_of(vars.begin(), vars.end(), [&](const Var& var) { return var.same_as(x->var); });
}

/// Adds lines of pixels to a tile of short ones, so that a step loads the least for its multiply-adds.
void AddLines(const SBlock& block, const std::vector<size_t>& image_axes, int64_t num_channels, const Target& target,
              Plan* plan) {
  const int64_t budget = AccumulatorBudget(target);
  // That come from the second cache in the time of a load.
  const double bytes_of_load = target.machine.l2.load_bytes_per_cycle / static_cast<double>(target.machine.load_pipes);
  for (const size_t axis : image_axes) {
    if (axis + 1 == plan->vector) plan->line = axis;
  }
  const auto extent = plan->line ? AsConstInt(block->iter_vars[*plan->line]->dom->extent) : std::nullopt;
  if (!extent) return plan->line.reset();
  // For one multiply-add: loads, and what they take from the second cache, in loads' time.
  const auto cost = [&](int64_t vectors, int64_t rows) {
    const auto bytes = static_cast<double>(4 * plan->lanes * vectors + 4 * rows);
    return (static_cast<double>(vectors + rows) + bytes / bytes_of_load) / static_cast<double>(vectors * rows);
  };
  double least = cost(plan->num_vectors, plan->num_rows);
  for (int64_t lines = 2; lines * plan->num_vectors <= budget; ++lines) {
    if (*extent % lines != 0) continue;
    const int64_t vectors = lines * plan->num_vectors;
    const int64_t rows = LargestDivisor(num_channels, budget / vectors);
    if (cost(vectors, rows) >= least) continue;
    least = cost(vectors, rows);
    plan->num_lines = lines;
    plan->num_rows = rows;
  }
}

/// The plan with the pixels of a row as the vector axis, of a convolution in NCHW; false if the block is none.
bool PlanPixels(const SBlock& block, const MatmulRoles& roles, const Array<PrimExpr>& output, const Target& target,
                Plan* plan) {
  const auto x = LastIndexIter(block, output);
  if (!x || x->block) return false;
  const IterVar& axis = block->iter_vars[x->iter];
  const bool image_is_lhs = Contains(roles.m, x->iter) && StrideAlong(roles.lhs_load, axis);
  const bool image_is_rhs = Contains(roles.n, x->iter) && StrideAlong(roles.rhs_load, axis);
  const std::vector<size_t>& channels = image_is_lhs ? roles.n : roles.m;
  const auto extent = AsConstInt(axis->dom->extent);
  if ((!image_is_lhs && !image_is_rhs) || channels.size() != 1 || !extent || *extent < kFewestLanes) return false;
  const auto num_channels = AsConstInt(block->iter_vars[channels[0]]->dom->extent);
  if (!num_channels) return false;
  plan->lanes = Lanes(target);
  while (plan->lanes / 2 >= *extent) plan->lanes /= 2;
  const int64_t vectors = (*extent + plan->lanes - 1) / plan->lanes;
  const int64_t budget = AccumulatorBudget(target);
  const int64_t fewest = CostModel(target.machine).LeastAccumulators();
  plan->vector = x->iter;
  plan->vector_extent = *extent;
  plan->num_vectors = 1;
  const auto computed = [&](int64_t most) { return (vectors + most - 1) / most * most; };
  for (int64_t count = 2; count <= std::min(vectors, budget / fewest); ++count) {
    if (computed(count) <= computed(plan->num_vectors)) plan->num_vectors = count;
  }
  plan->row = channels[0];
  plan->num_rows = LargestDivisor(*num_channels, budget / plan->num_vectors);
  plan->vector_dim = output.size() - 1;
  plan->contiguous_output = true;
  AddLines(block, image_is_lhs ? roles.m : roles.n, *num_channels, target, plan);
  return plan->num_rows * plan->num_lines * plan->num_vectors >= fewest;
}

/// Elements of the vector axis that a vector of it holds, where the last one is partial.
double MeanLanes(const Plan& plan) {
  const int64_t vectors = (plan.vector_extent + plan.lanes - 1) / plan.lanes;
  return static_cast<double>(plan.vector_extent) / static_cast<double>(vectors);
}

/// The pages that the reduction of a pointwise convolution steps through: a plane of the image for each channel.
int64_t PagesOfStep(const SBlock& block, const MatmulRoles& roles, const BufferLoad& image, const Target& target) {
  int64_t pages = 1;
  for (const size_t axis : roles.k) pages *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  int64_t plane_bytes = image->buffer->dtype.bytes();
  for (size_t dim = image->indices.size(); dim-- > 0;) {
    const auto at = static_cast<int64_t>(dim);
    const bool is_channel = std::any_of(roles.k.begin(), roles.k.end(), [&](size_t axis) {
      return image->indices[at].same_as(block->iter_vars[axis]->var);
    });
    if (is_channel) break;
    plane_bytes *= AssumedExtent(image->buffer->shape[at]);
  }
  if (plane_bytes >= target.machine.page_bytes) return pages;
  return (pages * plane_bytes + target.machine.page_bytes - 1) / target.machine.page_bytes;
}

/// Whether pixels make better vectors than those of `whole`, which divide their axis.
bool PixelsPay(const SBlock& block, const MatmulRoles& roles, const Plan& whole, const Plan& pixels,
               const Target& target) {
  if (pixels.num_rows * pixels.num_lines * pixels.num_vectors < AccumulatorBudget(target) / 2) return false;
  const double lanes = CostModel(target.machine).MaskedPart() * MeanLanes(pixels);
  if (lanes > static_cast<double>(whole.lanes)) return true;
  if (whole.contiguous_output) return false;
  // Else those of a pointwise convolution in long rows.
  const IterVar& x = block->iter_vars[pixels.vector];
  const BufferLoad& image = Contains(roles.m, pixels.vector) ? roles.lhs_load : roles.rhs_load;
  return IsPointwise(block, image, x) && pixels.vector_extent >= kPayingRowVectors * Lanes(target) &&
         PagesOfStep(block, roles, image, target) <= target.machine.near_pages;
}

/// How many rows a tile has along an axis: at most `most`, more than half of that if the axis is long enough, so that
/// the least time goes into the rows of the last tile that are too many and into what a tile loads for all of its rows.
int64_t ChooseRows(std::optional<int64_t> extent, int64_t most, const CostModel& costs) {
  if (!extent) return most;
  if (*extent <= most) return *extent;
  const auto cost = [&](int64_t rows) {
    const int64_t tiles = (*extent + rows - 1) / rows;
    return static_cast<double>(tiles) * (static_cast<double>(rows) + costs.RowsOfTileLoads());
  };
  int64_t best = most;
  for (int64_t rows = most; rows > most / 2; --rows) {
    if (cost(rows) < cost(best)) best = rows;
  }
  return best;
}

/// The most rows of A that a tile may read side by side, each a stream of scalars: rows that are a multiple of the
/// first cache's ways apart share its sets, and drive each other out where there are more than half of the ways, the
/// rest of which hold B.
int64_t MostStreams(const BufferLoad& a, const IterVar& row, const Target& target) {
  int64_t stride = a->buffer->dtype.bytes();
  for (size_t dim = a->indices.size(); dim-- > 0;) {
    const auto position = static_cast<int64_t>(dim);
    if (a->indices[position].same_as(row->var)) {
      const Cache& cache = target.machine.l1;
      return std::max<int64_t>(CostModel(target.machine).Places(cache, stride) * cache.ways / 2, 1);
    }
    const auto extent = AsConstInt(a->buffer->shape[position]);
    if (!extent) break;
    stride *= *extent;
  }
  return INT64_MAX;
}

/// Chooses a tile whose vectors divide their axis; false if there is none.
bool PlanWholeVectors(const SBlock& block, const MatmulRoles& roles, const Array<PrimExpr>& output,
                      const Target& target, Plan* plan) {
  // B runs along its own free axis; try the second operand first.
  std::vector<size_t> row_axes;
  const auto lhs_last = LastIndexIter(block, roles.lhs_load->indices);
  const auto rhs_last = LastIndexIter(block, roles.rhs_load->indices);
  std::optional<int64_t> channels;  // that are contiguous
  const bool vector_is_rhs = rhs_last && Contains(roles.n, rhs_last->iter);
  if (vector_is_rhs) {
    plan->vector = rhs_last->iter;
    channels = rhs_last->block;
    row_axes = roles.m;
  } else if (lhs_last && Contains(roles.m, lhs_last->iter)) {
    plan->vector = lhs_last->iter;
    channels = lhs_last->block;
    row_axes = roles.n;
  } else {
    return false;
  }
  const auto extent_of = [&](size_t position) { return AsConstInt(block->iter_vars[position]->dom->extent); };
  const auto vector_extent = extent_of(plan->vector);
  if (!vector_extent) return false;
  plan->vector_extent = *vector_extent;
  const int64_t budget = AccumulatorBudget(target);
  const CostModel costs(target.machine);
  for (auto axis = row_axes.rbegin(); axis != row_axes.rend(); ++axis) {
    const int64_t streams =
        MostStreams(vector_is_rhs ? roles.lhs_load : roles.rhs_load, block->iter_vars[*axis], target);
    const int64_t rows = ChooseRows(extent_of(*axis), std::min(budget / 2, streams), costs);
    if (rows > plan->num_rows) {
      plan->row = *axis;
      plan->num_rows = rows;
      plan->rows_divide = extent_of(*axis).value_or(1) % rows == 0;
    }
  }
  // The panel of B that a tile reads, all of the reduction deep, stays in the second cache while the rows pass by; if
  // one tile has all rows, B is read once, and best in long pieces, some for each thread.
  int64_t depth = 1, num_rows = 1;
  for (size_t axis : roles.k) depth *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  for (size_t axis : row_axes) num_rows *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  const int64_t vector_bytes = target.machine.vector_bits / 8;
  const int64_t panel_vectors =
      num_rows <= plan->num_rows
          ? std::max<int64_t>(*vector_extent / Lanes(target) / target.machine.threads, costs.LeastVectors())
          : std::max<int64_t>(costs.PanelBytes() / (depth * vector_bytes), costs.LeastVectors());
  if (*vector_extent % channels.value_or(1) != 0) return false;
  if (!ChooseVectors(channels.value_or(*vector_extent), Lanes(target), std::min(budget, panel_vectors * plan->num_rows),
                     plan)) {
    return false;
  }
  const Buffer& a = vector_is_rhs ? roles.lhs_load->buffer : roles.rhs_load->buffer;
  if (const auto shape = AsConstInts(a->shape)) {
    plan->a_bytes = a->dtype.bytes();
    for (int64_t extent : *shape) plan->a_bytes *= extent;
    plan->a_budget = costs.BesidePanelBytes();
  }
  for (size_t dim = 0; dim < output.size(); ++dim) {
    const VarNode* vector = block->iter_vars[plan->vector]->var.get();
    if (UsesVar(output[dim], [&](const VarNode* var) { return var == vector; })) plan->vector_dim = dim;
  }
  const auto last = LastIndexIter(block, output);
  plan->contiguous_output = last && last->iter == plan->vector;
  return true;
}

/// Chooses tile and axes; false if the block is not of this class.
bool MakePlan(const Schedule& schedule, const Target& target, Plan* plan) {
  const SBlock block = schedule.Get(plan->anchor);
  // Nothing is computed, or sums of nothing.
  for (const tir::IterVar& axis : block->iter_vars) {
    if (AsConstInt(axis->dom->extent) == 0) return false;
  }
  const MatmulRoles roles = *ClassifyBlock(block).matmul;
  const auto written = GetReductionUpdate(block);
  if (!written) return false;
  const bool whole = PlanWholeVectors(block, roles, written->indices, target, plan);
  if (whole && plan->contiguous_output && plan->lanes == Lanes(target)) return true;
  Plan pixels{.anchor = plan->anchor};
  if (!PlanPixels(block, roles, written->indices, target, &pixels)) return whole;
  if (!whole || PixelsPay(block, roles, *plan, pixels, target)) *plan = pixels;
  return true;
}

/// Marks the loops of a block that copies a tile: all unrolled, the vector axis innermost and in vectors.
void MarkTile(Schedule* schedule, const Block& block, const Loop& tile, const Plan& plan) {
  std::vector<Loop> loops = schedule->GetLoops(block);
  const auto position = std::find_if(loops.begin(), loops.end(), [&](const Loop& loop) { return loop.same_as(tile); });
  std::vector<Loop> inner(position + 1, loops.end());
  if (inner.empty()) return;
  const int64_t width = std::min(plan.lanes * plan.num_vectors, plan.vector_extent);
  // The loop of the vector axis is the one as long as the tile is wide; prefer the innermost such.
  size_t vector = inner.size();
  for (size_t i = inner.size(); i-- > 0;) {
    if (schedule->ConstExtent(inner[i]) == width) {
      vector = i;
      break;
    }
  }
  if (vector == inner.size()) return;
  const auto split = schedule->Split(inner[vector], std::vector<int64_t>{plan.num_vectors, plan.lanes});
  std::vector<Loop> order;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (i != vector) order.push_back(inner[i]);
  }
  order.push_back(split[0]);
  order.push_back(split[1]);
  schedule->Reorder(order);
  for (size_t i = 0; i + 1 < order.size(); ++i) schedule->Unroll(order[i]);
  schedule->Vectorize(split[1]);
}

/// Lays an intermediate buffer out so that dimension `dim` is contiguous.
void MoveDimensionLast(Schedule* schedule, const Buffer& buffer, size_t dim) {
  std::vector<LayoutDim> layout;
  for (size_t i = 0; i < buffer->shape.size(); ++i) {
    if (i != dim) layout.push_back(LayoutDim::Whole(static_cast<int64_t>(i)));
  }
  layout.push_back(LayoutDim::Whole(static_cast<int64_t>(dim)));
  schedule->TransformLayout(buffer, layout);
}

/// How many iterations of the outermost row loop use as much of A as fits its share of the cache; nothing if all do.
std::optional<int64_t> BlockOfRows(const Schedule& schedule, const Plan& plan, const std::vector<Loop>& rows) {
  if (rows.empty() || plan.a_bytes <= plan.a_budget || (rows.size() == 1 && !plan.rows_divide)) return std::nullopt;
  const auto extent = schedule.ConstExtent(rows.front());
  if (!extent) return std::nullopt;
  const int64_t block = LargestDivisor(*extent, *extent * plan.a_budget / plan.a_bytes);
  if (block <= 1 || block == *extent) return std::nullopt;
  return block;
}

void Tile(Schedule* schedule, const Plan& plan, const CostModel& costs) {
  const SBlock block = schedule->Get(plan.anchor);
  const std::vector<Loop> loops = schedule->GetLoops(plan.anchor);
  const auto vector = schedule->Split(loops[plan.vector], std::vector<int64_t>{-1, plan.num_vectors, plan.lanes});
  std::vector<Loop> outer;
  std::vector<Loop> reduce;
  std::optional<Loop> row_outer;
  std::vector<Loop> tile_rows;
  std::vector<Loop> rows;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i == plan.vector) continue;
    if (block->iter_vars[i]->type == IterVarType::kReduce) {
      reduce.push_back(loops[i]);
    } else if (plan.row == i) {
      const auto split = schedule->Split(loops[i], std::vector<int64_t>{-1, plan.num_rows});
      row_outer = split[0];
      tile_rows.push_back(split[1]);
    } else if (plan.line == i && plan.num_lines > 1) {
      const auto split = schedule->Split(loops[i], std::vector<int64_t>{-1, plan.num_lines});
      outer.push_back(split[0]);
      tile_rows.push_back(split[1]);
    } else if (i < plan.vector) {
      outer.push_back(loops[i]);
    } else {
      rows.push_back(loops[i]);
    }
  }
  if (row_outer) rows.push_back(*row_outer);
  // B's panel stays in the cache while the rows pass by; of more rows than fit beside it, a block at a time.
  if (const auto block_rows = BlockOfRows(*schedule, plan, rows)) {
    const auto split = schedule->Split(rows.front(), std::vector<int64_t>{-1, *block_rows});
    outer.push_back(split[0]);
    rows.front() = split[1];
  }
  outer.push_back(vector[0]);
  outer.insert(outer.end(), rows.begin(), rows.end());
  std::vector<Loop> order = outer;
  order.insert(order.end(), reduce.begin(), reduce.end());
  order.insert(order.end(), tile_rows.begin(), tile_rows.end());
  order.push_back(vector[1]);
  order.push_back(vector[2]);
  schedule->Reorder(order);

  const Loop tile = outer.back();
  // What runs on the tile after the reduction; the epilogue reads contiguous accumulators as they are.
  std::vector<Block> stages;
  if (plan.epilogue.empty() || !plan.contiguous_output) stages.push_back(schedule->CacheWrite(plan.anchor, "local"));
  if (!plan.epilogue.empty()) stages.push_back(plan.epilogue);
  if (stages[0] == plan.epilogue) schedule->SetScope(schedule->WriteBuffer(plan.anchor), "local");
  if (!plan.contiguous_output) {
    // Registers hold vectors of the vector axis, and so does the copy that the epilogue reads.
    MoveDimensionLast(schedule, schedule->WriteBuffer(plan.anchor), plan.vector_dim);
    if (!plan.epilogue.empty()) MoveDimensionLast(schedule, schedule->WriteBuffer(stages[0]), plan.vector_dim);
  }
  for (const Block& stage : stages) schedule->ReverseComputeAt(stage, tile);
  const Block init = schedule->DecomposeReduction(plan.anchor, reduce.front());
  // The initialisation has copies of the tile's loops, rows × vectors × lanes.
  const std::vector<Loop> init_loops = schedule->GetLoops(init);
  for (size_t i = outer.size(); i + 1 < init_loops.size(); ++i) schedule->Unroll(init_loops[i]);
  schedule->Vectorize(init_loops.back());
  MarkTile(schedule, stages[0], tile, plan);
  if (stages.size() == 2) {
    // Transposed: the rows are contiguous in the output. Unrolled, the loads of neighbouring channels are known to be
    // such.
    const std::vector<Loop> all = schedule->GetLoops(plan.epilogue);
    std::vector<Loop> inner(
        std::find_if(all.begin(), all.end(), [&](const Loop& loop) { return loop.same_as(tile); }) + 1, all.end());
    const auto extent = inner.empty() ? std::nullopt : schedule->ConstExtent(inner.back());
    if (extent && *extent > 1 && *extent <= 2 * plan.lanes) {
      schedule->Vectorize(inner.back());
      int64_t copies = 1;
      for (size_t i = 0; i + 1 < inner.size(); ++i)
        copies *= schedule->ConstExtent(inner[i]).value_or(costs.MostCopies() + 1);
      for (size_t i = 0; i + 1 < inner.size() && copies <= costs.MostCopies(); ++i) schedule->Unroll(inner[i]);
    }
  }
  for (const Loop& loop : tile_rows) schedule->Unroll(loop);
  schedule->Unroll(vector[1]);
  schedule->Vectorize(vector[2]);
  // A partial tile is split off from a loop of its own, so that loop stays out of the parallel one.
  if (!plan.rows_divide && outer.size() > 1) outer.pop_back();
  schedule->Parallel(FuseAll(schedule, outer));
}

/// Splits the axis of channels of a grouped convolution into groups and the channels of each: then groups are a batch
/// of products.
void SplitGroups(Schedule* schedule, const Block& anchor) {
  const SBlock block = schedule->Get(anchor);
  std::optional<std::pair<size_t, int64_t>> split;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* quotient = node.as<FloorDivNode>();
    if (quotient == nullptr) return;
    const auto length = AsConstInt(quotient->b);
    for (size_t i = 0; length && i < block->iter_vars.size(); ++i) {
      const auto extent = AsConstInt(block->iter_vars[i]->dom->extent);
      if (quotient->a.same_as(block->iter_vars[i]->var) && extent && *extent % *length == 0) split = {i, *length};
    }
  });
  if (split) schedule->SplitBlockIter(anchor, split->first, split->second);
}

}  // namespace

bool ScheduleContraction(Schedule* schedule, const Target& target) {
  Plan plan;
  InlineInjective(schedule, [&](const Block& block) { return IsCopy(*schedule, block); });
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) return false;
    BlockInfo info = ClassifyBlock(schedule->Get(block));
    if (info.kind == BlockClass::kInjective) continue;
    if (info.kind != BlockClass::kMatmul) {
      SplitGroups(schedule, block);
      info = ClassifyBlock(schedule->Get(block));
    }
    if (info.kind != BlockClass::kMatmul || !plan.anchor.empty()) return false;
    plan.anchor = block;
  }
  if (plan.anchor.empty() || !MakePlan(*schedule, target, &plan)) return false;
  InlineAllButOperands(schedule, plan.anchor);
  if (!WritesParameter(*schedule, plan.anchor)) {
    plan.epilogue = SoleInjectiveConsumer(*schedule, plan.anchor);
    if (plan.epilogue.empty()) return false;
  }
  for (const Block& block : schedule->GetBlocks()) {
    if (block != plan.anchor && block != plan.epilogue) ScheduleSpatial(schedule, block, target);
  }
  Tile(schedule, plan, CostModel(target.machine));
  return true;
}

}  // namespace deuteron::tir
