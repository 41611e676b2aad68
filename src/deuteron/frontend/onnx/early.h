/// \file
/// Operator sets 1 to 6.
#pragma once

#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// A node and its inputs.
struct NodeWithInputs {
  NodeProto node;
  std::vector<Value> inputs;
};

/// A node of an operator set before 7 as one of operator set 7 that computes the same: what was an attribute and became
/// an input, how operands are broadcast, what attributes are called and what they are where left out. Attributes that
/// say nothing of a result (consumed_inputs, is_test of a node whose statistics nobody wants) stay; no converter reads
/// them. ModelErrors where attributes do not fit.
NodeWithInputs AsOfOpset7(const NodeContext& node, const std::vector<Value>& inputs);

}  // namespace deuteron::onnx
