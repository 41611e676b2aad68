/// \file
/// Reductions whose outputs vary along the last axis: pools, depthwise convolutions, sums over other axes. One vector
/// of outputs at a time, accumulated in registers, then the epilogue on that vector.
#include <algorithm>
#include <limits>
#include <set>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/sum_parts.h"
#include "deuteron/tir/schedule/rules/window_planes.h"

namespace deuteron::tir {
namespace {

/// How many of the loops threads share: all, unless the first ones are pieces enough, whatever the run makes of
/// symbolic ones, and an inner one is symbolic: to tell the axes of one loop apart takes divisions by the inner ones'
/// extents.
size_t CountSharedLoops(const Schedule& schedule, const std::vector<Loop>& loops, const Target& target) {
  const auto is_symbolic = [&](const Loop& loop) { return !schedule.ConstExtent(loop); };
  const auto last_symbolic =
      static_cast<size_t>(std::find_if(loops.rbegin(), loops.rend(), is_symbolic).base() - loops.begin());
  int64_t pieces = 1;
  for (size_t i = 0; i + 1 < last_symbolic; ++i) {
    pieces *= schedule.ConstExtent(loops[i]).value_or(1);
    if (pieces >= CostModel(target.machine).EnoughPieces()) return i + 1;
  }
  return loops.size();
}

/// How a window slides along an axis of the output: its elements, the steps from one to the next and from a window to
/// the next, in elements of the input.
struct Slide {
  int64_t window;
  int64_t dilation;
  int64_t stride;
  /// Whether there is another operand, the window's weights.
  bool has_weights;
  /// Bytes from one element of the input to the next; 0 where that is not known.
  int64_t stride_bytes = 0;
};

/// How a window slides along an axis of the output; nothing if it does not.
std::optional<Slide> SlideAlong(const SBlock& block, const IterVar& y) {
  std::optional<Slide> slide;
  size_t operands = 0;
  const auto update = GetReductionUpdate(block);
  if (!update) return std::nullopt;
  PostOrderVisit(update->source, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr) return;
    ++operands;
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      const PrimExpr& index = load->indices[static_cast<int64_t>(dim)];
      const int64_t stride = StepAlong(index, y).value_or(0);
      if (stride <= 0) continue;
      const int64_t bytes = ConstStride(load->buffer, dim).value_or(0) * load->buffer->dtype.bytes();
      for (const IterVar& axis : block->iter_vars) {
        if (axis->type != IterVarType::kReduce) continue;
        const auto extent = AsConstInt(axis->dom->extent);
        const int64_t dilation = StepAlong(index, axis).value_or(0);
        if (extent && *extent > 1 && dilation > 0) slide = {*extent, dilation, stride, false, bytes};
      }
    }
  });
  if (slide) slide->has_weights = operands > 1;
  return slide;
}

/// Whether windows slide along other axes than that of the vectors: images whose channels are last.
bool SlidesAcross(const SBlock& block) {
  const std::vector<size_t> spatial = SplitIters(block).spatial;
  if (spatial.size() < 2 || SlideAlong(block, block->iter_vars[spatial.back()])) return false;
  return SlideAlong(block, block->iter_vars[spatial[spatial.size() - 2]]).has_value();
}

/// Whether windows across lines are more than half as long as their image.
bool SeesPadding(const SBlock& block) {
  const std::vector<size_t> spatial = SplitIters(block).spatial;
  if (spatial.size() < 3) return false;
  const IterVar& y = block->iter_vars[spatial[spatial.size() - 3]];
  const auto slide = SlideAlong(block, y);
  const auto lines = AsConstInt(y->dom->extent);
  return slide && lines && *lines * slide->stride < 2 * slide->window * slide->dilation;
}

/// What pads an image has so many operations at most: comparisons of two axes, and the choice.
constexpr double kMostOpsOfPadding = 1;

/// Rows of more than so many vectors' multiply-adds do not run from the first cache of instructions.
constexpr int64_t kMostUnrolled = 200;
constexpr int64_t kMostUnrolledTaps = 25;
constexpr int64_t kMostUnrolledTiles = 2;

/// How many rows of pixels a tile has, whose windows share rows of the input and weights, and of how many lines.
struct WindowTile {
  int64_t lines = 1;
  int64_t rows = 1;
};

/// Places along an axis that so many windows read.
int64_t PlacesRead(const Slide& slide, int64_t windows) {
  std::set<int64_t> read;
  for (int64_t i = 0; i < windows; ++i) {
    for (int64_t tap = 0; tap < slide.window; ++tap) read.insert(i * slide.stride + tap * slide.dilation);
  }
  return static_cast<int64_t>(read.size());
}

/// How much more tiles of so many compute than there is, if that is known.
double Rounded(std::optional<int64_t> extent, int64_t tile) {
  if (!extent) return 1;
  const int64_t rounded = (*extent + tile - 1) / tile * tile;
  return static_cast<double>(rounded) / static_cast<double>(*extent);
}

/// Of more such rows a tile has two where the run tells how many there are, else four.
constexpr int64_t kMostTapsOfOpenRows = 9;
/// Tiles of fewer rows may take so many times the time of the fastest.
constexpr double kAboutAsFast = 1.07;
/// So many vectors of channels are a piece of a line, where the run tells how many lines there are: few, maybe.
constexpr int64_t kMostVectorsOfPiece = 9;

/// Rows of one line, so that it loads the least for a result. `extent`: rows that are cut into tiles; `taps`: elements
/// of a window that are unrolled; `is_whole`: those of several lines, and all there are. As few rows then as are about
/// as fast: more are long code that gains nothing, as each sum is done before the processor looks no further ahead.
int64_t RowsOfTile(const Slide& slide, std::optional<int64_t> extent, int64_t taps, bool is_whole,
                   const CostModel& costs) {
  const auto columns = static_cast<double>(taps) / static_cast<double>(slide.window);
  // Of rows whose number the run tells, the last tile may lack some.
  int64_t most = std::min(costs.Accumulators() / 2, extent.value_or(taps > kMostTapsOfOpenRows ? 2 : 4));
  most = std::min(most, kMostUnrolled / taps);
  const auto cost = [&](int64_t rows) {
    const double loads =
        columns * static_cast<double>(PlacesRead(slide, rows)) + static_cast<double>(slide.has_weights ? taps : 0);
    const Machine& machine = costs.machine();
    const double work =
        is_whole ? costs.Overlapped(loads / static_cast<double>(machine.load_pipes),
                                    static_cast<double>(taps * rows) / static_cast<double>(machine.vector_pipes))
                 : loads;
    return work * Rounded(extent, rows) / static_cast<double>(rows);
  };
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= most; ++rows) least = std::min(least, cost(rows));
  for (int64_t rows = 1; rows < most; ++rows) {
    if (cost(rows) <= (is_whole ? kAboutAsFast : 1) * least) return rows;
  }
  return std::max<int64_t>(most, 1);
}

/// Whether the first level of the cache does not keep what neighbouring lines of windows read: pixels of a power of two
/// of bytes compete for few places there.
bool LinesCompete(const Slide& across, const Slide& along, int64_t rows, const CostModel& costs) {
  const Cache& cache = costs.machine().l1;
  return along.stride_bytes != 0 &&
         costs.Places(cache, along.stride_bytes) / cache.sharers < across.window * PlacesRead(along, rows);
}

/// Of two lines a tile reads the lines of the input that both see once; they stay in registers beside the sums, and so
/// does a line's part of the weights. That is much code, with copies for lines at the image's ends: only for lines that
/// compete. `across`: how windows slide from line to line; `lines` and `rows`: of the image.
WindowTile TileOfLines(const Slide& across, const Slide& along, int64_t lines, int64_t rows, WindowTile one_line,
                       const CostModel& costs) {
  const int64_t taps = across.window * along.window;
  const auto cycles = [&](const WindowTile& tile) {
    const int64_t read = tile.lines == 1 ? across.window : PlacesRead(across, tile.lines);
    const auto loads = static_cast<double>(read * PlacesRead(along, tile.rows) + (along.has_weights ? taps : 0));
    const auto sums = static_cast<double>(tile.lines * tile.rows * taps);
    const Machine& machine = costs.machine();
    return costs.Overlapped(loads / static_cast<double>(machine.load_pipes),
                            sums / static_cast<double>(machine.vector_pipes)) *
           Rounded(lines, tile.lines) * Rounded(rows, tile.rows) / static_cast<double>(tile.lines * tile.rows);
  };
  WindowTile best = one_line;
  if (!LinesCompete(across, along, one_line.rows, costs)) return best;
  for (int64_t length = 2; length <= rows && 2 * length * taps <= kMostUnrolled; ++length) {
    const WindowTile tile = {2, length};
    if (2 * length < one_line.rows) continue;  // sums that wait for each other
    if (2 * length + PlacesRead(along, length) + along.window > costs.machine().vector_registers) break;
    if (cycles(tile) < cycles(best)) best = tile;
  }
  return best;
}

/// The tile of a block whose loops over spatial axes are `spatial` and that over vectors. `has_lines`: whether windows
/// slide across lines; `taps`: elements of a window, of which `unrolled` are one line's.
WindowTile ChooseTile(const Schedule& schedule, const SBlock& block, const std::vector<Loop>& spatial, bool has_lines,
                      int64_t taps, int64_t unrolled, const CostModel& costs) {
  const std::vector<size_t> axes = SplitIters(block).spatial;
  const auto extent = schedule.ConstExtent(spatial.back());
  const auto along = SlideAlong(block, block->iter_vars[axes[spatial.size() - 1]]);
  WindowTile tile;
  if (!along || unrolled == 0 || extent == 0) return tile;
  const bool is_whole = extent && unrolled == taps && unrolled > along->window;
  tile.rows = RowsOfTile(*along, extent, unrolled, is_whole, costs);
  if (!has_lines || spatial.size() < 2 || !extent) return tile;
  const auto across = SlideAlong(block, block->iter_vars[axes[spatial.size() - 2]]);
  const auto height = schedule.ConstExtent(spatial[spatial.size() - 2]);
  if (!across || !height || taps != across->window * along->window) return tile;
  return TileOfLines(*across, *along, *height, *extent, tile, costs);
}

/// How many vectors of channels a tile has, of rows whose number the run tells: two where the sums of one wait for each
/// other. They share what a row costs at the ends of a line: its masks and places.
int64_t VectorsOfOpenTile(std::optional<int64_t> channels, int64_t rows, const Machine& machine) {
  constexpr double kMostRounded = 1.1;
  const int64_t lanes = machine.Lanes(32);
  const bool waits = rows > 1 && rows < machine.latency * machine.vector_pipes;
  if (!waits || !channels || *channels <= lanes) return 1;
  return Rounded(channels, 2 * lanes) <= kMostRounded * Rounded(channels, lanes) ? 2 : 1;
}

/// Pieces of so many of `count` are alike: as many as divide them, unless these are few.
int64_t VectorsOfPiece(int64_t count, int64_t most) {
  const int64_t alike = LargestDivisor(count, most), pieces = (count + most - 1) / most;
  const int64_t other = (count + pieces - 1) / pieces;
  return other > 2 * alike ? other : alike;
}

/// Whether threads share out the rows of planes.
bool SharesRows(const Schedule& schedule, const std::vector<Loop>& spatial, const Target& target) {
  if (spatial.size() < 4) return false;
  const auto height = schedule.ConstExtent(spatial[spatial.size() - 2]);
  const auto width = schedule.ConstExtent(spatial.back());
  int64_t images = 1;
  for (size_t i = 0; i + 3 < spatial.size(); ++i) images *= schedule.ConstExtent(spatial[i]).value_or(kUnknownExtent);
  return height && width && CostModel(target.machine).ThreadsSharePlanes(images, *height, *width);
}

/// Steps of a part of the sums of a tile, which are stored behind it: so many that this takes no time to speak of.
constexpr int64_t kStepsOfTilePart = 40;

/// Windows of no more, as large as half their image, have few terms each: padding is left out.
constexpr int64_t kFewTaps = 64;
/// Of so many parts each has code of its own.
constexpr int64_t kMostUnrolledParts = 2;

/// A reduction into a buffer whose last axis is vectorised: parallel over the outer axes, accumulators of a vector in
/// registers, or of a tile of several rows, `epilogue` (the injective block that consumes the result; may be empty) run
/// on each tile. Returns the parallel loop: that of the first `num_parallel` outer axes, or of all.
Loop ScheduleSpatialReduction(Schedule* schedule, const Block& block, const Block& epilogue, int64_t lanes,
                              const Target& target, std::optional<size_t> num_parallel) {
  const SBlock before = schedule->Get(block);
  const IterSplit iters = SplitIters(before);
  std::vector<Loop> loops = schedule->GetLoops(block);
  const auto pick = [&](const std::vector<size_t>& positions) {
    std::vector<Loop> picked;
    for (size_t position : positions) picked.push_back(loops[position]);
    return picked;
  };
  std::vector<Loop> spatial = pick(iters.spatial);
  std::vector<Loop> reduce = pick(iters.reduce);
  if (spatial.empty() || reduce.empty()) DEUTERON_SCHEDULE_ERROR << "no axis to vectorise or to reduce";
  int64_t taps = 1;
  for (const Loop& loop : reduce) taps *= schedule->ConstExtent(loop).value_or(kUnknownExtent);

  const CostModel costs(target.machine);
  // Lines of a window are steps, each of which padding leaves out at once; its columns are unrolled.
  const bool is_across = SlidesAcross(before);
  const bool has_lines = is_across && reduce.size() > 1 && schedule->ConstExtent(reduce.front()).value_or(0) > 1;
  const int64_t unrolled = has_lines ? taps / *schedule->ConstExtent(reduce.front()) : taps;
  std::optional<Loop> shared_rows;
  if (!is_across && SharesRows(*schedule, spatial, target)) {
    const auto split = schedule->Split(spatial[spatial.size() - 2], std::vector<int64_t>{target.machine.threads, -1});
    shared_rows = split[0];
    spatial[spatial.size() - 2] = split[1];
  }
  Loop vector = spatial.back();
  spatial.pop_back();
  // The rows of a tile, around its vectors, and its lines around those.
  std::vector<Loop> tile;
  std::optional<Loop> lines;
  if (!spatial.empty() && (!num_parallel || *num_parallel < spatial.size())) {
    const WindowTile chosen = ChooseTile(*schedule, before, spatial, has_lines, taps, unrolled, costs);
    const auto split_off = [&](Loop* loop, int64_t count) {
      const auto split = schedule->Split(*loop, std::vector<int64_t>{-1, count});
      *loop = split[0];
      return split[1];
    };
    if (chosen.lines > 1) lines = split_off(&spatial[spatial.size() - 2], chosen.lines);
    if (chosen.rows > 1) tile.push_back(split_off(&spatial.back(), chosen.rows));
  }
  const auto extent = schedule->ConstExtent(vector);
  const bool has_open_rows = is_across && tile.size() == 1 && !schedule->ConstExtent(spatial.back());
  const int64_t width =
      lanes * (has_open_rows ? VectorsOfOpenTile(extent, *schedule->ConstExtent(tile[0]), target.machine) : 1);
  bool is_open = false;  // too few pieces, maybe: those of lines are shared out, too
  // The tiles at both ends of a line meet padding: they are split off from a loop of its own.
  if (is_across && !num_parallel && tile.size() == 1 && schedule->ConstExtent(spatial.back()) != 1) {
    int64_t pieces = 1;
    for (size_t i = 0; i + 1 < spatial.size(); ++i) pieces *= schedule->ConstExtent(spatial[i]).value_or(1);
    if (pieces >= costs.EnoughPieces()) {
      num_parallel = spatial.size() - 1;
    } else {
      is_open = !schedule->ConstExtent(spatial.back());
    }
  }
  const Loop row_tiles = lines ? spatial.back() : Loop();
  const bool copies_tiles = lines && schedule->ConstExtent(row_tiles) <= kMostUnrolledTiles;
  if (is_open && extent && *extent >= width) {
    const int64_t vectors = VectorsOfPiece((*extent + width - 1) / width, kMostVectorsOfPiece * lanes / width);
    const auto split = schedule->Split(vector, std::vector<int64_t>{-1, vectors, width});
    num_parallel = spatial.size();
    spatial.insert(spatial.end() - 1, split[0]);
    spatial.push_back(split[1]);
    vector = split[2];
  } else if (!extent || *extent > lanes) {
    const auto split = schedule->Split(vector, std::vector<int64_t>{-1, width});
    spatial.push_back(split[0]);
    vector = split[1];
  } else if (spatial.empty()) {
    spatial.push_back(schedule->Split(vector, std::vector<int64_t>{1, *extent})[0]);
    vector = schedule->GetLoops(block)[1];
  }
  if (lines && (!num_parallel || copies_tiles)) {
    // The few tiles of a line, each with its own padding, are copies in a loop over all channels.
    std::rotate(std::find(spatial.begin(), spatial.end(), row_tiles), spatial.end() - 1, spatial.end());
    num_parallel = spatial.size() - 1;
  }
  tile.push_back(vector);
  if (shared_rows) {
    spatial.insert(spatial.begin(), *shared_rows);
    if (num_parallel) ++*num_parallel;
  }
  std::vector<Loop> order = spatial;
  order.insert(order.end(), reduce.begin(), reduce.end());
  if (lines) order.insert(order.begin() + static_cast<int64_t>(spatial.size()) + 1, *lines);
  order.insert(order.end(), tile.begin(), tile.end());
  schedule->Reorder(order);

  // What comes after the reduction at the tile: the epilogue, or a copy of the accumulators to the output.
  const Block last_stage = epilogue.empty() ? schedule->CacheWrite(block, "local") : epilogue;
  // Registers hold the accumulators: rows that are no whole vectors do not share any (CompactBuffers).
  schedule->SetScope(schedule->WriteBuffer(block), "local");
  SumInParts sum = {block, spatial.size(), reduce};
  const bool is_tile = lines || tile.size() > 1;
  const bool is_padded = is_across && taps <= kFewTaps && SeesPadding(before);
  const int64_t least = !is_tile ? 0 : is_padded ? taps : kStepsOfTilePart;
  for (const int64_t most : StepsOfParts(StepsOf(*schedule, reduce).value_or(1))) {
    sum.Cut(schedule, std::max(most, least));
  }
  std::vector<Block> members = sum.Nest(schedule);
  schedule->ReverseComputeAt(last_stage, spatial.back());
  members.insert(members.end(), {last_stage, sum.steps});
  for (const SumInParts::Sum& each : sum.sums) members.push_back(each.block);
  spatial.resize(num_parallel ? *num_parallel : CountSharedLoops(*schedule, spatial, target));
  const Loop parallel = FuseAll(schedule, spatial);
  schedule->Parallel(parallel);
  // Every block under the tile runs its innermost spatial loop as a vector, the rows unrolled around it.
  for (const Block& member : members) {
    const std::vector<Loop> member_loops = schedule->GetLoops(member);
    if (member_loops.size() < 2) continue;
    const Loop& last = member_loops.back();
    const auto last_extent = schedule->ConstExtent(last);
    if (last_extent && *last_extent > 1 && *last_extent <= 4 * lanes) schedule->Vectorize(last);
    if (tile.size() > 1) schedule->Unroll(member_loops[member_loops.size() - 2]);
    if (lines && member != sum.steps) schedule->Unroll(member_loops[member_loops.size() - 3]);
  }
  if (lines) schedule->Unroll(*lines);
  if (copies_tiles) schedule->Unroll(row_tiles);
  // Of two parts of a tile the first one is stored, rather than added to zeros.
  for (const SumInParts::Sum& each : sum.sums) {
    const int64_t parts = *schedule->ConstExtent(each.part);
    if (tile.size() > 1 && parts <= kMostUnrolledParts) schedule->Annotate(each.part, "pragma_unroll_factor", parts);
  }
  // Small windows are unrolled, and parts of large ones.
  const bool is_small =
      unrolled <= kMostUnrolledTaps || (!sum.sums.empty() && *StepsOf(*schedule, sum.reduce) <= kMostUnrolledTaps);
  for (const Loop& loop : sum.reduce) {
    if (has_lines && !lines && loop.same_as(sum.reduce.front())) {
      schedule->Annotate(loop, "pragma_no_unroll", 1);
    } else if (is_small || tile.size() > 1) {
      schedule->Unroll(loop);
    }
  }
  return parallel;
}

/// Windows that are next to each other in a vector begin so far apart, in elements of `image`, along its lines; 1 if
/// they are not windows, or slide across lines.
int64_t StrideOfVectors(const SBlock& block, const Buffer& image) {
  const auto slide = SlideAlong(block, block->iter_vars[SplitIters(block).spatial.back()]);
  return slide && slide->stride_bytes == image->dtype.bytes() ? slide->stride : 1;
}

/// Lanes of vectors: of a maximum of bytes as many as leave the fewest vectors in a line, else those of 32 bits.
int64_t LanesOf(const SBlock& block, const Target& target) {
  int64_t lanes = Lanes(target);
  bool are_bytes = true;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load != nullptr) are_bytes = are_bytes && load->dtype.is_integer() && load->dtype.bits() == 8;
  });
  const auto extent = AsConstInt(block->iter_vars[SplitIters(block).spatial.back()]->dom->extent);
  const auto vectors = [&](int64_t of_lanes) { return (*extent + of_lanes - 1) / of_lanes; };
  while (extent && are_bytes && 2 * lanes <= target.machine.Lanes(8) && vectors(2 * lanes) < vectors(lanes)) lanes *= 2;
  return lanes;
}

}  // namespace

bool ScheduleWindow(Schedule* schedule, const Target& target) {
  InlineInjective(schedule, [&](const Block& block) { return IsCopy(*schedule, block); });
  Block anchor;
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) return false;
    const BlockClass kind = ClassifyBlock(schedule->Get(block)).kind;
    if (kind == BlockClass::kInjective) continue;
    if (kind == BlockClass::kOpaque || !anchor.empty()) return false;
    anchor = block;
  }
  if (anchor.empty()) return false;
  InlineAllButOperands(schedule, anchor);
  const auto epilogue = EpilogueOf(*schedule, anchor);
  if (!epilogue) return false;
  const bool is_across = SlidesAcross(schedule->Get(anchor));
  if (is_across) {
    InlineInjective(schedule, [&](const Block& block) {
      return block != anchor && OpsPerInstance(schedule->Get(block)) <= kMostOpsOfPadding &&
             schedule->GetConsumers(block) == std::vector{anchor};
    });
  }
  const std::vector<Block> operands = schedule->GetProducers(anchor);
  std::optional<Planes> planes;
  if (operands.size() == 1 && schedule->GetConsumers(operands[0]).size() == 1) {
    planes = FindPlanes(*schedule, anchor, operands[0], target);
  }
  for (const Block& block : schedule->GetBlocks()) {
    const bool moves = planes && block == operands[0];
    if (block != anchor && block != *epilogue && !moves) ScheduleSpatial(schedule, block, target);
  }
  const int64_t stride =
      planes ? StrideOfVectors(schedule->Get(anchor), schedule->WriteBuffer(operands[0])) : int64_t{1};
  const int64_t lanes = LanesOf(schedule->Get(anchor), target);
  const Loop parallel = ScheduleSpatialReduction(schedule, anchor, *epilogue, lanes, target,
                                                 planes ? std::optional(planes->axes) : std::nullopt);
  if (planes) MovePlanes(schedule, operands[0], *planes, parallel, {stride, lanes});
  return true;
}

}  // namespace deuteron::tir
