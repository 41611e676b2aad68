#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
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
  return {tiles[0], tiles[1]};
}

bool IsChannelsLast(const Call& call) {
  const auto* attrs = AttrsOf<WinogradInputAttrsNode>(call);
  if (attrs->layout != "NCHW" && attrs->layout != "NHWC") ThrowOpError(call, "has the layout NCHW or NHWC");
  return attrs->layout == "NHWC";
}

Type InferWinogradInput(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  CheckRank(call, 0, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto shape = ShapeOf(data);
  const auto* attrs = AttrsOf<WinogradInputAttrsNode>(call);
  const bool is_last = IsChannelsLast(call);
  if (!shape) return TensorType::WithNDim(is_last ? 6 : 5, data->dtype, data->vdevice);
  if (attrs->padding.size() != 4) ThrowOpError(call, "needs a padding of four numbers");
  Array<PrimExpr> spatial;
  for (const int64_t axis : {0, 1}) {
    const PrimExpr& extent = (*shape)[(is_last ? 1 : 2) + axis];
    spatial.push_back(
        builder.analyzer().Simplify(extent + attrs->padding[axis] + attrs->padding[2 + axis] - (kWindow - 1)));
  }
  const topi::WinogradGrid grid = GridOf(call, attrs->tiles, spatial);
  const PrimExpr side = I64(topi::kWinogradTile);
  Array<PrimExpr> result = {side, side, (*shape)[0], (*shape)[1], I64(grid.down * grid.across)};
  if (is_last) result = {side, side, (*shape)[0], I64(grid.down), I64(grid.across), (*shape)[3]};
  return TensorType(result, data->dtype, data->vdevice);
}

Expr LegalizeWinogradInput(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<WinogradInputAttrsNode>(call);
  const Padding padding = SplitPadding(attrs->padding, 2);
  return builder.CallTE("winograd_input", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{
        topi::WinogradInput(args[0], padding.before, {attrs->tiles[0], attrs->tiles[1]}, IsChannelsLast(call))};
  });
}

Type InferWinogradProduct(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* tiles = TensorArg(call, 1);
  const bool is_last = tiles->ndim == 6;
  CheckRank(call, 0, is_last ? 5 : 4);
  CheckRank(call, 1, is_last ? 6 : 5);
  const DataType dtype = CommonDType(call, 0, 1);
  const auto weights_shape = ShapeOf(TensorArg(call, 0)), shape = ShapeOf(tiles);
  if (!weights_shape || !shape) return TensorType::WithNDim(tiles->ndim, dtype, tiles->vdevice);
  if (builder.analyzer().CanProve(deuteron::NotEqual((*weights_shape)[3], (*shape)[is_last ? 5 : 3]))) {
    ThrowOpError(
        call, "the channels of " + Describe(call->args[0].ty()) + " are not those of " + Describe(call->args[1].ty()));
  }
  Array<PrimExpr> result = *shape;
  if (is_last) {
    result.Set(5, builder.analyzer().Simplify((*weights_shape)[2] * (*weights_shape)[4]));
  } else {
    result.Set(3, (*weights_shape)[2]);
  }
  return TensorType(result, dtype, tiles->vdevice);
}

Expr LegalizeWinogradProduct(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  return builder.CallTE("winograd_product", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::WinogradProduct(args[0], args[1])};
  });
}

Type InferWinogradOutput(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* products = TensorArg(call, 0);
  const bool is_last = products->ndim == 6;
  CheckRank(call, 0, is_last ? 6 : 5);
  const auto* attrs = AttrsOf<WinogradOutputAttrsNode>(call);
  if (attrs->size.size() != 2) ThrowOpError(call, "needs a size of two numbers");
  const Array<PrimExpr> spatial = {I64(attrs->size[0]), I64(attrs->size[1])};
  const topi::WinogradGrid grid = GridOf(call, attrs->tiles, spatial);
  const auto shape = ShapeOf(products);
  if (!shape) return TensorType::WithNDim(4, products->dtype, products->vdevice);
  const PrimExpr tiles = is_last ? (*shape)[3] * (*shape)[4] : (*shape)[4];
  if (builder.analyzer().CanProve(deuteron::NotEqual(tiles, I64(grid.down * grid.across)))) {
    ThrowOpError(call, Describe(call->args[0].ty()) + " is not of " + std::to_string(grid.down) + " by " +
                           std::to_string(grid.across) + " tiles");
  }
  Array<PrimExpr> result = {(*shape)[2], (*shape)[3], spatial[0], spatial[1]};
  if (is_last) result = {(*shape)[2], spatial[0], spatial[1], (*shape)[5]};
  return TensorType(result, products->dtype, products->vdevice);
}

Expr LegalizeWinogradOutput(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<WinogradOutputAttrsNode>(call);
  return builder.CallTE("winograd_output", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{
        topi::WinogradOutput(args[0], {I64(attrs->size[0]), I64(attrs->size[1])}, {attrs->tiles[0], attrs->tiles[1]})};
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
  };
}

namespace nn {

Expr WinogradInput(Expr data, std::vector<int64_t> padding, std::vector<int64_t> tiles, std::string layout) {
  auto attrs = make_object<WinogradInputAttrsNode>();
  attrs->padding = Array<int64_t>(padding.begin(), padding.end());
  attrs->tiles = Array<int64_t>(tiles.begin(), tiles.end());
  attrs->layout = layout;
  return MakeCall("nn.winograd_input", {std::move(data)}, WinogradInputAttrs(std::move(attrs)));
}

Expr WinogradProduct(Expr weights, Expr tiles) {
  return MakeCall("nn.winograd_product", {std::move(weights), std::move(tiles)});
}

Expr WinogradOutput(Expr products, std::vector<int64_t> size, std::vector<int64_t> tiles) {
  auto attrs = make_object<WinogradOutputAttrsNode>();
  attrs->size = Array<int64_t>(size.begin(), size.end());
  attrs->tiles = Array<int64_t>(tiles.begin(), tiles.end());
  return MakeCall("nn.winograd_output", {std::move(products)}, WinogradOutputAttrs(std::move(attrs)));
}

}  // namespace nn
}  // namespace deuteron::relax
