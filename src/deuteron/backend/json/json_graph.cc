#include "deuteron/backend/json/json_graph.h"

#include <utility>

#include "deuteron/support/error.h"

namespace deuteron::backend {
namespace {

[[noreturn]] void Fail(const std::string& why) {
  DEUTERON_THROW(ModelError) << "the graph of a library is damaged: " << why;
}

JsonEntry ParseEntry(const nlohmann::json& json, const JsonGraph& graph) {
  const JsonEntry entry{json.at(0).get<uint32_t>(), json.at(1).get<uint32_t>()};
  if (entry.node >= graph.nodes.size() || entry.output >= graph.nodes[entry.node].shapes.size()) {
    Fail("a reference to a value that is not there");
  }
  return entry;
}

/// Takes the attributes out of `json`.
JsonNode ParseNode(nlohmann::json* json, const JsonGraph& graph) {
  JsonNode node;
  const std::string op = json->at("op");
  if (op != "input" && op != "const" && op != "kernel") Fail("a node of kind " + op);
  node.kind = op == "input" ? JsonNode::kInput : op == "const" ? JsonNode::kConst : JsonNode::kKernel;
  node.name = json->at("name");
  node.attrs = std::move(json->at("attrs"));
  node.attrs.at("shape").get_to(node.shapes);
  node.attrs.at("dtype").get_to(node.dtypes);
  if (node.shapes.size() != node.dtypes.size() || node.shapes.empty()) Fail("node " + node.name + " without types");
  if (node.kind != JsonNode::kKernel) return node;
  for (const auto& input : json->at("inputs")) node.inputs.push_back(ParseEntry(input, graph));
  return node;
}

}  // namespace

JsonGraph ParseJsonGraph(std::string_view text) {
  try {
    auto json = nlohmann::json::parse(text);
    JsonGraph graph;
    for (auto& node : json.at("nodes")) {
      graph.nodes.push_back(ParseNode(&node, graph));
      const auto index = static_cast<uint32_t>(graph.nodes.size() - 1);
      if (graph.nodes.back().kind == JsonNode::kInput) graph.inputs.push_back(index);
      if (graph.nodes.back().kind == JsonNode::kConst) graph.constants.push_back(index);
    }
    for (const auto& head : json.at("heads")) graph.heads.push_back(ParseEntry(head, graph));
    if (graph.heads.empty()) Fail("it has no result");
    return graph;
  } catch (const nlohmann::json::exception& error) {
    Fail(error.what());
  }
}

}  // namespace deuteron::backend
