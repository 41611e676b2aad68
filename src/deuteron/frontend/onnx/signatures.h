/// \file
/// What ONNX says of the operands, results and attributes of its own operators.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// A ModelError if a node of ONNX's own domain, at this version of it, has more operands or results than its operator,
/// or an attribute that it has not. Of versions before the operator was ONNX's own, nothing is asked: optimisers write
/// some of theirs into that domain.
void CheckSignature(const NodeProto& node, int64_t version);
/// Of some values, as far as they are known.
using DTypes = std::vector<std::optional<DataType>>;

/// The same if its operands, of dtypes `inputs`, are of some that it does not take together, from operator set 7 on;
/// the dtypes of its results.
DTypes CheckDTypes(const NodeProto& node, int64_t version, const DTypes& inputs);
void CheckDTypes(const NodeProto& node, int64_t version, const std::vector<Value>& inputs);

/// Of a tensor, without a look at its elements; nothing for other values.
std::optional<DataType> DTypeOf(const Value& value);

/// A ModelError if a result of a graph is of another dtype than the graph declares, where it declares one.
void CheckDeclared(const ValueInfoProto& output, const Value& value);

}  // namespace deuteron::onnx
