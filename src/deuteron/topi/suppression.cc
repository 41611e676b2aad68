/// \file
/// The best boxes that do not overlap: of each class, those that count are sorted by their scores; each that is still
/// open when it is reached is chosen, and closes those behind it that it overlaps.
#include <array>

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/merge_sort.h"
#include "deuteron/topi/reduction.h"
#include "deuteron/topi/resize.h"

namespace deuteron::topi {
namespace {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::For;
using tir::ForKind;
using tir::Stmt;
using tir::Var;

/// Top, left, bottom, right.
using Sides = std::array<PrimExpr, 4>;

PrimExpr AreaOf(const Sides& box) { return (box[2] - box[0]) * (box[3] - box[1]); }

/// Whether what two boxes share is more than `share` of what they cover together.
PrimExpr Overlap(const Sides& a, const Sides& b, const PrimExpr& share) {
  const auto common = [&](size_t low, size_t high) {
    return Max(Min(a[high], b[high]) - Max(a[low], b[low]), MakeConst(share.dtype(), 0));
  };
  const PrimExpr both = common(0, 2) * common(1, 3);
  return both > share * (AreaOf(a) + AreaOf(b) - both);
}

/// Numbers that an iteration counts with.
enum Counter : int64_t { kCandidates, kChosen, kCounters };

}  // namespace

te::Tensor BestBoxes(const te::Tensor& sides, const te::Tensor& scores, const te::Tensor& overlap,
                     const te::Tensor& least, const PrimExpr& most) {
  const PrimExpr batches = scores.shape()[0], classes = scores.shape()[1], boxes = scores.shape()[2];
  const DataType dtype = sides.dtype(), index_type = DataType::Int(64);
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const Buffer &chosen = outputs[0], &order = outputs[1], &counters = outputs[4], &sorted = outputs[5],
                 &open = outputs[6];
    const IndicesAt at = [&](const PrimExpr& place) -> Array<PrimExpr> { return {iterators[0], iterators[1], place}; };
    const auto sorted_at = [&](size_t side, const PrimExpr& place) -> Array<PrimExpr> {
      return {iterators[0], iterators[1], I64(static_cast<int64_t>(side)), place};
    };
    const auto get = [&](Counter counter) { return BufferLoad(counters, at(I64(counter))); };
    const auto set = [&](Counter counter, const PrimExpr& value) {
      return BufferStore(counters, value, at(I64(counter)));
    };
    const auto score = [&](const PrimExpr& box) { return BufferLoad(inputs[1], at(box)); };
    Array<Stmt> steps{set(kCandidates, I64(0)), set(kChosen, I64(0))};
    const Var box("box"), place("place"), candidates("candidates");
    steps.push_back(
        Loop(box, boxes,
             {tir::IfThenElse(score(box) > BufferLoad(inputs[3], kEmpty),
                              tir::SeqStmt::Flatten({Bind(place, get(kCandidates)), BufferStore(order, box, at(place)),
                                                     set(kCandidates, place + 1)}))}));
    steps.push_back(Bind(candidates, get(kCandidates)));
    steps.push_back(MergeSort({order, outputs[2], outputs[3]}, candidates, boxes, at, at, score, /*descending=*/true));
    const Var rank("rank");
    Array<Stmt> brought{BufferStore(open, MakeConst(dtype, 1), at(rank))};
    for (size_t side = 0; side < 4; ++side) {
      const PrimExpr index = BufferLoad(order, at(rank));
      const PrimExpr value = BufferLoad(inputs[0], {iterators[0], I64(static_cast<int64_t>(side)), index});
      brought.push_back(BufferStore(sorted, value, sorted_at(side, rank)));
    }
    steps.push_back(Loop(rank, candidates, brought));
    const Var next("next"), count("count");
    Array<Stmt> choice{Bind(count, get(kChosen)), BufferStore(chosen, BufferLoad(order, at(next)), at(count)),
                       set(kChosen, count + 1)};
    Sides best;
    for (size_t side = 0; side < 4; ++side) {
      const Var var("side", dtype);
      choice.push_back(Bind(var, BufferLoad(sorted, sorted_at(side, next))));
      best[side] = var;
    }
    const Var share("share", dtype);
    choice.push_back(Bind(share, CastTo(dtype, BufferLoad(inputs[2], kEmpty))));
    choice.push_back(ForLanes(candidates - next - 1, [&](const PrimExpr& index) {
      const PrimExpr behind = next + 1 + index;
      Sides other;
      for (size_t side = 0; side < 4; ++side) other[side] = BufferLoad(sorted, sorted_at(side, behind));
      const PrimExpr is_open = BufferLoad(open, at(behind));
      return BufferStore(open, SelectExpr(Overlap(other, best, share), MakeConst(dtype, 0), is_open), at(behind));
    }));
    const PrimExpr counts = BufferLoad(open, at(next)) > MakeConst(dtype, 0) && get(kChosen) < most;
    steps.push_back(Loop(next, candidates, {tir::IfThenElse(counts, tir::SeqStmt::Flatten(choice))}));
    const Var last("last"), rest("rest");
    steps.push_back(Bind(last, get(kChosen)));
    steps.push_back(Loop(rest, most - last, {BufferStore(chosen, I64(-1), at(last + rest))}));
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  const Array<PrimExpr> line{batches, classes, boxes};
  return te::Extern("best_boxes",
                    {Materialized(sides), Materialized(scores), Materialized(overlap), Materialized(least)},
                    {{{batches, classes, most}, index_type},
                     {line, index_type},
                     {line, index_type},
                     {{batches, classes, I64(2)}, index_type},
                     {{batches, classes, I64(kCounters)}, index_type},
                     {{batches, classes, I64(4), boxes}, dtype},
                     {line, dtype}},
                    {batches, classes}, body)[0];
}

}  // namespace deuteron::topi
