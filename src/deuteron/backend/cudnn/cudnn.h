/// \file
/// The compile side of the back end `cudnn`.
#pragma once

#include "deuteron/backend/matched_composite.h"
#include "deuteron/ir/transform/pass.h"

namespace deuteron::backend::cudnn {

/// Puts what cuDNN computes into functions with the attribute Composite, constants inside. Narrower than
/// PartitionForCudnn, which takes what TVM's does: see DescribeKernel.
transform::Pass Partition();
/// Translates a function with the attribute Codegen = "cudnn" into a graph for the plugin.
relax::ExternalFunction Generate(const relax::CodegenRequest& request);

/// A match as one cuDNN graph; the attribute "op" is
///
///     conv2d     inputs x, w, then a bias of one value a channel: "layout" ("NCHW" or "NHWC", the kernel's OIHW or
///                OHWI), "strides", "padding" (before, then after), "dilation", "groups", "bias", "relu"
///     attention  input stacked queries, keys and values: "layout" ("BS3NH" or "SBN3H"), "heads", "channels",
///                "value_channels", "scale"
///
/// Refused, though the patterns take it: a bias that is not one value a channel, a result of another dtype, heads whose
/// channels cuDNN's attention does not take (no multiple of 8, more than 128), transpositions other than of batch and
/// row.
JsonKernel DescribeKernel(const MatchedComposite& composite);

}  // namespace deuteron::backend::cudnn
