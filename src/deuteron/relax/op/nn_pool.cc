#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

size_t PoolRank(const Call& call) {
  if (call->attrs.as<Pool1DAttrsNode>() != nullptr) return 1;
  return call->attrs.as<Pool2DAttrsNode>() != nullptr ? 2 : 3;
}
size_t AdaptiveRank(const Call& call) {
  if (call->attrs.as<AdaptivePool1DAttrsNode>() != nullptr) return 1;
  return call->attrs.as<AdaptivePool2DAttrsNode>() != nullptr ? 2 : 3;
}

/// A pool keeps its layout: another output layout is not what any front end asks for.
void CheckPoolLayout(const Call& call, const String& layout, const String& out_layout, size_t rank) {
  CheckLayout(call, layout, "NC", rank, /*blocks=*/true);
  if (!out_layout.empty() && out_layout != layout) {
    ThrowOpError(call, "out_layout \"" + std::string(out_layout) + "\" must be its layout \"" + std::string(layout) +
                           "\"; permute the result");
  }
}

/// The axes of a tensor that `letters` name.
std::vector<size_t> SpatialAxes(const String& layout, size_t rank) {
  std::vector<size_t> axes;
  for (const char letter : SpatialLetters(rank)) axes.push_back(AxisAt(layout, letter));
  return axes;
}

Array<PrimExpr> WithSpatial(const Array<PrimExpr>& shape, const std::vector<size_t>& axes,
                            const std::vector<PrimExpr>& spatial) {
  std::vector<PrimExpr> result(shape.begin(), shape.end());
  for (size_t i = 0; i < axes.size(); ++i) result[axes[i]] = spatial[i];
  return {result.begin(), result.end()};
}

topi::PoolSpec SpecOf(const Call& call) {
  const auto* attrs = AttrsOf<PoolAttrsNode>(call);
  const size_t rank = PoolRank(call);
  topi::PoolSpec spec;
  spec.pool_size = Expanded(attrs->pool_size, rank);
  spec.strides = Expanded(attrs->strides, rank);
  spec.dilation = Expanded(attrs->dilation, rank);
  Padding padding = SplitPadding(attrs->padding, rank);
  spec.padding_before = std::move(padding.before);
  spec.padding_after = std::move(padding.after);
  spec.ceil_mode = attrs->ceil_mode;
  spec.count_include_pad = attrs->count_include_pad;
  spec.axes = SpatialAxes(attrs->layout, rank);
  return spec;
}

/// The number of windows along one axis.
PrimExpr PooledExtent(const Call& call, const BlockBuilder& builder, const topi::PoolSpec& spec, size_t i,
                      const PrimExpr& extent) {
  const int64_t window = (spec.pool_size[i] - 1) * spec.dilation[i] + 1;
  const PrimExpr padded = extent + (spec.padding_before[i] + spec.padding_after[i]);
  const int64_t slack = spec.ceil_mode ? spec.strides[i] - 1 : 0;
  PrimExpr windows = FloorDiv(padded - window + slack, spec.strides[i]) + 1;
  if (spec.ceil_mode) {
    // Windows that begin in the padding at the end do not count.
    windows = Min(windows, FloorDiv(extent + (spec.padding_before[i] - 1), spec.strides[i]) + 1);
  }
  windows = builder.analyzer().Simplify(windows);
  if (const auto known = AsConstInt(windows); known && *known < 1) {
    ThrowOpError(call, "its window spans " + std::to_string(window) + " elements, more than the padded data's " +
                           Describe(padded) + "; the data is " + Describe(call->args[0].ty()));
  }
  return windows;
}

Type InferPool(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto* attrs = AttrsOf<PoolAttrsNode>(call);
  const size_t rank = PoolRank(call);
  CheckPoolLayout(call, attrs->layout, attrs->out_layout, rank);
  CheckRank(call, 0, LayoutRank(attrs->layout));
  const topi::PoolSpec spec = SpecOf(call);
  for (size_t i = 0; i < rank; ++i) {
    if (spec.strides[i] < 1 || spec.dilation[i] < 1 || spec.pool_size[i] < 1) {
      ThrowOpError(call, "its pool_size, strides and dilation must be positive");
    }
  }
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->has_shape()) {
    return TensorType::WithNDim(LayoutRank(attrs->layout), data->dtype, data->vdevice);
  }
  std::vector<PrimExpr> spatial;
  for (size_t i = 0; i < rank; ++i) {
    spatial.push_back(PooledExtent(call, builder, spec, i, (*data->shape)[spec.axes[i]]));
  }
  return TensorType(WithSpatial(*data->shape, spec.axes, spatial), data->dtype, data->vdevice);
}

Array<PrimExpr> ResultDims(const Call& call, const std::vector<size_t>& axes) {
  Array<PrimExpr> dims;
  for (const size_t axis : axes) dims.push_back((*call.ty().as<TensorTypeNode>()->shape)[axis]);
  return dims;
}

Expr LegalizeMaxPool(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const topi::PoolSpec spec = SpecOf(call);
  const std::string name = "max_pool" + std::to_string(PoolRank(call)) + "d";
  return builder.CallTE(name, call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::MaxPool(args[0], spec, ResultDims(call, spec.axes))};
  });
}

Expr LegalizeAvgPool(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const topi::PoolSpec spec = SpecOf(call);
  const std::string name = "avg_pool" + std::to_string(PoolRank(call)) + "d";
  return builder.CallTE(name, call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::AvgPool(args[0], spec, ResultDims(call, spec.axes))};
  });
}

Type InferAdaptivePool(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto* attrs = AttrsOf<AdaptivePoolAttrsNode>(call);
  const size_t rank = AdaptiveRank(call);
  CheckPoolLayout(call, attrs->layout, attrs->out_layout, rank);
  CheckRank(call, 0, LayoutRank(attrs->layout));
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!attrs->output_size.has_value()) return GetRef<Type>(data);
  if (!data->has_shape()) {
    return TensorType::WithNDim(LayoutRank(attrs->layout), data->dtype, data->vdevice);
  }
  std::vector<PrimExpr> spatial;
  for (const int64_t size : Expanded(*attrs->output_size, rank)) {
    if (size < 1) ThrowOpError(call, "its output_size must be positive");
    spatial.push_back(I64(size));
  }
  return TensorType(WithSpatial(*data->shape, SpatialAxes(attrs->layout, rank), spatial), data->dtype, data->vdevice);
}

Expr LegalizeAdaptivePool(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const size_t rank = AdaptiveRank(call);
  const auto axes = SpatialAxes(AttrsOf<AdaptivePoolAttrsNode>(call)->layout, rank);
  const std::string name = "adaptive_avg_pool" + std::to_string(rank) + "d";
  return builder.CallTE(name, call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::AdaptiveAvgPool(args[0], axes, ResultDims(call, axes))};
  });
}

template <typename AttrsType>
Expr MakePool(const char* name, Expr data, const nn::PoolOptions& options, size_t rank) {
  auto attrs = MakeNode<typename AttrsType::ContainerType>();
  attrs->pool_size = PerAxis(options.pool_size, rank, 1);
  attrs->strides = PerAxis(options.strides, rank, 1);
  attrs->dilation = PerAxis(options.dilation, rank, 1);
  attrs->padding = PaddingAttr(options.padding, rank);
  attrs->ceil_mode = options.ceil_mode;
  attrs->count_include_pad = options.count_include_pad;
  if (!options.layout.empty()) attrs->layout = options.layout;
  attrs->out_layout = options.out_layout.empty() ? attrs->layout : String(options.out_layout);
  return MakeCall(name, {std::move(data)}, AttrsType(std::move(attrs)));
}

template <typename AttrsType>
Expr MakeAdaptive(const char* name, Expr data, const std::vector<int64_t>& output_size, const std::string& layout,
                  size_t rank) {
  auto attrs = MakeNode<typename AttrsType::ContainerType>();
  if (!output_size.empty()) attrs->output_size = PerAxis(output_size, rank, 1);
  attrs->layout = layout;
  attrs->out_layout = layout;
  return MakeCall(name, {std::move(data)}, AttrsType(std::move(attrs)));
}

}  // namespace

std::vector<OpInfo> NNPoolOps() {
  return {
      {"nn.max_pool1d", {"data"}, "deuteron.relax.Pool1DAttrs", InferPool, LegalizeMaxPool},
      {"nn.max_pool2d", {"data"}, "deuteron.relax.Pool2DAttrs", InferPool, LegalizeMaxPool},
      {"nn.max_pool3d", {"data"}, "deuteron.relax.Pool3DAttrs", InferPool, LegalizeMaxPool},
      {"nn.avg_pool1d", {"data"}, "deuteron.relax.Pool1DAttrs", InferPool, LegalizeAvgPool},
      {"nn.avg_pool2d", {"data"}, "deuteron.relax.Pool2DAttrs", InferPool, LegalizeAvgPool},
      {"nn.avg_pool3d", {"data"}, "deuteron.relax.Pool3DAttrs", InferPool, LegalizeAvgPool},
      {"nn.adaptive_avg_pool1d",
       {"data"},
       "deuteron.relax.AdaptivePool1DAttrs",
       InferAdaptivePool,
       LegalizeAdaptivePool},
      {"nn.adaptive_avg_pool2d",
       {"data"},
       "deuteron.relax.AdaptivePool2DAttrs",
       InferAdaptivePool,
       LegalizeAdaptivePool},
      {"nn.adaptive_avg_pool3d",
       {"data"},
       "deuteron.relax.AdaptivePool3DAttrs",
       InferAdaptivePool,
       LegalizeAdaptivePool},
  };
}

namespace nn {

Expr MaxPool1D(Expr data, const PoolOptions& options) {
  return MakePool<Pool1DAttrs>("nn.max_pool1d", std::move(data), options, 1);
}
Expr MaxPool2D(Expr data, const PoolOptions& options) {
  return MakePool<Pool2DAttrs>("nn.max_pool2d", std::move(data), options, 2);
}
Expr MaxPool3D(Expr data, const PoolOptions& options) {
  return MakePool<Pool3DAttrs>("nn.max_pool3d", std::move(data), options, 3);
}
Expr AvgPool1D(Expr data, const PoolOptions& options) {
  return MakePool<Pool1DAttrs>("nn.avg_pool1d", std::move(data), options, 1);
}
Expr AvgPool2D(Expr data, const PoolOptions& options) {
  return MakePool<Pool2DAttrs>("nn.avg_pool2d", std::move(data), options, 2);
}
Expr AvgPool3D(Expr data, const PoolOptions& options) {
  return MakePool<Pool3DAttrs>("nn.avg_pool3d", std::move(data), options, 3);
}
Expr AdaptiveAvgPool1D(Expr data, std::vector<int64_t> output_size, std::string layout) {
  return MakeAdaptive<AdaptivePool1DAttrs>("nn.adaptive_avg_pool1d", std::move(data), output_size, layout, 1);
}
Expr AdaptiveAvgPool2D(Expr data, std::vector<int64_t> output_size, std::string layout) {
  return MakeAdaptive<AdaptivePool2DAttrs>("nn.adaptive_avg_pool2d", std::move(data), output_size, layout, 2);
}
Expr AdaptiveAvgPool3D(Expr data, std::vector<int64_t> output_size, std::string layout) {
  return MakeAdaptive<AdaptivePool3DAttrs>("nn.adaptive_avg_pool3d", std::move(data), output_size, layout, 3);
}

}  // namespace nn
}  // namespace deuteron::relax
