#include <limits>

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"

namespace deuteron::topi {
namespace {

PrimExpr AsIndex(PrimExpr value) { return CastTo(DataType::Int(64), std::move(value)); }

void Append(Array<PrimExpr>* to, const Array<PrimExpr>& from, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) to->push_back(from[i]);
}

}  // namespace

PrimExpr FromEnd(const PrimExpr& index, const PrimExpr& extent) {
  const PrimExpr position = AsIndex(index);
  if (index.dtype().is_uint()) return position;
  return SelectExpr(position < 0, position + extent, position);
}

te::Tensor Take(const te::Tensor& x, const te::Tensor& indices, size_t axis, const std::string& mode) {
  const PrimExpr extent = x.shape()[axis];
  const size_t index_rank = indices.shape().size();
  Array<PrimExpr> shape;
  Append(&shape, x.shape(), 0, axis);
  Append(&shape, indices.shape(), 0, index_rank);
  Append(&shape, x.shape(), axis + 1, x.shape().size());
  return ComputeAx(shape, "T_take", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    Array<PrimExpr> index_indices;
    Append(&index_indices, all, axis, axis + index_rank);
    const PrimExpr index = AsIndex(indices(index_indices));
    Array<PrimExpr> source;
    Append(&source, all, 0, axis);
    source.push_back(mode == "clip"   ? Min(Max(I64(0), index), extent - 1)
                     : mode == "wrap" ? FloorMod(index, extent)
                                      : index);
    Append(&source, all, axis + index_rank, all.size());
    if (mode != "nan") return x(source);
    return IfThenElse(index >= 0 && index < extent, x(source),
                      MakeConst(x.dtype(), std::numeric_limits<double>::quiet_NaN()));
  });
}

te::Tensor GatherElements(const te::Tensor& x, const te::Tensor& indices, size_t axis) {
  return ComputeAx(indices.shape(), "T_gather", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    return x(WithAxis(all, axis, FromEnd(indices(all), x.shape()[axis])));
  });
}

te::Tensor GatherND(const te::Tensor& x, const te::Tensor& indices, size_t batch_dims) {
  const size_t tuple_axis = indices.shape().size() - 1;
  const auto depth = static_cast<size_t>(*AsConstInt(indices.shape()[tuple_axis]));
  Array<PrimExpr> shape;
  Append(&shape, indices.shape(), 0, tuple_axis);
  Append(&shape, x.shape(), batch_dims + depth, x.shape().size());
  return ComputeAx(shape, "T_gather_nd", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    Array<PrimExpr> source;
    Append(&source, all, 0, batch_dims);
    for (size_t i = 0; i < depth; ++i) {
      Array<PrimExpr> at;
      Append(&at, all, 0, tuple_axis);
      at.push_back(I64(static_cast<int64_t>(i)));
      source.push_back(FromEnd(indices(at), x.shape()[batch_dims + i]));
    }
    Append(&source, all, tuple_axis, all.size());
    return x(source);
  });
}

te::Tensor IndexTensor(const te::Tensor& x, const Array<te::Tensor>& indices, const Array<PrimExpr>& index_shape) {
  const size_t index_rank = index_shape.size();
  Array<PrimExpr> shape = index_shape;
  Append(&shape, x.shape(), indices.size(), x.shape().size());
  return ComputeAx(shape, "advanced_index", [&](const Array<tir::Var>& vars) {
    const Array<tir::Var> leading(vars.begin(), vars.begin() + static_cast<std::ptrdiff_t>(index_rank));
    Array<PrimExpr> source;
    for (size_t i = 0; i < indices.size(); ++i) {
      source.push_back(FromEnd(BroadcastAt(indices[i], index_shape, leading), x.shape()[i]));
    }
    Append(&source, Indices(vars), index_rank, vars.size());
    return x(source);
  });
}

te::Tensor OneHot(const te::Tensor& indices, const PrimExpr& on_value, const PrimExpr& off_value, int64_t depth,
                  size_t axis) {
  Array<PrimExpr> shape = indices.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), I64(depth));
  return ComputeAx(shape, "T_one_hot", [&](const Array<tir::Var>& vars) {
    Array<PrimExpr> at = Indices(vars);
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    return SelectExpr(Equal(AsIndex(indices(at)), vars[axis]), on_value, off_value);
  });
}

te::Tensor SliceScatter(const te::Tensor& x, const te::Tensor& src, const PrimExpr& begin, const PrimExpr& end,
                        const PrimExpr& step, size_t axis) {
  return ComputeAx(x.shape(), "T_slice_scatter", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    const PrimExpr distance = all[axis] - begin;
    PrimExpr inside = begin <= all[axis] && all[axis] < end;
    if (!IsOne(step)) inside = inside && Equal(FloorMod(distance, step), 0);
    return IfThenElse(inside, src(WithAxis(all, axis, FloorDiv(distance, step))), x(all));
  });
}

te::Tensor TensorScatter(const te::Tensor& x, const te::Tensor& updates, const te::Tensor& starts,
                         const TensorScatterSpec& spec) {
  const PrimExpr own = x.shape()[spec.axis];
  const bool grows = !ExprEqual(own, spec.length);
  return ComputeAx(WithAxis(x.shape(), spec.axis, spec.length), "T_tensor_scatter", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    const PrimExpr zero = I64(0), position = all[spec.axis];
    const PrimExpr start = CastTo(DataType::Int(64), starts({IsOne(starts.shape()[0]) ? zero : all[0]}));
    const PrimExpr from = spec.circular ? FloorMod(position - start, spec.length) : position - start;
    const PrimExpr inside = from >= zero && from < updates.shape()[spec.axis];
    PrimExpr old = x(all);
    PrimExpr is_old;
    if (grows) is_old = position < own;
    if (spec.clears) is_old = is_old.defined() ? is_old && from < zero : from < zero;
    if (is_old.defined()) old = IfThenElse(is_old, old, MakeConst(x.dtype(), 0));
    return IfThenElse(inside, updates(WithAxis(all, spec.axis, from)), old);
  });
}

te::Tensor Where(const te::Tensor& condition, const te::Tensor& a, const te::Tensor& b, const Array<PrimExpr>& shape) {
  return ComputeAx(shape, "T_where", [&](const Array<tir::Var>& vars) {
    const PrimExpr chosen = BroadcastAt(condition, shape, vars);
    return SelectExpr(chosen.dtype().is_bool() ? chosen : CastTo(DataType::Bool(), chosen), BroadcastAt(a, shape, vars),
                      BroadcastAt(b, shape, vars));
  });
}

te::Tensor TakeAlong(const te::Tensor& x, const te::Tensor& order, size_t axis, const PrimExpr& count) {
  return ComputeAx(WithAxis(x.shape(), axis, count), "T_gather", [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> all = Indices(vars);
    return x(WithAxis(all, axis, order(all)));
  });
}

}  // namespace deuteron::topi
