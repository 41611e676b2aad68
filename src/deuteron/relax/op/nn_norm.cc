#include <algorithm>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/target/target.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

void CheckFloat(const Call& call) {
  const TensorTypeNode* type = TensorArg(call, 0);
  if (!type->dtype.is_void() && !type->dtype.is_float()) {
    ThrowOpError(call, "takes a floating-point tensor and is given " + Describe(GetRef<Type>(type)));
  }
}

/// Throws if argument `index` provably has not the shape `expected`.
void CheckParameter(const Call& call, const BlockBuilder& builder, size_t index, const Array<PrimExpr>& expected) {
  const TensorTypeNode* type = TensorArg(call, index);
  CheckRank(call, index, static_cast<int64_t>(expected.size()));
  if (!type->has_shape()) return;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (ProvablyDiffers(builder, (*type->shape)[i], {index, i, expected[i]})) {
      ThrowOpError(call, "argument " + std::to_string(index) + " is " + Describe(GetRef<Type>(type)) +
                             " and must have shape " + Describe(expected) + " for data of type " +
                             Describe(call->args[0].ty()));
    }
  }
}

std::vector<size_t> Positive(const Call& call, const Array<int64_t>& axes, int64_t ndim) {
  const auto normal = NormalizeAxes(call, ToVector(axes), ndim);
  return {normal.begin(), normal.end()};
}

Array<PrimExpr> DimsAt(const TensorTypeNode* type, const std::vector<size_t>& axes) {
  Array<PrimExpr> dims;
  for (const size_t axis : axes) dims.push_back((*type->shape)[axis]);
  return dims;
}

Type InferBatchNorm(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 5, 5);
  CheckFloat(call);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) {
    const auto axis = static_cast<size_t>(NormalizeAxis(call, AttrsOf<BatchNormAttrsNode>(call)->axis, data->ndim));
    if (data->has_shape()) {
      for (size_t i = 1; i < 5; ++i) CheckParameter(call, builder, i, DimsAt(data, {axis}));
    }
  }
  return TupleType({GetRef<Type>(data), call->args[3].ty(), call->args[4].ty()});
}

Expr LegalizeBatchNorm(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<BatchNormAttrsNode>(call);
  topi::BatchNormSpec spec;
  spec.axis = static_cast<size_t>(NormalizeAxis(call, attrs->axis, TensorArg(call, 0)->ndim));
  spec.epsilon = attrs->epsilon;
  spec.center = attrs->center;
  spec.scale = attrs->scale;
  spec.momentum = attrs->momentum;
  spec.training = attrs->training;
  return builder.CallTE("batch_norm", call->args, [&](const Array<Tensor>& args) {
    return topi::BatchNorm(args[0], args[1], args[2], args[3], args[4], spec);
  });
}

Type InferLayerNorm(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 3);
  CheckFloat(call);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) {
    const auto axes = Positive(call, AttrsOf<LayerNormAttrsNode>(call)->axes, data->ndim);
    if (data->has_shape()) {
      for (size_t i = 1; i < 3; ++i) CheckParameter(call, builder, i, DimsAt(data, axes));
    }
  }
  return GetRef<Type>(data);
}

Expr LegalizeLayerNorm(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<LayerNormAttrsNode>(call);
  const auto axes = Positive(call, attrs->axes, TensorArg(call, 0)->ndim);
  return builder.CallTE("layer_norm", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::LayerNorm(args[0], attrs->scale ? args[1] : Tensor(), attrs->center ? args[2] : Tensor(),
                                         axes, attrs->epsilon)};
  });
}

/// Of group_norm and instance_norm: per-channel parameters.
Type InferChannelNorm(const Call& call, const BlockBuilder& builder, int64_t channel_axis, const Array<int64_t>& axes,
                      int64_t num_groups) {
  CheckArity(call, 3, 3);
  CheckFloat(call);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim == kUnknownNDim) return GetRef<Type>(data);
  const auto channel = static_cast<size_t>(NormalizeAxis(call, channel_axis, data->ndim));
  const auto reduced = Positive(call, axes, data->ndim);
  if (std::find(reduced.begin(), reduced.end(), channel) != reduced.end()) {
    ThrowOpError(call, "the channel axis " + std::to_string(channel) + " is also among its axes");
  }
  if (!data->has_shape()) return GetRef<Type>(data);
  for (size_t i = 1; i < 3; ++i) CheckParameter(call, builder, i, DimsAt(data, {channel}));
  const auto channels = AsConstInt((*data->shape)[channel]);
  if (num_groups < 1 || (channels && *channels % num_groups != 0)) {
    ThrowOpError(call, "the channels of " + Describe(GetRef<Type>(data)) + " do not divide into " +
                           std::to_string(num_groups) + " groups");
  }
  return GetRef<Type>(data);
}

Type InferGroupNorm(const Call& call, const BlockBuilder& builder) {
  const auto* attrs = AttrsOf<GroupNormAttrsNode>(call);
  return InferChannelNorm(call, builder, attrs->channel_axis, attrs->axes, attrs->num_groups);
}

Type InferInstanceNorm(const Call& call, const BlockBuilder& builder) {
  const auto* attrs = AttrsOf<InstanceNormAttrsNode>(call);
  return InferChannelNorm(call, builder, attrs->channel_axis, attrs->axes, 1);
}

/// Whether a norm is of images whose channels come last, all pixels together.
bool IsOfChannelsLast(const GroupNormAttrsNode& attrs, const Call& call) {
  const int64_t ndim = TensorArg(call, 0)->ndim;
  std::vector<size_t> axes = Positive(call, attrs.axes, ndim);
  std::sort(axes.begin(), axes.end());
  const bool is_all = static_cast<int64_t>(axes.size()) == ndim - 2 && ndim > 2 && axes.front() == 1;
  return is_all && NormalizeAxis(call, attrs.channel_axis, ndim) == ndim - 1;
}

/// (n, parts, h, w, …, c): as many lines as are still in the cache when they are read again, and as leave all threads
/// enough parts.
Array<PrimExpr> ShapeInParts(const TensorTypeNode* image) {
  constexpr int64_t kPartsPerThread = 4, kUnknown = 128;
  const Machine& machine = Target::Current().machine;
  const Array<PrimExpr>& shape = *image->shape;
  int64_t lines = 1;
  if (const auto height = AsConstInt(shape[1])) {
    double bytes = image->dtype.bytes();
    for (int64_t axis = 2; axis < image->ndim; ++axis) {
      bytes *= static_cast<double>(AsConstInt(shape[axis]).value_or(kUnknown));
    }
    const double in_cache = static_cast<double>(machine.l2.Share()) / 4 / std::max(bytes, 1.0);
    const double all = static_cast<double>(*height), images = static_cast<double>(AsConstInt(shape[0]).value_or(1));
    const double of_threads = all * images / static_cast<double>(kPartsPerThread * machine.threads);
    lines = static_cast<int64_t>(std::max(std::min({in_cache, of_threads, all}), 1.0));
    while (*height % lines != 0) --lines;
  }
  Array<PrimExpr> parts = {shape[0], FloorDiv(shape[1], lines), I64(lines)};
  parts.insert(parts.end(), shape.begin() + 2, shape.end());
  return parts;
}

/// Sums of channels, parts of the image by themselves, before those of groups: vectors lie along channels.
Expr LegalizeInParts(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<GroupNormAttrsNode>(call);
  const Expr& x = call->args[0];
  const auto both = [&](const Call& moments) {
    const Var tuple = builder.Emit(moments);
    return Array<Expr>{builder.Emit(TupleGetItem(tuple, 0)), builder.Emit(TupleGetItem(tuple, 1))};
  };
  const Array<PrimExpr> shape = ShapeInParts(TensorArg(call, 0));
  const Expr parts = builder.Emit(builder.CallTE(
      "reshape", {x}, [&](const Array<Tensor>& args) { return Array<Tensor>{topi::Reshape(args[0], shape)}; }));
  const Array<Expr> of_parts = both(
      builder.CallTE("part_moments", {parts}, [&](const Array<Tensor>& args) { return topi::PartMoments(args[0]); }));
  const Array<Expr> of_groups =
      both(builder.CallTE("group_moments", {parts, of_parts[0], of_parts[1]}, [&](const Array<Tensor>& args) {
        return topi::GroupMoments(args[0], args[1], args[2], attrs->num_groups, attrs->epsilon);
      }));
  return builder.CallTE(
      "group_norm", {x, of_groups[0], of_groups[1], call->args[1], call->args[2]}, [&](const Array<Tensor>& args) {
        return Array<Tensor>{topi::WithMoments(args[0], args[1], args[2], attrs->scale ? args[3] : Tensor(),
                                               attrs->center ? args[4] : Tensor())};
      });
}

Expr LegalizeGroupNorm(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<GroupNormAttrsNode>(call);
  const int64_t ndim = TensorArg(call, 0)->ndim;
  if (IsOfChannelsLast(*attrs, call) && topi::AccumulatorType(TensorArg(call, 0)->dtype) == DataType::Float(32)) {
    return LegalizeInParts(builder, call);
  }
  return builder.CallTE("group_norm", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::GroupNorm(args[0], attrs->scale ? args[1] : Tensor(), attrs->center ? args[2] : Tensor(),
                                         attrs->num_groups,
                                         static_cast<size_t>(NormalizeAxis(call, attrs->channel_axis, ndim)),
                                         Positive(call, attrs->axes, ndim), attrs->epsilon)};
  });
}

Expr LegalizeInstanceNorm(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<InstanceNormAttrsNode>(call);
  const auto axes = Positive(call, attrs->axes, TensorArg(call, 0)->ndim);
  const auto channel = static_cast<size_t>(NormalizeAxis(call, attrs->channel_axis, TensorArg(call, 0)->ndim));
  return builder.CallTE("instance_norm", call->args, [&](const Array<Tensor>& args) {
    // Every channel is a group of its own: the channel axis is among the kept ones of a layer norm.
    return Array<Tensor>{topi::LayerNorm(args[0], attrs->scale ? args[1] : Tensor(), attrs->center ? args[2] : Tensor(),
                                         axes, attrs->epsilon, channel)};
  });
}

Type InferRMSNorm(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  CheckFloat(call);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) {
    const auto axes = Positive(call, AttrsOf<RMSNormAttrsNode>(call)->axes, data->ndim);
    if (data->has_shape()) CheckParameter(call, builder, 1, DimsAt(data, axes));
  }
  return GetRef<Type>(data);
}

Expr LegalizeRMSNorm(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<RMSNormAttrsNode>(call);
  const auto axes = Positive(call, attrs->axes, TensorArg(call, 0)->ndim);
  return builder.CallTE("rms_norm", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::RMSNorm(args[0], args[1], axes, attrs->epsilon)};
  });
}

}  // namespace

std::vector<OpInfo> NNNormOps() {
  return {
      {"nn.batch_norm",
       {"data", "gamma", "beta", "moving_mean", "moving_var"},
       "deuteron.relax.BatchNormAttrs",
       InferBatchNorm,
       LegalizeBatchNorm},
      {"nn.layer_norm", {"data", "gamma", "beta"}, "deuteron.relax.LayerNormAttrs", InferLayerNorm, LegalizeLayerNorm},
      {"nn.group_norm", {"data", "gamma", "beta"}, "deuteron.relax.GroupNormAttrs", InferGroupNorm, LegalizeGroupNorm},
      {"nn.instance_norm",
       {"data", "gamma", "beta"},
       "deuteron.relax.InstanceNormAttrs",
       InferInstanceNorm,
       LegalizeInstanceNorm},
      {"nn.rms_norm", {"data", "weight"}, "deuteron.relax.RMSNormAttrs", InferRMSNorm, LegalizeRMSNorm},
  };
}

namespace nn {

Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean, Expr moving_var, int64_t axis, double epsilon,
               bool center, bool scale, double momentum, bool training) {
  auto attrs = MakeNode<BatchNormAttrsNode>();
  attrs->axis = axis;
  attrs->epsilon = epsilon;
  attrs->center = center;
  attrs->scale = scale;
  attrs->momentum = momentum;
  attrs->training = training;
  return MakeCall("nn.batch_norm",
                  {std::move(data), std::move(gamma), std::move(beta), std::move(moving_mean), std::move(moving_var)},
                  BatchNormAttrs(std::move(attrs)));
}

Expr LayerNorm(Expr data, Expr gamma, Expr beta, std::vector<int64_t> axes, double epsilon, bool center, bool scale) {
  auto attrs = MakeNode<LayerNormAttrsNode>();
  attrs->axes = ToArray(axes);
  attrs->epsilon = epsilon;
  attrs->center = center;
  attrs->scale = scale;
  return MakeCall("nn.layer_norm", {std::move(data), std::move(gamma), std::move(beta)},
                  LayerNormAttrs(std::move(attrs)));
}

Expr GroupNorm(Expr data, Expr gamma, Expr beta, int64_t num_groups, int64_t channel_axis, std::vector<int64_t> axes,
               double epsilon, bool center, bool scale) {
  auto attrs = MakeNode<GroupNormAttrsNode>();
  attrs->num_groups = num_groups;
  attrs->channel_axis = channel_axis;
  attrs->axes = ToArray(axes);
  attrs->epsilon = epsilon;
  attrs->center = center;
  attrs->scale = scale;
  return MakeCall("nn.group_norm", {std::move(data), std::move(gamma), std::move(beta)},
                  GroupNormAttrs(std::move(attrs)));
}

Expr InstanceNorm(Expr data, Expr gamma, Expr beta, int64_t channel_axis, std::vector<int64_t> axes, double epsilon,
                  bool center, bool scale) {
  auto attrs = MakeNode<InstanceNormAttrsNode>();
  attrs->channel_axis = channel_axis;
  attrs->axes = ToArray(axes);
  attrs->epsilon = epsilon;
  attrs->center = center;
  attrs->scale = scale;
  return MakeCall("nn.instance_norm", {std::move(data), std::move(gamma), std::move(beta)},
                  InstanceNormAttrs(std::move(attrs)));
}

Expr RMSNorm(Expr data, Expr weight, std::vector<int64_t> axes, double epsilon) {
  auto attrs = MakeNode<RMSNormAttrsNode>();
  attrs->axes = ToArray(axes);
  attrs->epsilon = epsilon;
  return MakeCall("nn.rms_norm", {std::move(data), std::move(weight)}, RMSNormAttrs(std::move(attrs)));
}

}  // namespace nn
}  // namespace deuteron::relax
