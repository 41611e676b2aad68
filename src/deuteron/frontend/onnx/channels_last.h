/// \file
/// Operators of ONNX in com.ms.internal.nhwc (contrib_nhwc.cc).
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// What `convert` makes of the node, whose first input, and result, have their channels last.
Results ConvertChannelsLast(const NodeContext& node, Converter convert);

/// The converter of the same operator with its channels last.
template <Converter kConvert>
Results ChannelsLast(const NodeContext& node) {
  return ConvertChannelsLast(node, kConvert);
}

}  // namespace deuteron::onnx
