/// \file
/// What must hold of a graph before its nodes are converted.
#pragma once

#include <tvm/ffi/error.h>

#include <functional>
#include <string>
#include <vector>

#include "deuteron/frontend/onnx/model.h"

namespace deuteron::onnx {

/// "node '/layer1/conv1' (Conv)"; an unnamed node is called after its first output.
std::string NodeLabel(const NodeProto& node);
/// The node's name, or "Conv:output" for one without.
std::string NodeSpanName(const NodeProto& node);

/// The node's operator, "Conv", "com.acme.Foo".
std::string OperatorName(const NodeProto& node);

/// Throws the error again, with the node's label before its message, which is put in the words of models.
[[noreturn]] void RethrowAt(const NodeProto& node, const tvm::ffi::Error& error);

/// The names that a graph takes from the scopes around it, each once.
std::vector<std::string_view> CapturedNames(const GraphProto& graph);

/// The nodes in an order in which every value is defined before it is used: as they stand, if that is one.
/// `defined_outside` says whether a scope around the graph defines a name. A ModelError if a name is defined
/// twice, undefined, or part of a cycle, or if an output of the graph is defined by nothing.
std::vector<const NodeProto*> OrderNodes(const std::vector<NodeProto>& nodes,
                                         const std::vector<std::string_view>& given,
                                         const std::vector<std::string_view>& outputs,
                                         const std::function<bool(std::string_view)>& defined_outside);

}  // namespace deuteron::onnx
