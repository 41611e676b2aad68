/// \file
/// Reductions along other axes than the last: softmax and norms over channels, statistics of a batch.
///
/// Rows that lie beside each other in memory (a softmax over the channels of an image: every pixel is one) are taken a
/// few vectors at a time: each stage runs along the row with a vector of rows, accumulators in registers, and what is
/// kept of the rows stays in the cache for the next stage.
///
/// Rows that are several stretches of memory (all planes of one channel) run one by one as in rows.cc, vectorised along
/// the stretch.
#include <algorithm>

#include "deuteron/tir/analysis/row_structure.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/lane_reduction.h"

namespace deuteron::tir {
namespace {

class StridedRowScheduler {
 public:
  StridedRowScheduler(Schedule* schedule, const Target& target)
      : schedule_(*schedule), target_(target), lanes_(Lanes(target)), reductions_(schedule, target) {}

  bool Run() {
    if (!Applies()) return false;
    InlineRowStages(&schedule_, target_, [this](const Block& block) { return IsPerRow(block); });
    if (labels_.columns) {
      ChooseWidth();
      CopyConflicting();
    }
    std::vector<std::vector<Loop>> chains;
    for (const Block& block : schedule_.GetBlocks()) chains.push_back(RowLoops(block));
    if (!labels_.columns) {
      for (const Block& block : schedule_.GetBlocks()) {
        if (IsReduction(schedule_, block)) SplitReduction(block, chains[0].size());
      }
    }
    FuseRowDims();
    schedule_.MergeLoops(chains);
    const Loop row = FuseAll(&schedule_, chains[0]);
    for (const Block& block : schedule_.GetBlocks()) {
      if (labels_.columns) {
        VectorizeColumns(block);
      } else if (!IsReduction(schedule_, block)) {
        VectorizeAlong(block);
      }
    }
    reductions_.Vectorize(1);
    schedule_.Parallel(row);
    return true;
  }

 private:
  bool Applies() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!HasPlainLoops(schedule_, block)) return false;
      blocks_.push_back(block);
    }
    RowGraph graph;
    if (BuildRowGraph(schedule_.func(), &graph) != nullptr || graph.blocks.size() != blocks_.size()) return false;
    labels_ = LabelRows(graph);
    if (labels_.why_not != nullptr || labels_.groups.empty()) return false;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const SBlock body = schedule_.Get(blocks_[b]);
      std::vector<bool> is_row;
      size_t next = 0;
      for (const IterVar& iter : body->iter_vars) {
        is_row.push_back(!IsOne(iter->dom->extent) && labels_.is_row[b][next++]);
      }
      is_row_.push_back(std::move(is_row));
    }
    return true;
  }

  const std::vector<bool>& IsRow(const Block& block) const {
    const auto at = std::find(blocks_.begin(), blocks_.end(), block);
    if (at == blocks_.end()) DEUTERON_SCHEDULE_ERROR << "block " << block << " has no rows";
    return is_row_[static_cast<size_t>(at - blocks_.begin())];
  }

  /// One element a row.
  bool IsPerRow(const Block& block) const {
    const SBlock body = schedule_.Get(block);
    const std::vector<bool>& is_row = IsRow(block);
    for (size_t i = 0; i < is_row.size(); ++i) {
      const IterVar& iter = body->iter_vars[i];
      if (!is_row[i] && !IsOne(iter->dom->extent) && iter->type != IterVarType::kReduce) return false;
    }
    return true;
  }

  /// How many neighbouring rows are done together: as many vectors as waste little at the end.
  void ChooseWidth() {
    const RowExtent& neighbours = labels_.groups.back();
    // Their accumulators stay in registers.
    const int64_t most = target_.machine.vector_registers / 4;
    width_ = most * lanes_;
    if (!neighbours.symbols.empty()) return;
    int64_t least = INT64_MAX;
    for (int64_t vectors = most; vectors >= 1; vectors /= 2) {
      const int64_t width = vectors * lanes_;
      const int64_t covered = (neighbours.constant + width - 1) / width * width;
      if (covered < least) width_ = width;
      least = std::min(least, covered);
    }
  }

  /// What several stages read, and would have to load again since the elements of a row fall into few sets of the cache
  /// (a stride of many kilobytes that is a power of two), is copied: the row is in one place then.
  void CopyConflicting() {
    for (const Block& block : schedule_.GetBlocks()) {
      const SBlock body = schedule_.Get(block);
      for (size_t i = 0; i < body->reads.size(); ++i) {
        const Buffer& buffer = body->reads[static_cast<int64_t>(i)]->buffer;
        if (!schedule_.IsParameter(buffer)) continue;
        const auto is_row = RowDimsOf(block, buffer);
        if (!is_row || !Conflicts(buffer, *is_row)) continue;
        std::vector<Block> others;
        bool written = false;
        for (const Block& other : schedule_.GetBlocks()) {
          const SBlock reader = schedule_.Get(other);
          const auto touches = [&](const BufferRegion& region) { return region->buffer.same_as(buffer); };
          written = written || std::any_of(reader->writes.begin(), reader->writes.end(), touches);
          if (other != block && std::any_of(reader->reads.begin(), reader->reads.end(), touches) &&
              RowDimsOf(other, buffer)) {
            others.push_back(other);
          }
        }
        if (others.empty() || written) continue;
        blocks_.push_back(schedule_.CacheRead(block, i, "global", others));
        is_row_.push_back(*is_row);
        return CopyConflicting();
      }
    }
  }

  /// Which dimensions of a buffer count rows, if a block reads it at plain indices.
  std::optional<std::vector<bool>> RowDimsOf(const Block& block, const Buffer& buffer) const {
    const SBlock body = schedule_.Get(block);
    const std::vector<bool>& block_rows = IsRow(block);
    std::optional<std::vector<bool>> dims;
    bool plain = true;
    PostOrderVisit(body->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr || !load->buffer.same_as(buffer)) return;
      std::vector<bool> own;
      for (size_t i = 0; i < load->indices.size(); ++i) {
        const PrimExpr& index = load->indices[static_cast<int64_t>(i)];
        plain = plain && (index->kind == ExprKind::kVar || IsOne(buffer->shape[static_cast<int64_t>(i)]));
        bool counts = false;
        for (size_t k = 0; k < block_rows.size(); ++k) {
          counts = counts || (block_rows[k] && index.same_as(body->iter_vars[k]->var));
        }
        own.push_back(counts);
      }
      plain = plain && (!dims || *dims == own);
      dims = std::move(own);
    });
    return plain ? dims : std::nullopt;
  }

  /// Whether a row's elements use few sets of the second cache. Symbolic strides are no powers of two.
  bool Conflicts(const Buffer& buffer, const std::vector<bool>& is_row) const {
    int64_t stride = buffer->dtype.bytes();
    int64_t length = 1;
    bool inner = true;
    for (size_t i = buffer->shape.size(); i-- > 0;) {
      const auto extent = AsConstInt(buffer->shape[static_cast<int64_t>(i)]);
      if (!extent) return false;
      if (*extent == 1) continue;
      if (inner && is_row[i]) {
        stride *= *extent;
      } else if (!is_row[i]) {
        inner = false;
        length *= *extent;
      }
    }
    return length > 1 && stride > width_ * buffer->dtype.bytes() && CostModel(target_.machine).Conflict(stride, length);
  }

  /// Brings the loops over rows outside, one for each group; of the last group, if it makes vectors, the part that
  /// steps from vector to vector.
  std::vector<Loop> RowLoops(const Block& block) {
    const std::vector<bool>& is_row = IsRow(block);
    const SBlock body = schedule_.Get(block);
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    std::vector<Loop> rows;
    std::vector<PrimExpr> extents;
    std::vector<Loop> rest;
    const SBlockRealize realize = schedule_.GetRealize(block);
    for (size_t i = 0; i < is_row.size(); ++i) {
      // A copy has no loops over extents of 1.
      const auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& candidate) {
        return realize->iter_values[static_cast<int64_t>(i)].same_as(candidate);
      });
      if (loop == loops.end()) continue;
      (is_row[i] ? rows : rest).push_back(*loop);
      if (is_row[i]) extents.push_back(body->iter_vars[i]->dom->extent);
    }
    const auto group_of = GroupDims(extents, labels_.groups);
    if (!group_of) DEUTERON_SCHEDULE_ERROR << "rows of block " << block << " do not come out even";
    std::vector<Loop> order = rows;
    order.insert(order.end(), rest.begin(), rest.end());
    schedule_.Reorder(order);
    std::vector<Loop> chain;
    for (size_t group = 0; group < labels_.groups.size(); ++group) {
      std::vector<Loop> members;
      for (size_t i = 0; i < rows.size(); ++i) {
        if ((*group_of)[i] == group) members.push_back(rows[i]);
      }
      chain.push_back(FuseAll(&schedule_, members));
    }
    if (labels_.columns) {
      const auto parts = schedule_.Split(chain.back(), std::vector<int64_t>{-1, width_});
      chain.back() = parts[0];
      std::vector<Loop> inner = rest;
      inner.push_back(parts[1]);
      schedule_.Reorder(inner);
    }
    return chain;
  }

  /// Dimensions of intermediate buffers that count the rows of one group become one, as their loops did.
  void FuseRowDims() {
    for (const Block& block : blocks_) {
      if (!schedule_.HasBlock(block) || WritesParameter(schedule_, block)) continue;
      const SBlock body = schedule_.Get(block);
      const std::vector<bool>& is_row = IsRow(block);
      if (body->writes.size() != 1) continue;
      Buffer buffer = body->writes[0]->buffer;
      std::vector<PrimExpr> extents;
      std::vector<size_t> dims;
      for (size_t dim = 0; dim < buffer->shape.size(); ++dim) {
        const PrimExpr& min = body->writes[0]->region[static_cast<int64_t>(dim)]->min;
        for (size_t i = 0; i < is_row.size(); ++i) {
          if (!is_row[i] || !min.same_as(body->iter_vars[i]->var)) continue;
          extents.push_back(buffer->shape[static_cast<int64_t>(dim)]);
          dims.push_back(dim);
        }
      }
      const auto group_of = GroupDims(extents, labels_.groups);
      if (!group_of) continue;
      for (size_t last = dims.size(); last-- > 0;) {
        size_t first = last;
        while (first > 0 && (*group_of)[first - 1] == (*group_of)[last] &&
               OnlyUnitsBetween(buffer, dims[first - 1], dims[first]))
          --first;
        if (first < last) buffer = schedule_.FuseDims(buffer, dims[first], dims[last] - dims[first] + 1);
        last = first;
      }
    }
  }

  static bool OnlyUnitsBetween(const Buffer& buffer, size_t from, size_t to) {
    for (size_t dim = from + 1; dim < to; ++dim) {
      if (!IsOne(buffer->shape[static_cast<int64_t>(dim)])) return false;
    }
    return true;
  }

  /// [row, steps…, vector of rows].
  void VectorizeColumns(const Block& block) {
    std::vector<Loop> loops = schedule_.GetLoops(block);
    const Loop lanes = loops.back();
    if (IsReduction(schedule_, block)) {
      const Block init = schedule_.DecomposeReduction(block, loops[1]);
      schedule_.Vectorize(schedule_.GetLoops(init).back());
      schedule_.Vectorize(lanes);
      return;
    }
    if (width_ == lanes_) {
      schedule_.Vectorize(lanes);
      return;
    }
    const auto parts = schedule_.Split(lanes, std::vector<int64_t>{-1, lanes_});
    schedule_.Vectorize(parts[1]);
  }

  /// The longest run of axes at the end that is contiguous in every access, of those inside of the row.
  std::vector<Loop> ContiguousLoops(const Block& block, size_t outer) const {
    const SBlockRealize realize = schedule_.GetRealize(block);
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    const auto iter_of = [&](const Loop& loop) -> std::optional<size_t> {
      for (size_t i = 0; i < realize->iter_values.size(); ++i) {
        if (realize->iter_values[static_cast<int64_t>(i)].same_as(loop)) return i;
      }
      return std::nullopt;
    };
    size_t first = loops.size() - 1;
    while (first > outer) {
      const auto a = iter_of(loops[first - 1]);
      const auto b = iter_of(loops[first]);
      if (!a || !b ||
          !AreContiguous(realize->block, realize->block->iter_vars[static_cast<int64_t>(*a)],
                         realize->block->iter_vars[static_cast<int64_t>(*b)])) {
        break;
      }
      --first;
    }
    return {loops.begin() + static_cast<int64_t>(first), loops.end()};
  }

  void SplitReduction(const Block& block, size_t outer) {
    reductions_.Split(block, FuseAll(&schedule_, ContiguousLoops(block, outer)));
  }

  void VectorizeAlong(const Block& block) {
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    if (loops.size() < 2) return;
    VectorizeInner(&schedule_, block, loops.size() - ContiguousLoops(block, 1).size(), lanes_);
  }

  Schedule& schedule_;
  const Target& target_;
  const int64_t lanes_;
  /// Those of the function as it was, and which of their iterators count rows.
  std::vector<Block> blocks_;
  std::vector<std::vector<bool>> is_row_;
  RowLabels labels_;
  int64_t width_ = 0;
  LaneReductions reductions_;
};

}  // namespace

bool ScheduleStridedRows(Schedule* schedule, const Target& target) {
  return StridedRowScheduler(schedule, target).Run();
}

}  // namespace deuteron::tir
