#include "deuteron/topi/merge_sort.h"

#include "deuteron/topi/elementwise.h"

namespace deuteron::topi {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::For;
using tir::ForKind;
using tir::Stmt;
using tir::Var;

Stmt Loop(const Var& var, const PrimExpr& extent, const Array<Stmt>& body) {
  return For(var, I64(0), extent, ForKind::kSerial, tir::SeqStmt::Flatten(body));
}

PrimExpr Before(const PrimExpr& a, const PrimExpr& b, bool descending) {
  if (descending) return Before(b, a, false);
  if (!a.dtype().is_float()) return a < b;
  const PrimExpr a_is_nan = CallIntrin("isnan", DataType::Bool(), {a});
  const PrimExpr b_is_nan = CallIntrin("isnan", DataType::Bool(), {b});
  return (a < b) || (b_is_nan && !a_is_nan);
}

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

}  // namespace deuteron::topi
