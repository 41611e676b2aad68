/// \file
/// What the convolutions of several domains have in common.
#pragma once

#include <functional>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// `data` convolved with weights of shape (output channels, channels of a group, window…), by the attributes of Conv.
relax::Expr Convolved(const NodeContext& node, const relax::Expr& data, const relax::Expr& weight);

/// Input 0 convolved the same way, and input 2, where it is given, added to each channel.
relax::Expr Convolution(const NodeContext& node, const relax::Expr& weight);

/// A convolution with what FusedConv puts behind it: input 3, and the activation.
relax::Expr WithSumAndActivation(const NodeContext& node, const relax::Expr& convolution);

/// `apply` on channels in the second axis, where `x` has them in the last.
relax::Expr ChannelsSecond(const NodeContext& node, const relax::Expr& x,
                           const std::function<relax::Expr(const relax::Expr&)>& apply);

/// The transposed convolution of input 0 with `weight` by the attributes of ConvTranspose, and `bias` (may be null)
/// added to each channel. `pads`, where there are any, stand for those of the
/// attribute.
relax::Expr TransposedConvolution(const NodeContext& node, const relax::Expr& weight, const relax::Expr& bias,
                                  const std::vector<PrimExpr>& pads = {});

}  // namespace deuteron::onnx
