#include "deuteron/frontend/onnx/conv.h"

#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// A vector over the channels of a result.
Expr AddChannelBias(const NodeContext& node, const Expr& result, const Expr& bias) {
  if (node.Rank(bias) != 1) node.Fail("its bias is of rank " + std::to_string(node.Rank(bias)) + ", not 1");
  const Expr vector = WithDim(node, bias, 0, node.Shape(result)[1]);
  Array<PrimExpr> shape = {I64(1), node.Shape(vector)[0]};
  for (int64_t axis = 2; axis < node.Rank(result); ++axis) shape.push_back(I64(1));
  return node.Emit(relax::Add(result, node.Reshaped(vector, shape)));
}

}  // namespace

Expr Convolved(const NodeContext& node, const Expr& data, const Expr& weight) {
  const Expr zero = node.Scalar(node.DType(data), 0);
  const Array<PrimExpr> shape = node.Shape(weight);
  const auto [x, window, is_padded] =
      ReadWindowOver(node, data, {shape.begin() + std::min<size_t>(2, shape.size()), shape.end()}, zero);
  const relax::nn::ConvOptions options{
      .strides = window.strides, .padding = window.pads, .dilation = window.dilations, .groups = node.Int("group", 1)};
  const auto conv = window.axes() == 1 ? relax::nn::Conv1D : window.axes() == 2 ? relax::nn::Conv2D : relax::nn::Conv3D;
  return node.Emit(conv(x, weight, options));
}

Expr Convolution(const NodeContext& node, const Expr& weight) {
  const Expr result = Convolved(node, node.X(0), weight);
  return node.Has(2) ? AddChannelBias(node, result, node.X(2)) : result;
}

Expr ChannelsSecond(const NodeContext& node, const Expr& x, const std::function<Expr(const Expr&)>& apply) {
  const int64_t rank = node.Rank(x);
  if (rank < 3) node.Fail("channels behind a batch and axes of space are expected, not rank " + std::to_string(rank));
  std::vector<int64_t> there = {0, rank - 1};
  std::vector<int64_t> back = {0};
  for (int64_t axis = 1; axis < rank - 1; ++axis) there.push_back(axis);
  for (int64_t axis = 2; axis < rank; ++axis) back.push_back(axis);
  back.push_back(1);
  return node.Emit(relax::PermuteDims(apply(node.Emit(relax::PermuteDims(x, there))), back));
}

Results ConvertConv(const NodeContext& node) { return {Convolution(node, WithKernel(node, node.X(1)))}; }

namespace {

/// What is left of an axis of a result that was computed whole: `more` zeros are added to it, `size` elements taken.
struct Crop {
  int64_t axis;
  PrimExpr begin, size, more;
};

Expr Cropped(const NodeContext& node, Expr x, const std::vector<Crop>& crops) {
  for (const Crop& crop : crops) {
    x = FillAxis(node, x, crop.axis, I64(0), crop.more, node.Scalar(node.DType(x), 0));
    const PrimExpr end = node.Simplify(crop.begin + crop.size);
    x = node.Emit(relax::StridedSlice(x, {crop.axis}, {crop.begin}, {end}, {I64(1)}, /*assume_inbound=*/true));
  }
  return x;
}

}  // namespace

Expr TransposedConvolution(const NodeContext& node, const Expr& weight, const Expr& bias,
                           const std::vector<PrimExpr>& pads) {
  const Expr x = node.X(0);
  const std::string auto_pad = node.Str("auto_pad", "NOTSET");
  Window window = ReadWindowUnpadded(node, x, KernelOf(node, weight));
  const size_t axes = window.axes();
  auto output_padding = node.Ints("output_padding").value_or(std::vector<int64_t>(axes, 0));
  if (output_padding.size() != axes) node.Fail("attribute 'output_padding' does not fit its input");
  for (const int64_t more : output_padding) {
    if (more < 0) node.Fail("an element of output_padding is " + std::to_string(more) + " and has to be at least 0");
  }
  const auto output_shape = node.Ints("output_shape");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (output_shape && output_shape->size() < axes) node.Fail("attribute 'output_shape' does not fit its input");
  std::vector<Crop> crops;
  for (size_t axis = 0; axis < axes && (output_shape || same); ++axis) {
    // The padding follows from the size of the output.
    const auto at = static_cast<int64_t>(axis) + 2;
    const PrimExpr size = node.Shape(x)[at];
    const PrimExpr stride = I64(window.strides[axis]);
    const PrimExpr wanted = output_shape ? I64((*output_shape)[output_shape->size() - axes + axis]) : size * stride;
    const PrimExpr full = stride * (size - 1) + I64((window.kernel[axis] - 1) * window.dilations[axis] + 1);
    const PrimExpr total = node.Simplify(full + I64(output_padding[axis]) - wanted);
    const PrimExpr padding = node.Simplify(Max(total, I64(0)));
    const PrimExpr half = node.Simplify(FloorDiv(padding, I64(2)));
    const PrimExpr begin = auto_pad == "SAME_UPPER" ? half : node.Simplify(padding - half);
    if (const auto known = AsConstInt(total)) {
      output_padding[axis] += std::max<int64_t>(0, -*known);
      window.pads[axis] = *AsConstInt(begin);
      window.pads[axes + axis] = *AsConstInt(padding) - window.pads[axis];
      continue;
    }
    const PrimExpr more = node.Simplify(Max(-total, I64(0)) + I64(output_padding[axis]));
    crops.push_back({at, begin, node.Simplify(wanted), more});
    output_padding[axis] = 0;
    window.pads[axis] = window.pads[axes + axis] = 0;
  }
  if (!pads.empty() && std::all_of(pads.begin(), pads.end(), [](const PrimExpr& pad) { return AsConstInt(pad); })) {
    for (size_t i = 0; i < pads.size(); ++i) window.pads[i] = *AsConstInt(pads[i]);
  } else if (!pads.empty()) {
    Array<PrimExpr> sizes;
    for (size_t axis = 0; axis < axes; ++axis) {
      const auto at = static_cast<int64_t>(axis) + 2;
      const PrimExpr full = I64(window.strides[axis]) * (node.Shape(x)[at] - 1) +
                            I64((window.kernel[axis] - 1) * window.dilations[axis] + 1 + output_padding[axis]);
      sizes.push_back(node.Simplify(full - pads[axis] - pads[axes + axis]));
      crops.push_back({at, pads[axis], sizes.back(), I64(output_padding[axis])});
      output_padding[axis] = 0;
    }
    RequireAtLeast(node, sizes, 0, "the length of an axis less its pads");
  }
  const relax::nn::ConvTransposeOptions options{.strides = window.strides,
                                                .padding = window.pads,
                                                .output_padding = output_padding,
                                                .dilation = window.dilations,
                                                .groups = node.Int("group", 1)};
  const auto conv = axes == 1   ? relax::nn::Conv1DTranspose
                    : axes == 2 ? relax::nn::Conv2DTranspose
                                : relax::nn::Conv3DTranspose;
  const Expr result = Cropped(node, node.Emit(conv(x, weight, options)), crops);
  return bias.defined() ? AddChannelBias(node, result, bias) : result;
}

Results ConvertConvTranspose(const NodeContext& node) {
  return {TransposedConvolution(node, WithKernel(node, node.X(1)), node.Has(2) ? node.X(2) : Expr())};
}

Results ConvertConvTransposeWithDynamicPads(const NodeContext& node) {
  const Expr weight = WithKernel(node, node.X(1));
  std::vector<PrimExpr> pads;
  if (node.Has(2)) {
    if (node.Str("auto_pad", "NOTSET") != "NOTSET") node.Fail("pads beside auto_pad: leave one of them out");
    const Array<PrimExpr> given = node.Sizes(2, "the pads", 2 * (node.Rank(weight) - 2));
    pads.assign(given.begin(), given.end());
  }
  return {TransposedConvolution(node, weight, node.Has(3) ? node.X(3) : Expr(), pads)};
}

/// The product of the weights and what their kernel, displaced at each of its positions, sees.
Results ConvertDeformConv(const NodeContext& node) {
  const Expr x = node.X(0);
  const Expr weight = WithKernel(node, node.X(1));
  const Window window = ReadWindow(node, x, KernelOf(node, weight));
  const size_t axes = window.axes();
  for (size_t i = 0; i < axes; ++i) {
    RequireElements(node, x, {static_cast<int64_t>(i) + 2}, "the length of an axis of the image");
  }
  // There is an offset for every tap of every place of the result.
  Array<PrimExpr> offsets = node.Shape(2);
  if (offsets.size() != axes + 2) node.Fail("its offsets are of another rank than its input");
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t added = window.pads[i] + window.pads[axes + i] - (window.kernel[i] - 1) * window.dilations[i] - 1;
    const PrimExpr places = node.Simplify(FloorDiv(node.Shape(x)[axis] + added, I64(window.strides[i])) + 1);
    const auto wanted = AsConstInt(places), given = AsConstInt(offsets[axis]);
    if (wanted && given && *wanted != *given) {
      node.Fail("axis " + std::to_string(axis) + " of its offsets is " + std::to_string(*given) + ", not " +
                std::to_string(*wanted));
    }
    offsets.Set(axis, places);
  }
  offsets.Set(0, node.Shape(x)[0]);
  const int64_t groups = node.Int("group", 1);
  const relax::image::DeformedColumnsOptions options{
      .kernel = window.kernel,
      .strides = window.strides,
      .padding = {window.pads.begin(), window.pads.begin() + static_cast<int64_t>(axes)},
      .dilation = window.dilations,
      .offset_groups = node.Int("offset_group", 1)};
  // And a factor.
  Expr mask;
  if (node.Has(4)) {
    if (node.Rank(4) != node.Rank(2)) node.Fail("its mask is of another rank than its offsets");
    Array<PrimExpr> factors = offsets;
    factors.Set(1, node.Shape(4)[1]);
    mask = node.WithShape(node.X(4), factors);
  }
  const Expr columns = node.Emit(relax::image::DeformedColumns(x, node.WithShape(node.X(2), offsets), mask, options));
  const Array<PrimExpr> shape = node.Shape(columns);
  const PrimExpr group = I64(groups);
  const PrimExpr taps = node.Simplify(FloorDiv(shape[1] * shape[2], group));
  const PrimExpr places = node.Product(shape, 3, static_cast<int64_t>(shape.size()));
  const PrimExpr channels = node.Shape(weight)[0];
  const PrimExpr own = node.Simplify(FloorDiv(channels, group));
  const Expr product = node.Emit(relax::Matmul(node.Reshaped(weight, {group, own, taps}),
                                               node.Reshaped(columns, {shape[0], group, taps, places})));
  Array<PrimExpr> result_shape = {shape[0], channels};
  for (size_t axis = 0; axis < axes; ++axis) result_shape.push_back(shape[axis + 3]);
  const Expr result = node.Reshaped(product, result_shape);
  return {node.Has(3) ? AddChannelBias(node, result, node.X(3)) : result};
}

}  // namespace deuteron::onnx
