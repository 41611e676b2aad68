/// \file
/// The best boxes that do not overlap: of each class, those that count are sorted by their scores, and each is chosen
/// that overlaps none that is chosen already.
///
/// At first each is compared with those. Where many are chosen, all are laid in the order of their first sides along an
/// axis, and each that is chosen closes those that it overlaps. They are neighbours: of the vectors behind its own
/// those until one begins where it ends, of those before until none so far reaches it.
#include <array>

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/radix_sort.h"
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

/// Boxes that are compared with one at once; of scores, those that are skipped at once if none counts.
constexpr int64_t kLanes = 16, kPiece = 64;
/// When so many are chosen, whether to lay all pays is asked.
constexpr int64_t kManyChosen = 256;
/// Vectors of boxes that are compared while one is laid; laid ones for each of which one is near a box.
constexpr int64_t kVectorsOfLaying = 6, kLaidOfNear = 4;
/// Boxes that tell along which axis others are beside them.
constexpr int64_t kSample = 64;

/// Numbers that an iteration counts with.
enum Counter : int64_t { kCandidates, kChosen, kPlaced, kNext, kVector, kFound, kAxis, kLays, kCounters };
/// What is known of each box that is laid.
enum Row : int64_t { kTop, kLeft, kBottom, kRight, kArea, kOpen, kRows };
/// Where a vector's first box begins, and where the last of its boxes and of all before ends.
enum Bound : int64_t { kBegin, kEnd, kBounds };
/// Of an axis: the sum of what boxes cover, and where the first begins and the last ends.
enum Spread : int64_t { kCovered, kFirst, kLast, kSpreads };

/// NaN is none: one instruction on any machine.
PrimExpr Lesser(const PrimExpr& a, const PrimExpr& b) { return SelectExpr(a < b, a, b); }
PrimExpr Greater(const PrimExpr& a, const PrimExpr& b) { return SelectExpr(a > b, a, b); }

/// Top, left, bottom, right; and the area.
using Box = std::array<PrimExpr, 5>;
constexpr std::array<Row, 5> kSidesAndArea = {kTop, kLeft, kBottom, kRight, kArea};

/// What an iteration works in.
struct Work {
  Array<PrimExpr> own;
  Buffer sides, scores, overlap, least;
  Buffer chosen, order, merged, cursors, counters, bins, placed, rows, bounds, spreads;
  DataType dtype;
  PrimExpr boxes, most;

  Array<PrimExpr> At(const PrimExpr& place) const { return At(own, {place}); }
  static Array<PrimExpr> At(Array<PrimExpr> indices, const Array<PrimExpr>& more) {
    indices.insert(indices.end(), more.begin(), more.end());
    return indices;
  }
  PrimExpr Load(const Buffer& from, const PrimExpr& place) const { return BufferLoad(from, At(place)); }
  Stmt Store(const Buffer& to, const PrimExpr& value, const PrimExpr& place) const {
    return BufferStore(to, value, At(place));
  }
  PrimExpr Get(Counter counter) const { return Load(counters, I64(counter)); }
  Stmt Set(Counter counter, const PrimExpr& value) const { return Store(counters, value, I64(counter)); }
  PrimExpr Get(Row row, const PrimExpr& slot) const { return BufferLoad(rows, At(own, {I64(row), slot})); }
  Stmt Set(Row row, const PrimExpr& value, const PrimExpr& slot) const {
    return BufferStore(rows, value, At(own, {I64(row), slot}));
  }
  PrimExpr Get(Bound bound, const PrimExpr& vector) const { return BufferLoad(bounds, At(own, {I64(bound), vector})); }
  Stmt Set(Bound bound, const PrimExpr& value, const PrimExpr& vector) const {
    return BufferStore(bounds, value, At(own, {I64(bound), vector}));
  }
  PrimExpr Get(Spread spread, const PrimExpr& axis) const { return BufferLoad(spreads, At(own, {axis, I64(spread)})); }
  Stmt Set(Spread spread, const PrimExpr& value, const PrimExpr& axis) const {
    return BufferStore(spreads, value, At(own, {axis, I64(spread)}));
  }
  /// Side `which` of a box, as Row numbers them.
  PrimExpr Side(const PrimExpr& which, const PrimExpr& box) const { return BufferLoad(sides, {own[0], which, box}); }
  /// Variables of a box's sides and its area, of one that covers something, which `steps` bind. (The greater one keeps
  /// the product from being joined with a sum.)
  Box BoxOf(const PrimExpr& box, Array<Stmt>* steps) const {
    Box values;
    for (const Row row : kSidesAndArea) {
      const Var var("side", dtype);
      const bool is_side = row != kArea;
      const PrimExpr area = is_side ? PrimExpr() : (values[kBottom] - values[kTop]) * (values[kRight] - values[kLeft]);
      steps->push_back(Bind(var, is_side ? Side(I64(row), box) : Max(area, MakeConst(dtype, 0))));
      values[row] = var;
    }
    return values;
  }
};

/// Makes a slot one of a box that shares nothing with any.
Stmt Clear(const Work& work, const PrimExpr& slot) {
  Array<Stmt> steps;
  for (const Row row : kSidesAndArea) {
    const bool ends = row == kBottom || row == kRight;
    steps.push_back(work.Set(row, ends ? -Infinity(work.dtype) : MakeConst(work.dtype, 0), slot));
  }
  return tir::SeqStmt::Flatten(steps);
}

/// Lists the boxes whose scores are above the least.
Stmt FindCandidates(const Work& work) {
  const Var piece("piece"), i("i"), place("place");
  const PrimExpr begin = piece * kPiece, least = BufferLoad(work.least, kEmpty);
  const PrimExpr length = Min(I64(kPiece), work.boxes - begin);
  const auto counts = [&](const PrimExpr& box) { return work.Load(work.scores, box) > least; };
  const Stmt look = ForLanes(
      length, [&](const PrimExpr& lane) { return tir::IfThenElse(counts(begin + lane), work.Set(kFound, I64(1))); });
  const Stmt list = Loop(i, length,
                         {Bind(place, work.Get(kCandidates)), work.Store(work.order, begin + i, place),
                          work.Set(kCandidates, place + CastTo(DataType::Int(64), counts(begin + i)))});
  return tir::SeqStmt::Flatten({work.Set(kCandidates, I64(0)),
                                Loop(piece, CeilDiv(work.boxes, I64(kPiece)),
                                     {work.Set(kFound, I64(0)), look, tir::IfThenElse(work.Get(kFound) > 0, list)})});
}

/// Lists the candidates that cover something, by rank: no other overlaps one.
Stmt ListPlaced(const Work& work, const PrimExpr& candidates) {
  const Var rank("rank"), box("box"), place("place");
  const auto side = [&](int64_t which) { return work.Side(I64(which), box); };
  const PrimExpr covers = side(kTop) < side(kBottom) && side(kLeft) < side(kRight);
  return tir::SeqStmt::Flatten(
      {work.Set(kPlaced, I64(0)),
       Loop(rank, candidates,
            {Bind(box, work.Load(work.order, rank)), Bind(place, work.Get(kPlaced)),
             work.Store(work.placed, box, place), work.Set(kPlaced, place + CastTo(DataType::Int(64), covers))})});
}

/// Sums up how some of `count` boxes lie along both axes.
Stmt MeasureSpread(const Work& work, const PrimExpr& count) {
  const Var axis("axis"), i("i"), box("box"), begin("begin", work.dtype), end("end", work.dtype);
  const PrimExpr sample = Min(count, I64(kSample));
  return Loop(
      axis, I64(2),
      {work.Set(kCovered, MakeConst(work.dtype, 0), axis), work.Set(kFirst, Infinity(work.dtype), axis),
       work.Set(kLast, -Infinity(work.dtype), axis),
       Loop(i, sample,
            {Bind(box, work.Load(work.placed, FloorDiv(i * count, sample))), Bind(begin, work.Side(axis, box)),
             Bind(end, work.Side(axis + 2, box)), work.Set(kCovered, work.Get(kCovered, axis) + (end - begin), axis),
             work.Set(kFirst, Lesser(begin, work.Get(kFirst, axis)), axis),
             work.Set(kLast, Greater(end, work.Get(kLast, axis)), axis)})});
}

/// Sorts the listed boxes by where they begin along the axis on which fewer lie beside each other; tells where each
/// vector of them begins and ends.
Stmt Arrange(const Work& work, const PrimExpr& count) {
  const Var axis("axis");
  const auto extent = [&](int64_t of) { return work.Get(kLast, I64(of)) - work.Get(kFirst, I64(of)); };
  const PrimExpr is_second = work.Get(kCovered, I64(1)) * extent(0) < work.Get(kCovered, I64(0)) * extent(1);
  const auto at = [&](const PrimExpr& place) { return work.At(place); };
  const auto begin_of = [&](const PrimExpr& box) { return work.Side(axis, box); };
  return tir::SeqStmt::Flatten(
      {MeasureSpread(work, count), Bind(axis, SelectExpr(is_second, I64(1), I64(0))), work.Set(kAxis, axis),
       SortPositions({work.placed, work.merged, work.cursors}, work.bins, count, work.boxes, at, at, begin_of,
                     /*descending=*/false)});
}

/// Lays the listed boxes and notes where each is: in `merged`, -1 for candidates that are not listed.
Stmt Lay(const Work& work, const PrimExpr& candidates, const PrimExpr& count) {
  const Var rank("rank"), slot("slot"), box("box"), padded("padded");
  Array<Stmt> lay = {Bind(box, work.Load(work.placed, slot)), work.Store(work.merged, slot, box)};
  const Box values = work.BoxOf(box, &lay);
  for (const Row row : kSidesAndArea) lay.push_back(work.Set(row, values[row], slot));
  lay.push_back(work.Set(kOpen, MakeConst(work.dtype, 1), slot));
  const PrimExpr vectors = CeilDiv(count, I64(kLanes));
  const PrimExpr behind = count + padded;
  return tir::SeqStmt::Flatten({Loop(rank, candidates, {work.Store(work.merged, I64(-1), work.Load(work.order, rank))}),
                                Loop(slot, count, lay),
                                Loop(padded, vectors * kLanes - count,
                                     {Clear(work, behind), work.Set(kOpen, MakeConst(work.dtype, 0), behind)})});
}

/// Notes where each vector of laid boxes begins and ends along the axis.
Stmt NoteBounds(const Work& work, const PrimExpr& vectors) {
  const Var vector("vector"), axis("axis");
  const auto side = [&](const PrimExpr& which, int64_t lane) {
    return BufferLoad(work.rows, Work::At(work.own, {which, vector * kLanes + lane}));
  };
  std::vector<PrimExpr> ends;
  for (int64_t lane = 0; lane < kLanes; ++lane) ends.push_back(side(axis + 2, lane));
  for (; ends.size() > 1; ends.resize(ends.size() / 2)) {
    for (size_t i = 0; i < ends.size() / 2; ++i) ends[i] = Max(ends[2 * i], ends[2 * i + 1]);
  }
  return tir::SeqStmt::Flatten({work.Set(kEnd, -Infinity(work.dtype), I64(0)),
                                work.Set(kBegin, Infinity(work.dtype), vectors), Bind(axis, work.Get(kAxis)),
                                Loop(vector, vectors,
                                     {work.Set(kBegin, side(axis, 0), vector),
                                      work.Set(kEnd, Max(ends[0], work.Get(kEnd, vector)), vector + 1)})});
}

/// How a box lies to the one in a slot.
struct Comparison {
  Array<Stmt> steps;
  PrimExpr may_overlap;
  /// Whether they share more than `share` of what the two cover; only where they may.
  PrimExpr overlap;

  Comparison(const Work& work, const Box& box, const PrimExpr& share, const PrimExpr& slot) {
    const Var height("height", work.dtype), width("width", work.dtype), both("both", work.dtype),
        cover("cover", work.dtype);
    const PrimExpr none = MakeConst(work.dtype, 0);
    const auto common = [&](Row low, Row high) {
      return Max(Lesser(work.Get(high, slot), box[high]) - Greater(work.Get(low, slot), box[low]), none);
    };
    // No quotient is above the share of which the product is above what both share: few are divided. (A product of
    // which the greater one is taken is not joined with the difference, and rounded as any other.)
    steps = {Bind(height, common(kTop, kBottom)), Bind(width, common(kLeft, kRight)),
             Bind(both, Max(height * width, none)), Bind(cover, work.Get(kArea, slot) + box[kArea] - both)};
    may_overlap = both > none && both >= share * cover;
    overlap = both / cover > share;
  }
};

/// Closes those of a vector's boxes that overlap `best`.
Stmt CloseOverlapping(const Work& work, const Box& best, const PrimExpr& share, const PrimExpr& vector) {
  const Var lane("lane");
  const PrimExpr slot = vector * kLanes + lane, closed = MakeConst(work.dtype, 0);
  Comparison comparison(work, best, share, slot);
  const PrimExpr is_open = SelectExpr(comparison.overlap, closed, MakeConst(work.dtype, 1));
  comparison.steps.push_back(
      tir::IfThenElse(comparison.may_overlap && work.Get(kOpen, slot) > closed, work.Set(kOpen, is_open, slot)));
  return For(lane, I64(0), I64(kLanes), ForKind::kVectorized, tir::SeqStmt::Flatten(comparison.steps));
}

/// Runs `body` of the candidates' ranks while any is left, fewer than wanted are chosen, and `goes_on`.
Stmt ForRanks(const Work& work, const PrimExpr& candidates, const PrimExpr& goes_on,
              const std::function<Array<Stmt>(const PrimExpr& box)>& body) {
  const Var next("next"), box("box");
  Array<Stmt> steps = {Bind(next, work.Get(kNext)), Bind(box, work.Load(work.order, next)), work.Set(kNext, next + 1)};
  for (const Stmt& step : body(box)) steps.push_back(step);
  return tir::SeqStmt::Flatten({work.Set(kNext, I64(0)), work.Set(kChosen, I64(0)),
                                tir::While(work.Get(kNext) < candidates && work.Get(kChosen) < work.most && goes_on,
                                           tir::SeqStmt::Flatten(steps))});
}

/// Notes that `box` is chosen.
Stmt Take(const Work& work, const PrimExpr& box) {
  const Var count("count");
  return tir::SeqStmt::Flatten(
      {Bind(count, work.Get(kChosen)), work.Store(work.chosen, box, count), work.Set(kChosen, count + 1)});
}

/// Whether to lay all candidates, and for each that is chosen to look at those near it, takes less than to compare the
/// next ones with all that are chosen: if as many of them are chosen as of those so far.
PrimExpr LayingPays(const Work& work, const PrimExpr& candidates) {
  const PrimExpr chosen = work.Get(kChosen), seen = work.Get(kNext);
  const PrimExpr next = Min(candidates - seen, FloorDiv((work.most - chosen) * seen, chosen));
  const PrimExpr more = FloorDiv(next * chosen, seen);
  const PrimExpr compared = FloorDiv(next * (chosen * 2 + more), 2 * kLanes);
  const PrimExpr laid = candidates * kVectorsOfLaying + FloorDiv((chosen + more) * candidates, kLanes * kLaidOfNear);
  return laid < compared;
}

/// Compares each candidate with those that are chosen, which are in the first slots; until, if it `may_lay`, to lay all
/// is seen to pay.
Stmt ChooseByComparing(const Work& work, const PrimExpr& candidates, bool may_lay) {
  const Var lane("lane"), vector("vector"), slot("slot"), covers("covers", DataType::Bool()),
      share("share", work.dtype);
  const auto body = [&](const PrimExpr& candidate) -> Array<Stmt> {
    Array<Stmt> steps = {Bind(share, CastTo(work.dtype, BufferLoad(work.overlap, kEmpty)))};
    const Box box = work.BoxOf(candidate, &steps);
    steps.push_back(Bind(covers, box[kTop] < box[kBottom] && box[kLeft] < box[kRight]));
    Comparison comparison(work, box, share, vector * kLanes + lane);
    comparison.steps.push_back(
        tir::IfThenElse(comparison.may_overlap, tir::IfThenElse(comparison.overlap, work.Set(kFound, I64(1)))));
    const Stmt compare = For(lane, I64(0), I64(kLanes), ForKind::kVectorized, tir::SeqStmt::Flatten(comparison.steps));
    const Stmt look =
        tir::While(work.Get(kVector) * kLanes < work.Get(kPlaced) && Equal(work.Get(kFound), I64(0)),
                   tir::SeqStmt::Flatten({Bind(vector, work.Get(kVector)), work.Set(kVector, vector + 1), compare}));
    const Stmt clear = ForLanes(I64(kLanes), [&](const PrimExpr& empty) { return Clear(work, slot + empty); });
    Array<Stmt> place = {Bind(slot, work.Get(kPlaced)), tir::IfThenElse(Equal(FloorMod(slot, kLanes), 0), clear),
                         work.Set(kPlaced, slot + 1)};
    for (const Row row : kSidesAndArea) place.push_back(work.Set(row, box[row], slot));
    if (may_lay) {
      const PrimExpr pays = CastTo(DataType::Int(64), LayingPays(work, candidates));
      place.push_back(tir::IfThenElse(Equal(slot, kManyChosen - 1), work.Set(kLays, pays)));
    }
    steps.push_back(work.Set(kFound, I64(0)));
    steps.push_back(work.Set(kVector, I64(0)));
    steps.push_back(tir::IfThenElse(covers, look));
    steps.push_back(tir::IfThenElse(
        Equal(work.Get(kFound), I64(0)),
        tir::SeqStmt::Flatten({Take(work, candidate), tir::IfThenElse(covers, tir::SeqStmt::Flatten(place))})));
    return steps;
  };
  const PrimExpr goes_on = may_lay ? Equal(work.Get(kLays), I64(0)) : True();
  return tir::SeqStmt::Flatten(
      {work.Set(kPlaced, I64(0)), work.Set(kLays, I64(0)), ForRanks(work, candidates, goes_on, body)});
}

/// Lays all candidates; takes the best that is open, which closes those that it overlaps.
Stmt ChooseByClosing(const Work& work, const PrimExpr& candidates) {
  const Var count("count"), slot("slot"), axis("axis"), begin("begin", work.dtype), end("end", work.dtype),
      share("share", work.dtype);
  const auto body = [&](const PrimExpr& box) -> Array<Stmt> {
    Array<Stmt> close = {Bind(share, CastTo(work.dtype, BufferLoad(work.overlap, kEmpty))), Bind(axis, work.Get(kAxis)),
                         Bind(begin, work.Side(axis, box)), Bind(end, work.Side(axis + 2, box))};
    const Box best = work.BoxOf(box, &close);
    const auto walk = [&](const PrimExpr& first, const PrimExpr& meets, int64_t step) {
      const Var vector("vector");
      close.push_back(work.Set(kVector, first));
      close.push_back(tir::While(
          meets, tir::SeqStmt::Flatten({Bind(vector, work.Get(kVector)), CloseOverlapping(work, best, share, vector),
                                        work.Set(kVector, vector + step)})));
    };
    const PrimExpr own = FloorDiv(slot, kLanes);
    walk(own, work.Get(kBegin, work.Get(kVector)) < end, 1);
    walk(own - 1, work.Get(kEnd, work.Get(kVector) + 1) > begin, -1);
    const PrimExpr is_open = IfThenElse(slot<0, True(), work.Get(kOpen, slot)> MakeConst(work.dtype, 0));
    const Stmt take =
        tir::SeqStmt::Flatten({Take(work, box), tir::IfThenElse(slot >= 0, tir::SeqStmt::Flatten(close))});
    return {Bind(slot, work.Load(work.merged, box)), tir::IfThenElse(is_open, take)};
  };
  return tir::SeqStmt::Flatten({ListPlaced(work, candidates), Bind(count, work.Get(kPlaced)), Arrange(work, count),
                                Lay(work, candidates, count), NoteBounds(work, CeilDiv(count, I64(kLanes))),
                                ForRanks(work, candidates, True(), body)});
}

Stmt Suppress(const Work& work) {
  const Var candidates("candidates"), chosen("chosen"), rest("rest");
  const auto at = [&](const PrimExpr& place) { return work.At(place); };
  const auto score = [&](const PrimExpr& box) { return work.Load(work.scores, box); };
  const auto may_exceed = [](const PrimExpr& number, int64_t limit) {
    const auto known = AsConstInt(number);
    return !known || *known > limit;
  };
  const bool may_lay = may_exceed(work.boxes, kManyChosen) && may_exceed(work.most, kManyChosen);
  Array<Stmt> steps = {FindCandidates(work), Bind(candidates, work.Get(kCandidates)),
                       SortPositions({work.order, work.merged, work.cursors}, work.bins, candidates, work.boxes, at, at,
                                     score, /*descending=*/true),
                       ChooseByComparing(work, candidates, may_lay)};
  if (may_lay) steps.push_back(tir::IfThenElse(work.Get(kLays) > 0, ChooseByClosing(work, candidates)));
  steps.push_back(Bind(chosen, work.Get(kChosen)));
  steps.push_back(Loop(rest, work.most - chosen, {work.Store(work.chosen, I64(-1), chosen + rest)}));
  return tir::SeqStmt::Flatten(steps);
}

}  // namespace

te::Tensor BestBoxes(const te::Tensor& sides, const te::Tensor& scores, const te::Tensor& overlap,
                     const te::Tensor& least, const PrimExpr& most) {
  const PrimExpr batches = scores.shape()[0], classes = scores.shape()[1], boxes = scores.shape()[2];
  const DataType dtype = sides.dtype(), index_type = DataType::Int(64);
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    return te::ExternBlock{Suppress({Indices(iterators), inputs[0], inputs[1], inputs[2], inputs[3], outputs[0],
                                     outputs[1], outputs[2], outputs[3], outputs[4], outputs[5], outputs[6], outputs[7],
                                     outputs[8], outputs[9], dtype, boxes, most}),
                           {},
                           {}};
  };
  const auto of_each = [&](const Array<PrimExpr>& shape) { return Work::At({batches, classes}, shape); };
  const PrimExpr vectors = CeilDiv(boxes, I64(kLanes));
  const int64_t bins = std::max(BinsOfSort(dtype), BinsOfSort(scores.dtype()));
  return te::Extern("best_boxes",
                    {Materialized(sides), Materialized(scores), Materialized(overlap), Materialized(least)},
                    {{of_each({most}), index_type},
                     {of_each({boxes}), index_type},
                     {of_each({boxes}), index_type},
                     {of_each({I64(2)}), index_type},
                     {of_each({I64(kCounters)}), index_type},
                     {of_each({I64(bins)}), index_type},
                     {of_each({boxes}), index_type},
                     {of_each({I64(kRows), vectors * kLanes}), dtype},
                     {of_each({I64(kBounds), vectors + 1}), dtype},
                     {of_each({I64(2), I64(kSpreads)}), dtype}},
                    {batches, classes}, body)[0];
}

}  // namespace deuteron::topi
