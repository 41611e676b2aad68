#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

/// Positions of channels, lines and columns in an image.
topi::ImageAxes AxesOf(const Call& call, const UnfoldLinesAttrsNode* attrs) {
  if (attrs->data_layout == "NCHW") return {1, 2, 3};
  if (attrs->data_layout == "NHWC") return {3, 1, 2};
  ThrowOpError(call, "has an image of the layout " + std::string(attrs->data_layout) + "; it is NCHW or NHWC");
}

Type InferUnfoldLines(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  CheckRank(call, 0, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<UnfoldLinesAttrsNode>(call);
  const topi::ImageAxes axes = AxesOf(call, attrs);
  if (attrs->taps < 1 || attrs->places < attrs->taps || attrs->stride < 1 || attrs->dilation < 1)
    ThrowOpError(call, "needs a stride, a dilation and taps of at least 1, and a place for each tap");
  const auto shape = ShapeOf(data);
  if (!shape) return TensorType::WithNDim(5, data->dtype, data->vdevice);
  const int64_t window = (attrs->taps - 1) * attrs->dilation + 1;
  const PrimExpr columns = FloorDiv((*shape)[axes.columns] - window, attrs->stride) + 1;
  return TensorType({(*shape)[0], (*shape)[axes.lines], builder.analyzer().Simplify(columns), (*shape)[axes.channels],
                     I64(attrs->places)},
                    data->dtype, data->vdevice);
}

Expr LegalizeUnfoldLines(BlockBuilder& builder, const Call& call) {
  const auto* result = call.ty().as<TensorTypeNode>();
  if (!ShapesKnown(call) || result == nullptr || !result->has_shape()) return call;
  const auto* attrs = AttrsOf<UnfoldLinesAttrsNode>(call);
  return builder.CallTE("unfold_lines", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::UnfoldLines(
        args[0], *result->shape, AxesOf(call, attrs),
        {.taps = attrs->taps, .places = attrs->places, .stride = attrs->stride, .dilation = attrs->dilation})};
  });
}

}  // namespace

std::vector<OpInfo> NNUnfoldOps() {
  return {{"nn.unfold_lines", {"data"}, "deuteron.relax.UnfoldLinesAttrs", InferUnfoldLines, LegalizeUnfoldLines}};
}

namespace nn {

Expr UnfoldLines(Expr data, const UnfoldLinesOptions& options) {
  auto attrs = MakeNode<UnfoldLinesAttrsNode>();
  attrs->data_layout = options.data_layout;
  attrs->taps = options.taps;
  attrs->places = options.places;
  attrs->stride = options.stride;
  attrs->dilation = options.dilation;
  return MakeCall("nn.unfold_lines", {std::move(data)}, UnfoldLinesAttrs(std::move(attrs)));
}

}  // namespace nn
}  // namespace deuteron::relax
