/// \file
/// Sorting, one row at a time; and searching by bisection.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/merge_sort.h"
#include "deuteron/topi/radix_sort.h"
#include "deuteron/topi/reduction.h"

namespace deuteron::topi {
namespace {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::Stmt;
using tir::Var;

/// `iterators` with `index` at the axis, or behind all.
IndicesAt Along(const Array<Var>& iterators, size_t axis) {
  return [iterators, axis](const PrimExpr& index) {
    Array<PrimExpr> all = Indices(iterators);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(axis), index);
    return all;
  };
}

/// The first `count` along the axis.
te::Tensor FirstOf(const te::Tensor& x, size_t axis, const PrimExpr& count) {
  Array<PrimExpr> shape = x.shape();
  shape.Set(static_cast<int64_t>(axis), count);
  return te::Compute(
      shape, [&](const Array<Var>& vars) { return x(Indices(vars)); }, "T_first");
}

Array<PrimExpr> WithoutAxis(Array<PrimExpr> shape, size_t axis) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

Array<PrimExpr> With(Array<PrimExpr> shape, const PrimExpr& last) {
  shape.push_back(last);
  return shape;
}

/// Bits that a pass of the selection tells apart, and bins for them.
constexpr int64_t kDigit = 11;
constexpr int64_t kBins = int64_t{1} << kDigit;
/// The bits of a number below the sign are as many digits.
int64_t DigitsOf(const OrderedBits& number) { return (number.width + kDigit - 1) / kDigit; }
/// Lines that are sorted as soon as selected from.
constexpr int64_t kShortLine = 128;
/// So few are kept in order while a line is read, unless it is so long that pieces of it can be left out.
constexpr int64_t kFew = 8;
constexpr int64_t kLongLine = 8192;
/// Pieces of a line for each element that is wanted, for which to find those that matter pays.
constexpr int64_t kPiecesForEach = 2;
/// So many more than are asked for are sorted rather than told apart.
constexpr int64_t kSpare = 64;

}  // namespace

te::Tensor Argsort(const te::Tensor& x, size_t axis, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  const Array<PrimExpr> spatial = WithoutAxis(x.shape(), axis);
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const IndicesAt at = Along(iterators, axis);
    const auto key = [&](const PrimExpr& position) { return BufferLoad(inputs[0], at(position)); };
    const Var start("start");
    return te::ExternBlock{tir::SeqStmt::Flatten({Loop(start, extent, {BufferStore(outputs[0], start, at(start))}),
                                                  MergeSort({outputs[0], outputs[1], outputs[2]}, extent, extent, at,
                                                            Along(iterators, iterators.size()), key, descending)}),
                           {},
                           {}};
  };
  const DataType index_type = DataType::Int(64);
  return te::Extern("argsort", {Materialized(x)},
                    {{x.shape(), index_type}, {x.shape(), index_type}, {With(spatial, I64(2)), index_type}}, spatial,
                    body)[0];
}

namespace {

/// A few first ones are kept in order while the line is read once.
te::Tensor ArgTopFew(const te::Tensor& x, size_t axis, int64_t count, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  Array<PrimExpr> shape = x.shape();
  shape.Set(static_cast<int64_t>(axis), I64(count));
  const Array<PrimExpr> spatial = WithoutAxis(x.shape(), axis);
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const IndicesAt at = Along(iterators, axis);
    const IndicesAt beside = Along(iterators, iterators.size());
    const auto kept = [&](const PrimExpr& place) { return BufferLoad(outputs[0], at(place)); };
    const auto value = [&](const PrimExpr& position) { return BufferLoad(inputs[0], at(position)); };
    const Var i("i");
    const Var filled("filled");
    const Var moved("moved");
    const PrimExpr place = BufferLoad(outputs[1], beside(I64(0)));
    const PrimExpr from = I64(count - 1) - moved;
    const Stmt move = tir::IfThenElse(from <= filled && Before(value(i), value(kept(from - 1)), descending),
                                      tir::SeqStmt::Flatten({BufferStore(outputs[0], kept(from - 1), at(from)),
                                                             BufferStore(outputs[1], from - 1, beside(I64(0)))}));
    const Stmt insert =
        tir::SeqStmt::Flatten({BufferStore(outputs[1], Min(filled, I64(count - 1)), beside(I64(0))),
                               Loop(moved, I64(count - 1), {move}), BufferStore(outputs[0], i, at(place))});
    const PrimExpr is_among = filled < count || Before(value(i), value(kept(I64(count - 1))), descending);
    return te::ExternBlock{
        Loop(i, extent, {Bind(filled, Min(PrimExpr(i), I64(count))), tir::IfThenElse(is_among, insert)}), {}, {}};
  };
  const DataType index_type = DataType::Int(64);
  return te::Extern("argtop", {Materialized(x)}, {{shape, index_type}, {With(spatial, I64(1)), index_type}}, spatial,
                    body)[0];
}

/// Elements of a line that are told apart from the others together, where there are many such pieces for each element
/// that is wanted and where there are few; and vectors of them.
constexpr int64_t kLongPiece = 256, kShortPiece = 64;
constexpr int64_t kLongPiecesForEach = 8;
constexpr int64_t kPieceLanes = 16;

/// The pieces of a line that may have one of its first: among the first elements of all pieces are at least as many as
/// are wanted that are not behind `limit`, and those of pieces that are not needed are behind it.
struct Pieces {
  int64_t length;
  PrimExpr count;
  /// The first of a piece's elements in each lane; of all of each piece, and then the limit.
  Buffer lanes;
  Buffer firsts;
  Buffer is_needed;

  PrimExpr Limit(const IndicesAt& beside) const { return BufferLoad(firsts, beside(count)); }
};

/// Finds the first ones of a line by their digits, the greatest one first: a histogram of those that have the digits so
/// far tells the next digit of the last one. What has greater digits is among the first.
class Selection {
 public:
  enum State : int64_t { kDigits, kMissing, kInBin, kFound, kShift, kEqual, kStates };

  /// Of `count` numbers, of so many digits.
  Selection(Buffer bins, Buffer states, IndicesAt beside, PrimExpr count, int64_t digits)
      : bins_(std::move(bins)),
        states_(std::move(states)),
        beside_(std::move(beside)),
        count_(std::move(count)),
        digits_(digits) {}

  PrimExpr Get(State which) const { return BufferLoad(states_, beside_(I64(which))); }
  /// As many digits of a number as are told of the last one.
  PrimExpr DigitsOf(const OrderedBits& number) const { return CallIntrin("shift_right", {number.bits, Get(kShift)}); }
  Stmt Set(State which, const PrimExpr& to) const { return BufferStore(states_, to, beside_(I64(which))); }
  /// Runs `body` for each of the numbers.
  using Numbers = std::function<Stmt(const std::function<Stmt(const OrderedBits& bits)>& body)>;

  /// Tells the digits of the last one of `extent` numbers that is missing, until so few more than are missing have
  /// them.
  Stmt Select(const Numbers& numbers, const PrimExpr& extent, int64_t spare) const {
    Array<Stmt> steps = {Set(kDigits, I64(0)), Set(kMissing, count_), Set(kInBin, extent), Set(kShift, I64(64))};
    for (int64_t digit = digits_; digit-- > 0;) {
      const bool is_first = digit + 1 == digits_;
      const Stmt pass = Pass(numbers, digit, is_first);
      steps.push_back(is_first ? pass : Stmt(tir::IfThenElse(Get(kInBin) > Get(kMissing) + spare, pass)));
    }
    return tir::SeqStmt::Flatten(steps);
  }

 private:
  /// Tells one more digit of the last one that is missing, if there is one.
  Stmt Pass(const Numbers& numbers, int64_t digit, bool is_first) const {
    const int64_t shift = digit * kDigit;
    // Of the first digit, which has the sign, the least bin is that of the least numbers.
    const int64_t offset = is_first ? kBins / 2 : 0;
    const Stmt tally = numbers([&](const OrderedBits& bits) -> Stmt {
      const PrimExpr own =
          is_first ? bits.Above(shift) + offset : CallIntrin("bitwise_and", {bits.Above(shift), I64(kBins - 1)});
      Stmt count_one = BufferStore(bins_, BufferLoad(bins_, beside_(own)) + 1, beside_(own));
      if (is_first) return count_one;
      return tir::IfThenElse(Equal(bits.Above(shift + kDigit), Get(kDigits)), count_one);
    });
    // From the greatest bin down to the one of the last that is asked for.
    const Var cleared("cleared");
    const Var bin("bin");
    const Var missing("missing");
    const Var in_bin("in_bin");
    const PrimExpr here = I64(kBins - 1) - bin;
    const PrimExpr prefix = is_first ? here - offset : Get(kDigits) * kBins + here;
    const Stmt found = tir::IfThenElse(PrimExpr(missing) <= in_bin,
                                       tir::SeqStmt::Flatten({Set(kDigits, prefix), Set(kInBin, in_bin),
                                                              Set(kShift, I64(shift)), Set(kFound, I64(1))}),
                                       Set(kMissing, missing - in_bin));
    const Stmt look = tir::IfThenElse(
        Equal(Get(kFound), I64(0)),
        tir::SeqStmt::Flatten({Bind(missing, Get(kMissing)), Bind(in_bin, BufferLoad(bins_, beside_(here))), found}));
    return tir::SeqStmt::Flatten({Loop(cleared, I64(kBins), {BufferStore(bins_, I64(0), beside_(cleared))}), tally,
                                  Set(kFound, I64(0)), Loop(bin, I64(kBins), {look})});
  }

  Buffer bins_;
  Buffer states_;
  IndicesAt beside_;
  PrimExpr count_;
  int64_t digits_;
};

/// Fills `pieces`.
Stmt FindPieces(const Pieces& pieces, const Selection& selection, const Buffer& x, const IndicesAt& at,
                const IndicesAt& beside, bool descending) {
  const DataType dtype = x->dtype;
  const auto first_of = [&](const PrimExpr& a, const PrimExpr& b) { return descending ? Max(a, b) : Min(a, b); };
  const Var piece("piece");
  const Stmt by_lanes = ForLanes(I64(kPieceLanes), [&](const PrimExpr& lane) {
    PrimExpr first;
    for (int64_t vector = 0; vector < pieces.length / kPieceLanes; ++vector) {
      PrimExpr value = BufferLoad(x, at(piece * pieces.length + vector * kPieceLanes + lane));
      // NaN are greatest.
      if (!descending && dtype.is_float())
        value = SelectExpr(CallIntrin("isnan", DataType::Bool(), {value}), Infinity(dtype), value);
      first = first.defined() ? first_of(first, value) : value;
    }
    return BufferStore(pieces.lanes, first, beside(lane));
  });
  std::vector<PrimExpr> firsts;
  for (int64_t lane = 0; lane < kPieceLanes; ++lane) firsts.push_back(BufferLoad(pieces.lanes, beside(I64(lane))));
  for (; firsts.size() > 1; firsts.resize(firsts.size() / 2)) {
    for (size_t i = 0; i < firsts.size() / 2; ++i) firsts[i] = first_of(firsts[2 * i], firsts[2 * i + 1]);
  }
  const auto first = [&](const PrimExpr& of) { return BufferLoad(pieces.firsts, beside(of)); };
  const auto numbers = [&](const std::function<Stmt(const OrderedBits&)>& body) {
    const Var i("i");
    return Loop(i, pieces.count, {body(OrderedBits(first(i), descending))});
  };
  const Var of("of");
  const PrimExpr is_needed =
      selection.DigitsOf(OrderedBits(first(of), descending)) >= selection.Get(Selection::kDigits);
  const PrimExpr limit = pieces.Limit(beside);
  const Stmt need = tir::IfThenElse(
      is_needed, tir::SeqStmt::Flatten({BufferStore(pieces.is_needed, I64(1), beside(of)),
                                        tir::IfThenElse(Before(limit, first(of), descending),
                                                        BufferStore(pieces.firsts, first(of), beside(pieces.count)))}));
  const PrimExpr foremost = descending ? MaxValue(dtype) : MinValue(dtype);
  return tir::SeqStmt::Flatten(
      {Loop(piece, pieces.count, {by_lanes, BufferStore(pieces.firsts, firsts[0], beside(piece))}),
       selection.Select(numbers, pieces.count, /*spare=*/0), BufferStore(pieces.firsts, foremost, beside(pieces.count)),
       Loop(of, pieces.count, {BufferStore(pieces.is_needed, I64(0), beside(of)), need})});
}

}  // namespace

te::Tensor ArgTop(const te::Tensor& x, size_t axis, const PrimExpr& count, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  const auto length = AsConstInt(extent);
  const int64_t wanted = AsConstInt(count).value_or(0);
  if (wanted > 0 && wanted <= kFew && length.value_or(0) < kLongLine) return ArgTopFew(x, axis, wanted, descending);
  if (length && (*length <= kShortLine || 2 * wanted > *length))
    return FirstOf(Argsort(x, axis, descending), axis, count);
  Array<PrimExpr> shape = x.shape();
  shape.Set(static_cast<int64_t>(axis), count);
  const Array<PrimExpr> spatial = WithoutAxis(x.shape(), axis);
  // Of a line with many pieces for each that is wanted most need not be looked at again.
  const bool is_known = length && AsConstInt(count);
  const bool has_many = is_known && *length / kLongPiece >= kLongPiecesForEach * wanted;
  const int64_t piece_length = has_many ? kLongPiece : kShortPiece;
  const PrimExpr all_pieces = FloorDiv(extent, piece_length);
  const bool pays = !is_known || (wanted > 0 && *length / piece_length >= kPiecesForEach * wanted);
  const bool has_pieces = pays && axis + 1 == x.shape().size();
  // Of twice as many pieces at random as are wanted ln 4 times as many elements are not behind the limit.
  const PrimExpr room = has_pieces ? count + FloorDiv(count, 2) + kSpare : count + kSpare;
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const IndicesAt at = Along(iterators, axis);
    const IndicesAt beside = Along(iterators, iterators.size());
    const Buffer& order = outputs[1];
    const auto value = [&](const PrimExpr& position) { return BufferLoad(inputs[0], at(position)); };
    const Selection selection(outputs[4], outputs[5], beside, count, DigitsOf(OrderedBits(value(I64(0)), descending)));
    Array<Stmt> steps;
    std::optional<Pieces> pieces;
    PrimExpr piece_count = has_pieces ? all_pieces : I64(0);
    if (has_pieces && !is_known) {
      const Var chosen("pieces");
      steps.push_back(Bind(chosen, SelectExpr(all_pieces >= count * kPiecesForEach, all_pieces, I64(0))));
      piece_count = chosen;
    }
    if (has_pieces) pieces = Pieces{piece_length, piece_count, outputs[6], outputs[7], outputs[8]};
    /// All elements that may be wanted, in their order.
    const auto each = [&](const std::function<Stmt(const PrimExpr&)>& of) {
      const Var i("i");
      const PrimExpr begin = piece_count * piece_length;
      Stmt rest = Loop(i, extent - begin, {of(begin + i)});
      if (!pieces) return rest;
      const Var piece("piece");
      const Var element("element");
      return tir::SeqStmt::Flatten(
          {Loop(piece, piece_count,
                {tir::IfThenElse(BufferLoad(pieces->is_needed, beside(piece)) > 0,
                                 Loop(element, I64(piece_length), {of(piece * piece_length + element)}))}),
           rest});
    };
    const auto numbers = [&](const std::function<Stmt(const OrderedBits&)>& of) {
      return each([&](const PrimExpr& i) { return of(OrderedBits(value(i), descending)); });
    };
    Array<Stmt> select = {selection.Select(numbers, extent, kSpare)};
    // Those with the last one's digits are taken in their order: as many as are missing, or all that there is room for.
    select.push_back(selection.Set(Selection::kFound, I64(0)));
    select.push_back(each([&](const PrimExpr& i) {
      const OrderedBits bits(value(i), descending);
      const Var above("above");
      const Var last("last");
      const Var place("place");
      const PrimExpr missing = selection.Get(Selection::kMissing);
      const PrimExpr is_taken = PrimExpr(above) > last || (Equal(above, last) && missing > -kSpare);
      const Stmt take =
          tir::SeqStmt::Flatten({Bind(place, selection.Get(Selection::kFound)), BufferStore(order, i, at(place)),
                                 selection.Set(Selection::kFound, place + 1),
                                 tir::IfThenElse(Equal(above, last), selection.Set(Selection::kMissing, missing - 1))});
      return tir::SeqStmt::Flatten({Bind(above, selection.DigitsOf(bits)),
                                    Bind(last, selection.Get(Selection::kDigits)), tir::IfThenElse(is_taken, take)});
    }));
    if (pieces) {
      // Mostly those before the pieces' limit are few enough to be sorted, and what is missing are the first of those
      // that equal it: none that is wanted is behind it. Greatest NaN are before it; least ones are looked for if there
      // is nothing else.
      const PrimExpr limit = pieces->Limit(beside), found = selection.Get(Selection::kFound);
      const PrimExpr equal = selection.Get(Selection::kEqual);
      const Buffer& equal_ones = outputs[2];
      const Stmt take = each([&](const PrimExpr& i) {
        const Stmt take_first =
            tir::SeqStmt::Flatten({tir::IfThenElse(found < room, BufferStore(order, i, at(Min(found, room - 1)))),
                                   selection.Set(Selection::kFound, found + 1)});
        const Stmt take_equal =
            tir::IfThenElse(equal < count, tir::SeqStmt::Flatten({BufferStore(equal_ones, i, at(Min(equal, room - 1))),
                                                                  selection.Set(Selection::kEqual, equal + 1)}));
        return tir::IfThenElse(descending ? !(value(i) <= limit) : value(i) < limit, take_first,
                               tir::IfThenElse(Equal(value(i), limit), take_equal));
      });
      const Var first("first"), next("next");
      const Stmt add_equal = tir::SeqStmt::Flatten(
          {Bind(first, found), Loop(next, Min(equal, Max(count - first, I64(0))),
                                    {BufferStore(order, BufferLoad(equal_ones, at(next)), at(first + next)),
                                     selection.Set(Selection::kFound, found + 1)})});
      const Stmt few = tir::SeqStmt::Flatten({FindPieces(*pieces, selection, inputs[0], at, beside, descending),
                                              selection.Set(Selection::kFound, I64(0)),
                                              selection.Set(Selection::kEqual, I64(0)), take, add_equal});
      const Stmt no_pieces = selection.Set(Selection::kFound, I64(0));
      steps.push_back(is_known ? few : tir::IfThenElse(piece_count > 0, few, no_pieces));
      steps.push_back(tir::IfThenElse(found > room || found < count, tir::SeqStmt::Flatten(select)));
    } else {
      steps.push_back(tir::SeqStmt::Flatten(select));
    }
    const Var sorted("sorted");
    const Var kept("kept");
    steps.push_back(tir::SeqStmt::Flatten(
        {Bind(sorted, selection.Get(Selection::kFound)),
         MergeSort({order, outputs[2], outputs[3]}, sorted, room, at, beside, value, descending)}));
    steps.push_back(Loop(kept, count, {BufferStore(outputs[0], BufferLoad(order, at(kept)), at(kept))}));
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  Array<PrimExpr> work = x.shape();
  work.Set(static_cast<int64_t>(axis), room);
  const DataType index_type = DataType::Int(64);
  std::vector<std::pair<Array<PrimExpr>, DataType>> outputs = {{shape, index_type},
                                                               {work, index_type},
                                                               {work, index_type},
                                                               {With(spatial, I64(2)), index_type},
                                                               {With(spatial, I64(kBins)), index_type},
                                                               {With(spatial, I64(Selection::kStates)), index_type}};
  if (has_pieces) {
    outputs.emplace_back(With(spatial, I64(kPieceLanes)), x.dtype());
    outputs.emplace_back(With(spatial, all_pieces + 1), x.dtype());
    outputs.emplace_back(With(spatial, all_pieces), index_type);
  }
  return te::Extern("argtop", {Materialized(x)}, outputs, spatial, body)[0];
}

te::Tensor Bucketize(const te::Tensor& x, const te::Tensor& boundaries, DataType dtype, bool right) {
  const PrimExpr extent = boundaries.shape()[0];
  int64_t passes = kMaxPasses;
  if (const auto length = AsConstInt(extent)) {
    for (passes = 1; (int64_t{1} << passes) <= *length;) ++passes;
  }
  Array<PrimExpr> bound_shape = x.shape();
  bound_shape.push_back(I64(2));
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const Array<PrimExpr> at = Indices(iterators);
    const auto bound = [&](int64_t which) {
      Array<PrimExpr> all = at;
      all.push_back(I64(which));
      return all;
    };
    const Var p("p");
    const Var low("low");
    const Var high("high");
    const Var middle("middle");
    const PrimExpr value = BufferLoad(inputs[0], at);
    const PrimExpr pivot = BufferLoad(inputs[1], {middle});
    const Stmt halve =
        tir::IfThenElse(right ? pivot <= value : pivot < value, BufferStore(outputs[1], middle + 1, bound(0)),
                        BufferStore(outputs[1], middle, bound(1)));
    const Stmt search = Loop(p, I64(passes),
                             {Bind(low, BufferLoad(outputs[1], bound(0))), Bind(high, BufferLoad(outputs[1], bound(1))),
                              Bind(middle, FloorDiv(low + high, 2)), tir::IfThenElse(PrimExpr(low) < high, halve)});
    return te::ExternBlock{
        tir::SeqStmt::Flatten({BufferStore(outputs[1], I64(0), bound(0)), BufferStore(outputs[1], extent, bound(1)),
                               search, BufferStore(outputs[0], CastTo(dtype, BufferLoad(outputs[1], bound(0))), at)}),
        {},
        {}};
  };
  Array<PrimExpr> spatial = x.shape();
  if (spatial.empty()) {
    const te::Tensor row = te::Compute(
        {I64(1)}, [&](const Array<Var>&) { return x({}); }, "T_reshape");
    const te::Tensor found = Bucketize(row, boundaries, dtype, right);
    return te::Compute(
        {}, [&](const Array<Var>&) { return found({I64(0)}); }, "searchsorted");
  }
  return te::Extern("searchsorted", {Materialized(x), Materialized(boundaries)},
                    {{x.shape(), dtype}, {bound_shape, DataType::Int(64)}}, spatial, body)[0];
}

}  // namespace deuteron::topi
