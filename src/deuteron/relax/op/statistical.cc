#include "deuteron/relax/op/statistical.h"

#include <algorithm>

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/product.h"
#include "deuteron/topi/reduction.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

std::vector<size_t> ReducedAxesOf(const Call& call, int64_t ndim) {
  const auto* attrs = AttrsOf<StatisticalAttrsNode>(call);
  return attrs->axis.has_value() ? AxesArg(call, *attrs->axis, ndim) : AllAxes(ndim);
}

Type InferReduction(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<StatisticalAttrsNode>(call);
  if (data->ndim == kUnknownNDim) {
    const bool is_scalar = !attrs->axis.has_value() && !attrs->keepdims;
    return is_scalar ? WithShape(data, {}) : WithRank(data, kUnknownNDim);
  }
  const std::vector<size_t> axes = ReducedAxesOf(call, data->ndim);
  const auto is_reduced = [&](size_t i) { return std::find(axes.begin(), axes.end(), i) != axes.end(); };
  if (!data->shape.has_value() && axes.size() < static_cast<size_t>(data->ndim)) {
    return WithRank(data, attrs->keepdims ? data->ndim : data->ndim - static_cast<int64_t>(axes.size()));
  }
  Array<PrimExpr> shape;
  for (size_t i = 0; i < static_cast<size_t>(data->ndim); ++i) {
    if (!is_reduced(i)) {
      shape.push_back((*data->shape)[i]);
    } else if (attrs->keepdims) {
      shape.push_back(I64(1));
    }
  }
  return WithShape(data, shape);
}

Type InferCommonBits(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const DataType dtype = TensorArg(call, 0)->dtype;
  if (!dtype.is_integer() && !dtype.is_void()) {
    ThrowOpError(call, "its operand must be of integers and is of " + dtype.ToString());
  }
  return InferReduction(call, builder);
}

using Reduction = te::Tensor (*)(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims);

template <topi::ReduceKind kind>
te::Tensor ReduceBy(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) {
  return topi::Reduce(x, axes, keepdims, kind);
}
te::Tensor StdOf(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) {
  return topi::Map(topi::Variance(x, axes, keepdims), [](PrimExpr value) { return CallIntrin("sqrt", {value}); });
}

struct ReductionRule {
  const char* name;
  Reduction reduce;
};
constexpr ReductionRule kReductions[] = {
    {"sum", ReduceBy<topi::ReduceKind::kSum>},
    {"prod", ReduceBy<topi::ReduceKind::kProd>},
    {"max", ReduceBy<topi::ReduceKind::kMax>},
    {"min", ReduceBy<topi::ReduceKind::kMin>},
    {"mean", topi::Mean},
    {"variance", topi::Variance},
    {"std", StdOf},
    {"common_bits", ReduceBy<topi::ReduceKind::kBits>},
};

template <size_t rule>
Expr LegalizeReduction(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, kReductions[rule].name, call->args, [&](const Array<te::Tensor>& args) {
    return kReductions[rule].reduce(args[0], ReducedAxesOf(call, args[0].ndim()),
                                    AttrsOf<StatisticalAttrsNode>(call)->keepdims);
  });
}

template <size_t rule>
OpInfo ReductionRow(InferType infer = InferReduction) {
  return {kReductions[rule].name, {"x"}, "deuteron.relax.StatisticalAttrs", infer, LegalizeReduction<rule>};
}

Type InferScan(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<ScanopAttrsNode>(call);
  const DataType dtype = attrs->dtype.has_value() ? *attrs->dtype : data->dtype;
  if (attrs->axis.has_value()) {
    if (data->ndim != kUnknownNDim) AxisArg(call, *attrs->axis, data->ndim);
    return WithDType(data, dtype);
  }
  if (!data->shape.has_value()) return TensorType::WithNDim(1, dtype, data->vdevice);
  return TensorType({builder.analyzer().Simplify(topi::Product::Of(*data->shape).ToExpr())}, dtype, data->vdevice);
}

template <bool product>
Expr LegalizeScan(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<ScanopAttrsNode>(call);
  const DataType dtype = Downcast<TensorType>(call.ty())->dtype;
  return CallKernel(builder, call, product ? "cumprod" : "cumsum", call->args, [&](const Array<te::Tensor>& args) {
    const te::Tensor data = attrs->axis.has_value() ? args[0] : topi::Reshape(args[0], ResultShape(call));
    const size_t axis = attrs->axis.has_value() ? AxisArg(call, *attrs->axis, args[0].ndim()) : 0;
    return topi::Scan(data, axis, dtype, attrs->exclusive, product);
  });
}

Expr MakeReduction(const char* name, Expr x, const ReduceAxes& axis, bool keepdims) {
  auto attrs = MakeNode<StatisticalAttrsNode>();
  if (axis) attrs->axis = ToArray(*axis);
  attrs->keepdims = keepdims;
  return MakeCall(name, {std::move(x)}, Attrs(attrs));
}
Expr MakeScan(const char* name, Expr data, std::optional<int64_t> axis, DataType dtype, bool exclusive) {
  auto attrs = MakeNode<ScanopAttrsNode>();
  if (axis) attrs->axis = *axis;
  attrs->dtype = OptionalDType(dtype);
  attrs->exclusive = exclusive;
  return MakeCall(name, {std::move(data)}, Attrs(attrs));
}

}  // namespace

std::vector<OpInfo> StatisticalOps() {
  constexpr const char* kScan = "deuteron.relax.ScanopAttrs";
  return {
      ReductionRow<0>(),
      ReductionRow<1>(),
      ReductionRow<2>(),
      ReductionRow<3>(),
      ReductionRow<4>(),
      ReductionRow<5>(),
      ReductionRow<6>(),
      ReductionRow<7>(InferCommonBits),
      {"cumsum", {"data"}, kScan, InferScan, LegalizeScan<false>},
      {"cumprod", {"data"}, kScan, InferScan, LegalizeScan<true>},
  };
}

Expr Sum(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("sum", std::move(x), axis, keepdims); }
Expr Mean(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("mean", std::move(x), axis, keepdims); }
Expr Max(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("max", std::move(x), axis, keepdims); }
Expr Min(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("min", std::move(x), axis, keepdims); }
Expr Prod(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("prod", std::move(x), axis, keepdims); }
Expr CommonBits(Expr x, ReduceAxes axis, bool keepdims) {
  return MakeReduction("common_bits", std::move(x), axis, keepdims);
}
Expr Variance(Expr x, ReduceAxes axis, bool keepdims) {
  return MakeReduction("variance", std::move(x), axis, keepdims);
}
Expr Std(Expr x, ReduceAxes axis, bool keepdims) { return MakeReduction("std", std::move(x), axis, keepdims); }
Expr Cumsum(Expr data, std::optional<int64_t> axis, DataType dtype, bool exclusive) {
  return MakeScan("cumsum", std::move(data), axis, dtype, exclusive);
}
Expr Cumprod(Expr data, std::optional<int64_t> axis, DataType dtype, bool exclusive) {
  return MakeScan("cumprod", std::move(data), axis, dtype, exclusive);
}

void StatisticalAttrsNode::RegisterReflection() {
  refl::ObjectDef<StatisticalAttrsNode>()
      .def_ro("axis", &StatisticalAttrsNode::axis)
      .def_ro("keepdims", &StatisticalAttrsNode::keepdims);
}
void ScanopAttrsNode::RegisterReflection() {
  refl::ObjectDef<ScanopAttrsNode>()
      .def_ro("axis", &ScanopAttrsNode::axis)
      .def_ro("dtype", &ScanopAttrsNode::dtype)
      .def_ro("exclusive", &ScanopAttrsNode::exclusive);
}
DEUTERON_REFLECTION() {
  StatisticalAttrsNode::RegisterReflection();
  ScanopAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
