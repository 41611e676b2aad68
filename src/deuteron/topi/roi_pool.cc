/// \file
/// The greatest element of each bin of regions.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/reduction.h"
#include "deuteron/topi/resize.h"
#include "deuteron/topi/sample_coordinates.h"

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

/// The nearest integer of a float, halves away from zero.
PrimExpr Nearest(const PrimExpr& value) {
  const PrimExpr whole = CallIntrin("trunc", {value});
  const PrimExpr rest = value - whole;
  const PrimExpr step = IfThenElse(rest >= Real(0.5), I64(1), IfThenElse(rest <= Real(-0.5), I64(-1), I64(0)));
  return CastTo(DataType::Int(64), whole) + step;
}

/// One axis of a bin: the elements [begin, end) of the data.
struct BinRange {
  Var first;
  Var size;
  Var begin;
  Var end;
  std::vector<Stmt> bindings;
};

BinRange RangeOf(const std::string& axis, const PrimExpr& from, const PrimExpr& to, const PrimExpr& bin,
                 const PrimExpr& bins, const PrimExpr& extent, double scale) {
  BinRange range{Var(axis + "_first"), Var(axis + "_size", kReal), Var(axis + "_begin"), Var(axis + "_end"), {}};
  const PrimExpr length = Max(Nearest(to * Real(scale)) - range.first + 1, I64(1));
  const auto inside = [&](const PrimExpr& place) { return Min(Max(place + range.first, I64(0)), extent); };
  range.bindings = {
      Bind(range.first, Nearest(from * Real(scale))), Bind(range.size, Real(length) / Real(bins)),
      Bind(range.begin, inside(Floor(Real(bin) * range.size))),
      Bind(range.end, inside(CastTo(DataType::Int(64), CallIntrin("ceil", {Real(bin + 1) * range.size}))))};
  return range;
}

}  // namespace

te::Tensor ROIPool(const te::Tensor& data, const te::Tensor& rois, const Array<PrimExpr>& shape, double spatial_scale) {
  const DataType dtype = data.dtype();
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& at) {
    const auto roi = [&](int64_t field) { return Real(BufferLoad(inputs[1], {at[0], I64(field)})); };
    const BinRange rows = RangeOf("h", roi(2), roi(4), at[2], shape[2], data.shape()[2], spatial_scale);
    const BinRange columns = RangeOf("w", roi(1), roi(3), at[3], shape[3], data.shape()[3], spatial_scale);
    const Var image("image");
    const Var i("rh");
    const Var j("rw");
    const Array<PrimExpr> target = Indices(at);
    const PrimExpr element = BufferLoad(inputs[0], {image, at[1], rows.begin + i, columns.begin + j});
    const Stmt step = BufferStore(outputs[0], Max(BufferLoad(outputs[0], target), element), target);
    const Stmt loops = For(i, I64(0), Max(rows.end - rows.begin, I64(0)), ForKind::kSerial,
                           For(j, I64(0), Max(columns.end - columns.begin, I64(0)), ForKind::kSerial, step));
    const PrimExpr is_empty = rows.end <= rows.begin || columns.end <= columns.begin;
    std::vector<Stmt> steps = {Bind(image, CastTo(DataType::Int(64), CallIntrin("trunc", {roi(0)})))};
    steps.insert(steps.end(), rows.bindings.begin(), rows.bindings.end());
    steps.insert(steps.end(), columns.bindings.begin(), columns.bindings.end());
    steps.push_back(BufferStore(outputs[0], IfThenElse(is_empty, MakeConst(dtype, 0.0), MinValue(dtype)), target));
    steps.push_back(loops);
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  return te::Extern("roi_pool", {Materialized(data), Materialized(rois)}, {{shape, dtype}}, shape, body)[0];
}

}  // namespace deuteron::topi
