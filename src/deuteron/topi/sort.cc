/// \file
/// Sorting by stable merge sort of positions, bottom up, one row at a time; and searching by bisection.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/reduction.h"

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

/// Rows are never longer than 2^48.
constexpr int64_t kMaxPasses = 48;

Stmt Loop(const Var& var, const PrimExpr& extent, const Array<Stmt>& body) {
  return For(var, I64(0), extent, ForKind::kSerial, tir::SeqStmt::Flatten(body));
}

/// Whether `a` comes strictly before `b`.
PrimExpr Before(const PrimExpr& a, const PrimExpr& b, bool descending) {
  if (descending) return Before(b, a, false);
  if (!a.dtype().is_float()) return a < b;
  const PrimExpr a_is_nan = CallIntrin("isnan", DataType::Bool(), {a});
  const PrimExpr b_is_nan = CallIntrin("isnan", DataType::Bool(), {b});
  return (a < b) || (b_is_nan && !a_is_nan);
}

/// What a merge sort works in: the order of positions, the other half of the merges, and where a merge stands in its
/// two runs.
struct SortBuffers {
  Buffer order;
  Buffer merged;
  Buffer cursors;
};

/// The indices of an element of a line; of the line's n-th number beside it.
using IndicesAt = std::function<Array<PrimExpr>(const PrimExpr& position)>;

/// Sorts the first `count` positions in `buffers.order`, of a line that has at most `most` of them, by their keys.
Stmt MergeSort(const SortBuffers& buffers, const PrimExpr& count, const PrimExpr& most, const IndicesAt& at,
               const IndicesAt& beside, const std::function<PrimExpr(const PrimExpr& position)>& key_of,
               bool descending) {
  const auto& [order, merged, cursors] = buffers;
  const auto key = [&, &order = order](const PrimExpr& place) { return key_of(BufferLoad(order, at(place))); };
  const Var p("p");
  const Var pair("pair");
  const Var t("t");
  const Var width("width");
  const Var low("low");
  const Var middle("middle");
  const Var high("high");
  const Var left("left");
  const Var right("right");
  const Var copied("copied");
  const PrimExpr takes_left =
      PrimExpr(left) < middle && (PrimExpr(right) >= high || !Before(key(right), key(left), descending));
  const auto take = [&, &order = order, &merged = merged, &cursors = cursors](const Var& from, int64_t which) {
    return tir::SeqStmt::Flatten({BufferStore(merged, BufferLoad(order, at(from)), at(low + t)),
                                  BufferStore(cursors, from + 1, beside(I64(which)))});
  };
  const Stmt merge =
      Loop(t, high - low,
           {Bind(left, BufferLoad(cursors, beside(I64(0)))), Bind(right, BufferLoad(cursors, beside(I64(1)))),
            tir::IfThenElse(takes_left, take(left, 0), take(right, 1))});
  const Stmt merges =
      Loop(pair, FloorDiv(count + width * 2 - 1, width * 2),
           {Bind(low, pair * width * 2), Bind(middle, Min(low + width, count)), Bind(high, Min(low + width * 2, count)),
            BufferStore(cursors, low, beside(I64(0))), BufferStore(cursors, middle, beside(I64(1))), merge});
  const Stmt copy = Loop(copied, count, {BufferStore(order, BufferLoad(merged, at(copied)), at(copied))});
  int64_t passes = kMaxPasses;
  if (const auto length = AsConstInt(most)) {
    for (passes = 0; (int64_t{1} << passes) < *length;) ++passes;
  }
  if (passes == 0) return tir::SeqStmt::Flatten({});
  const PrimExpr shifted = CallIntrin("shift_left", {I64(1), p});
  return Loop(p, I64(passes),
              {Bind(width, shifted), tir::IfThenElse(width < count, tir::SeqStmt::Flatten({merges, copy}))});
}

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

Array<PrimExpr> With(Array<PrimExpr> shape, const PrimExpr& last) {
  shape.push_back(last);
  return shape;
}

/// Bits that a pass of the selection tells apart, and bins for them.
constexpr int64_t kDigit = 11;
constexpr int64_t kBins = int64_t{1} << kDigit;
/// Lines that are sorted as soon as selected from.
constexpr int64_t kShortLine = 128;
/// So many more than are asked for are sorted rather than told apart.
constexpr int64_t kSpare = 64;

/// Integers in the order of `value`, whose `bits` (of int64) are those of a number, least first, as unsigned ones: the
/// first digit is the greatest. NaN are greatest, and both zeros one.
struct OrderedBits {
  PrimExpr bits;
  int64_t width;

  OrderedBits(const PrimExpr& value, bool descending) {
    const DataType dtype = value.dtype();
    width = dtype.bits();
    if (dtype.is_float()) {
      const bool is_wide = dtype.bits() > 32;
      width = is_wide ? 64 : 32;
      const PrimExpr real = CastTo(DataType::Float(static_cast<int>(width)), value);
      const DataType type = DataType::Int(static_cast<int>(width));
      const PrimExpr raw = CastTo(DataType::Int(64), CallIntrin("reinterpret", type, {real}));
      const PrimExpr magnitude = is_wide ? I64(INT64_MAX) : I64(INT32_MAX);
      bits = SelectExpr(raw < 0, CallIntrin("bitwise_xor", {raw, magnitude}), raw);
      bits = SelectExpr(Equal(real, MakeConst(real.dtype(), 0)), I64(0), bits);
      bits = SelectExpr(CallIntrin("isnan", DataType::Bool(), {real}), magnitude, bits);
    } else {
      bits = CastTo(DataType::Int(64), value);
      if (dtype.is_uint() && width == 64) bits = CallIntrin("bitwise_xor", {bits, I64(INT64_MIN)});
    }
    if (!descending) bits = CallIntrin("bitwise_not", {bits});
  }

  /// What is above the lowest `shift` bits: ordered as the numbers are.
  PrimExpr Above(int64_t shift) const { return shift >= 64 ? I64(0) : CallIntrin("shift_right", {bits, I64(shift)}); }
  /// The bits below the sign are as many digits.
  int64_t Digits() const { return (width + kDigit - 1) / kDigit; }
};

}  // namespace

te::Tensor Argsort(const te::Tensor& x, size_t axis, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  Array<PrimExpr> spatial = x.shape();
  spatial.erase(spatial.begin() + static_cast<std::ptrdiff_t>(axis));
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

/// The first are found by their digits, the greatest one first: a histogram of those that have the digits so far tells
/// the next digit of the last one. What has greater digits is among the first.
te::Tensor ArgTop(const te::Tensor& x, size_t axis, const PrimExpr& count, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  const auto length = AsConstInt(extent);
  if (length && (*length <= kShortLine || 2 * AsConstInt(count).value_or(0) > *length))
    return FirstOf(Argsort(x, axis, descending), axis, count);
  Array<PrimExpr> shape = x.shape();
  shape.Set(static_cast<int64_t>(axis), count);
  Array<PrimExpr> spatial = x.shape();
  spatial.erase(spatial.begin() + static_cast<std::ptrdiff_t>(axis));
  const PrimExpr room = count + kSpare;
  enum : int64_t { kDigits, kMissing, kInBin, kFound, kShift, kStates };
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const IndicesAt at = Along(iterators, axis);
    const IndicesAt beside = Along(iterators, iterators.size());
    const Buffer& order = outputs[1];
    const Buffer& bins = outputs[4];
    const Buffer& states = outputs[5];
    const auto value = [&](const PrimExpr& position) { return BufferLoad(inputs[0], at(position)); };
    const auto state = [&](int64_t which) { return BufferLoad(states, beside(I64(which))); };
    const auto set = [&](int64_t which, const PrimExpr& to) { return BufferStore(states, to, beside(I64(which))); };
    const int64_t digits = OrderedBits(value(I64(0)), descending).Digits();
    Array<Stmt> steps = {set(kDigits, I64(0)), set(kMissing, count), set(kInBin, extent), set(kFound, I64(0)),
                         set(kShift, I64(64))};
    for (int64_t digit = digits; digit-- > 0;) {
      const int64_t shift = digit * kDigit;
      const bool is_first = digit + 1 == digits;
      const Var cleared("cleared");
      const Var i("i");
      const Var bin("bin");
      const OrderedBits bits(value(i), descending);
      // Of the first digit, which has the sign, the least bin is that of the least numbers.
      const int64_t offset = is_first ? kBins / 2 : 0;
      const PrimExpr own =
          is_first ? bits.Above(shift) + offset : CallIntrin("bitwise_and", {bits.Above(shift), I64(kBins - 1)});
      const Stmt count_one = BufferStore(bins, BufferLoad(bins, beside(own)) + 1, beside(own));
      const Stmt tally =
          is_first ? count_one : Stmt(tir::IfThenElse(Equal(bits.Above(shift + kDigit), state(kDigits)), count_one));
      // From the greatest bin down to the one of the last that is asked for.
      const PrimExpr here = I64(kBins - 1) - bin;
      const Var missing("missing");
      const Var in_bin("in_bin");
      const PrimExpr prefix = is_first ? here - offset : state(kDigits) * kBins + here;
      const Stmt found = tir::IfThenElse(PrimExpr(missing) <= in_bin,
                                         tir::SeqStmt::Flatten({set(kDigits, prefix), set(kInBin, in_bin),
                                                                set(kShift, I64(shift)), set(kFound, I64(1))}),
                                         set(kMissing, missing - in_bin));
      const Stmt walk =
          Loop(bin, I64(kBins),
               {tir::IfThenElse(Equal(state(kFound), I64(0)),
                                tir::SeqStmt::Flatten({Bind(missing, state(kMissing)),
                                                       Bind(in_bin, BufferLoad(bins, beside(here))), found}))});
      const Stmt pass = tir::SeqStmt::Flatten({Loop(cleared, I64(kBins), {BufferStore(bins, I64(0), beside(cleared))}),
                                               Loop(i, extent, {tally}), set(kFound, I64(0)), walk});
      steps.push_back(is_first ? pass : Stmt(tir::IfThenElse(state(kInBin) > state(kMissing) + kSpare, pass)));
    }
    // Those with the last one's digits are taken in their order: as many as are missing, or all that there is room for.
    const Var i("i");
    const OrderedBits bits(value(i), descending);
    const Var above("above");
    const Var last("last");
    const Var place("place");
    const PrimExpr is_taken = PrimExpr(above) > last || (Equal(above, last) && state(kMissing) > -kSpare);
    const Stmt take =
        tir::SeqStmt::Flatten({Bind(place, state(kFound)), BufferStore(order, i, at(place)), set(kFound, place + 1),
                               tir::IfThenElse(Equal(above, last), set(kMissing, state(kMissing) - 1))});
    steps.push_back(set(kFound, I64(0)));
    steps.push_back(Loop(i, extent,
                         {Bind(above, CallIntrin("shift_right", {bits.bits, state(kShift)})),
                          Bind(last, state(kDigits)), tir::IfThenElse(is_taken, take)}));
    const Var sorted("sorted");
    steps.push_back(
        tir::SeqStmt::Flatten({Bind(sorted, state(kFound)), MergeSort({order, outputs[2], outputs[3]}, sorted, room, at,
                                                                      beside, value, descending)}));
    const Var kept("kept");
    steps.push_back(Loop(kept, count, {BufferStore(outputs[0], BufferLoad(order, at(kept)), at(kept))}));
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  Array<PrimExpr> work = x.shape();
  work.Set(static_cast<int64_t>(axis), room);
  const DataType index_type = DataType::Int(64);
  return te::Extern("argtop", {Materialized(x)},
                    {{shape, index_type},
                     {work, index_type},
                     {work, index_type},
                     {With(spatial, I64(2)), index_type},
                     {With(spatial, I64(kBins)), index_type},
                     {With(spatial, I64(kStates)), index_type}},
                    spatial, body)[0];
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
