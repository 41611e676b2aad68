/// \file
/// Operators of com.microsoft.nchwc: convolutions and pools whose channels lie in blocks, the last of them filled up
/// with zeros. Blocks are how a library likes its data, and ours to choose: between these operators values are
/// converted as (batch, channels with those filled up, rows, columns), and the constants put back into that order. What
/// else stands between them (sums, activations, concatenations of whole blocks) means the same in both.
#include <algorithm>
#include <unordered_map>

#include "deuteron/frontend/onnx/conv.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/nchwc.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/target/host.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

constexpr int64_t kNarrow = 8;
constexpr int64_t kWide = 16;

/// The block that the channels of a graph's convolutions show; 0 if both fit.
int64_t BlockOfGraph(const GraphProto& graph) {
  std::unordered_map<std::string_view, const TensorProto*> weights;
  for (const TensorProto& tensor : graph.initializers) weights.emplace(tensor.name, &tensor);
  // Of the values that convolutions make.
  std::unordered_map<std::string_view, int64_t> channels;
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      const int64_t inner = attribute.g == nullptr ? 0 : BlockOfGraph(*attribute.g);
      if (inner != 0) return inner;
    }
    if (node.domain != kNchwcDomain || node.inputs.empty() || node.outputs.empty()) continue;
    if (node.op_type == "Conv" && node.inputs.size() > 1) {
      const auto weight = weights.find(node.inputs[1]);
      if (weight == weights.end() || weight->second->dims.empty()) continue;
      const int64_t outputs = weight->second->dims[0];
      if (outputs % kWide != 0) return kNarrow;
      channels[node.outputs[0]] = outputs;
    } else if (node.op_type == "ReorderOutput") {
      const auto filled = channels.find(node.inputs[0]);
      const AttributeProto* real = FindAttribute(node, "channels");
      if (filled != channels.end() && real != nullptr && filled->second - real->i >= kNarrow) return kWide;
    } else if (const auto from = channels.find(node.inputs[0]); from != channels.end()) {
      channels[node.outputs[0]] = from->second;  // Pools and Upsample keep them.
    }
  }
  return 0;
}

int64_t BlockOfHost() {
#ifdef __aarch64__
  return kWide;
#else
  const std::vector<std::string>& features = HostFeatures();
  return std::find(features.begin(), features.end(), "avx512f") != features.end() ? kWide : kNarrow;
#endif
}

/// Weights whose output channels, and those of the input where they are blocks, lie behind the window:
/// (O / b, I / b, rows, columns, b of the input, b of the output) as (O, I, rows, columns).
Expr PlainWeight(const NodeContext& node, const Expr& weight, int64_t block) {
  if (node.Rank(weight) != 4) node.Fail("its weights must be of rank 4");
  const int64_t outputs = node.StaticDim(weight, 0, "the output channels of its weights");
  const int64_t inputs = node.StaticDim(weight, 1, "the input channels of its weights");
  const PrimExpr rows = node.Shape(weight)[2];
  const PrimExpr columns = node.Shape(weight)[3];
  if (outputs % block != 0) {
    node.Fail("its " + std::to_string(outputs) + " output channels are no blocks of " + std::to_string(block));
  }
  const PrimExpr b = I64(block);
  const PrimExpr out = I64(outputs / block);
  const bool has_input_blocks = inputs % block == 0;
  const Array<PrimExpr> blocked = has_input_blocks ? Array<PrimExpr>{out, I64(inputs / block), rows, columns, b, b}
                                                   : Array<PrimExpr>{out, I64(inputs), rows, columns, b};
  const std::vector<int64_t> order =
      has_input_blocks ? std::vector<int64_t>{0, 5, 1, 4, 2, 3} : std::vector<int64_t>{0, 4, 1, 2, 3};
  const Expr moved = node.Emit(relax::PermuteDims(node.Reshaped(weight, blocked), order));
  return node.Reshaped(moved, {I64(outputs), I64(inputs), rows, columns});
}

}  // namespace

int64_t NchwcBlock(const ModelProto& model) {
  const int64_t block = BlockOfGraph(model.graph);
  return block != 0 ? block : BlockOfHost();
}

Results ConvertNchwcConv(const NodeContext& node) {
  const Expr weight = PlainWeight(node, WithKernel(node, node.X(1)), node.importer()->nchwc_block());
  return {WithSumAndActivation(node, Convolution(node, weight))};
}

Results ConvertReorderInput(const NodeContext& node) {
  Expr x = node.X(0);
  if (node.Rank(x) != 4) node.Fail("its input must be of rank 4");
  if (node.Flag("channels_last", false)) x = node.Emit(relax::PermuteDims(x, {0, 3, 1, 2}));
  const PrimExpr missing = node.Simplify(FloorMod(-node.Shape(x)[1], I64(node.importer()->nchwc_block())));
  const auto known = AsConstInt(missing);
  if (!known) return {FillAxis(node, x, 1, I64(0), missing, node.Scalar(node.DType(x), 0))};
  if (*known == 0) return {x};
  return {node.Emit(relax::nn::Pad(x, {0, 0, 0, *known, 0, 0, 0, 0}))};
}

Results ConvertReorderOutput(const NodeContext& node) {
  Expr x = node.X(0);
  if (node.Rank(x) != 4) node.Fail("its input must be of rank 4");
  const int64_t channels = node.RequiredInt("channels");
  const int64_t filled = node.StaticDim(x, 1, "its channels");
  if (channels < 1 || channels > filled) {
    node.Fail("attribute 'channels' is " + std::to_string(channels) + ", and its input has " + std::to_string(filled));
  }
  if (channels < filled) x = node.Emit(relax::StridedSlice(x, {1}, {I64(0)}, {I64(channels)}, {I64(1)}));
  if (node.Flag("channels_last", false)) x = node.Emit(relax::PermuteDims(x, {0, 2, 3, 1}));
  return {x};
}

Results ConvertNchwcUpsample(const NodeContext& node) {
  const Expr x = node.X(0);
  const auto scales = node.Ints("scales");
  if (node.Rank(x) != 4) node.Fail("its input must be of rank 4");
  if (!scales || scales->size() != 4 || (*scales)[0] != 1 || (*scales)[1] != 1 || (*scales)[2] < 1 ||
      (*scales)[3] < 1) {
    node.Fail("attribute 'scales' must be 1, 1 and two positive integers");
  }
  const std::string mode = node.Str("mode", "nearest");
  if (mode != "nearest" && mode != "linear") node.Fail("mode '" + mode + "' is unknown");
  const Array<PrimExpr> shape = node.Shape(x);
  const relax::image::ResizeOptions options{
      .layout = "NCHW",
      .method = mode == "nearest" ? "nearest_neighbor" : mode,
      .coordinate_transformation_mode =
          mode == "nearest" ? "asymmetric" : node.Str("coordinate_transformation_mode", "asymmetric"),
      .rounding_method = mode == "nearest" ? "floor" : "",
  };
  const Array<PrimExpr> sizes = {node.Simplify(shape[2] * I64((*scales)[2])),
                                 node.Simplify(shape[3] * I64((*scales)[3]))};
  return {node.Emit(relax::image::Resize2D(x, sizes, options))};
}

}  // namespace deuteron::onnx
