#include <array>

#include "deuteron/driver/report/write.h"

namespace deuteron::report {
namespace {

/// `text` between quotes of the dot language.
std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

constexpr std::array<const char*, 8> kColors = {"#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc",
                                                "#d9d2e9", "#fce5cd", "#d0e0e3", "#ead1dc"};

}  // namespace

std::string WriteDot(const FusionReport& report, const std::string& model) {
  std::string dot = "digraph " + Quote(model) +
                    " {\n  node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n"
                    "  edge [fontname=Helvetica, fontsize=9];\n";
  const auto node_line = [&](size_t i) {
    const Node& node = report.nodes[i];
    const std::string label = Quote(node.callee + "\n" + node.place);
    return "n" + std::to_string(i) + " [label=" + label + (node.kind == "opaque" ? ", peripheries=2" : "") + "];\n";
  };
  std::vector<bool> placed(report.nodes.size(), false);
  for (size_t k = 0; k < report.kernels.size(); ++k) {
    const Kernel& kernel = report.kernels[k];
    std::string inside;
    for (const size_t member : kernel.members) {
      if (placed[member]) continue;  // recomputed: it stands in the first of its kernels
      placed[member] = true;
      inside += "    " + node_line(member);
    }
    if (inside.empty()) continue;
    dot += "  subgraph cluster_" + std::to_string(k) +
           " {\n    label=" + Quote(kernel.name + "\nsaves " + HumanBytes(kernel.saved())) +
           ";\n    style=filled;\n    color=" +
           Quote(kernel.members.size() > 1 ? kColors[k % kColors.size()] : "#eeeeee") + ";\n" + inside + "  }\n";
  }
  for (size_t i = 0; i < report.nodes.size(); ++i) {
    if (!placed[i]) dot += "  " + node_line(i);
  }
  for (const Edge& edge : report.edges) {
    dot += "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to);
    dot += edge.fused ? ";\n"
                      : " [style=dashed, color=\"#aa0000\", label=" + Quote(std::string(CodeOf(edge.reason))) + "];\n";
  }
  return dot + "}\n";
}

}  // namespace deuteron::report
