#include <algorithm>

#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/winograd.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

constexpr int64_t kWindow = 3;

/// The attribute `tiles`, of an operator whose result has so many rows and columns (where they are known).
topi::WinogradGrid GridOf(const Call& call, const Array<int64_t>& tiles, const Array<PrimExpr>& spatial) {
  if (tiles.size() != 2) ThrowOpError(call, "needs two numbers of tiles");
  for (const int64_t axis : {0, 1}) {
    const auto extent = AsConstInt(spatial[axis]);
    if (tiles[axis] < 1 || (extent && *extent > tiles[axis] * topi::kWinogradStep)) {
      ThrowOpError(call,
                   "its " + std::to_string(tiles[axis]) + " tiles do not cover a result of " + Describe(spatial[axis]));
    }
  }
  return {I64(tiles[0]), I64(tiles[1])};
}

/// The rows and columns of the result of an image (…, h, w, …), `first` of its dimensions being h.
Array<PrimExpr> ResultExtents(const Array<PrimExpr>& shape, int64_t first, const Padding& padding,
                              const std::vector<int64_t>& dilation, const BlockBuilder& builder) {
  Array<PrimExpr> extents;
  for (size_t axis = padding.before.size() - 2; axis < padding.before.size(); ++axis) {
    const int64_t more = padding.before[axis] + padding.after[axis] - (kWindow - 1) * dilation[axis];
    extents.push_back(builder.analyzer().Simplify(shape[first + static_cast<int64_t>(axis)] + more));
  }
  return extents;
}

Type InferWinogradInput(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  CheckRank(call, 0, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto shape = ShapeOf(data);
  const auto* attrs = AttrsOf<WinogradInputAttrsNode>(call);
  const DataType wide = topi::AccumulatorType(data->dtype);
  if (!shape) return TensorType::WithNDim(5, wide, data->vdevice);
  if (attrs->padding.size() != 4) ThrowOpError(call, "needs a padding of four numbers");
  const topi::WinogradGrid grid =
      GridOf(call, attrs->tiles, ResultExtents(*shape, 2, SplitPadding(attrs->padding, 2), {1, 1}, builder));
  const PrimExpr side = I64(topi::kWinogradTile);
  return TensorType({side, side, (*shape)[0], (*shape)[1], grid.down * grid.across}, wide, data->vdevice);
}

Expr LegalizeWinogradInput(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<WinogradInputAttrsNode>(call);
  const Padding padding = SplitPadding(attrs->padding, 2);
  return builder.CallTE("winograd_input", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::WinogradInput(args[0], padding.before, {I64(attrs->tiles[0]), I64(attrs->tiles[1])},
                                             /*channels_last=*/false)};
  });
}

/// Of the weights and of the image, which are the arguments in either order.
void CheckChannels(const Call& call, const PrimExpr& of_weights, const PrimExpr& of_image,
                   const BlockBuilder& builder) {
  if (!builder.analyzer().CanProve(deuteron::NotEqual(of_weights, of_image))) return;
  ThrowOpError(call,
               "the channels of " + Describe(call->args[0].ty()) + " are not those of " + Describe(call->args[1].ty()));
}

Type InferWinogradProduct(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* tiles = TensorArg(call, 1);
  CheckRank(call, 0, 4);
  CheckRank(call, 1, 5);
  const DataType dtype = CommonDType(call, 0, 1);
  const auto weights_shape = ShapeOf(TensorArg(call, 0)), shape = ShapeOf(tiles);
  if (!weights_shape || !shape) return TensorType::WithNDim(5, dtype, tiles->vdevice);
  CheckChannels(call, (*weights_shape)[3], (*shape)[3], builder);
  Array<PrimExpr> result = *shape;
  result.Set(3, (*weights_shape)[2]);
  return TensorType(result, dtype, tiles->vdevice);
}

Expr LegalizeWinogradProduct(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  return builder.CallTE("winograd_product", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::WinogradProduct(args[0], args[1], {})};
  });
}

Type InferWinogradOutput(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* products = TensorArg(call, 0);
  CheckRank(call, 0, 5);
  const auto* attrs = AttrsOf<WinogradOutputAttrsNode>(call);
  if (attrs->size.size() != 2) ThrowOpError(call, "needs a size of two numbers");
  const Array<PrimExpr> spatial = {I64(attrs->size[0]), I64(attrs->size[1])};
  const topi::WinogradGrid grid = GridOf(call, attrs->tiles, spatial);
  const auto shape = ShapeOf(products);
  if (!shape) return TensorType::WithNDim(4, products->dtype, products->vdevice);
  if (builder.analyzer().CanProve(deuteron::NotEqual((*shape)[4], grid.down * grid.across))) {
    ThrowOpError(call, Describe(call->args[0].ty()) + " is not of " + Describe(grid.down) + " by " +
                           Describe(grid.across) + " tiles");
  }
  return TensorType({(*shape)[2], (*shape)[3], spatial[0], spatial[1]}, products->dtype, products->vdevice);
}

Expr LegalizeWinogradOutput(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<WinogradOutputAttrsNode>(call);
  return builder.CallTE("winograd_output", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::WinogradOutput(args[0], {I64(attrs->size[0]), I64(attrs->size[1])},
                                              {I64(attrs->tiles[0]), I64(attrs->tiles[1])})};
  });
}

/// Spatial axes: two, or three of images with slices.
size_t RankOfConv(const Call& call) {
  static const Op of_slices = Op::Get("relax.nn.winograd_conv3d");
  return call->op.same_as(of_slices) ? 3 : 2;
}

Type InferWinogradConv(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const size_t rank = RankOfConv(call);
  const auto of_image = static_cast<int64_t>(rank) + 2;
  CheckRank(call, 0, of_image);
  CheckRank(call, 1, static_cast<int64_t>(rank) + 3);
  const TensorTypeNode* data = TensorArg(call, 0);
  const DataType dtype = data->dtype;
  if (TensorArg(call, 1)->dtype != topi::AccumulatorType(dtype))
    ThrowOpError(call, Describe(call->args[1].ty()) + " is no tensor of transformed weights for " +
                           Describe(call->args[0].ty()));
  const auto shape = ShapeOf(data), weights = ShapeOf(TensorArg(call, 1));
  const auto* attrs = AttrsOf<WinogradConvAttrsNode>(call);
  if (attrs->padding.size() != 2 * rank) {
    ThrowOpError(call, "needs a padding of " + std::string(rank == 2 ? "four" : "six") + " numbers");
  }
  const std::vector<int64_t> dilation = Expanded(attrs->dilation, rank);
  const bool is_apart = std::all_of(dilation.begin(), dilation.end(), [](int64_t step) { return step > 0; });
  if (!is_apart || (rank == 3 && dilation[0] != 1)) {
    ThrowOpError(call, "needs positive dilations, of slices 1");
  }
  if (!shape || !weights) return TensorType::WithNDim(of_image, dtype, data->vdevice);
  const auto last = static_cast<int64_t>(weights->size()) - 1;
  CheckChannels(call, (*weights)[last - 1], (*shape)[of_image - 1], builder);
  const Padding padding = SplitPadding(attrs->padding, rank);
  Array<PrimExpr> result = {(*shape)[0]};
  if (rank == 3) {
    const PrimExpr slices = (*shape)[1] + (padding.before[0] + padding.after[0] + 1) - (*weights)[3];
    result.push_back(builder.analyzer().Simplify(slices));
  }
  for (const PrimExpr& extent : ResultExtents(*shape, 1, padding, dilation, builder)) result.push_back(extent);
  for (const PrimExpr& extent : result) {
    if (const auto known = AsConstInt(extent); known && *known < 0) ThrowOpError(call, "has windows beyond its image");
  }
  const PrimExpr &panels = (*weights)[0], &length = (*weights)[last];
  const PrimExpr channels =
      attrs->channels == 0 ? builder.analyzer().Simplify(panels * length) : PrimExpr(I64(attrs->channels));
  arith::Analyzer& analyzer = builder.analyzer();
  if (analyzer.CanProve(channels > panels * length) || analyzer.CanProve(channels <= (panels - 1) * length)) {
    ThrowOpError(call, std::to_string(attrs->channels) + " channels do not fill the panels of weights " +
                           Describe(call->args[1].ty()));
  }
  result.push_back(channels);
  return TensorType(result, dtype, data->vdevice);
}

Expr LegalizeWinogradConv(BlockBuilder& builder, const Call& call) {
  const auto* result = call.ty().as<TensorTypeNode>();
  if (!ShapesKnown(call) || result == nullptr || !result->has_shape()) return call;
  const auto* attrs = AttrsOf<WinogradConvAttrsNode>(call);
  const size_t rank = RankOfConv(call);
  const Padding padding = SplitPadding(attrs->padding, rank);
  const Array<PrimExpr> extents((*result->shape).begin() + 1, (*result->shape).end());
  return builder.CallTE("winograd_conv" + std::to_string(rank) + "d", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{
        topi::WinogradConv(args[0], args[1], padding.before, Expanded(attrs->dilation, rank), extents)};
  });
}

}  // namespace

std::vector<OpInfo> NNWinogradOps() {
  return {
      {"nn.winograd_input", {"data"}, "deuteron.relax.WinogradInputAttrs", InferWinogradInput, LegalizeWinogradInput},
      {"nn.winograd_product", {"weights", "tiles"}, nullptr, InferWinogradProduct, LegalizeWinogradProduct},
      {"nn.winograd_output",
       {"products"},
       "deuteron.relax.WinogradOutputAttrs",
       InferWinogradOutput,
       LegalizeWinogradOutput},
      {"nn.winograd_conv2d",
       {"data", "weights"},
       "deuteron.relax.WinogradConvAttrs",
       InferWinogradConv,
       LegalizeWinogradConv},
      {"nn.winograd_conv3d",
       {"data", "weights"},
       "deuteron.relax.WinogradConvAttrs",
       InferWinogradConv,
       LegalizeWinogradConv},
  };
}

namespace nn {

Expr WinogradInput(Expr data, std::vector<int64_t> padding, std::vector<int64_t> tiles) {
  auto attrs = MakeNode<WinogradInputAttrsNode>();
  attrs->padding = Array<int64_t>(padding.begin(), padding.end());
  attrs->tiles = Array<int64_t>(tiles.begin(), tiles.end());
  return MakeCall("nn.winograd_input", {std::move(data)}, WinogradInputAttrs(std::move(attrs)));
}

Expr WinogradProduct(Expr weights, Expr tiles) {
  return MakeCall("nn.winograd_product", {std::move(weights), std::move(tiles)});
}

Expr WinogradOutput(Expr products, std::vector<int64_t> size, std::vector<int64_t> tiles) {
  auto attrs = MakeNode<WinogradOutputAttrsNode>();
  attrs->size = Array<int64_t>(size.begin(), size.end());
  attrs->tiles = Array<int64_t>(tiles.begin(), tiles.end());
  return MakeCall("nn.winograd_output", {std::move(products)}, WinogradOutputAttrs(std::move(attrs)));
}

namespace {

Expr MakeWinogradConv(const char* name, Expr data, Expr weights, const WinogradConvOptions& options) {
  auto attrs = MakeNode<WinogradConvAttrsNode>();
  attrs->padding = ToArray(options.padding);
  const bool is_dilated =
      std::any_of(options.dilation.begin(), options.dilation.end(), [](int64_t step) { return step != 1; });
  if (is_dilated) attrs->dilation = ToArray(options.dilation);
  attrs->channels = options.channels;
  return MakeCall(name, {std::move(data), std::move(weights)}, WinogradConvAttrs(std::move(attrs)));
}

}  // namespace

Expr WinogradConv2D(Expr data, Expr weights, const WinogradConvOptions& options) {
  return MakeWinogradConv("nn.winograd_conv2d", std::move(data), std::move(weights), options);
}
Expr WinogradConv3D(Expr data, Expr weights, const WinogradConvOptions& options) {
  return MakeWinogradConv("nn.winograd_conv3d", std::move(data), std::move(weights), options);
}

}  // namespace nn
}  // namespace deuteron::relax
