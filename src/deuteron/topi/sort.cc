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

}  // namespace

te::Tensor Argsort(const te::Tensor& x, size_t axis, bool descending) {
  const PrimExpr extent = x.shape()[axis];
  Array<PrimExpr> spatial = x.shape();
  spatial.erase(spatial.begin() + static_cast<std::ptrdiff_t>(axis));
  Array<PrimExpr> cursor_shape = spatial;
  cursor_shape.push_back(I64(2));
  // Outputs: the order, the other half of the merges, and where a merge stands in its two runs.
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const auto at = [&](const PrimExpr& position) {
      Array<PrimExpr> all = Indices(iterators);
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(axis), position);
      return all;
    };
    const auto cursor = [&](int64_t which) {
      Array<PrimExpr> all = Indices(iterators);
      all.push_back(I64(which));
      return all;
    };
    const Buffer& order = outputs[0];
    const Buffer& merged = outputs[1];
    const Buffer& cursors = outputs[2];
    const auto key = [&](const PrimExpr& position) {
      return BufferLoad(inputs[0], at(BufferLoad(order, at(position))));
    };

    const Var p("p");
    const Var start("start");
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
    const auto take = [&](const Var& from, int64_t which) {
      return tir::SeqStmt::Flatten({BufferStore(merged, BufferLoad(order, at(from)), at(low + t)),
                                    BufferStore(cursors, from + 1, cursor(which))});
    };
    const Stmt merge = Loop(t, high - low,
                            {Bind(left, BufferLoad(cursors, cursor(0))), Bind(right, BufferLoad(cursors, cursor(1))),
                             tir::IfThenElse(takes_left, take(left, 0), take(right, 1))});
    const Stmt merges = Loop(
        pair, FloorDiv(extent + width * 2 - 1, width * 2),
        {Bind(low, pair * width * 2), Bind(middle, Min(low + width, extent)), Bind(high, Min(low + width * 2, extent)),
         BufferStore(cursors, low, cursor(0)), BufferStore(cursors, middle, cursor(1)), merge});
    const Stmt copy = Loop(copied, extent, {BufferStore(order, BufferLoad(merged, at(copied)), at(copied))});
    int64_t passes = kMaxPasses;
    if (const auto length = AsConstInt(extent)) {
      for (passes = 0; (int64_t{1} << passes) < *length;) ++passes;
    }
    Array<Stmt> steps = {Loop(start, extent, {BufferStore(order, start, at(start))})};
    if (passes > 0) {
      const PrimExpr shifted = CallIntrin("shift_left", {I64(1), p});
      steps.push_back(
          Loop(p, I64(passes),
               {Bind(width, shifted), tir::IfThenElse(width < extent, tir::SeqStmt::Flatten({merges, copy}))}));
    }
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  const DataType index_type = DataType::Int(64);
  return te::Extern("argsort", {Materialized(x)},
                    {{x.shape(), index_type}, {x.shape(), index_type}, {cursor_shape, index_type}}, spatial, body)[0];
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
