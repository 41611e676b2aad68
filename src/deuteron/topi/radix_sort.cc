#include "deuteron/topi/radix_sort.h"

#include "deuteron/topi/lines.h"

namespace deuteron::topi {
namespace {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::Stmt;
using tir::Var;

/// Bits of a digit, and bins for them: of all digits of 32 bits they stay in the first cache.
constexpr int64_t kDigit = 8;
constexpr int64_t kBins = int64_t{1} << kDigit;
/// So few are merged in the time that the bins alone take.
constexpr int64_t kFew = 64;

int64_t WidthOf(DataType dtype) {
  if (!dtype.is_float()) return dtype.bits();
  return dtype.bits() > 32 ? 64 : 32;
}

/// Of floats an even count of digits: the last pass leaves the positions where they were.
int64_t DigitsOf(DataType dtype) { return WidthOf(dtype) / kDigit; }

/// The bin of a digit: in the order of the bins, greater digits are before others.
PrimExpr BinOf(const OrderedBits& number, int64_t digit, int64_t digits) {
  const PrimExpr above = number.Above(digit * kDigit);
  const PrimExpr bin = digit + 1 == digits ? I64(kBins / 2 - 1) - above
                                           : I64(kBins - 1) - CallIntrin("bitwise_and", {above, I64(kBins - 1)});
  return I64(digit * kBins) + bin;
}

/// Counts each digit of all keys, then brings the positions to their places, from the last on: the bins have where
/// those of each end.
Stmt RadixSort(const SortBuffers& buffers, const Buffer& bins, const PrimExpr& count, const IndicesAt& at,
               const IndicesAt& beside, const std::function<PrimExpr(const PrimExpr& position)>& key_of,
               bool descending) {
  const DataType dtype = key_of(I64(0)).dtype();
  const int64_t digits = DigitsOf(dtype);
  const auto in_bin = [&](const PrimExpr& bin) { return BufferLoad(bins, beside(bin)); };
  const Var i("i"), bin("bin");
  const OrderedBits key(key_of(BufferLoad(buffers.order, at(i))), descending);
  Array<Stmt> tally, sum;
  for (int64_t digit = 0; digit < digits; ++digit) {
    const Var own("own");
    tally.push_back(Bind(own, BinOf(key, digit, digits)));
    tally.push_back(BufferStore(bins, in_bin(own) + 1, beside(own)));
    const PrimExpr before = digit * kBins + bin;
    sum.push_back(BufferStore(bins, in_bin(before) + in_bin(before + 1), beside(before + 1)));
  }
  Array<Stmt> steps = {ForLanes(I64(digits * kBins),
                                [&](const PrimExpr& cleared) { return BufferStore(bins, I64(0), beside(cleared)); }),
                       Loop(i, count, tally), Loop(bin, I64(kBins - 1), sum)};
  for (int64_t digit = 0; digit < digits; ++digit) {
    const Buffer& from = digit % 2 == 0 ? buffers.order : buffers.merged;
    const Buffer& to = digit % 2 == 0 ? buffers.merged : buffers.order;
    const Var moved("moved"), position("position"), own("own"), place("place");
    const OrderedBits number(key_of(position), descending);
    steps.push_back(Loop(
        moved, count,
        {Bind(position, BufferLoad(from, at(count - 1 - moved))), Bind(own, BinOf(number, digit, digits)),
         Bind(place, in_bin(own) - 1), BufferStore(bins, place, beside(own)), BufferStore(to, position, at(place))}));
  }
  return tir::SeqStmt::Flatten(steps);
}

}  // namespace

OrderedBits::OrderedBits(const PrimExpr& value, bool descending) : width(WidthOf(value.dtype())) {
  const DataType dtype = value.dtype();
  if (dtype.is_float()) {
    const PrimExpr real = CastTo(DataType::Float(static_cast<int>(width)), value);
    const DataType type = DataType::Int(static_cast<int>(width));
    const PrimExpr raw = CastTo(DataType::Int(64), CallIntrin("reinterpret", type, {real}));
    const PrimExpr magnitude = width > 32 ? I64(INT64_MAX) : I64(INT32_MAX);
    bits = SelectExpr(raw < 0, CallIntrin("bitwise_xor", {raw, magnitude}), raw);
    bits = SelectExpr(Equal(real, MakeConst(real.dtype(), 0)), I64(0), bits);
    bits = SelectExpr(CallIntrin("isnan", DataType::Bool(), {real}), magnitude, bits);
  } else {
    bits = CastTo(DataType::Int(64), value);
    if (dtype.is_uint() && width == 64) bits = CallIntrin("bitwise_xor", {bits, I64(INT64_MIN)});
  }
  if (!descending) bits = CallIntrin("bitwise_not", {bits});
}

int64_t BinsOfSort(DataType dtype) { return DigitsOf(dtype) * kBins; }

Stmt SortPositions(const SortBuffers& buffers, const Buffer& bins, const PrimExpr& count, const PrimExpr& most,
                   const IndicesAt& at, const IndicesAt& beside,
                   const std::function<PrimExpr(const PrimExpr& position)>& key_of, bool descending) {
  const auto length = AsConstInt(most);
  const PrimExpr merged = length && *length <= kFew ? most : I64(kFew);
  Stmt merge = MergeSort(buffers, count, merged, at, beside, key_of, descending);
  if (merged.same_as(most)) return merge;
  return tir::IfThenElse(count <= kFew, merge, RadixSort(buffers, bins, count, at, beside, key_of, descending));
}

}  // namespace deuteron::topi
