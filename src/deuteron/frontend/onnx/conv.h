/// \file
/// What the convolutions of several domains have in common.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// Input 0 convolved, by the attributes of Conv, with weights of shape (output channels, channels of a group, window…),
/// and input 2, where it is given, added to each channel.
relax::Expr Convolution(const NodeContext& node, const relax::Expr& weight);

/// A convolution with what FusedConv puts behind it: input 3, and the activation.
relax::Expr WithSumAndActivation(const NodeContext& node, const relax::Expr& convolution);

}  // namespace deuteron::onnx
