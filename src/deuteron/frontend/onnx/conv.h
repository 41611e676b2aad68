/// \file
/// What the convolutions of several domains have in common.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// `data` convolved with weights of shape (output channels, channels of a group, window…), by the attributes of Conv.
relax::Expr Convolved(const NodeContext& node, const relax::Expr& data, const relax::Expr& weight);

/// Input 0 convolved the same way, and input 2, where it is given, added to each channel.
relax::Expr Convolution(const NodeContext& node, const relax::Expr& weight);

/// A convolution with what FusedConv puts behind it: input 3, and the activation.
relax::Expr WithSumAndActivation(const NodeContext& node, const relax::Expr& convolution);

}  // namespace deuteron::onnx
