/// \file
/// Reductions (softmax, norms, means, statistics of a batch), several of them after each other, with elementwise stages
/// before, between and after: all stages of one row run together while the row is in the cache; rows run in parallel.
/// Which iterators count rows, along whatever axis, is the plan of analysis/row_plan.h.
///
/// Stages that are cheap are computed where they are read, even by several; those of one number a row are computed
/// once a row; what is left is kept for the row.
///
/// Vectors lie along the row where it is one stretch of memory or several: a reduction is done in as many partial
/// results as a few vectors have lanes (lane_reduction.h). Rows that lie beside each other in memory (a softmax over
/// the channels of an image: every pixel is one) are taken a few vectors at a time: each stage runs along the row with
/// a vector of rows, accumulators in registers.
#include <algorithm>
#include <cmath>

#include "deuteron/tir/analysis/row_plan.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/lane_reduction.h"
#include "deuteron/tir/schedule/rules/row_vectors.h"

namespace deuteron::tir {
namespace {

/// Fewer rows than this at a time are not worth a loop.
constexpr int64_t kFewestRows = 4;
/// Operations an element: an exponential function, or more.
constexpr double kMuchWork = 10;
/// Sums of at least so many rows are cut into parts: some, of so many rows at least, and at most, unless the square
/// root of all is more. Their errors are less the fewer parts there are, as those of parts level each other out.
constexpr int64_t kLongColumn = 64;
constexpr int64_t kColumnParts = 8;
constexpr int64_t kShortestColumn = 32;
constexpr int64_t kColumnPart = 256;
/// For a symbolic extent: no short row.
constexpr double kLongRow = 1 << 20;

class RowScheduler {
 public:
  RowScheduler(Schedule* schedule, const Target& target)
      : schedule_(*schedule), target_(target), lanes_(Lanes(target)), reductions_(schedule, target) {}

  bool Run() {
    if (!Applies()) return false;
    InlineRowStages(&schedule_, target_, [this](const Block& block) { return IsPerRow(block); });
    if (plan_.columns) {
      ChooseWidth();
      CopyConflicting();
    } else {
      ChooseTile();
    }
    // Each nest begins with the loops over rows, cut alike.
    std::vector<std::vector<Loop>> chains;
    for (const Block& block : schedule_.GetBlocks()) chains.push_back(RowLoops(block));
    FuseRowDims();
    if (!plan_.columns) {
      for (const Block& block : schedule_.GetBlocks()) {
        if (IsReduction(schedule_, block)) SplitReduction(block);
      }
    }
    if (chains[0].empty()) {
      ScheduleOneRow();
      return true;
    }
    schedule_.MergeLoops(chains);
    const Loop row = FuseAll(&schedule_, chains[0]);
    for (const Block& block : schedule_.GetBlocks()) {
      if (plan_.columns) {
        VectorizeColumns(block);
      } else if (!IsReduction(schedule_, block)) {
        VectorizeAlong(block);
      }
    }
    reductions_.Vectorize(NumOuter());
    schedule_.Parallel(row);
    return true;
  }

 private:
  /// For each iterator of a block its parts; none for one of extent 1.
  using BlockRows = std::vector<RowParts>;

  bool Applies() {
    const std::vector<Block> blocks = schedule_.GetBlocks();
    for (const Block& block : blocks) {
      if (!HasPlainLoops(schedule_, block)) return false;
    }
    RowGraph graph;
    if (BuildRowGraph(schedule_.func(), &graph) != nullptr || !graph.reduces()) return false;
    for (const RowGraph::Block& block : graph.blocks) {
      if (block.why_alone != nullptr && !block.reduces_last) return false;
    }
    plan_ = PlanRows(graph);
    if (plan_.why_not != nullptr || graph.blocks.size() != blocks.size()) return false;
    for (size_t b = 0; b < blocks.size(); ++b) {
      BlockRows rows;
      size_t next = 0;
      for (const IterVar& iter : schedule_.Get(blocks[b])->iter_vars) {
        rows.push_back(IsOne(iter->dom->extent) ? RowParts() : plan_.blocks[b][next++]);
      }
      rows_.emplace(blocks[b], std::move(rows));
    }
    return true;
  }

  const BlockRows& RowsOf(const Block& block) const {
    const auto it = rows_.find(block);
    if (it == rows_.end()) DEUTERON_SCHEDULE_ERROR << "block " << block << " has no rows";
    return it->second;
  }
  /// Whether all of an iterator counts rows.
  static bool IsRow(const RowParts& parts) { return !parts.empty() && parts.back().group >= 0; }

  /// One element a row.
  bool IsPerRow(const Block& block) const {
    const BlockRows& rows = RowsOf(block);
    const SBlock body = schedule_.Get(block);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].empty() || IsRow(rows[i])) continue;
      if (body->iter_vars[static_cast<int64_t>(i)]->type != IterVarType::kReduce) return false;
    }
    return true;
  }

  /// How many neighbouring rows are done together: as many vectors as waste little at the end.
  void ChooseWidth() {
    const RowExtent& neighbours = plan_.groups.back().extent;
    // Their accumulators stay in registers.
    const int64_t most = target_.machine.vector_registers / 4;
    width_ = most * lanes_;
    if (!neighbours.IsConst()) return;
    int64_t least = INT64_MAX;
    for (int64_t vectors = most; vectors >= 1; vectors /= 2) {
      const int64_t width = vectors * lanes_;
      const int64_t covered = (neighbours.constant + width - 1) / width * width;
      if (covered < least) width_ = width;
      least = std::min(least, covered);
    }
  }

  /// Short rows of much arithmetic are done several at a time, stage by stage: what a stage does to one does not wait
  /// for another, and what is one number a row is done in vectors of rows. Those of little wait for memory anyway.
  void ChooseTile() {
    if (plan_.groups.empty()) return;
    double length = 1;
    double ops = 0;
    for (const Block& block : schedule_.GetBlocks()) {
      double within = 1;
      for (const RowParts& parts : RowsOf(block)) {
        if (!parts.empty() && parts.back().group < 0) within *= parts.back().extent.Count(kLongRow);
      }
      length = std::max(length, within);
      ops += within * OpsPerInstance(schedule_.Get(block));
    }
    // Of a tile of rows, what a stage reads of two tensors and writes of one stays in half of the first cache.
    const int64_t bytes = schedule_.WriteBuffer(schedule_.GetBlocks()[0])->dtype.bytes();
    const double tile_bytes = 3 * length * static_cast<double>(lanes_ * bytes);
    if (tile_bytes > static_cast<double>(target_.machine.l1.Share()) / 2 || ops < kMuchWork * length) return;
    const int64_t tile = LargestDivisor(InnermostRows(schedule_.GetBlocks()[0]), lanes_);
    const double tiles = plan_.CountRows(kLongRow) / static_cast<double>(tile);
    if (tile >= kFewestRows && tiles >= static_cast<double>(CostModel(target_.machine).EnoughPieces())) tile_ = tile;
  }

  /// Extent of the innermost loop over rows; 1 if it is not constant.
  int64_t InnermostRows(const Block& block) const {
    if (IsOneLoop(plan_.groups.size() - 1))
      return plan_.groups.back().extent.IsConst() ? plan_.groups.back().extent.constant : 1;
    RowExtent last;
    for (const RowParts& parts : RowsOf(block)) {
      for (const RowPart& part : parts) {
        if (part.group >= 0) last = part.extent;
      }
    }
    return last.IsConst() ? last.constant : 1;
  }

  /// What several stages read, and would have to load again since the elements of a row fall into few sets of the cache
  /// (a stride of many kilobytes that is a power of two), is copied: the row is in one place then.
  void CopyConflicting() {
    for (const Block& block : schedule_.GetBlocks()) {
      const SBlock body = schedule_.Get(block);
      for (size_t i = 0; i < body->reads.size(); ++i) {
        const Buffer& buffer = body->reads[static_cast<int64_t>(i)]->buffer;
        if (!schedule_.IsParameter(buffer)) continue;
        auto dims = RowsOfDims(block, buffer);
        if (!dims || !Conflicts(buffer, *dims)) continue;
        std::vector<Block> others;
        bool written = false;
        for (const Block& other : schedule_.GetBlocks()) {
          const SBlock reader = schedule_.Get(other);
          const auto touches = [&](const BufferRegion& region) { return region->buffer.same_as(buffer); };
          written = written || std::any_of(reader->writes.begin(), reader->writes.end(), touches);
          if (other != block && std::any_of(reader->reads.begin(), reader->reads.end(), touches) &&
              RowsOfDims(other, buffer)) {
            others.push_back(other);
          }
        }
        if (others.empty() || written) continue;
        rows_.emplace(schedule_.CacheRead(block, i, "global", others), std::move(*dims));
        return CopyConflicting();
      }
    }
  }

  /// The parts of a buffer's dimensions, if a block reads all of it at plain indices.
  std::optional<BlockRows> RowsOfDims(const Block& block, const Buffer& buffer) const {
    const SBlock body = schedule_.Get(block);
    const BlockRows& rows = RowsOf(block);
    std::vector<std::optional<size_t>> iters;
    bool plain = true;
    PostOrderVisit(body->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr || !load->buffer.same_as(buffer)) return;
      std::vector<std::optional<size_t>> own;
      for (size_t i = 0; i < load->indices.size(); ++i) {
        const PrimExpr& index = load->indices[static_cast<int64_t>(i)];
        own.emplace_back();
        for (size_t k = 0; k < rows.size(); ++k) {
          if (!rows[k].empty() && index.same_as(body->iter_vars[static_cast<int64_t>(k)]->var)) own.back() = k;
        }
        plain = plain && (own.back() || IsOne(buffer->shape[static_cast<int64_t>(i)]));
      }
      plain = plain && (iters.empty() || iters == own);
      iters = std::move(own);
    });
    if (!plain || iters.empty()) return std::nullopt;
    BlockRows dims;
    for (const auto& iter : iters) dims.push_back(iter ? rows[*iter] : RowParts());
    return dims;
  }

  /// Whether a row's elements use few sets of the second cache. Symbolic strides are no powers of two.
  bool Conflicts(const Buffer& buffer, const BlockRows& dims) const {
    int64_t stride = buffer->dtype.bytes();
    int64_t length = 1;
    bool inner = true;
    for (size_t i = buffer->shape.size(); i-- > 0;) {
      const auto extent = AsConstInt(buffer->shape[static_cast<int64_t>(i)]);
      if (!extent) return false;
      if (*extent == 1) continue;
      if (inner && IsRow(dims[i])) {
        stride *= *extent;
      } else if (!IsRow(dims[i])) {
        inner = false;
        length *= *extent;
      }
    }
    return length > 1 && stride > width_ * buffer->dtype.bytes() && CostModel(target_.machine).Conflict(stride, length);
  }

  /// Whether a group has one loop in every nest, whatever its dimensions: blocks have it as different ones, or vectors
  /// are cut from it.
  bool IsOneLoop(size_t group) const {
    return plan_.groups[group].is_cut || (plan_.columns && group + 1 == plan_.groups.size());
  }

  /// Brings the loops over rows outside; of the last group, if it makes vectors, the part that steps from vector to
  /// vector.
  std::vector<Loop> RowLoops(const Block& block) {
    const BlockRows& rows = RowsOf(block);
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    const SBlockRealize realize = schedule_.GetRealize(block);
    std::vector<std::vector<Loop>> of_group(plan_.groups.size());
    std::vector<Loop> rest;
    for (size_t i = 0; i < rows.size(); ++i) {
      // A copy has no loops over extents of 1.
      const auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& candidate) {
        return realize->iter_values[static_cast<int64_t>(i)].same_as(candidate);
      });
      if (loop == loops.end()) continue;
      if (rows[i].empty()) {
        rest.push_back(*loop);
        continue;
      }
      std::vector<Loop> parts{*loop};
      if (rows[i].size() > 1) {
        std::vector<int64_t> factors{-1};
        for (size_t k = 1; k < rows[i].size(); ++k) factors.push_back(rows[i][k].extent.constant);
        parts = schedule_.Split(*loop, factors);
      }
      for (size_t k = 0; k < parts.size(); ++k) {
        const int group = rows[i][k].group;
        (group < 0 ? rest : of_group[static_cast<size_t>(group)]).push_back(parts[k]);
      }
    }
    std::vector<Loop> order;
    for (const auto& members : of_group) order.insert(order.end(), members.begin(), members.end());
    order.insert(order.end(), rest.begin(), rest.end());
    schedule_.Reorder(order);
    std::vector<Loop> chain;
    for (size_t group = 0; group < of_group.size(); ++group) {
      std::vector<Loop>& members = of_group[group];
      if (IsOneLoop(group)) members = {FuseAll(&schedule_, members)};
      chain.insert(chain.end(), members.begin(), members.end());
    }
    if (plan_.columns) {
      const auto parts = schedule_.Split(chain.back(), std::vector<int64_t>{-1, width_});
      chain.back() = parts[0];
      std::vector<Loop> inner = rest;
      inner.push_back(parts[1]);
      schedule_.Reorder(inner);
    } else if (tile_ > 1) {
      chain.back() = schedule_.Split(chain.back(), std::vector<int64_t>{-1, tile_})[0];
    }
    return chain;
  }

  /// Dimensions of intermediate buffers that count the rows of one group become one, as their loops did.
  void FuseRowDims() {
    for (const Block& block : schedule_.GetBlocks()) {
      const auto known = rows_.find(block);
      if (known == rows_.end() || WritesParameter(schedule_, block)) continue;
      const BlockRows& rows = known->second;
      const SBlock body = schedule_.Get(block);
      if (body->writes.size() != 1) continue;
      Buffer buffer = body->writes[0]->buffer;
      // By dimension: the group that all of it counts; -1: none, or several.
      std::vector<int> group_of;
      for (size_t dim = 0; dim < buffer->shape.size(); ++dim) {
        const PrimExpr& min = body->writes[0]->region[static_cast<int64_t>(dim)]->min;
        group_of.push_back(-1);
        for (size_t i = 0; i < rows.size(); ++i) {
          if (rows[i].size() == 1 && min.same_as(body->iter_vars[static_cast<int64_t>(i)]->var))
            group_of.back() = rows[i][0].group;
        }
      }
      for (size_t last = group_of.size(); last-- > 0;) {
        const int group = group_of[last];
        if (group < 0 || !IsOneLoop(static_cast<size_t>(group))) continue;
        size_t first = last;
        for (size_t dim = last; dim-- > 0;) {
          if (group_of[dim] == group) {
            first = dim;
          } else if (!IsOne(buffer->shape[static_cast<int64_t>(dim)])) {
            break;
          }
        }
        if (first < last) buffer = schedule_.FuseDims(buffer, first, last - first + 1);
        last = first;
      }
    }
  }

  /// Along the row: vectors of partial results.
  void SplitReduction(const Block& block) {
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    const size_t first = loops.size() - SplitIters(schedule_.Get(block)).reduce.size();
    size_t inner = FirstOfVector(schedule_, block, first, lanes_);
    if (NeedsPlaces(schedule_, block, inner)) inner = std::max(inner, reductions_.FirstToSplit(loops, 0));
    reductions_.Split(block, FuseAll(&schedule_, {loops.begin() + static_cast<int64_t>(inner), loops.end()}));
  }

  /// Loops around every block: over rows, and over those of a tile.
  size_t NumOuter() const { return tile_ > 1 ? 2 : 1; }

  /// What is one number a row, across the rows of a tile.
  void VectorizeAlong(const Block& block) {
    const auto known = rows_.find(block);
    const size_t least = known != rows_.end() && IsPerRow(block) ? 1 : NumOuter();
    VectorizeInner(&schedule_, block, FirstOfVector(schedule_, block, least, lanes_), lanes_);
  }

  /// Nothing is shared out but what every stage can share out by itself.
  void ScheduleOneRow() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!IsReduction(schedule_, block)) ScheduleSpatial(&schedule_, block, target_);
    }
    reductions_.Vectorize(0);
  }

  /// Cuts a long sum into parts that are added up after it: its error is not that of one accumulator. [row, part,
  /// steps…, vector of rows] and [row, part, vector of rows] then.
  std::optional<Block> CutColumn(const Block& block) {
    const SBlockRealize realize = schedule_.GetRealize(block);
    if (!schedule_.WriteBuffer(block)->dtype.is_float()) return std::nullopt;
    for (const size_t i : SplitIters(realize->block).reduce) {
      const auto extent = AsConstInt(realize->block->iter_vars[static_cast<int64_t>(i)]->dom->extent);
      if (!extent || *extent < kLongColumn) continue;
      const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(*extent)));
      const int64_t most = std::max(root, std::clamp(*extent / kColumnParts, kShortestColumn, kColumnPart));
      const int64_t divisor = LargestDivisor(*extent, most);
      // Of a number without such divisors the last part is shorter.
      const int64_t count = (*extent + most - 1) / most;
      const int64_t length = divisor >= most / 2 ? divisor : (*extent + count - 1) / count;
      const std::vector<Loop> loops = schedule_.GetLoops(block);
      const auto whole = std::find_if(loops.begin(), loops.end(), [&](const Loop& loop) {
        return loop.same_as(realize->iter_values[static_cast<int64_t>(i)]);
      });
      if (whole == loops.end()) continue;
      const std::vector<Loop> parts = schedule_.Split(*whole, std::vector<int64_t>{-1, length});
      if (*whole != loops[1]) schedule_.Reorder({parts[0], loops[1]});
      const Block partial = schedule_.RFactor(parts[0], 0);
      std::vector<Loop> rest = schedule_.GetLoops(block);
      std::rotate(rest.begin() + 1, rest.end() - 1, rest.end());
      schedule_.Reorder({rest.begin() + 1, rest.end()});
      return partial;
    }
    return std::nullopt;
  }

  /// The vectors of a reduction, its initialisation before the loop at `first`.
  void VectorizeColumnSum(const Block& block, size_t first) {
    const Block init = schedule_.DecomposeReduction(block, schedule_.GetLoops(block)[first]);
    for (const Block& each : {init, block}) schedule_.Vectorize(schedule_.GetLoops(each).back());
  }

  /// [row, steps…, vector of rows].
  void VectorizeColumns(const Block& block) {
    if (IsReduction(schedule_, block)) {
      if (const auto partial = CutColumn(block)) VectorizeColumnSum(*partial, 2);
      return VectorizeColumnSum(block, 1);
    }
    const Loop lanes = schedule_.GetLoops(block).back();
    if (width_ == lanes_) {
      schedule_.Vectorize(lanes);
      return;
    }
    const auto parts = schedule_.Split(lanes, std::vector<int64_t>{-1, lanes_});
    schedule_.Vectorize(parts[1]);
  }

  Schedule& schedule_;
  const Target& target_;
  const int64_t lanes_;
  RowPlan plan_;
  /// By block, copies included.
  std::unordered_map<Block, BlockRows> rows_;
  /// Columns: how many neighbouring rows are done together.
  int64_t width_ = 0;
  /// Else: how many rows a stage goes through before the next begins.
  int64_t tile_ = 1;
  LaneReductions reductions_;
};

}  // namespace

bool ScheduleRows(Schedule* schedule, const Target& target) { return RowScheduler(schedule, target).Run(); }

}  // namespace deuteron::tir
