#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/topi/blocked_layout.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

/// Number of spatial axes, from the class of the attributes.
template <typename One, typename Two>
size_t RankOf(const Call& call) {
  if (call->attrs.as<One>() != nullptr) return 1;
  return call->attrs.as<Two>() != nullptr ? 2 : 3;
}
size_t ConvRank(const Call& call) {
  const auto* packed = call->attrs.as<ConvPackAttrsNode>();
  return packed == nullptr ? RankOf<Conv1DAttrsNode, Conv2DAttrsNode>(call) : packed->strides.size();
}
size_t ConvTransposeRank(const Call& call) { return RankOf<Conv1DTransposeAttrsNode, Conv2DTransposeAttrsNode>(call); }

template <typename AttrsNode>
String OutLayout(const AttrsNode* attrs) {
  return attrs->out_layout.empty() ? attrs->data_layout : attrs->out_layout;
}

/// Checks what both kinds of convolution share; the dtype of the result.
template <typename AttrsNode>
DataType CheckConv(const Call& call, const AttrsNode* attrs, size_t rank, bool blocks) {
  CheckArity(call, 2, 2);
  CheckLayout(call, attrs->data_layout, "NC", rank, blocks);
  CheckLayout(call, attrs->kernel_layout, "OI", rank, blocks);
  CheckLayout(call, OutLayout(attrs), "NC", rank, blocks);
  CheckRank(call, 0, LayoutRank(attrs->data_layout));
  CheckRank(call, 1, LayoutRank(attrs->kernel_layout));
  if (attrs->groups < 1) ThrowOpError(call, "has " + std::to_string(attrs->groups) + " groups");
  for (const auto* values : {&attrs->strides, &attrs->dilation}) {
    for (const int64_t value : Expanded(*values, rank)) {
      if (value < 1) ThrowOpError(call, "its strides and dilation must be positive");
    }
  }
  if (attrs->out_dtype.has_value() && !attrs->out_dtype.value().is_void()) return attrs->out_dtype.value();
  return CommonDType(call, 0, 1);
}

[[noreturn]] void ThrowShapes(const Call& call, const std::string& message) {
  ThrowOpError(call, message + "; the data is " + Describe(call->args[0].ty()) + " and the kernel " +
                         Describe(call->args[1].ty()));
}

/// Throws if the data's channels are provably not `expected`.
void CheckChannels(const Call& call, const BlockBuilder& builder, const String& layout, const Array<PrimExpr>& data,
                   const PrimExpr& expected, int64_t groups) {
  const PrimExpr channels = DimAt(data, layout, 'C');
  // In blocks they are two dimensions, which are constants.
  const size_t axis = std::string(layout).find('C');
  const bool differ = layout.size() == data.size()
                          ? ProvablyDiffers(builder, channels, {0, axis, expected})
                          : builder.analyzer().CanProve(deuteron::NotEqual(channels, expected));
  if (differ) {
    ThrowShapes(call, "the data has " + Describe(channels) + " channels where the kernel with " +
                          std::to_string(groups) + " groups takes " + Describe(expected));
  }
}

/// The extents of the spatial axes of the result.
Array<PrimExpr> ConvSpatial(const Call& call, const BlockBuilder& builder, const ConvAttrsNode* attrs, size_t rank,
                            const Array<PrimExpr>& data, const Array<PrimExpr>& kernel) {
  const auto strides = Expanded(attrs->strides, rank);
  const auto dilation = Expanded(attrs->dilation, rank);
  const Padding padding = SplitPadding(attrs->padding, rank);
  const std::string letters = SpatialLetters(rank);
  Array<PrimExpr> spatial;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr window = (DimAt(kernel, attrs->kernel_layout, letters[i]) - 1) * dilation[i] + 1;
    const PrimExpr padded = DimAt(data, attrs->data_layout, letters[i]) + (padding.before[i] + padding.after[i]);
    const PrimExpr extent = builder.analyzer().Simplify(FloorDiv(padded - window, strides[i]) + 1);
    if (const auto known = AsConstInt(extent); known && *known < 1) {
      ThrowShapes(call, "the kernel spans " + Describe(window) + " along " + letters[i] +
                            ", more than the padded data's " + Describe(padded));
    }
    spatial.push_back(extent);
  }
  return spatial;
}

/// The output channels: those of the kernel, but for what its blocks have too many.
PrimExpr OutChannels(const Call& call, const ConvAttrsNode* attrs, const Array<PrimExpr>& kernel) {
  const PrimExpr channels = DimAt(kernel, attrs->kernel_layout, 'O');
  const auto* packed = call->attrs.as<ConvPackAttrsNode>();
  if (packed == nullptr) return channels;
  if (topi::BlockFactor(topi::ParseAxes(std::string(OutLayout(attrs))), 'C') != 1) {
    ThrowOpError(call, "has an output whose channels are not in blocks");
  }
  if (const auto known = AsConstInt(channels); packed->channels < 1 || (known && *known < packed->channels)) {
    ThrowShapes(call, "the kernel has no " + std::to_string(packed->channels) + " output channels");
  }
  if (const auto known = AsConstInt(channels); attrs->groups != 1 && known != packed->channels) {
    ThrowShapes(call, "the kernel of " + std::to_string(attrs->groups) + " groups has more than the " +
                          std::to_string(packed->channels) + " output channels");
  }
  return I64(packed->channels);
}

Type InferConv(const Call& call, const BlockBuilder& builder) {
  const auto* attrs = AttrsOf<ConvAttrsNode>(call);
  const size_t rank = ConvRank(call);
  const DataType dtype = CheckConv(call, attrs, rank, /*blocks=*/true);
  bool has_parts = false;
  if (const auto* packed = call->attrs.as<ConvPackAttrsNode>()) {
    CheckPacking(call, std::string(packed->packing), dtype);
    has_parts = std::string(packed->packing) == topi::kHalvesInParts;
  }
  const auto data = ShapeOf(TensorArg(call, 0));
  const auto kernel = ShapeOf(TensorArg(call, 1));
  const VDevice device = CommonVDevice(call);
  if (!data || !kernel) return TensorType::WithNDim(LayoutRank(OutLayout(attrs)), dtype, device);
  const PrimExpr out_channels = OutChannels(call, attrs, *kernel);
  PrimExpr in_channels = DimAt(*kernel, attrs->kernel_layout, 'I') * attrs->groups;
  if (has_parts) in_channels = topi::PairsOfHalves(in_channels) * topi::kPartsOfHalf;
  CheckChannels(call, builder, attrs->data_layout, *data, in_channels, attrs->groups);
  if (const auto known = AsConstInt(out_channels); known && *known % attrs->groups != 0) {
    ThrowShapes(call, "the " + std::to_string(*known) + " output channels do not divide into " +
                          std::to_string(attrs->groups) + " groups");
  }
  const int64_t block = topi::BlockFactor(topi::ParseAxes(std::string(OutLayout(attrs))), 'C');
  if (const auto known = AsConstInt(out_channels); known && *known % block != 0) {
    ThrowShapes(call, "the " + std::to_string(*known) + " output channels do not divide into blocks of " +
                          std::to_string(block));
  }
  const Array<PrimExpr> spatial = ConvSpatial(call, builder, attrs, rank, *data, *kernel);
  const std::string letters = SpatialLetters(rank);
  return TensorType(ShapeInLayout(OutLayout(attrs),
                                  [&](char letter) -> PrimExpr {
                                    if (letter == 'N') return DimAt(*data, attrs->data_layout, 'N');
                                    return letter == 'C' ? out_channels : spatial[letters.find(letter)];
                                  }),
                    dtype, device);
}

template <typename AttrsNode>
topi::ConvSpec SpecOf(const Call& call, const AttrsNode* attrs, size_t rank) {
  topi::ConvSpec spec;
  spec.strides = Expanded(attrs->strides, rank);
  spec.dilation = Expanded(attrs->dilation, rank);
  Padding padding = SplitPadding(attrs->padding, rank);
  spec.padding_before = std::move(padding.before);
  spec.padding_after = std::move(padding.after);
  spec.groups = attrs->groups;
  spec.data_layout = std::string(attrs->data_layout);
  spec.kernel_layout = std::string(attrs->kernel_layout);
  spec.out_layout = std::string(OutLayout(attrs));
  spec.out_dtype = call.ty().as<TensorTypeNode>()->dtype;
  return spec;
}

/// The spatial extents of the (inferred) result.
Array<PrimExpr> ResultSpatial(const Call& call, const std::string& layout, size_t rank) {
  Array<PrimExpr> spatial;
  for (const char letter : SpatialLetters(rank)) {
    spatial.push_back(DimAt(*call.ty().as<TensorTypeNode>()->shape, layout, letter));
  }
  return spatial;
}

Expr LegalizeConv(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const size_t rank = ConvRank(call);
  topi::ConvSpec spec = SpecOf(call, AttrsOf<ConvAttrsNode>(call), rank);
  if (const auto* packed = call->attrs.as<ConvPackAttrsNode>()) {
    spec.out_channels = packed->channels;
    spec.packing = std::string(packed->packing);
  }
  return builder.CallTE("conv" + std::to_string(rank) + "d", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::Conv(args[0], args[1], spec, ResultSpatial(call, spec.out_layout, rank))};
  });
}

Type InferConvTranspose(const Call& call, const BlockBuilder& builder) {
  const auto* attrs = AttrsOf<ConvTransposeAttrsNode>(call);
  const size_t rank = ConvTransposeRank(call);
  const DataType dtype = CheckConv(call, attrs, rank, /*blocks=*/false);
  const auto data = ShapeOf(TensorArg(call, 0));
  const auto kernel = ShapeOf(TensorArg(call, 1));
  const VDevice device = CommonVDevice(call);
  if (!data || !kernel) return TensorType::WithNDim(static_cast<int64_t>(rank) + 2, dtype, device);
  const PrimExpr in_channels = DimAt(*kernel, attrs->kernel_layout, 'I');
  CheckChannels(call, builder, attrs->data_layout, *data, in_channels, 1);
  if (const auto known = AsConstInt(in_channels); known && *known % attrs->groups != 0) {
    ThrowShapes(call, "the " + std::to_string(*known) + " input channels do not divide into " +
                          std::to_string(attrs->groups) + " groups");
  }
  const auto strides = Expanded(attrs->strides, rank);
  const auto dilation = Expanded(attrs->dilation, rank);
  const auto extra = Expanded(attrs->output_padding, rank);
  const Padding padding = SplitPadding(attrs->padding, rank);
  const std::string letters = SpatialLetters(rank);
  Array<PrimExpr> spatial;
  for (size_t i = 0; i < rank; ++i) {
    if (extra[i] < 0 || extra[i] >= std::max(strides[i], dilation[i])) {
      ThrowOpError(call,
                   "output_padding " + std::to_string(extra[i]) + " must be smaller than the stride or the dilation");
    }
    const PrimExpr window = (DimAt(*kernel, attrs->kernel_layout, letters[i]) - 1) * dilation[i] + 1;
    const PrimExpr extent =
        builder.analyzer().Simplify((DimAt(*data, attrs->data_layout, letters[i]) - 1) * strides[i] + window +
                                    (extra[i] - padding.before[i] - padding.after[i]));
    if (const auto known = AsConstInt(extent); known && *known < 1) {
      ThrowShapes(call, "its padding leaves nothing along " + std::string(1, letters[i]));
    }
    spatial.push_back(extent);
  }
  return TensorType(ShapeInLayout(OutLayout(attrs),
                                  [&](char letter) -> PrimExpr {
                                    if (letter == 'N') return DimAt(*data, attrs->data_layout, 'N');
                                    if (letter == 'C') return DimAt(*kernel, attrs->kernel_layout, 'O') * attrs->groups;
                                    return spatial[letters.find(letter)];
                                  }),
                    dtype, device);
}

Expr LegalizeConvTranspose(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<ConvTransposeAttrsNode>(call);
  const size_t rank = ConvTransposeRank(call);
  const auto kernel = *ShapeOf(TensorArg(call, 1));
  for (const char letter : SpatialLetters(rank)) {
    if (!AsConstInt(DimAt(kernel, attrs->kernel_layout, letter))) return call;
  }
  topi::ConvSpec spec = SpecOf(call, attrs, rank);
  spec.output_padding = Expanded(attrs->output_padding, rank);
  return builder.CallTE("conv" + std::to_string(rank) + "d_transpose", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::ConvTranspose(args[0], args[1], spec, ResultSpatial(call, spec.out_layout, rank))};
  });
}

template <typename AttrsNode, typename Options>
void SetLayouts(AttrsNode* attrs, const Options& options) {
  if (!options.data_layout.empty()) attrs->data_layout = options.data_layout;
  if (!options.kernel_layout.empty()) attrs->kernel_layout = options.kernel_layout;
  attrs->out_layout = options.out_layout.empty() ? attrs->data_layout : String(options.out_layout);
  attrs->groups = options.groups;
  if (!options.out_dtype.is_void()) attrs->out_dtype = options.out_dtype;
}

template <typename AttrsType>
Expr MakeConv(const char* name, Expr data, Expr weight, const nn::ConvOptions& options, size_t rank) {
  auto attrs = MakeNode<typename AttrsType::ContainerType>();
  attrs->strides = PerAxis(options.strides, rank, 1);
  attrs->padding = PaddingAttr(options.padding, rank);
  attrs->dilation = PerAxis(options.dilation, rank, 1);
  SetLayouts(attrs.get(), options);
  return MakeCall(name, {std::move(data), std::move(weight)}, AttrsType(std::move(attrs)));
}

template <typename AttrsType>
Expr MakeConvTranspose(const char* name, Expr data, Expr weight, const nn::ConvTransposeOptions& options, size_t rank) {
  auto attrs = MakeNode<typename AttrsType::ContainerType>();
  attrs->strides = PerAxis(options.strides, rank, 1);
  attrs->padding = PaddingAttr(options.padding, rank);
  attrs->output_padding = PerAxis(options.output_padding, rank, 0);
  attrs->dilation = PerAxis(options.dilation, rank, 1);
  SetLayouts(attrs.get(), options);
  return MakeCall(name, {std::move(data), std::move(weight)}, AttrsType(std::move(attrs)));
}

}  // namespace

std::vector<OpInfo> NNConvOps() {
  const std::vector<const char*> arguments = {"data", "weight"};
  return {
      {"nn.conv1d", arguments, "deuteron.relax.Conv1DAttrs", InferConv, LegalizeConv},
      {"nn.conv2d", arguments, "deuteron.relax.Conv2DAttrs", InferConv, LegalizeConv},
      {"nn.conv3d", arguments, "deuteron.relax.Conv3DAttrs", InferConv, LegalizeConv},
      {"nn.conv_pack", arguments, "deuteron.relax.ConvPackAttrs", InferConv, LegalizeConv},
      {"nn.conv1d_transpose", arguments, "deuteron.relax.Conv1DTransposeAttrs", InferConvTranspose,
       LegalizeConvTranspose},
      {"nn.conv2d_transpose", arguments, "deuteron.relax.Conv2DTransposeAttrs", InferConvTranspose,
       LegalizeConvTranspose},
      {"nn.conv3d_transpose", arguments, "deuteron.relax.Conv3DTransposeAttrs", InferConvTranspose,
       LegalizeConvTranspose},
  };
}

namespace nn {

Expr Conv1D(Expr data, Expr weight, const ConvOptions& options) {
  return MakeConv<Conv1DAttrs>("nn.conv1d", std::move(data), std::move(weight), options, 1);
}
Expr Conv2D(Expr data, Expr weight, const ConvOptions& options) {
  return MakeConv<Conv2DAttrs>("nn.conv2d", std::move(data), std::move(weight), options, 2);
}
Expr Conv3D(Expr data, Expr weight, const ConvOptions& options) {
  return MakeConv<Conv3DAttrs>("nn.conv3d", std::move(data), std::move(weight), options, 3);
}
Expr Conv1DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options) {
  return MakeConvTranspose<Conv1DTransposeAttrs>("nn.conv1d_transpose", std::move(data), std::move(weight), options, 1);
}
Expr Conv2DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options) {
  return MakeConvTranspose<Conv2DTransposeAttrs>("nn.conv2d_transpose", std::move(data), std::move(weight), options, 2);
}
Expr Conv3DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options) {
  return MakeConvTranspose<Conv3DTransposeAttrs>("nn.conv3d_transpose", std::move(data), std::move(weight), options, 3);
}

}  // namespace nn
}  // namespace deuteron::relax
