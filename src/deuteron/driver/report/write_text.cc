#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "deuteron/driver/report/text_table.h"
#include "deuteron/driver/report/write.h"
#include "deuteron/support/number_text.h"

namespace deuteron::report {
namespace {

std::string Scaled(double value, double base, const char* const* units, size_t count) {
  size_t unit = 0;
  while (std::fabs(value) >= base && unit + 1 < count) {
    value /= base;
    ++unit;
  }
  const bool whole = unit == 0;
  return NumberText(value, whole ? "%.0f" : std::fabs(value) < 10 ? "%.2f" : "%.1f") + units[unit];
}

std::string EdgeLine(const FusionReport& report, const Edge& edge) {
  const auto name = [&](size_t node) {
    const Node& n = report.nodes[node];
    return n.place == n.callee || n.callee.empty() ? n.place : n.place + " (" + n.callee + ")";
  };
  std::string line = "  " + name(edge.from) + " → " + name(edge.to);
  if (edge.at != SIZE_MAX && edge.at != edge.to && edge.at != edge.from) line += "   crosses " + name(edge.at);
  return line + "\n";
}

std::string Unfused(const FusionReport& report) {
  std::map<std::string_view, std::vector<const Edge*>> by_code;
  size_t count = 0;
  for (const Edge& edge : report.edges) {
    if (edge.fused) continue;
    by_code[CodeOf(edge.reason)].push_back(&edge);
    ++count;
  }
  if (count == 0) return report.edges.empty() ? "" : "\nEvery edge is fused.\n";
  std::vector<std::pair<std::string_view, std::vector<const Edge*>>> codes(by_code.begin(), by_code.end());
  std::stable_sort(codes.begin(), codes.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string text = "\nNot fused: " + std::to_string(count) + (count == 1 ? " edge\n" : " edges\n");
  for (const auto& [code, edges] : codes) {
    // What is true of all of them stands once; what is particular, at the edge.
    const std::string_view general = InfoOf(edges[0]->reason).sentence;
    text += "\n" + std::string(code) + " (" + std::to_string(edges.size()) + ")\n  " + std::string(general) + "\n";
    const bool same_change =
        std::all_of(edges.begin(), edges.end(), [&](const Edge* e) { return e->change == edges[0]->change; });
    if (same_change) text += "  To fuse: " + edges[0]->change + "\n";
    for (const Edge* edge : edges) {
      text += EdgeLine(report, *edge);
      if (edge->sentence.size() > general.size()) text += "      " + edge->sentence.substr(general.size() + 1) + "\n";
      if (!same_change) text += "      To fuse: " + edge->change + "\n";
    }
  }
  return text;
}

}  // namespace

std::string HumanBytes(const SizeExpr& size) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  const auto number = size.number();
  return number ? Scaled(static_cast<double>(*number), 1024, kUnits, 5) : size.Text();
}

std::string HumanCount(const SizeExpr& count) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  const auto number = count.number();
  return number ? Scaled(static_cast<double>(*number), 1000, kUnits, 5) : count.Text();
}

std::string WriteText(const FusionReport& report, const std::string& model) {
  std::vector<size_t> order(report.kernels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return report.kernels[a].saved().Rank() > report.kernels[b].saved().Rank();
  });
  const SizeExpr before = report.TotalBefore();
  const SizeExpr after = report.TotalAfter();
  const auto count = [](int64_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text = model + ": " + count(report.num_operators(), "operator") + " in " +
                     count(static_cast<int64_t>(report.kernels.size()), "kernel") + "; " +
                     std::to_string(report.num_fused_edges()) + " of " +
                     count(static_cast<int64_t>(report.edges.size()), "edge") + " fused\n";
  text += "moved by kernels: " + HumanBytes(before) + " before fusion, " + HumanBytes(after) + " after";
  if (const auto a = before.number(), b = after.number(); a && b && *a > 0) {
    text +=
        " (" + std::to_string(std::llround(100.0 * static_cast<double>(*a - *b) / static_cast<double>(*a))) + "% less)";
  }
  text += "; arithmetic: " + HumanCount(report.TotalFlops()) + "\n";
  if (!report.kernels.empty()) {
    std::vector<std::vector<std::string>> rows{{"saved", "before", "after", "flop", "ops", "kernel", "nodes"}};
    for (const size_t i : order) {
      const Kernel& kernel = report.kernels[i];
      const int64_t members = std::count_if(kernel.members.begin(), kernel.members.end(),
                                            [&](size_t member) { return report.nodes[member].is_kernel; });
      rows.push_back({HumanBytes(kernel.saved()), HumanBytes(kernel.read_before + kernel.written_before),
                      HumanBytes(kernel.read + kernel.written), HumanCount(kernel.flops), std::to_string(members),
                      kernel.name + (kernel.not_merged.empty() ? "" : " (part of " + kernel.function + ")"),
                      JoinShort(report.Places(kernel), 100)});
    }
    text += "\n" + TextTable(rows);
  }
  text += Unfused(report);
  if (!report.remarks.empty()) {
    text += "\nOther decisions\n\n";
    for (const Remark& remark : report.remarks) {
      text += "  " + remark.pass + ": " + remark.subject + (remark.object.empty() ? "" : " → " + remark.object) + ": " +
              std::string(CodeOf(remark.reason)) + ": " + remark.sentence + "\n";
    }
  }
  return text;
}

}  // namespace deuteron::report
