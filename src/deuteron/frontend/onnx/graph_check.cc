#include "deuteron/frontend/onnx/graph_check.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/frontend/onnx/model_words.h"
#include "deuteron/support/error.h"

namespace deuteron::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// What a node reads: its inputs, and what its subgraphs capture.
std::vector<std::string_view> ReadNames(const NodeProto& node) {
  std::vector<std::string_view> names;
  for (const std::string_view input : node.inputs) {
    if (!input.empty()) names.push_back(input);
  }
  for (const AttributeProto& attribute : node.attributes) {
    if (attribute.g == nullptr) continue;
    const auto captured = CapturedNames(*attribute.g);
    names.insert(names.end(), captured.begin(), captured.end());
  }
  return names;
}

/// The nodes of one cycle among those that could not be ordered.
std::string DescribeCycle(const std::vector<NodeProto>& nodes, const std::vector<int>& waiting_for,
                          const std::unordered_map<std::string_view, size_t>& producer) {
  size_t at = 0;
  while (waiting_for[at] == 0) ++at;
  // Following, from node to node, an input that is not there yet must end in a cycle.
  std::unordered_map<size_t, size_t> step_of;
  std::vector<size_t> path;
  while (step_of.emplace(at, path.size()).second) {
    path.push_back(at);
    for (const std::string_view name : ReadNames(nodes[at])) {
      const auto it = producer.find(name);
      if (it != producer.end() && waiting_for[it->second] > 0) {
        at = it->second;
        break;
      }
    }
  }
  constexpr size_t kMostShown = 8;
  std::string text;
  const size_t begin = step_of[at];
  for (size_t i = begin; i < path.size() && i < begin + kMostShown; ++i) {
    text += NodeLabel(nodes[path[i]]) + " needs ";
  }
  return text + (path.size() > begin + kMostShown ? "… needs " : "") + NodeLabel(nodes[at]);
}

}  // namespace

void RethrowAt(const NodeProto& node, const tvm::ffi::Error& error) {
  // Converters take the dimensions of operands by their place.
  if (error.kind() == "IndexError") {
    throw tvm::ffi::Error("ModelError", NodeLabel(node) + ": an operand has fewer axes than it takes",
                          std::string(error.backtrace()));
  }
  throw tvm::ffi::Error(error.kind(),
                        NodeLabel(node) + ": " + InModelWords(std::string(error.message()), NodeSpanName(node)),
                        std::string(error.backtrace()));
}

std::string NodeLabel(const NodeProto& node) {
  const std::string type(node.op_type);
  if (!node.name.empty()) return "node '" + std::string(node.name) + "' (" + type + ")";
  for (const std::string_view output : node.outputs) {
    if (!output.empty()) return "the " + type + " node of '" + std::string(output) + "'";
  }
  return "a " + type + " node without outputs";
}

std::string NodeSpanName(const NodeProto& node) {
  if (!node.name.empty()) return std::string(node.name);
  std::string name(node.op_type);
  for (const std::string_view output : node.outputs) {
    if (!output.empty()) return name + ":" + std::string(output);
  }
  return name;
}

std::string OperatorName(const NodeProto& node) {
  const std::string op(node.op_type);
  return IsOnnxDomain(node.domain) ? op : std::string(node.domain) + "." + op;
}

std::vector<std::string_view> CapturedNames(const GraphProto& graph) {
  Names own;
  for (const TensorProto& tensor : graph.initializers) own.insert(tensor.name);
  for (const ValueInfoProto& input : graph.inputs) own.insert(input.name);
  for (const NodeProto& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string_view> captured;
  Names seen;
  const auto use = [&](std::string_view name) {
    if (own.count(name) == 0 && seen.insert(name).second) captured.push_back(name);
  };
  for (const NodeProto& node : graph.nodes) {
    for (const std::string_view name : ReadNames(node)) use(name);
  }
  for (const ValueInfoProto& output : graph.outputs) use(output.name);
  return captured;
}

std::vector<const NodeProto*> OrderNodes(const std::vector<NodeProto>& nodes,
                                         const std::vector<std::string_view>& given,
                                         const std::vector<std::string_view>& outputs,
                                         const std::function<bool(std::string_view)>& defined_outside) {
  const Names available(given.begin(), given.end());
  std::unordered_map<std::string_view, size_t> producer;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view output : nodes[i].outputs) {
      if (output.empty()) continue;
      if (available.count(output) != 0) {
        DEUTERON_THROW(ModelError) << "'" << output << "' is defined twice: as an input or initializer of the graph"
                                   << " and by " << NodeLabel(nodes[i]);
      }
      const auto [it, inserted] = producer.emplace(output, i);
      if (!inserted) {
        DEUTERON_THROW(ModelError) << "'" << output << "' is defined twice: by " << NodeLabel(nodes[it->second])
                                   << " and by " << NodeLabel(nodes[i]);
      }
    }
  }

  // Users of each node, and how many of its inputs each node waits for.
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<int> waiting_for(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : ReadNames(nodes[i])) {
      const auto it = producer.find(name);
      if (it != producer.end()) {
        users[it->second].push_back(i);
        ++waiting_for[i];
      } else if (available.count(name) == 0 && !defined_outside(name)) {
        DEUTERON_THROW(ModelError) << NodeLabel(nodes[i]) << " reads '" << name
                                   << "', which is undefined: no node, input or initializer of the graph has that name";
      }
    }
  }
  for (const std::string_view output : outputs) {
    if (producer.count(output) == 0 && available.count(output) == 0 && !defined_outside(output)) {
      DEUTERON_THROW(ModelError) << "the graph's output '" << output << "' is missing: no node defines it";
    }
  }

  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waiting_for[i] == 0) ready.push(i);
  }
  std::vector<const NodeProto*> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const size_t node = ready.top();
    ready.pop();
    order.push_back(&nodes[node]);
    for (const size_t user : users[node]) {
      if (--waiting_for[user] == 0) ready.push(user);
    }
  }
  if (order.size() < nodes.size()) {
    DEUTERON_THROW(ModelError) << "the graph has a cycle: " << DescribeCycle(nodes, waiting_for, producer);
  }
  return order;
}

}  // namespace deuteron::onnx
