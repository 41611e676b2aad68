#include "deuteron/driver/report/splice_libraries.h"

#include "deuteron/driver/report/verdict_text.h"

namespace deuteron::report {
namespace {

constexpr size_t kNoNode = SIZE_MAX;

void RemoveNodes(const std::vector<bool>& removed, FusionReport* report) {
  std::vector<size_t> number(removed.size(), kNoNode);
  std::vector<Node> nodes;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (removed[i]) continue;
    number[i] = nodes.size();
    nodes.push_back(std::move(report->nodes[i]));
  }
  report->nodes = std::move(nodes);
  for (Edge& edge : report->edges) {
    edge.from = number[edge.from];
    edge.to = number[edge.to];
    if (edge.at != kNoNode) edge.at = number[edge.at];
  }
  for (Kernel& kernel : report->kernels) {
    for (size_t& member : kernel.members) member = number[member];
    for (size_t& member : kernel.removed) member = number[member];
  }
}

/// The pattern that took an operator.
std::string PatternOf(const FusionReport& report, size_t node) {
  const std::vector<size_t>& kernels = report.nodes[node].kernels;
  return kernels.empty() ? report.nodes[node].callee : report.kernels[kernels.front()].schedule;
}

}  // namespace

void SpliceLibraries(const LibraryInputs& inputs, FusionReport* report) {
  // The operator whose result a function returns, by function and variable.
  std::map<std::pair<std::string, std::string>, size_t> results;
  for (size_t i = 0; i < report->nodes.size(); ++i) {
    const Node& node = report->nodes[i];
    if (inputs.count(node.function) != 0) results[{node.function, node.var}] = i;
  }
  if (results.empty()) return;
  const auto is_call = [&](size_t i) { return inputs.count(report->nodes[i].callee) != 0; };
  const auto result_of = [&](size_t i) {
    if (!is_call(i)) return i;
    const auto it = results.find({report->nodes[i].callee, report->nodes[i].var});
    return it == results.end() ? i : it->second;
  };
  const auto readers_of = [&](size_t from, size_t to) -> std::vector<size_t> {
    if (!is_call(to)) return {to};
    const auto& params = inputs.at(report->nodes[to].callee);
    const auto it = params.find(report->nodes[from].var);
    return it == params.end() ? std::vector<size_t>{to} : it->second;
  };
  std::vector<Edge> edges;
  for (const Edge& edge : report->edges) {
    for (const size_t to : readers_of(edge.from, edge.to)) {
      Edge spliced = edge;
      spliced.from = result_of(edge.from);
      spliced.to = to;
      if (report->nodes[spliced.from].kind == "library" && report->nodes[to].kind == "library" && !edge.fused) {
        spliced.reason = transform::Reason::kLibraryKernels;
        spliced.sentence = std::string(InfoOf(spliced.reason).sentence);
        spliced.change = RemedyOf(spliced.reason, [&](std::string_view word) {
          return PatternOf(*report, word == "pattern" ? spliced.from : spliced.to);
        });
      }
      edges.push_back(std::move(spliced));
    }
  }
  report->edges = std::move(edges);
  std::vector<bool> removed(report->nodes.size());
  for (size_t i = 0; i < removed.size(); ++i) removed[i] = is_call(i) && result_of(i) != i;
  for (const Edge& edge : report->edges) {
    removed[edge.from] = false;
    removed[edge.to] = false;
    if (edge.at != kNoNode) removed[edge.at] = false;
  }
  for (const Kernel& kernel : report->kernels) {
    for (const size_t member : kernel.members) removed[member] = false;
  }
  RemoveNodes(removed, report);
}

}  // namespace deuteron::report
