#include "deuteron/relax/op/index.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

/// The axis of a take; of a vector, 0 if none is given.
size_t TakeAxis(const Call& call, int64_t ndim) {
  const auto* attrs = AttrsOf<TakeAttrsNode>(call);
  if (attrs->axis.has_value()) return AxisArg(call, *attrs->axis, ndim);
  if (ndim != 1) ThrowOpError(call, "without an axis it takes a vector, not a tensor of rank " + std::to_string(ndim));
  return 0;
}

Type InferTake(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  std::optional<Array<PrimExpr>> index_shape = Array<PrimExpr>();
  int64_t index_ndim = 0;
  DataType index_dtype = DataType::Int(64);
  if (const auto* prim = call->args[1].ty().as<PrimTypeNode>()) {
    index_dtype = prim->dtype;
  } else {
    const TensorTypeNode* indices = TensorArg(call, 1);
    index_shape = ShapeOf(indices);
    index_ndim = indices->ndim;
    index_dtype = indices->dtype;
  }
  if (!index_dtype.is_void() && !index_dtype.is_integer()) {
    ThrowOpError(call, "its indices must be integers and are " + Describe(call->args[1].ty()));
  }
  const std::string mode(AttrsOf<TakeAttrsNode>(call)->mode);
  if (mode != "fast" && mode != "clip" && mode != "wrap" && mode != "nan") {
    ThrowOpError(call, "unknown mode \"" + mode + "\"; there are fast, clip, wrap and nan");
  }
  if (data->ndim == kUnknownNDim || index_ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
  const size_t axis = TakeAxis(call, data->ndim);
  if (!data->has_shape() || !index_shape) return WithRank(data, data->ndim - 1 + index_ndim);
  Array<PrimExpr> shape;
  for (size_t i = 0; i < static_cast<size_t>(data->ndim); ++i) {
    if (i != axis) {
      shape.push_back((*data->shape)[i]);
    } else {
      shape.insert(shape.end(), index_shape->begin(), index_shape->end());
    }
  }
  return WithShape(data, shape);
}

Expr LegalizeTake(BlockBuilder& builder, const Call& call) {
  const std::string mode(AttrsOf<TakeAttrsNode>(call)->mode);
  return CallKernel(builder, call, "take", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Take(args[0], args[1], TakeAxis(call, args[0].ndim()), mode);
  });
}

/// One axis of a slice: the first position, the step and how many.
struct AxisSlice {
  PrimExpr begin;
  int64_t stride = 1;
  PrimExpr extent;
};

/// Steps beyond the longest axis take its first element, and are as long as that.
constexpr int64_t kMostStride = int64_t{1} << 40;

/// `position` counted from the end if negative, and clamped to [low, high].
PrimExpr Clamped(const PrimExpr& position, const PrimExpr& extent, const PrimExpr& low, const PrimExpr& high,
                 arith::Analyzer* analyzer) {
  PrimExpr value = position;
  if (const auto constant = AsConstInt(position)) {
    // INT32_MAX and INT64_MAX are what exporters write for "to the end".
    if (*constant >= std::numeric_limits<int32_t>::max()) return high;
    if (*constant <= std::numeric_limits<int32_t>::min()) return low;
    if (*constant < 0) value = position + extent;
  } else if (!analyzer->CanProveGreaterEqual(position, 0)) {
    value = SelectExpr(position < 0, position + extent, position);
  }
  return analyzer->Simplify(Min(Max(value, low), high));
}

AxisSlice SliceAxis(const Call& call, const PrimExpr& begin, const PrimExpr& end, const PrimExpr& stride,
                    const PrimExpr& extent, bool assume_inbound, arith::Analyzer* analyzer) {
  const auto step = AsConstInt(stride);
  if (!step) {
    DEUTERON_THROW(UnsupportedError) << "strided_slice: strides must be constants";
  }
  if (*step == 0) ThrowOpError(call, "a stride is 0");
  AxisSlice slice;
  slice.stride = std::clamp(*step, -kMostStride, kMostStride);
  PrimExpr last = end;
  slice.begin = begin;
  if (!assume_inbound) {
    const PrimExpr low = I64(*step > 0 ? 0 : -1);
    const PrimExpr high = *step > 0 ? extent : analyzer->Simplify(extent - 1);
    slice.begin = Clamped(begin, extent, low, high, analyzer);
    last = Clamped(end, extent, low, high, analyzer);
  }
  const PrimExpr distance = *step > 0 ? last - slice.begin : slice.begin - last;
  const int64_t size = std::abs(slice.stride);
  slice.extent = FloorDiv(distance + (size - 1), I64(size));
  if (!assume_inbound) slice.extent = Max(slice.extent, I64(0));
  slice.extent = analyzer->Simplify(slice.extent);
  return slice;
}

/// The slices of all axes of a tensor of known shape.
std::vector<AxisSlice> SlicesOf(const Call& call, const Array<PrimExpr>& shape, arith::Analyzer* analyzer) {
  const Array<PrimExpr> axes = PrimTupleArg(call, 1);
  const Array<PrimExpr> begin = PrimTupleArg(call, 2);
  const Array<PrimExpr> end = PrimTupleArg(call, 3);
  const bool has_strides = call->args.size() == 5;
  const Array<PrimExpr> strides = has_strides ? PrimTupleArg(call, 4) : Array<PrimExpr>();
  if (begin.size() != axes.size() || end.size() != axes.size() || (has_strides && strides.size() != axes.size())) {
    ThrowOpError(call, "its axes, begins, ends and strides are not equally many");
  }
  Array<int64_t> axis_values;
  for (const PrimExpr& axis : axes) {
    const auto value = AsConstInt(axis);
    if (!value) ThrowOpError(call, "its axes must be constants");
    axis_values.push_back(*value);
  }
  const std::vector<size_t> positions = AxesArg(call, axis_values, static_cast<int64_t>(shape.size()));
  std::vector<AxisSlice> slices;
  for (const PrimExpr& extent : shape) slices.push_back({I64(0), 1, extent});
  const bool assume_inbound = AttrsOf<StridedSliceAttrsNode>(call)->assume_inbound;
  for (size_t i = 0; i < positions.size(); ++i) {
    slices[positions[i]] = SliceAxis(call, begin[i], end[i], has_strides ? strides[i] : I64(1), shape[positions[i]],
                                     assume_inbound, analyzer);
  }
  return slices;
}

Type InferStridedSlice(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 4, 5);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->shape.has_value()) return WithRank(data, data->ndim);
  Array<PrimExpr> shape;
  for (const AxisSlice& slice : SlicesOf(call, *data->shape, &builder.analyzer())) shape.push_back(slice.extent);
  return WithShape(data, shape);
}

Expr LegalizeStridedSlice(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "strided_slice", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    std::vector<PrimExpr> begins;
    std::vector<int64_t> strides;
    // The shape of the argument's type: simplified under what the builder knows of its dimensions.
    for (const AxisSlice& slice : SlicesOf(call, *TensorArg(call, 0)->shape, &builder.analyzer())) {
      begins.push_back(slice.begin);
      strides.push_back(slice.stride);
    }
    return topi::StridedSlice(args[0], begins, strides, ResultShape(call));
  });
}

Type InferDynamicStridedSlice(const Call& call, const BlockBuilder&) {
  CheckArity(call, 4, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  for (size_t i = 1; i < 4; ++i) {
    CheckRank(call, i, 1);
    const TensorTypeNode* bound = TensorArg(call, i);
    if (!bound->dtype.is_void() && !(bound->dtype == DataType::Int(64))) {
      ThrowOpError(call, "its begins, ends and strides must be int64 vectors; one is " + Describe(GetRef<Type>(bound)));
    }
  }
  return WithRank(data, data->ndim);
}

/// Begin (which = 0) or end (1) of an axis, clamped as in Python, of values that are data.
PrimExpr ClampedData(const PrimExpr& position, const PrimExpr& stride, const PrimExpr& extent) {
  const PrimExpr value = SelectExpr(position < 0, position + extent, position);
  const PrimExpr low = SelectExpr(stride < 0, I64(-1), I64(0));
  return Min(Max(value, low), low + extent);
}

Type InferDynamicPermuteDims(const Call& call, const BlockBuilder&) {
  CheckArity(call, 3, 3);
  const TensorTypeNode* data = TensorArg(call, 0);
  for (size_t i = 1; i < 3; ++i) {
    const auto* shape = call->args[i].ty().as<ShapeTypeNode>();
    if (shape == nullptr)
      ThrowOpError(call, "its order and shape must be shapes; one is " + Describe(call->args[i].ty()));
    if (data->ndim != kUnknownNDim && shape->ndim != kUnknownNDim && data->ndim != shape->ndim) {
      ThrowOpError(call, std::to_string(shape->ndim) + " axes for " + Describe(GetRef<Type>(data)));
    }
  }
  const auto shape = ShapeArg(call, 2);
  return shape ? WithShape(data, *shape) : WithRank(data, data->ndim);
}

Expr LegalizeDynamicPermuteDims(BlockBuilder& builder, const Call& call) {
  const auto order = ShapeArg(call, 1);
  const auto shape = ShapeArg(call, 2);
  if (!ShapesKnown(call) || !order || !shape || order->empty()) return call;
  return builder.CallTE("dynamic_permute_dims", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::DynamicTranspose(args[0], *order, *shape)};
  });
}

/// The shape is computed by a kernel of its own and bound to fresh symbols, with which the slice is made.
Expr LegalizeDynamicStridedSlice(BlockBuilder& builder, const Call& call) {
  const TensorTypeNode* data = TensorArg(call, 0);
  for (const Expr& arg : call->args) {
    if (!arg.ty().as<TensorTypeNode>()->has_shape()) return call;
  }
  const Array<PrimExpr> shape = *data->shape;
  const Var extents = builder.EmitTE("shape_func", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{te::Compute(
        {I64(data->ndim)},
        [&](const Array<tir::Var>& vars) {
          PrimExpr extent = I64(0);
          for (size_t i = 0; i < shape.size(); ++i) {
            extent = SelectExpr(deuteron::Equal(vars[0], static_cast<int64_t>(i)), shape[i], extent);
          }
          const PrimExpr stride = deuteron::Min(deuteron::Max(args[3]({vars[0]}), I64(-kMostStride)), I64(kMostStride));
          const PrimExpr begin = ClampedData(args[1]({vars[0]}), stride, extent);
          const PrimExpr end = ClampedData(args[2]({vars[0]}), stride, extent);
          const PrimExpr forward = FloorDiv(end - begin + stride - 1, stride);
          const PrimExpr backward = FloorDiv(begin - end - stride - 1, I64(0) - stride);
          return deuteron::Max(SelectExpr(stride < 0, backward, forward), I64(0));
        },
        "T_shape_func_strided_slice_dynamic")};
  });
  Array<PrimExpr> symbols;
  for (size_t i = 0; i < shape.size(); ++i) symbols.push_back(tir::Var("s" + std::to_string(i)));
  builder.EmitMatchCast(builder.Emit(TensorToShape(extents)), ShapeType(symbols));
  return builder.CallTE("dynamic_strided_slice", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{te::Compute(
        symbols,
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> indices;
          for (size_t i = 0; i < vars.size(); ++i) {
            const PrimExpr axis = I64(static_cast<int64_t>(i));
            const PrimExpr stride = args[3]({axis});
            indices.push_back(vars[i] * stride + ClampedData(args[1]({axis}), stride, shape[i]));
          }
          return args[0](indices);
        },
        "T_strided_slice_dynamic", {}, topi::NamesOfAxes(topi::AxisNames::kAx, symbols.size()))};
  });
}

Tuple PrimTuple(const Array<PrimExpr>& values) {
  return Tuple(values.Map([](const PrimExpr& value) -> Expr { return PrimValue(value); }));
}

}  // namespace

std::vector<OpInfo> IndexOps() {
  return {
      {"take", {"x", "indices"}, "deuteron.relax.TakeAttrs", InferTake, LegalizeTake},
      {"strided_slice",
       {"x", "axes", "begin", "end", "strides?"},
       "deuteron.relax.StridedSliceAttrs",
       InferStridedSlice,
       LegalizeStridedSlice},
      {"dynamic_strided_slice",
       {"x", "begin", "end", "strides"},
       nullptr,
       InferDynamicStridedSlice,
       LegalizeDynamicStridedSlice},
      {"dynamic_permute_dims", {"x", "order", "shape"}, nullptr, InferDynamicPermuteDims, LegalizeDynamicPermuteDims},
  };
}

Expr Take(Expr x, Expr indices, std::optional<int64_t> axis, std::string mode) {
  auto attrs = MakeNode<TakeAttrsNode>();
  if (axis) attrs->axis = *axis;
  attrs->mode = String(mode);
  return MakeCall("take", {std::move(x), std::move(indices)}, Attrs(attrs));
}
std::optional<std::vector<int64_t>> KnownBegins(const Call& call) {
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->shape.has_value()) return std::nullopt;
  arith::Analyzer analyzer;
  std::vector<int64_t> begins;
  for (const AxisSlice& slice : SlicesOf(call, *data->shape, &analyzer)) {
    const auto begin = AsConstInt(slice.begin);
    if (!begin || *begin < 0 || slice.stride != 1) return std::nullopt;
    begins.push_back(*begin);
  }
  return begins;
}

Expr StridedSlice(Expr x, const std::vector<int64_t>& axes, const Array<PrimExpr>& begin, const Array<PrimExpr>& end,
                  const Array<PrimExpr>& strides, bool assume_inbound) {
  auto attrs = MakeNode<StridedSliceAttrsNode>();
  attrs->assume_inbound = assume_inbound;
  Array<PrimExpr> axis_values;
  for (int64_t axis : axes) axis_values.push_back(I64(axis));
  Array<Expr> args = {std::move(x), PrimTuple(axis_values), PrimTuple(begin), PrimTuple(end)};
  if (!strides.empty()) args.push_back(PrimTuple(strides));
  return MakeCall("strided_slice", std::move(args), Attrs(attrs));
}
Expr DynamicPermuteDims(Expr x, Array<PrimExpr> order, Array<PrimExpr> shape) {
  return MakeCall("dynamic_permute_dims", {std::move(x), ShapeExpr(std::move(order)), ShapeExpr(std::move(shape))});
}
Expr DynamicStridedSlice(Expr x, Expr begin, Expr end, Expr strides) {
  return MakeCall("dynamic_strided_slice", {std::move(x), std::move(begin), std::move(end), std::move(strides)});
}

void TakeAttrsNode::RegisterReflection() {
  refl::ObjectDef<TakeAttrsNode>().def_ro("axis", &TakeAttrsNode::axis).def_ro("mode", &TakeAttrsNode::mode);
}
void StridedSliceAttrsNode::RegisterReflection() {
  refl::ObjectDef<StridedSliceAttrsNode>().def_ro("assume_inbound", &StridedSliceAttrsNode::assume_inbound);
}
DEUTERON_REFLECTION() {
  TakeAttrsNode::RegisterReflection();
  StridedSliceAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
