#include "deuteron/relax/op/search.h"

#include <algorithm>

#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/reduction.h"

namespace deuteron::relax {
namespace {

Type InferWhere(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  const TensorTypeNode* condition = TensorArg(call, 0);
  if (!condition->dtype.is_void() && !condition->dtype.is_bool()) {
    ThrowOpError(call, "its condition must be boolean and is " + Describe(GetRef<Type>(condition)));
  }
  const DataType dtype = CommonDType(call, 1, 2);
  const VDevice device = CommonVDevice(call);
  std::optional<Array<PrimExpr>> shape = ShapeOf(condition);
  int64_t ndim = condition->ndim;
  for (size_t i = 1; i < 3; ++i) {
    const TensorTypeNode* type = TensorArg(call, i);
    ndim = ndim == kUnknownNDim || type->ndim == kUnknownNDim ? kUnknownNDim : std::max(ndim, type->ndim);
    if (shape && type->has_shape()) {
      shape = BroadcastShapes(call, builder, *shape, *type->shape);
    } else {
      shape = std::nullopt;
    }
  }
  return MakeTensorType(shape, ndim, dtype, device);
}

Expr LegalizeWhere(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "where", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Where(args[0], args[1], args[2], ResultShape(call));
  });
}

Type InferArgReduce(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<ArgmaxArgminAttrsNode>(call);
  const DataType dtype = DataType::Int(64);
  if (data->ndim == kUnknownNDim) {
    if (!attrs->axis.has_value() && !attrs->keepdims) return TensorType(Array<PrimExpr>(), dtype, data->vdevice);
    return TensorType::WithNDim(kUnknownNDim, dtype, data->vdevice);
  }
  std::optional<size_t> axis;
  if (attrs->axis.has_value()) axis = AxisArg(call, *attrs->axis, data->ndim);
  if (axis && !data->has_shape()) {
    return TensorType::WithNDim(attrs->keepdims ? data->ndim : data->ndim - 1, dtype, data->vdevice);
  }
  Array<PrimExpr> shape;
  for (size_t i = 0; i < static_cast<size_t>(data->ndim); ++i) {
    if (axis && i != *axis) {
      shape.push_back((*data->shape)[i]);
    } else if (attrs->keepdims) {
      shape.push_back(I64(1));
    }
  }
  return TensorType(shape, dtype, data->vdevice);
}

template <bool greatest>
Expr LegalizeArgReduce(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<ArgmaxArgminAttrsNode>(call);
  return CallKernel(builder, call, greatest ? "argmax" : "argmin", call->args, [&](const Array<te::Tensor>& args) {
    const std::vector<size_t> axes = attrs->axis.has_value()
                                         ? std::vector<size_t>{AxisArg(call, *attrs->axis, args[0].ndim())}
                                         : AllAxes(args[0].ndim());
    return topi::ArgReduce(args[0], axes, attrs->keepdims, greatest);
  });
}

Type InferBucketize(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  CheckRank(call, 1, 1);
  const DataType dtype = AttrsOf<BucketizeAttrsNode>(call)->out_int32 ? DataType::Int(32) : DataType::Int(64);
  return WithDType(TensorArg(call, 0), dtype);
}

Expr LegalizeBucketize(BlockBuilder& builder, const Call& call) {
  const DataType dtype = Downcast<TensorType>(call.ty())->dtype;
  return CallKernel(builder, call, "searchsorted", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Bucketize(args[0], args[1], dtype, AttrsOf<BucketizeAttrsNode>(call)->right);
  });
}

Type InferMultinomial(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  for (size_t i = 0; i < 3; ++i) CheckRank(call, i, 2);
  const TensorTypeNode* rows = TensorArg(call, 2);
  if (!rows->dtype.is_void() && !rows->dtype.is_integer()) {
    ThrowOpError(call, "its sample_indices must be integers and are " + Describe(GetRef<Type>(rows)));
  }
  for (size_t i = 1; i < 3; ++i) {
    const TensorTypeNode* type = TensorArg(call, i);
    if (type->has_shape() && ProvablyDiffers(builder, (*type->shape)[1], {i, 1, I64(1)})) {
      ThrowOpError(call,
                   "argument " + std::to_string(i) + " must be (samples, 1) and is " + Describe(GetRef<Type>(type)));
    }
  }
  const TensorTypeNode* uniform = TensorArg(call, 1);
  if (uniform->has_shape() && rows->has_shape() &&
      ProvablyDiffers(builder, (*uniform->shape)[0], {1, 0, (*rows->shape)[0]})) {
    ThrowOpError(call, "is given numbers and indices for different samples: " + Describe(GetRef<Type>(uniform)) +
                           " and " + Describe(GetRef<Type>(rows)));
  }
  return MakeTensorType(ShapeOf(rows), 2, AttrsOf<MultinomialFromUniformAttrsNode>(call)->dtype, rows->vdevice);
}

Expr LegalizeMultinomial(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "multinomial_from_uniform", call->args, [&](const Array<te::Tensor>& args) {
    const te::Tensor cumulative = topi::Scan(args[0], 1, args[0].dtype(), /*exclusive=*/false, /*product=*/false);
    const PrimExpr classes = args[0].shape()[1];
    const tir::IterVar k = te::ReduceAxis(classes);
    const auto axes = topi::NamesOfAxes(topi::AxisNames::kAx, 2);
    const te::Tensor below = te::Compute(
        args[2].shape(),
        [&](const Array<tir::Var>& vars) {
          const Array<PrimExpr> at = topi::Indices(vars);
          const PrimExpr row = CastTo(DataType::Int(64), args[2](at));
          const PrimExpr bound = CastTo(args[0].dtype(), args[1](at));
          return te::Sum(SelectExpr(cumulative({row, k->var}) <= bound, I64(1), I64(0)), {k});
        },
        "T_count", {}, axes);
    return te::Compute(
        args[2].shape(),
        [&](const Array<tir::Var>& vars) {
          // Rounding may leave the sum of all below 1.
          return CastTo(AttrsOf<MultinomialFromUniformAttrsNode>(call)->dtype,
                        Min(below(topi::Indices(vars)), classes - 1));
        },
        "T_multinomial", {}, axes);
  });
}

Expr MakeArgReduce(const char* name, Expr x, std::optional<int64_t> axis, bool keepdims) {
  auto attrs = MakeNode<ArgmaxArgminAttrsNode>();
  if (axis) attrs->axis = *axis;
  attrs->keepdims = keepdims;
  return MakeCall(name, {std::move(x)}, Attrs(attrs));
}

}  // namespace

std::vector<OpInfo> SearchOps() {
  constexpr const char* kArg = "deuteron.relax.ArgmaxArgminAttrs";
  return {
      {"where", {"condition", "x1", "x2"}, nullptr, InferWhere, LegalizeWhere},
      {"argmax", {"x"}, kArg, InferArgReduce, LegalizeArgReduce<true>},
      {"argmin", {"x"}, kArg, InferArgReduce, LegalizeArgReduce<false>},
      {"bucketize", {"input_tensor", "boundaries"}, "deuteron.relax.BucketizeAttrs", InferBucketize, LegalizeBucketize},
      {"multinomial_from_uniform",
       {"prob", "uniform_sample", "sample_indices"},
       "deuteron.relax.MultinomialFromUniformAttrs",
       InferMultinomial,
       LegalizeMultinomial},
  };
}

Expr Where(Expr condition, Expr x1, Expr x2) {
  return MakeCall("where", {std::move(condition), std::move(x1), std::move(x2)});
}
Expr Argmax(Expr x, std::optional<int64_t> axis, bool keepdims) {
  return MakeArgReduce("argmax", std::move(x), axis, keepdims);
}
Expr Argmin(Expr x, std::optional<int64_t> axis, bool keepdims) {
  return MakeArgReduce("argmin", std::move(x), axis, keepdims);
}
Expr Bucketize(Expr input, Expr boundaries, bool out_int32, bool right) {
  auto attrs = MakeNode<BucketizeAttrsNode>();
  attrs->out_int32 = out_int32;
  attrs->right = right;
  return MakeCall("bucketize", {std::move(input), std::move(boundaries)}, Attrs(attrs));
}
Expr MultinomialFromUniform(Expr prob, Expr uniform, Expr rows, DataType dtype) {
  auto attrs = MakeNode<MultinomialFromUniformAttrsNode>();
  attrs->dtype = dtype;
  return MakeCall("multinomial_from_uniform", {std::move(prob), std::move(uniform), std::move(rows)}, Attrs(attrs));
}
Expr MaskedFill(Expr x, Expr mask, Expr value) { return Where(std::move(mask), FullLike(x, std::move(value)), x); }

void ArgmaxArgminAttrsNode::RegisterReflection() {
  refl::ObjectDef<ArgmaxArgminAttrsNode>()
      .def_ro("axis", &ArgmaxArgminAttrsNode::axis)
      .def_ro("keepdims", &ArgmaxArgminAttrsNode::keepdims);
}
void BucketizeAttrsNode::RegisterReflection() {
  refl::ObjectDef<BucketizeAttrsNode>()
      .def_ro("out_int32", &BucketizeAttrsNode::out_int32)
      .def_ro("right", &BucketizeAttrsNode::right);
}
void MultinomialFromUniformAttrsNode::RegisterReflection() {
  refl::ObjectDef<MultinomialFromUniformAttrsNode>().def_ro("dtype", &MultinomialFromUniformAttrsNode::dtype);
}
DEUTERON_REFLECTION() {
  MultinomialFromUniformAttrsNode::RegisterReflection();
  ArgmaxArgminAttrsNode::RegisterReflection();
  BucketizeAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
