/// \file
/// Reductions along the last axes (softmax, norms, means), several of them after each other, with elementwise stages
/// before, between and after: all stages of one row run together while the row is in the cache; rows run in parallel.
///
/// Stages that are cheap are computed where they are read, even by several; those of one number a row are computed
/// once a row; what is left is kept for the row.
///
/// A reduction is done in as many partial results as a few vectors have lanes (lane_reduction.h).
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/lane_reduction.h"

namespace deuteron::tir {
namespace {

/// Whether the reduction runs along the last dimension of what it reads: it is the last index of some operand, and
/// no operand slides a window along its last dimension (an index of spatial and reduction iterators together).
bool ReducesLastAxis(const SBlock& block) {
  const IterSplit iters = SplitIters(block);
  const auto update = GetReductionUpdate(block);
  if (!update || iters.reduce.empty()) return false;
  const Var last = block->iter_vars[iters.reduce.back()]->var;
  bool found = false;
  bool window = false;
  PostOrderVisit(update->source, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || load->indices.empty()) return;
    const PrimExpr& index = load->indices.back();
    if (index.same_as(last)) {
      found = true;
    } else if (UsesVar(index, [&](const VarNode* var) { return var == last.get(); })) {
      window = true;
    }
  });
  return found && !window;
}

/// Extents of a block's spatial iterators, those of 1 left out.
std::vector<PrimExpr> SpatialExtents(const SBlock& block) {
  std::vector<PrimExpr> extents;
  for (size_t position : SplitIters(block).spatial) {
    const PrimExpr& extent = block->iter_vars[position]->dom->extent;
    if (!IsOne(extent)) extents.push_back(extent);
  }
  return extents;
}

/// Cuts `rows` and the leading `extents` at the same places: rows [64] and extents [8, 8, 32] give rows [8, 8]. False
/// if they do not come out even.
bool Refine(std::vector<PrimExpr>* rows, const std::vector<PrimExpr>& extents) {
  std::vector<PrimExpr> refined;
  size_t next = 0;
  PrimExpr rest;
  for (size_t i = 0; i < rows->size();) {
    if (!rest.defined()) {
      if (next == extents.size()) return false;
      rest = extents[next++];
    }
    PrimExpr& row = (*rows)[i];
    if (ExprEqual(row, rest)) {
      refined.push_back(row);
      rest = PrimExpr();
      ++i;
      continue;
    }
    const auto a = AsConstInt(row);
    const auto b = AsConstInt(rest);
    if (!a || !b) return false;
    if (*b % *a == 0) {
      refined.push_back(row);
      rest = MakeConst(row.dtype(), *b / *a);
      ++i;
    } else if (*a % *b == 0) {
      refined.push_back(rest);
      row = MakeConst(row.dtype(), *a / *b);
      rest = PrimExpr();
    } else {
      return false;
    }
  }
  *rows = std::move(refined);
  return true;
}

class RowScheduler {
 public:
  RowScheduler(Schedule* schedule, const Target& target)
      : schedule_(*schedule), target_(target), lanes_(Lanes(target)), reductions_(schedule, target) {}

  bool Run() {
    if (!Applies()) return false;
    if (!FindRows()) return false;
    InlineRowStages(&schedule_, target_, [this](const Block& block) { return IsOneARow(block); });
    // Each nest begins with the loops over rows, cut alike.
    std::vector<std::vector<Loop>> chains;
    for (const Block& block : schedule_.GetBlocks()) {
      chains.push_back(RowLoops(block));
    }
    for (const Block& block : schedule_.GetBlocks()) {
      if (IsReduction(schedule_, block)) SplitReduction(block);
    }
    if (!rows_.empty()) {
      schedule_.MergeLoops(chains);
      row_ = FuseAll(&schedule_, chains[0]);
    }
    for (const Block& block : schedule_.GetBlocks()) {
      if (IsReduction(schedule_, block)) continue;
      if (rows_.empty()) {
        ScheduleSpatial(&schedule_, block, target_);
      } else {
        VectorizeInner(&schedule_, block, FirstOfVector(block), lanes_);
      }
    }
    reductions_.Vectorize(rows_.empty() ? 0 : 1);
    if (!rows_.empty()) schedule_.Parallel(row_);
    return true;
  }

 private:
  bool Applies() const {
    bool any = false;
    for (const Block& block : schedule_.GetBlocks()) {
      if (!HasPlainLoops(schedule_, block)) return false;
      const SBlock body = schedule_.Get(block);
      const BlockClass kind = ClassifyBlock(body).kind;
      if (kind == BlockClass::kOpaque || kind == BlockClass::kMatmul) return false;
      if (kind == BlockClass::kInjective) continue;
      if (!ReducesLastAxis(body)) return false;
      any = true;
    }
    return any;
  }

  /// The rows are what the first reduction is not over; every other block must have as many.
  bool FindRows() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!IsReduction(schedule_, block)) continue;
      rows_ = SpatialExtents(schedule_.Get(block));
      break;
    }
    for (const Block& block : schedule_.GetBlocks()) {
      if (!Refine(&rows_, SpatialExtents(schedule_.Get(block)))) return false;
    }
    // Several passes over the blocks would refine no further: cuts only add to what all of them have.
    for (const Block& block : schedule_.GetBlocks()) {
      if (IsReduction(schedule_, block) && !IsOneARow(block)) return false;
    }
    return true;
  }

  /// Whether a block has one spatial element a row.
  bool IsOneARow(const Block& block) const {
    PrimExpr product[2] = {I64(1), I64(1)};
    for (const PrimExpr& extent : SpatialExtents(schedule_.Get(block))) product[0] = product[0] * extent;
    for (const PrimExpr& extent : rows_) product[1] = product[1] * extent;
    arith::Analyzer analyzer;
    return analyzer.CanProveEqual(product[0], product[1]);
  }

  /// Brings the loops of a block that run over rows outside, and cuts them as `rows_` says.
  std::vector<Loop> RowLoops(const Block& block) {
    const IterSplit iters = SplitIters(schedule_.Get(block));
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    std::vector<Loop> chain;
    std::vector<Loop> order;
    size_t next = 0;
    for (size_t position : iters.spatial) {
      const Loop& loop = loops[position];
      if (next == rows_.size()) break;
      PrimExpr extent = schedule_.GetLoop(loop)->extent;
      if (IsOne(extent)) continue;
      // As many cuts as the extent holds.
      std::vector<int64_t> factors;
      while (next < rows_.size() && !ExprEqual(extent, rows_[next])) {
        const auto whole = AsConstInt(extent);
        const auto part = AsConstInt(rows_[next]);
        if (!whole || !part || *whole % *part != 0)
          DEUTERON_SCHEDULE_ERROR << "rows of block " << block << " do not come out even";
        factors.push_back(*part);
        extent = MakeConst(extent.dtype(), *whole / *part);
        ++next;
      }
      const bool ends_with_row = next < rows_.size();
      if (ends_with_row) ++next;
      if (factors.empty()) {
        chain.push_back(loop);
        continue;
      }
      factors.push_back(*AsConstInt(extent));
      const std::vector<Loop> parts = schedule_.Split(loop, factors);
      chain.insert(chain.end(), parts.begin(), parts.end() - (ends_with_row ? 0 : 1));
    }
    if (chain.size() != rows_.size()) DEUTERON_SCHEDULE_ERROR << "block " << block << " has other rows";
    std::vector<Loop> rest;
    for (const Loop& loop : schedule_.GetLoops(block)) {
      const bool is_row = std::any_of(chain.begin(), chain.end(), [&](const Loop& row) { return row.same_as(loop); });
      if (!is_row) rest.push_back(loop);
    }
    order = chain;
    order.insert(order.end(), rest.begin(), rest.end());
    schedule_.Reorder(order);
    return chain;
  }

  /// The position of the first of the loops within a row that make the vector's: those that every access runs through
  /// as if they were one, but at least a vector. A factor a channel, read along channels and planes at once, would be
  /// gathered.
  size_t FirstOfVector(const Block& block) const {
    const SBlockRealize realize = schedule_.GetRealize(block);
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    std::vector<PrimExpr> offsets;
    ExprVarMap values;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      values[realize->block->iter_vars[at]->var] = realize->iter_values[at];
    }
    const auto note = [&](const Buffer& buffer, const Array<PrimExpr>& indices) {
      PrimExpr offset = I64(0);
      for (size_t i = 0; i < indices.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        offset = offset * CastTo(DataType::Int(64), buffer->shape[at]) + CastTo(DataType::Int(64), indices[at]);
      }
      offsets.push_back(Substitute(offset, values));
    };
    PostOrderVisit(realize->block->body, [&](const ObjectRef& node) {
      if (const auto* load = node.as<BufferLoadNode>()) note(load->buffer, load->indices);
      if (const auto* store = node.as<BufferStoreNode>()) note(store->buffer, store->indices);
    });
    // What one more iteration of a loop adds, where there is one more.
    const auto step = [&](const PrimExpr& offset, const Loop& of) {
      arith::Analyzer analyzer;
      for (const Loop& loop : loops) {
        const For node = schedule_.GetLoop(loop);
        const PrimExpr extent = loop.same_as(of) ? node->extent - MakeConst(loop.dtype(), 1) : node->extent;
        analyzer.Bind(loop, Range::FromMinExtent(node->min, extent));
      }
      ExprVarMap next;
      next[of] = PrimExpr(of) + MakeConst(of.dtype(), 1);
      return analyzer.Simplify(Substitute(offset, next) - offset);
    };
    size_t first = loops.size();
    std::optional<Loop> inner;  // the outermost so far, loops of one iteration left out
    for (int64_t extent = 1; first > 1; --first) {
      const Loop& loop = loops[first - 1];
      const auto own = schedule_.ConstExtent(loop);
      if (!own || *own > INT32_MAX / extent) return 1;
      if (*own == 1) continue;
      if (extent >= lanes_) {
        const bool as_one = std::all_of(offsets.begin(), offsets.end(), [&](const PrimExpr& offset) {
          const PrimExpr whole = step(offset, *inner) * schedule_.GetLoop(*inner)->extent;
          return arith::Analyzer().CanProveEqual(step(offset, loop), whole);
        });
        if (!as_one) break;
      }
      inner = loop;
      extent *= *own;
    }
    return first;
  }

  void SplitReduction(const Block& block) {
    const IterSplit iters = SplitIters(schedule_.Get(block));
    const std::vector<Loop> loops = schedule_.GetLoops(block);
    reductions_.Split(block,
                      FuseAll(&schedule_, {loops.end() - static_cast<int64_t>(iters.reduce.size()), loops.end()}));
  }

  Schedule& schedule_;
  const Target& target_;
  const int64_t lanes_;
  /// Extents of the loops over rows, 1 left out; empty if there is one row.
  std::vector<PrimExpr> rows_;
  Loop row_;
  LaneReductions reductions_;
};

}  // namespace

bool ScheduleRows(Schedule* schedule, const Target& target) { return RowScheduler(schedule, target).Run(); }

}  // namespace deuteron::tir
