#include <algorithm>

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

Array<PrimExpr> PooledShape(const te::Tensor& data, const std::vector<size_t>& axes,
                            const Array<PrimExpr>& out_spatial) {
  std::vector<PrimExpr> shape(data.shape().begin(), data.shape().end());
  for (size_t i = 0; i < axes.size(); ++i) shape[axes[i]] = out_spatial[i];
  return {shape.begin(), shape.end()};
}

/// The data with its padding; rounding up, windows may reach a stride further.
te::Tensor Padded(const te::Tensor& data, const PoolSpec& spec, const PrimExpr& value) {
  std::vector<int64_t> before(data.shape().size(), 0);
  std::vector<int64_t> after(data.shape().size(), 0);
  bool pads = false;
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    before[spec.axes[i]] = spec.padding_before[i];
    after[spec.axes[i]] = spec.padding_after[i] + (spec.ceil_mode ? spec.strides[i] - 1 : 0);
    pads = pads || before[spec.axes[i]] != 0 || after[spec.axes[i]] != 0;
  }
  if (!pads) return data;
  return PadConstant(data, before, after, value, "pad_temp", NamesOfAxes(AxisNames::kAx, data.shape().size()));
}

/// One reduction over all windows.
te::Tensor ReduceWindows(const te::Tensor& data, const PoolSpec& spec, const Array<PrimExpr>& shape,
                         PrimExpr (*combine)(PrimExpr, const Array<tir::IterVar>&), DataType dtype,
                         const std::string& name) {
  Array<tir::IterVar> window;
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    window.push_back(te::ReduceAxis(I64(spec.pool_size[i]), "rv" + std::to_string(i)));
  }
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        std::vector<PrimExpr> indices(vars.begin(), vars.end());
        for (size_t i = 0; i < spec.axes.size(); ++i) {
          PrimExpr& index = indices[spec.axes[i]];
          index = index * spec.strides[i] + window[i]->var * spec.dilation[i];
        }
        return combine(CastTo(dtype, data(Array<PrimExpr>(indices.begin(), indices.end()))), window);
      },
      name, {}, NamesOfAxes(AxisNames::kAx, shape.size()));
}

/// How many elements of window `position` count along spatial axis i.
PrimExpr WindowCount(const PoolSpec& spec, size_t i, const PrimExpr& extent, const PrimExpr& position) {
  const int64_t before = spec.padding_before[i];
  const int64_t after = spec.padding_after[i];
  const PrimExpr whole = I64(spec.pool_size[i]);
  const bool clips_begin = !spec.count_include_pad && before > 0;
  const bool clips_end =
      spec.ceil_mode || (!spec.count_include_pad && after > 0) || (!spec.count_include_pad && before > 0);
  if (!clips_begin && !clips_end) return whole;
  const PrimExpr start = position * spec.strides[i];
  const auto steps_to = [&](const PrimExpr& bound) {
    const PrimExpr distance = bound - start;
    return spec.dilation[i] == 1 ? distance : CeilDiv(distance, I64(spec.dilation[i]));
  };
  const PrimExpr end = extent + (before + (spec.count_include_pad ? after : 0));
  const PrimExpr last = clips_end ? Min(whole, steps_to(end)) : whole;
  const PrimExpr first = clips_begin ? Max(steps_to(I64(before)), I64(0)) : I64(0);
  return last - first;
}

}  // namespace

te::Tensor MaxPool(const te::Tensor& data, const PoolSpec& spec, const Array<PrimExpr>& out_spatial) {
  const te::Tensor padded = Padded(data, spec, MinValue(data.dtype()));
  return ReduceWindows(padded, spec, PooledShape(data, spec.axes, out_spatial), te::MaxReduce, data.dtype(),
                       "pool_max");
}

te::Tensor AvgPool(const te::Tensor& data, const PoolSpec& spec, const Array<PrimExpr>& out_spatial) {
  const DataType accumulator = AccumulatorType(data.dtype());
  const te::Tensor padded = Padded(data, spec, MakeConst(data.dtype(), 0));
  const te::Tensor sum =
      ReduceWindows(padded, spec, PooledShape(data, spec.axes, out_spatial), te::Sum, accumulator, "pool_sum");
  return te::Compute(
      sum.shape(),
      [&](const Array<tir::Var>& vars) {
        PrimExpr count = I64(1);
        for (size_t i = 0; i < spec.axes.size(); ++i) {
          count = count * WindowCount(spec, i, data.shape()[spec.axes[i]], vars[spec.axes[i]]);
        }
        // A window that lies in the padding altogether is 0, not 0 / 0.
        if (!AsConstInt(count)) count = Max(count, I64(1));
        const PrimExpr divisor = CastTo(accumulator, count);
        const PrimExpr total = sum(Indices(vars));
        return CastTo(data.dtype(), accumulator.is_float() ? total / divisor : TruncDiv(total, divisor));
      },
      "pool_avg", {}, NamesOfAxes(AxisNames::kAx, sum.shape().size()));
}

te::Tensor AdaptiveAvgPool(const te::Tensor& data, const std::vector<size_t>& axes,
                           const Array<PrimExpr>& out_spatial) {
  const DataType accumulator = AccumulatorType(data.dtype());
  const size_t rank = axes.size();
  std::vector<PrimExpr> extents;
  std::vector<bool> is_even;  // windows of one size that do not overlap
  Array<tir::IterVar> window;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr& extent = data.shape()[axes[i]];
    extents.push_back(extent);
    is_even.push_back(IsZero(FloorMod(extent, out_spatial[i])));
    const PrimExpr size =
        is_even[i] ? FloorDiv(extent, out_spatial[i]) : Min(CeilDiv(extent, out_spatial[i]) + 1, extent);
    window.push_back(te::ReduceAxis(size, "rv" + std::to_string(i)));
  }
  const auto begin = [&](size_t i, const PrimExpr& position) {
    if (is_even[i]) return position * FloorDiv(extents[i], out_spatial[i]);
    return FloorDiv(position * extents[i], out_spatial[i]);
  };
  const auto end = [&](size_t i, const PrimExpr& position) {
    return CeilDiv((position + 1) * extents[i], out_spatial[i]);
  };
  const Array<PrimExpr> shape = PooledShape(data, axes, out_spatial);
  const auto names = NamesOfAxes(AxisNames::kAx, shape.size());
  const te::Tensor sum = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        std::vector<PrimExpr> indices(vars.begin(), vars.end());
        PrimExpr inside = True();
        for (size_t i = 0; i < rank; ++i) {
          PrimExpr& index = indices[axes[i]];
          const PrimExpr position = index;
          index = begin(i, position) + window[i]->var;
          if (!is_even[i]) inside = inside && (index < end(i, position));
        }
        const PrimExpr element = data(Array<PrimExpr>(indices.begin(), indices.end()));
        return te::Sum(CastTo(accumulator, IfThenElse(inside, element, MakeConst(data.dtype(), 0))), window);
      },
      "adaptive_pool_sum", {}, names);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        PrimExpr count = I64(1);
        for (size_t i = 0; i < rank; ++i) {
          const PrimExpr position = vars[axes[i]];
          count = count * (is_even[i] ? window[i]->dom->extent : end(i, position) - begin(i, position));
        }
        return CastTo(data.dtype(), sum(Indices(vars)) / CastTo(accumulator, count));
      },
      "adaptive_pool_avg", {}, names);
}

}  // namespace deuteron::topi
