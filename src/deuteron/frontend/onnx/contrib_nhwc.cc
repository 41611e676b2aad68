/// \file
/// Operators whose channels are last, as ONNX Runtime writes them for what computes so: of com.microsoft, and of
/// com.ms.internal.nhwc, where the operators of ONNX have their first input and their results in that layout. Layouts
/// are the compiler's to choose: these are the operators of ONNX between transposes.
#include <algorithm>

#include "deuteron/frontend/onnx/channels_last.h"
#include "deuteron/frontend/onnx/conv.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/op_table.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/qdq.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertNhwcConv(const NodeContext& node) {
  // The weights' channels are last, too: (M, window…, C / group).
  const int64_t rank = node.Rank(1);
  if (rank < 3) node.Fail("its weights are of rank " + std::to_string(rank));
  std::vector<int64_t> order = {0, rank - 1};
  for (int64_t axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
  const Expr weight = node.Emit(relax::PermuteDims(node.X(1), order));
  return {ChannelsSecond(node, node.X(0), [&](const Expr& x) {
    return Convolution(node.WithInput(0, Value(x)), WithKernel(node, weight));
  })};
}

Results ConvertNhwcFusedConv(const NodeContext& node) {
  const Expr y = ChannelsSecond(node, node.X(0), [&](const Expr& x) {
    return Convolution(node.WithInput(0, Value(x)), WithKernel(node, node.X(1)));
  });
  return {WithSumAndActivation(node, y)};
}

Results ConvertChannelsLast(const NodeContext& node, Converter convert) {
  if (node.Wants(1)) node.Unsupported("positions of elements whose channels are last: leave that output out");
  return {ChannelsSecond(node, node.X(0), [&](const Expr& x) {
    const NodeContext plain = node.WithInput(0, Value(x)).AtOpset(std::max(node.opset(), kFirstOpsetOfConverters));
    return node.importer()->ExprOf(convert(plain)[0], Span());
  })};
}

Results ConvertNhwcQLinearAveragePool(const NodeContext& node) {
  const Expr mean =
      ChannelsSecond(node, Dequantized(node, 0), [&](const Expr& x) { return AverageOfWindows(node, x); });
  return Quantized(node, mean, 3, node.DType(0));
}

Results ConvertNhwcQLinearConv(const NodeContext& node) {
  return {ChannelsSecond(node, node.X(0), [&](const Expr& x) { return QLinearConvolved(node, x); })};
}

Results ConvertNhwcQLinearConvTranspose(const NodeContext& node) {
  const DataType real = DataType::Float(32);
  // Weights are (C, M / group, window…), their scales one for all or one for each of the M.
  const Expr scales = node.CastTo(Parameter(node, node.X(4)), real);
  const int64_t groups = node.Int("group", 1);
  if (node.Rank(scales) == 1 && groups != 1) {
    node.Unsupported("scales by channel of " + std::to_string(groups) + " groups: give one scale, or one group");
  }
  const Expr weight = WithKernel(node, Dequantized(node, 3, 1));
  Expr bias;
  if (node.Has(8)) {
    // int32, of the scale that the sums of products have.
    const Expr scale = node.Emit(relax::Multiply(node.CastTo(Parameter(node, node.X(1)), real), scales));
    bias = node.Emit(relax::Multiply(node.CastTo(node.X(8), real), scale));
  }
  const Expr y = ChannelsSecond(node, Dequantized(node, 0), [&](const Expr& x) {
    return TransposedConvolution(node.WithInput(0, Value(x)), weight, bias);
  });
  return Quantized(node, y, 6, node.DType(0));
}

}  // namespace deuteron::onnx
