#include "deuteron/driver/report/write.h"

namespace deuteron::report {
namespace {

using Json = nlohmann::ordered_json;

Json NodeToJson(const Node& node, size_t id) {
  Json json = {{"id", id},
               {"function", node.function},
               {"name", node.var},
               {"place", node.place},
               {"operator", node.callee},
               {"kind", node.kind},
               {"kernels", node.kernels}};
  if (node.is_kernel) {
    json["bytes_read"] = SizeToJson(node.read);
    json["bytes_written"] = SizeToJson(node.written);
  }
  if (node.cause) json["note"] = InfoOf(*node.cause).sentence;
  return json;
}

Json EdgeToJson(const Edge& edge) {
  Json json = {{"from", edge.from},
               {"to", edge.to},
               {"fused", edge.fused},
               {"reason", CodeOf(edge.reason)},
               {"pass", edge.pass}};
  if (!edge.phase.empty()) json["phase"] = std::stoi(edge.phase);
  if (edge.fused) return json;
  json["sentence"] = edge.sentence;
  json["change"] = edge.change;
  if (edge.at != SIZE_MAX) json["at"] = edge.at;
  return json;
}

Json KernelToJson(const FusionReport& report, const Kernel& kernel, size_t id) {
  Json json = {{"id", id},
               {"name", kernel.name},
               {"function", kernel.function},
               {"places", report.Places(kernel)},
               {"members", kernel.members},
               {"parameters", kernel.params},
               {"schedule", kernel.schedule},
               {"bytes_read_before", SizeToJson(kernel.read_before)},
               {"bytes_written_before", SizeToJson(kernel.written_before)},
               {"bytes_read", SizeToJson(kernel.read)},
               {"bytes_written", SizeToJson(kernel.written)},
               {"bytes_saved", SizeToJson(kernel.saved())},
               {"flops", SizeToJson(kernel.flops)},
               {"intermediates_removed", kernel.removed}};
  if (!kernel.not_merged.empty()) json["not_merged"] = kernel.not_merged;
  return json;
}

}  // namespace

Json SizeToJson(const SizeExpr& size) {
  if (const auto number = size.number()) return *number;
  return size.Text();
}

Json WriteJson(const FusionReport& report, const std::string& model) {
  Json json = {{"schema", 1},
               {"model", model},
               {"operators", report.num_operators()},
               {"kernels_launched", report.kernels.size()},
               {"edges_fused", report.num_fused_edges()},
               {"bytes_before", SizeToJson(report.TotalBefore())},
               {"bytes_after", SizeToJson(report.TotalAfter())},
               {"flops", SizeToJson(report.TotalFlops())}};
  for (const char* list : {"nodes", "edges", "kernels", "remarks"}) json[list] = Json::array();
  for (size_t i = 0; i < report.nodes.size(); ++i) json["nodes"].push_back(NodeToJson(report.nodes[i], i));
  for (const Edge& edge : report.edges) json["edges"].push_back(EdgeToJson(edge));
  for (size_t i = 0; i < report.kernels.size(); ++i)
    json["kernels"].push_back(KernelToJson(report, report.kernels[i], i));
  for (const Remark& remark : report.remarks) {
    json["remarks"].push_back({{"pass", remark.pass},
                               {"function", remark.function},
                               {"subject", remark.subject},
                               {"object", remark.object},
                               {"reason", CodeOf(remark.reason)},
                               {"message", remark.sentence}});
    if (!remark.change.empty()) json["remarks"].back()["change"] = remark.change;
    for (const auto& [name, value] : remark.figures) json["remarks"].back()["figures"][name] = value;
  }
  return json;
}

}  // namespace deuteron::report
