#include "deuteron/relax/op/sorting.h"

#include <algorithm>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/product.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

void CheckAxis(const Call& call, int64_t axis) {
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) AxisArg(call, axis, data->ndim);
}

Type InferSort(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  CheckAxis(call, AttrsOf<SortAttrsNode>(call)->axis);
  return GetRef<Type>(TensorArg(call, 0));
}

Expr LegalizeSort(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<SortAttrsNode>(call);
  return CallKernel(builder, call, "sort", call->args, [&](const Array<te::Tensor>& args) {
    const size_t axis = AxisArg(call, attrs->axis, args[0].ndim());
    const te::Tensor order = topi::Argsort(args[0], axis, attrs->descending);
    return topi::TakeAlong(args[0], order, axis, args[0].shape()[axis]);
  });
}

Type InferArgsort(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const auto* attrs = AttrsOf<ArgsortAttrsNode>(call);
  CheckAxis(call, attrs->axis);
  return WithDType(TensorArg(call, 0), attrs->dtype);
}

te::Tensor CastIndices(const te::Tensor& indices, DataType dtype) {
  return topi::Map(
      indices, [&](PrimExpr index) { return CastTo(dtype, std::move(index)); }, "T_cast");
}

Expr LegalizeArgsort(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<ArgsortAttrsNode>(call);
  return CallKernel(builder, call, "argsort", call->args, [&](const Array<te::Tensor>& args) {
    const te::Tensor order = topi::Argsort(args[0], AxisArg(call, attrs->axis, args[0].ndim()), attrs->descending);
    return CastIndices(order, attrs->dtype);
  });
}

/// How many elements a top-k keeps of an axis; null if that is a shape that nothing is known of.
PrimExpr KeptOf(const Call& call, const PrimExpr& extent) {
  const auto* attrs = AttrsOf<TopKAttrsNode>(call);
  if (call->args.size() > 1) {
    const auto count = ShapeArg(call, 1);
    return count ? Min(extent, (*count)[0]) : PrimExpr();
  }
  if (attrs->k < 1) return extent;
  const auto length = AsConstInt(extent);
  return I64(length ? std::min(*length, attrs->k) : attrs->k);
}

Type InferTopK(const Call& call, const BlockBuilder& builder) {
  const size_t arity = OpName(call) == "dynamic_topk" ? 2 : 1;
  CheckArity(call, arity, arity);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<TopKAttrsNode>(call);
  if (call->args.size() > 1) {
    const auto* count = call->args[1].ty().as<ShapeTypeNode>();
    if (count == nullptr || count->ndim != 1) ThrowOpError(call, "its count must be a shape of rank 1");
  }
  const std::string what(attrs->ret_type);
  if (what != "both" && what != "values" && what != "indices") {
    ThrowOpError(call, "ret_type must be both, values or indices and is \"" + what + "\"");
  }
  std::optional<Array<PrimExpr>> shape = ShapeOf(data);
  if (shape) {
    const size_t axis = AxisArg(call, attrs->axis, data->ndim);
    const PrimExpr extent = (*shape)[axis];
    const PrimExpr kept = KeptOf(call, extent);
    if (kept.defined() && ProvablyFallsShort(builder, extent, {0, axis, kept})) {
      ThrowOpError(
          call, Describe(kept) + " elements of " + Describe(GetRef<Type>(data)) + " on axis " + std::to_string(axis));
    }
    if (kept.defined()) {
      shape->Set(static_cast<int64_t>(axis), builder.analyzer().Simplify(kept));
    } else {
      shape.reset();
    }
  } else {
    CheckAxis(call, attrs->axis);
  }
  const Type values = MakeTensorType(shape, data->ndim, data->dtype, data->vdevice);
  const Type indices = MakeTensorType(shape, data->ndim, attrs->dtype, data->vdevice);
  if (what == "values") return values;
  if (what == "indices") return indices;
  return TupleType({values, indices});
}

Expr LegalizeTopK(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<TopKAttrsNode>(call);
  const auto shape = ShapeOf(TensorArg(call, 0));
  if (!shape) return call;
  const size_t axis = AxisArg(call, attrs->axis, TensorArg(call, 0)->ndim);
  const PrimExpr kept = KeptOf(call, (*shape)[axis]);
  if (!kept.defined()) return call;
  const std::string what(attrs->ret_type);
  return builder.CallTE("topk", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    const te::Tensor order = topi::ArgTop(args[0], axis, kept, attrs->largest);
    Array<te::Tensor> outputs;
    if (what != "indices") outputs.push_back(topi::TakeAlong(args[0], order, axis, kept));
    if (what != "values") {
      outputs.push_back(te::Compute(
          order.shape(), [&](const Array<tir::Var>& vars) { return CastTo(attrs->dtype, order(topi::Indices(vars))); },
          "T_cast", {}, topi::NamesOfAxes(topi::AxisNames::kAx, order.ndim())));
    }
    return outputs;
  });
}

/// The axis of a median; none if it is over all elements.
std::optional<int64_t> MedianAxis(const Call& call) {
  const auto* attrs = AttrsOf<StatisticalAttrsNode>(call);
  if (!attrs->axis.has_value() || attrs->axis->empty()) return std::nullopt;
  if (attrs->axis->size() > 1) ThrowOpError(call, "takes one axis, or none for all");
  return (*attrs->axis)[0];
}

Type InferMedian(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const bool keepdims = AttrsOf<StatisticalAttrsNode>(call)->keepdims;
  const auto axis = MedianAxis(call);
  if (!axis) {
    if (!keepdims) return WithShape(data, {});
    if (data->ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
    return WithShape(data, Array<PrimExpr>(data->ndim, I64(1)));
  }
  std::optional<Array<PrimExpr>> shape = ShapeOf(data);
  int64_t ndim = data->ndim;
  if (ndim != kUnknownNDim) {
    const auto position = static_cast<int64_t>(AxisArg(call, *axis, ndim));
    if (!keepdims) --ndim;
    if (shape && keepdims) shape->Set(position, I64(1));
    if (shape && !keepdims) shape->erase(shape->begin() + position);
  }
  return TupleType({MakeTensorType(shape, ndim, data->dtype, data->vdevice),
                    MakeTensorType(shape, ndim, DataType::Int(64), data->vdevice)});
}

/// The lower of the two in the middle where there are two; with an axis, its position too.
Expr LegalizeMedian(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto axis_arg = MedianAxis(call);
  const bool keepdims = AttrsOf<StatisticalAttrsNode>(call)->keepdims;
  return builder.CallTE("median", call->args, [&](const Array<te::Tensor>& args) {
    const te::Tensor data = axis_arg ? args[0] : topi::Reshape(args[0], {topi::Product::Of(args[0].shape()).ToExpr()});
    const size_t axis = axis_arg ? AxisArg(call, *axis_arg, data.ndim()) : 0;
    const te::Tensor order = topi::Argsort(data, axis, /*descending=*/false);
    const PrimExpr middle = FloorDiv(data.shape()[axis] - 1, 2);
    Array<PrimExpr> shape = data.shape();
    if (!axis_arg) {
      shape = keepdims ? Array<PrimExpr>(args[0].ndim(), I64(1)) : Array<PrimExpr>();
    } else if (keepdims) {
      shape.Set(static_cast<int64_t>(axis), I64(1));
    } else {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    /// `indices` of the result as indices of the data, `position` on its axis.
    const auto at = [&](const Array<tir::Var>& vars, const PrimExpr& position) {
      if (!axis_arg) return Array<PrimExpr>{position};
      Array<PrimExpr> indices = topi::Indices(vars);
      if (!keepdims) indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis), position);
      indices.Set(static_cast<int64_t>(axis), position);
      return indices;
    };
    const auto axes = topi::NamesOfAxes(topi::AxisNames::kAx, shape.size());
    const auto position = [&](const Array<tir::Var>& vars) { return order(at(vars, middle)); };
    Array<te::Tensor> results = {te::Compute(
        shape, [&](const Array<tir::Var>& vars) { return data(at(vars, position(vars))); }, "T_median", {}, axes)};
    if (axis_arg) results.push_back(te::Compute(shape, position, "T_median_index", {}, axes));
    return results;
  });
}

Type InferNonzero(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  TensorArg(call, 0);
  return TensorType::WithNDim(2, DataType::Int(64));
}

/// What depends on data in its size is computed by a function of the runtime (runtime/data_dependent.cc).
Expr LegalizeNonzero(BlockBuilder&, const Call& call) {
  return CallPurePacked(ExternFunc("deuteron.vm.nonzero"), call->args, {call.ty()});
}

bool Flag(const Call& call, size_t index) { return AsConstInt(PrimArg(call, index)).value_or(0) != 0; }

Type InferUnique(const Call& call, const BlockBuilder&) {
  CheckArity(call, 5, 6);
  const TensorTypeNode* data = TensorArg(call, 0);
  Array<Type> fields = {WithRank(data, call->args.size() == 6 ? data->ndim : 1)};
  for (size_t i = 2; i < 5; ++i) {
    if (Flag(call, i)) fields.push_back(TensorType::WithNDim(1, DataType::Int(64)));
  }
  if (fields.size() == 1) return fields[0];
  return TupleType(fields);
}

Expr LegalizeUnique(BlockBuilder&, const Call& call) {
  const TensorTypeNode* data = TensorArg(call, 0);
  Array<Expr> args = call->args;
  if (args.size() == 5) {
    args.push_back(PrimValue::Int64(-1));
  } else {
    if (data->ndim == kUnknownNDim) return call;
    const auto axis = AsConstInt(PrimArg(call, 5));
    if (!axis) ThrowOpError(call, "its axis must be constant");
    args.Set(5, PrimValue::Int64(static_cast<int64_t>(AxisArg(call, *axis, data->ndim))));
  }
  return CallPurePacked(ExternFunc("deuteron.vm.unique"), args, {call.ty()});
}

}  // namespace

std::vector<OpInfo> SortingOps() {
  return {
      {"sort", {"data"}, "deuteron.relax.SortAttrs", InferSort, LegalizeSort},
      {"argsort", {"data"}, "deuteron.relax.ArgsortAttrs", InferArgsort, LegalizeArgsort},
      {"topk", {"data"}, "deuteron.relax.TopKAttrs", InferTopK, LegalizeTopK},
      {"dynamic_topk", {"data", "count"}, "deuteron.relax.TopKAttrs", InferTopK, LegalizeTopK},
      {"median", {"data"}, "deuteron.relax.StatisticalAttrs", InferMedian, LegalizeMedian},
      {"nonzero", {"x"}, nullptr, InferNonzero, LegalizeNonzero},
      {"unique",
       {"x", "sorted", "return_index", "return_inverse", "return_counts", "axis?"},
       nullptr,
       InferUnique,
       LegalizeUnique},
  };
}

Expr Sort(Expr data, int64_t axis, bool descending) {
  auto attrs = MakeNode<SortAttrsNode>();
  attrs->axis = axis;
  attrs->descending = descending;
  return MakeCall("sort", {std::move(data)}, Attrs(attrs));
}
Expr Argsort(Expr data, int64_t axis, bool descending, DataType dtype) {
  auto attrs = MakeNode<ArgsortAttrsNode>();
  attrs->axis = axis;
  attrs->descending = descending;
  attrs->dtype = dtype;
  return MakeCall("argsort", {std::move(data)}, Attrs(attrs));
}
static Attrs AttrsOfTopK(int64_t k, int64_t axis, const std::string& ret_type, bool largest, DataType dtype) {
  auto attrs = MakeNode<TopKAttrsNode>();
  attrs->k = k;
  attrs->axis = axis;
  attrs->ret_type = String(ret_type);
  attrs->largest = largest;
  attrs->dtype = dtype;
  return Attrs(attrs);
}
Expr TopK(Expr data, int64_t k, int64_t axis, std::string ret_type, bool largest, DataType dtype) {
  return MakeCall("topk", {std::move(data)}, AttrsOfTopK(k, axis, ret_type, largest, dtype));
}
Expr DynamicTopK(Expr data, PrimExpr count, int64_t axis, std::string ret_type, bool largest, DataType dtype) {
  return MakeCall("dynamic_topk", {std::move(data), ShapeExpr({std::move(count)})},
                  AttrsOfTopK(0, axis, ret_type, largest, dtype));
}
Expr Median(Expr data, std::optional<int64_t> axis, bool keepdims) {
  auto attrs = MakeNode<StatisticalAttrsNode>();
  if (axis) attrs->axis = Array<int64_t>{*axis};
  attrs->keepdims = keepdims;
  return MakeCall("median", {std::move(data)}, Attrs(attrs));
}
Expr Nonzero(Expr x) { return MakeCall("nonzero", {std::move(x)}); }
Expr Unique(Expr x, bool sorted, bool return_index, bool return_inverse, bool return_counts,
            std::optional<int64_t> axis) {
  const auto flag = [](bool value) { return PrimValue(value ? True() : False()); };
  Array<Expr> args = {std::move(x), flag(sorted), flag(return_index), flag(return_inverse), flag(return_counts)};
  if (axis) args.push_back(PrimValue::Int64(*axis));
  return MakeCall("unique", std::move(args));
}

void SortAttrsNode::RegisterReflection() {
  refl::ObjectDef<SortAttrsNode>()
      .def_ro("axis", &SortAttrsNode::axis)
      .def_ro("descending", &SortAttrsNode::descending);
}
void ArgsortAttrsNode::RegisterReflection() {
  refl::ObjectDef<ArgsortAttrsNode>()
      .def_ro("axis", &ArgsortAttrsNode::axis)
      .def_ro("descending", &ArgsortAttrsNode::descending)
      .def_ro("dtype", &ArgsortAttrsNode::dtype);
}
void TopKAttrsNode::RegisterReflection() {
  refl::ObjectDef<TopKAttrsNode>()
      .def_ro("k", &TopKAttrsNode::k)
      .def_ro("axis", &TopKAttrsNode::axis)
      .def_ro("ret_type", &TopKAttrsNode::ret_type)
      .def_ro("largest", &TopKAttrsNode::largest)
      .def_ro("dtype", &TopKAttrsNode::dtype);
}
DEUTERON_REFLECTION() {
  SortAttrsNode::RegisterReflection();
  ArgsortAttrsNode::RegisterReflection();
  TopKAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
