#include "deuteron/relax/op/gather.h"

#include <algorithm>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/indexing.h"

namespace deuteron::relax {
namespace {

void CheckInteger(const Call& call, size_t index) {
  const TensorTypeNode* type = TensorArg(call, index);
  if (!type->dtype.is_void() && !type->dtype.is_integer()) {
    ThrowOpError(call, "its indices must be integers and are " + Describe(GetRef<Type>(type)));
  }
}

/// On axes that they do not index, indices may be fewer than the data has elements, not more.
void CheckReach(const Call& call, const BlockBuilder& builder, int64_t axis) {
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* indices = TensorArg(call, 1);
  if (!data->has_shape() || !indices->has_shape()) return;
  const size_t indexed = AxisArg(call, axis, data->ndim);
  for (size_t i = 0; i < static_cast<size_t>(data->ndim); ++i) {
    if (i == indexed || !ProvablyExceeds(builder, (*indices->shape)[i], {1, i, (*data->shape)[i]})) continue;
    ThrowOpError(call, "its indices, " + Describe(GetRef<Type>(indices)) + ", reach beyond axis " + std::to_string(i) +
                           " of " + Describe(GetRef<Type>(data)));
  }
}

/// Updates are as many as the indices ask for.
void CheckUpdates(const Call& call, const BlockBuilder& builder, const Array<PrimExpr>& expected) {
  const TensorTypeNode* updates = TensorArg(call, 2);
  CheckRank(call, 2, static_cast<int64_t>(expected.size()));
  if (!updates->has_shape()) return;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!ProvablyDiffers(builder, (*updates->shape)[i], {2, i, expected[i]})) continue;
    ThrowOpError(call,
                 "its updates are " + Describe(GetRef<Type>(updates)) + " and must have shape " + Describe(expected));
  }
}

Type InferGatherElements(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  CheckInteger(call, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* indices = TensorArg(call, 1);
  if (data->ndim != kUnknownNDim) {
    CheckRank(call, 1, data->ndim);
    AxisArg(call, AttrsOf<GatherElementsAttrsNode>(call)->axis, data->ndim);
    CheckReach(call, builder, AttrsOf<GatherElementsAttrsNode>(call)->axis);
  }
  return MakeTensorType(ShapeOf(indices), indices->ndim, data->dtype, data->vdevice);
}

Expr LegalizeGatherElements(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "gather", call->args, [&](const Array<te::Tensor>& args) {
    const size_t axis = AxisArg(call, AttrsOf<GatherElementsAttrsNode>(call)->axis, args[0].ndim());
    return topi::GatherElements(args[0], args[1], axis);
  });
}

/// The length of the index tuples, if it is known; a ModelError if it cannot be.
std::optional<int64_t> TupleLength(const Call& call, const TensorTypeNode* indices, const TensorTypeNode* data,
                                   int64_t batch_dims) {
  if (indices->ndim == 0) ThrowOpError(call, "its indices are a scalar");
  if (!indices->shape.has_value()) return std::nullopt;
  const PrimExpr last = (*indices->shape)[static_cast<size_t>(indices->ndim) - 1];
  const auto length = AsConstInt(last);
  if (length && data->ndim != kUnknownNDim && batch_dims + *length > data->ndim) {
    ThrowOpError(call, "index tuples of length " + std::to_string(*length) + " into " + Describe(GetRef<Type>(data)));
  }
  return length;
}

Type InferGatherND(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  CheckInteger(call, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* indices = TensorArg(call, 1);
  const int64_t batch_dims = AttrsOf<GatherNDAttrsNode>(call)->batch_dims;
  const auto length = TupleLength(call, indices, data, batch_dims);
  if (!length || data->ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
  const int64_t ndim = indices->ndim - 1 + data->ndim - batch_dims - *length;
  if (!data->shape.has_value()) return WithRank(data, ndim);
  for (size_t i = 0; i < static_cast<size_t>(batch_dims); ++i) {
    if (ProvablyDiffers(builder, (*indices->shape)[i], {1, i, (*data->shape)[i]}))
      ThrowOpError(call, "batches differ on axis " + std::to_string(i) + ": " + Describe(GetRef<Type>(data)) + " and " +
                             Describe(GetRef<Type>(indices)));
  }
  Array<PrimExpr> shape = *indices->shape;
  shape.pop_back();
  for (auto i = static_cast<size_t>(batch_dims + *length); i < static_cast<size_t>(data->ndim); ++i) {
    shape.push_back((*data->shape)[i]);
  }
  return WithShape(data, shape);
}

Expr LegalizeGatherND(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "gather_nd", call->args, [&](const Array<te::Tensor>& args) {
    const auto batch_dims = static_cast<size_t>(AttrsOf<GatherNDAttrsNode>(call)->batch_dims);
    return topi::GatherND(args[0], args[1], batch_dims);
  });
}

Type InferScatterElements(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CheckInteger(call, 1);
  CommonDType(call, 0, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) {
    CheckRank(call, 1, data->ndim);
    CheckRank(call, 2, data->ndim);
    AxisArg(call, AttrsOf<ScatterElementsAttrsNode>(call)->axis, data->ndim);
    CheckReach(call, builder, AttrsOf<ScatterElementsAttrsNode>(call)->axis);
    if (const auto indices = ShapeOf(TensorArg(call, 1))) CheckUpdates(call, builder, *indices);
  }
  return GetRef<Type>(data);
}

Expr LegalizeScatterElements(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<ScatterElementsAttrsNode>(call);
  return CallKernel(builder, call, "scatter_elements", call->args, [&](const Array<te::Tensor>& args) {
    return topi::ScatterElements(args[0], args[1], args[2], AxisArg(call, attrs->axis, args[0].ndim()),
                                 std::string(attrs->reduction));
  });
}

Type InferScatterND(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CheckInteger(call, 1);
  CommonDType(call, 0, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto length = TupleLength(call, TensorArg(call, 1), data, 0);
  if (length && data->has_shape()) {
    Array<PrimExpr> expected = *TensorArg(call, 1)->shape;
    expected.pop_back();
    for (int64_t i = *length; i < data->ndim; ++i) expected.push_back((*data->shape)[i]);
    CheckUpdates(call, builder, expected);
  }
  return GetRef<Type>(data);
}

Expr LegalizeScatterND(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call) || !TupleLength(call, TensorArg(call, 1), TensorArg(call, 0), 0)) return call;
  return builder.CallTE("scatter_nd", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{
        topi::ScatterND(args[0], args[1], args[2], std::string(AttrsOf<ScatterNDAttrsNode>(call)->reduction))};
  });
}

/// Argument `index`, a bound of a slice of an axis of length `extent`: a negative one counts from the end.
PrimExpr SliceBound(const Call& call, size_t index, const PrimExpr& extent, const BlockBuilder& builder) {
  const PrimExpr value = CastTo(DataType::Int(64), PrimArg(call, index));
  if (const auto constant = AsConstInt(value); constant && *constant >= 0) return value;
  return builder.analyzer().Simplify(SelectExpr(value < 0, value + extent, value));
}

/// A ModelError unless the second argument may fill the slice of the first.
void CheckSlice(const Call& call, const BlockBuilder& builder, size_t axis) {
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* source = TensorArg(call, 1);
  if (!data->shape.has_value() || !source->shape.has_value()) return;
  for (size_t i = 0; i < data->shape->size(); ++i) {
    const PrimExpr& extent = (*data->shape)[i];
    PrimExpr wanted = extent;
    if (i == axis) {
      const PrimExpr step = CastTo(DataType::Int(64), PrimArg(call, 4));
      const PrimExpr end = Min(SliceBound(call, 3, extent, builder), extent);
      const PrimExpr length = FloorDiv(end - SliceBound(call, 2, extent, builder) + step - 1, step);
      wanted = builder.analyzer().Simplify(Max(length, I64(0)));
    }
    if (!ProvablyDiffers(builder, (*source->shape)[i], {1, i, wanted})) continue;
    ThrowOpError(call, Describe(GetRef<Type>(source)) + " does not fill the slice of " + Describe(GetRef<Type>(data)) +
                           ": " + Describe(wanted) + " elements are wanted on axis " + std::to_string(i));
  }
}

Type InferSliceScatter(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 5, 5);
  CommonDType(call, 0, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) {
    CheckRank(call, 1, data->ndim);
    AxisArg(call, AttrsOf<SliceScatterAttrsNode>(call)->axis, data->ndim);
  }
  for (size_t i = 2; i < 5; ++i) PrimArg(call, i);
  if (const auto step = AsConstInt(PrimArg(call, 4)); step && *step <= 0) {
    ThrowOpError(call, "its step must be positive and is " + std::to_string(*step));
  }
  if (data->ndim != kUnknownNDim) {
    CheckSlice(call, builder, AxisArg(call, AttrsOf<SliceScatterAttrsNode>(call)->axis, data->ndim));
  }
  return GetRef<Type>(data);
}

Expr LegalizeSliceScatter(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "slice_scatter", {call->args[0], call->args[1]}, [&](const Array<te::Tensor>& args) {
    const size_t axis = AxisArg(call, AttrsOf<SliceScatterAttrsNode>(call)->axis, args[0].ndim());
    const PrimExpr extent = args[0].shape()[axis];
    return topi::SliceScatter(args[0], args[1], SliceBound(call, 2, extent, builder),
                              SliceBound(call, 3, extent, builder), CastTo(DataType::Int(64), PrimArg(call, 4)), axis);
  });
}

Type InferTensorScatter(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 4, 4);
  CommonDType(call, 0, 1);
  CheckInteger(call, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* updates = TensorArg(call, 1);
  const TensorTypeNode* starts = TensorArg(call, 2);
  const PrimExpr length = PrimArg(call, 3);
  CheckRank(call, 2, 1);
  if (data->ndim == kUnknownNDim) return GetRef<Type>(data);
  CheckRank(call, 1, data->ndim);
  const size_t axis = AxisArg(call, AttrsOf<TensorScatterAttrsNode>(call)->axis, data->ndim);
  if (axis == 0) ThrowOpError(call, "its axis is the first one, along which positions differ");
  if (!data->shape.has_value()) return GetRef<Type>(data);
  const auto require_same = [&](const PrimExpr& a, const PrimExpr& b) {
    if (builder.analyzer().CanProve(NotEqual(a, b))) {
      ThrowOpError(call, Describe(GetRef<Type>(updates)) + " in " + Describe(GetRef<Type>(data)) + " along axis " +
                             std::to_string(axis) + " from positions " + Describe(GetRef<Type>(starts)) + " on");
    }
  };
  for (size_t i = 0; updates->shape.has_value() && i < static_cast<size_t>(data->ndim); ++i) {
    if (i != axis) require_same((*data->shape)[i], (*updates->shape)[i]);
  }
  if (starts->shape.has_value() && !IsOne((*starts->shape)[0])) require_same((*starts->shape)[0], (*data->shape)[0]);
  if (builder.analyzer().CanProve(length < (*data->shape)[axis])) {
    ThrowOpError(call, "a length of " + Describe(length) + " for " + Describe(GetRef<Type>(data)));
  }
  Array<PrimExpr> shape = *data->shape;
  shape.Set(static_cast<int64_t>(axis), length);
  return WithShape(data, shape);
}

Expr LegalizeTensorScatter(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "tensor_scatter", {call->args[0], call->args[1], call->args[2]},
                    [&](const Array<te::Tensor>& args) {
                      const auto* attrs = AttrsOf<TensorScatterAttrsNode>(call);
                      const PrimExpr length = CastTo(DataType::Int(64), PrimArg(call, 3));
                      const size_t axis = AxisArg(call, attrs->axis, args[0].ndim());
                      const bool grows = !builder.analyzer().CanProveEqual(length, args[0].shape()[axis]);
                      return topi::TensorScatter(
                          args[0], args[1], args[2],
                          {grows ? length : args[0].shape()[axis], axis, attrs->circular, attrs->clears});
                    });
}

/// The broadcast of the shapes of the index tensors, if all are known.
std::optional<Array<PrimExpr>> IndexShape(const Call& call, const BlockBuilder& builder,
                                          const std::vector<const TensorTypeNode*>& indices) {
  std::optional<Array<PrimExpr>> shape = Array<PrimExpr>();
  for (const TensorTypeNode* type : indices) {
    if (!type->has_shape()) return std::nullopt;
    shape = BroadcastShapes(call, builder, *shape, *type->shape);
    if (!shape) return std::nullopt;
  }
  return shape;
}

Type InferIndexTensor(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto indices = TensorTupleArg(call, 1);
  const auto count = static_cast<int64_t>(indices.size());
  if (data->ndim != kUnknownNDim && count > data->ndim) {
    ThrowOpError(call, std::to_string(count) + " index tensors into " + Describe(GetRef<Type>(data)));
  }
  for (const TensorTypeNode* type : indices) {
    if (!type->dtype.is_void() && !type->dtype.is_integer()) {
      ThrowOpError(call, "its indices must be integers; one tensor is " + Describe(GetRef<Type>(type)));
    }
  }
  const auto index_shape = IndexShape(call, builder, indices);
  if (data->ndim == kUnknownNDim || !index_shape) return WithRank(data, kUnknownNDim);
  if (!data->shape.has_value()) {
    return WithRank(data, static_cast<int64_t>(index_shape->size()) + data->ndim - count);
  }
  Array<PrimExpr> shape = *index_shape;
  for (auto i = static_cast<size_t>(count); i < static_cast<size_t>(data->ndim); ++i) {
    shape.push_back((*data->shape)[i]);
  }
  return WithShape(data, shape);
}

Expr LegalizeIndexTensor(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  Array<Expr> args = {call->args[0]};
  for (const Expr& field : TupleFields(builder, call->args[1])) args.push_back(field);
  const Array<PrimExpr> index_shape = *IndexShape(call, builder, TensorTupleArg(call, 1));
  return builder.CallTE("index_tensor", args, [&](const Array<te::Tensor>& tensors) {
    return Array<te::Tensor>{
        topi::IndexTensor(tensors[0], Array<te::Tensor>(tensors.begin() + 1, tensors.end()), index_shape)};
  });
}

Type InferIndexPut(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CommonDType(call, 0, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto indices = TensorTupleArg(call, 1);
  if (data->ndim != kUnknownNDim && static_cast<int64_t>(indices.size()) != data->ndim) {
    ThrowOpError(call, std::to_string(indices.size()) + " index tensors into " + Describe(GetRef<Type>(data)));
  }
  for (const TensorTypeNode* type : indices) {
    if (!type->dtype.is_void() && !type->dtype.is_integer()) {
      ThrowOpError(call, "its indices must be integers; one tensor is " + Describe(GetRef<Type>(type)));
    }
  }
  const TensorTypeNode* values = TensorArg(call, 2);
  const auto index_shape = IndexShape(call, builder, indices);
  if (index_shape && values->shape.has_value()) BroadcastShapes(call, builder, *index_shape, *values->shape);
  return GetRef<Type>(data);
}

Expr LegalizeIndexPut(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  Array<Expr> args = {call->args[0], call->args[2]};
  for (const Expr& field : TupleFields(builder, call->args[1])) args.push_back(field);
  const auto index_shape = IndexShape(call, builder, TensorTupleArg(call, 1));
  if (!index_shape) return call;
  const auto shape = BroadcastShapes(call, builder, *index_shape, *TensorArg(call, 2)->shape);
  if (!shape) return call;
  return builder.CallTE("index_put", args, [&](const Array<te::Tensor>& tensors) {
    return Array<te::Tensor>{topi::IndexPut(tensors[0], Array<te::Tensor>(tensors.begin() + 2, tensors.end()),
                                            tensors[1], *shape, AttrsOf<IndexPutAttrsNode>(call)->accumulate)};
  });
}

Type InferOneHot(const Call& call, const BlockBuilder&) {
  CheckArity(call, 3, 3);
  CheckInteger(call, 0);
  const TensorTypeNode* indices = TensorArg(call, 0);
  const auto* attrs = AttrsOf<OneHotAttrsNode>(call);
  const DataType dtype = PrimArgType(call, 1);
  const DataType off = PrimArgType(call, 2);
  if (!(dtype == off)) {
    ThrowOpError(call, "its on and off values have types " + dtype.ToString() + " and " + off.ToString());
  }
  if (attrs->depth <= 0) ThrowOpError(call, "its depth must be positive and is " + std::to_string(attrs->depth));
  if (indices->ndim == kUnknownNDim) return TensorType::WithNDim(kUnknownNDim, dtype, indices->vdevice);
  const size_t axis = AxisArg(call, attrs->axis, indices->ndim + 1);
  if (!indices->shape.has_value()) return TensorType::WithNDim(indices->ndim + 1, dtype, indices->vdevice);
  Array<PrimExpr> shape = *indices->shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), I64(attrs->depth));
  return TensorType(shape, dtype, indices->vdevice);
}

Expr LegalizeOneHot(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call) || !PrimArgsKnown(call, 1)) return call;
  const auto* attrs = AttrsOf<OneHotAttrsNode>(call);
  return builder.CallTE("one_hot", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::OneHot(args[0], PrimArg(call, 1), PrimArg(call, 2), attrs->depth,
                                          AxisArg(call, attrs->axis, args[0].ndim() + 1))};
  });
}

}  // namespace

std::vector<OpInfo> GatherOps() {
  return {
      {"gather_elements",
       {"data", "indices"},
       "deuteron.relax.GatherElementsAttrs",
       InferGatherElements,
       LegalizeGatherElements},
      {"gather_nd", {"data", "indices"}, "deuteron.relax.GatherNDAttrs", InferGatherND, LegalizeGatherND},
      {"scatter_elements",
       {"data", "indices", "updates"},
       "deuteron.relax.ScatterElementsAttrs",
       InferScatterElements,
       LegalizeScatterElements},
      {"scatter_nd",
       {"data", "indices", "updates"},
       "deuteron.relax.ScatterNDAttrs",
       InferScatterND,
       LegalizeScatterND},
      {"slice_scatter",
       {"input_tensor", "src", "start", "end", "step"},
       "deuteron.relax.SliceScatterAttrs",
       InferSliceScatter,
       LegalizeSliceScatter},
      {"tensor_scatter",
       {"data", "updates", "starts", "length"},
       "deuteron.relax.TensorScatterAttrs",
       InferTensorScatter,
       LegalizeTensorScatter},
      {"index_tensor", {"data", "indices"}, nullptr, InferIndexTensor, LegalizeIndexTensor},
      {"index_put", {"data", "indices", "values"}, "deuteron.relax.IndexPutAttrs", InferIndexPut, LegalizeIndexPut},
      {"one_hot", {"indices", "on_value", "off_value"}, "deuteron.relax.OneHotAttrs", InferOneHot, LegalizeOneHot},
  };
}

Expr GatherElements(Expr data, Expr indices, int64_t axis) {
  auto attrs = MakeNode<GatherElementsAttrsNode>();
  attrs->axis = axis;
  return MakeCall("gather_elements", {std::move(data), std::move(indices)}, Attrs(attrs));
}
Expr GatherND(Expr data, Expr indices, int64_t batch_dims) {
  auto attrs = MakeNode<GatherNDAttrsNode>();
  attrs->batch_dims = batch_dims;
  return MakeCall("gather_nd", {std::move(data), std::move(indices)}, Attrs(attrs));
}
Expr ScatterElements(Expr data, Expr indices, Expr updates, int64_t axis, std::string reduction) {
  auto attrs = MakeNode<ScatterElementsAttrsNode>();
  attrs->axis = axis;
  attrs->reduction = String(reduction);
  return MakeCall("scatter_elements", {std::move(data), std::move(indices), std::move(updates)}, Attrs(attrs));
}
Expr ScatterND(Expr data, Expr indices, Expr updates, std::string reduction) {
  auto attrs = MakeNode<ScatterNDAttrsNode>();
  attrs->reduction = String(reduction);
  return MakeCall("scatter_nd", {std::move(data), std::move(indices), std::move(updates)}, Attrs(attrs));
}
Expr SliceScatter(Expr data, Expr src, PrimExpr start, PrimExpr end, PrimExpr step, int64_t axis) {
  auto attrs = MakeNode<SliceScatterAttrsNode>();
  attrs->axis = axis;
  return MakeCall("slice_scatter",
                  {std::move(data), std::move(src), PrimValue(std::move(start)), PrimValue(std::move(end)),
                   PrimValue(std::move(step))},
                  Attrs(attrs));
}
Expr TensorScatter(Expr data, Expr updates, Expr starts, PrimExpr length, int64_t axis, bool circular, bool clears) {
  auto attrs = MakeNode<TensorScatterAttrsNode>();
  attrs->axis = axis;
  attrs->circular = circular;
  attrs->clears = clears;
  return MakeCall("tensor_scatter",
                  {std::move(data), std::move(updates), std::move(starts), PrimValue(std::move(length))}, Attrs(attrs));
}
Expr IndexTensor(Expr data, Array<Expr> indices) {
  return MakeCall("index_tensor", {std::move(data), Tuple(std::move(indices))});
}
Expr IndexPut(Expr data, Array<Expr> indices, Expr values, bool accumulate) {
  auto attrs = MakeNode<IndexPutAttrsNode>();
  attrs->accumulate = accumulate;
  return MakeCall("index_put", {std::move(data), Tuple(std::move(indices)), std::move(values)}, Attrs(attrs));
}
Expr OneHot(Expr indices, PrimExpr on_value, PrimExpr off_value, int64_t depth, int64_t axis) {
  auto attrs = MakeNode<OneHotAttrsNode>();
  attrs->depth = depth;
  attrs->axis = axis;
  return MakeCall("one_hot", {std::move(indices), PrimValue(std::move(on_value)), PrimValue(std::move(off_value))},
                  Attrs(attrs));
}

void GatherElementsAttrsNode::RegisterReflection() {
  refl::ObjectDef<GatherElementsAttrsNode>().def_ro("axis", &GatherElementsAttrsNode::axis);
}
void GatherNDAttrsNode::RegisterReflection() {
  refl::ObjectDef<GatherNDAttrsNode>().def_ro("batch_dims", &GatherNDAttrsNode::batch_dims);
}
void ScatterElementsAttrsNode::RegisterReflection() {
  refl::ObjectDef<ScatterElementsAttrsNode>()
      .def_ro("axis", &ScatterElementsAttrsNode::axis)
      .def_ro("reduction", &ScatterElementsAttrsNode::reduction);
}
void ScatterNDAttrsNode::RegisterReflection() {
  refl::ObjectDef<ScatterNDAttrsNode>().def_ro("reduction", &ScatterNDAttrsNode::reduction);
}
void SliceScatterAttrsNode::RegisterReflection() {
  refl::ObjectDef<SliceScatterAttrsNode>().def_ro("axis", &SliceScatterAttrsNode::axis);
}
void TensorScatterAttrsNode::RegisterReflection() {
  refl::ObjectDef<TensorScatterAttrsNode>()
      .def_ro("axis", &TensorScatterAttrsNode::axis)
      .def_ro("circular", &TensorScatterAttrsNode::circular)
      .def_ro("clears", &TensorScatterAttrsNode::clears);
}
void IndexPutAttrsNode::RegisterReflection() {
  refl::ObjectDef<IndexPutAttrsNode>().def_ro("accumulate", &IndexPutAttrsNode::accumulate);
}
void OneHotAttrsNode::RegisterReflection() {
  refl::ObjectDef<OneHotAttrsNode>().def_ro("depth", &OneHotAttrsNode::depth).def_ro("axis", &OneHotAttrsNode::axis);
}
DEUTERON_REFLECTION() {
  GatherElementsAttrsNode::RegisterReflection();
  GatherNDAttrsNode::RegisterReflection();
  ScatterElementsAttrsNode::RegisterReflection();
  ScatterNDAttrsNode::RegisterReflection();
  SliceScatterAttrsNode::RegisterReflection();
  TensorScatterAttrsNode::RegisterReflection();
  IndexPutAttrsNode::RegisterReflection();
  OneHotAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
