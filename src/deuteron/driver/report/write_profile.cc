#include <algorithm>
#include <iterator>
#include <numeric>

#include "deuteron/driver/report/profile.h"
#include "deuteron/driver/report/text_table.h"
#include "deuteron/driver/report/write.h"
#include "deuteron/support/number_text.h"

namespace deuteron::report {
namespace {

double KernelNanoseconds(const ProfileResult& profile) {
  return std::accumulate(profile.kernels.begin(), profile.kernels.end(), 0.0,
                         [](double sum, const ProfiledKernel& kernel) { return sum + kernel.nanoseconds; });
}

}  // namespace

std::string WriteProfileText(const ProfileResult& profile, const std::string& model) {
  const double total = KernelNanoseconds(profile);
  std::string text = model + ": " + NumberText(profile.run_nanoseconds / 1e6, "%.3f ms a run (median of ") +
                     std::to_string(profile.runs) + "), " + NumberText(total / 1e6, "%.3f ms in ") +
                     std::to_string(profile.kernels.size()) + " kernels, " + std::to_string(profile.threads) +
                     (profile.threads == 1 ? " thread\n" : " threads\n");
  text += "this machine, measured now: " + NumberText(profile.peak.flops / 1e9, "%.0f GFLOP/s, ") +
          NumberText(profile.peak.bandwidth / 1e9, "%.1f GB/s\n");
  if (profile.kernels.empty()) return text;
  std::vector<std::vector<std::string>> rows{
      {"time", "share", "calls", "bytes", "GB/s", "GFLOP/s", "of roofline", "kernel", "nodes"}};
  for (const ProfiledKernel& kernel : profile.kernels) {
    const double roofline = kernel.roofline(profile.peak);
    const bool known = roofline >= 0;
    rows.push_back({NumberText(kernel.nanoseconds / 1e3, "%.1f µs"),
                    NumberText(total > 0 ? 100 * kernel.nanoseconds / total : 0, "%.1f%%"),
                    NumberText(kernel.calls, "%g"), known ? HumanBytes(kernel.bytes) : "?",
                    known ? NumberText(kernel.gbps(), "%.1f") : "?", known ? NumberText(kernel.gflops(), "%.1f") : "?",
                    known ? NumberText(100 * roofline, "%.0f%%") : "?", kernel.name, JoinShort(kernel.places, 100)});
  }
  return text + "\n" + TextTable(rows);
}

nlohmann::ordered_json WriteProfileJson(const ProfileResult& profile, const std::string& model) {
  using Json = nlohmann::ordered_json;
  const double total = KernelNanoseconds(profile);
  Json json = {{"schema", 1},
               {"model", model},
               {"threads", profile.threads},
               {"runs", profile.runs},
               {"run_ms", profile.run_nanoseconds / 1e6},
               {"kernels_ms", total / 1e6},
               {"peak_gflops", profile.peak.flops / 1e9},
               {"peak_gbps", profile.peak.bandwidth / 1e9},
               {"kernels", Json::array()}};
  for (const ProfiledKernel& kernel : profile.kernels) {
    Json row = {{"name", kernel.name},
                {"places", kernel.places},
                {"calls", kernel.calls},
                {"us", kernel.nanoseconds / 1e3},
                {"share", total > 0 ? kernel.nanoseconds / total : 0}};
    if (kernel.kernel != SIZE_MAX) row["kernel"] = kernel.kernel;
    if (const double roofline = kernel.roofline(profile.peak); roofline >= 0) {
      row["bytes"] = SizeToJson(kernel.bytes);
      row["flops"] = SizeToJson(kernel.flops);
      row["gbps"] = kernel.gbps();
      row["gflops"] = kernel.gflops();
      row["roofline"] = roofline;
    }
    json["kernels"].push_back(std::move(row));
  }
  return json;
}

nlohmann::ordered_json WriteTrace(const ProfileResult& profile, const std::string& model) {
  using Json = nlohmann::ordered_json;
  const auto event = [](const std::string& name, const char* category, int64_t begin_ns, int64_t duration_ns,
                        int thread = 0) {
    return Json{{"name", name},
                {"cat", category},
                {"ph", "X"},
                {"pid", 1},
                {"tid", 1 + thread},
                {"ts", static_cast<double>(begin_ns) / 1e3},
                {"dur", static_cast<double>(duration_ns) / 1e3}};
  };
  Json events = Json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", model}}}});
  int threads = 0;
  for (const TracedRun& traced : profile.trace) {
    for (const TracedPiece& piece : traced.pieces) threads = std::max(threads, piece.thread);
  }
  for (int thread = 0; thread <= threads; ++thread) {
    const std::string name = thread == 0 ? "caller" : "worker " + std::to_string(thread);
    events.push_back(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1 + thread}, {"args", {{"name", name}}}});
  }
  for (size_t run = 0; run < profile.trace.size(); ++run) {
    const TracedRun& traced = profile.trace[run];
    events.push_back(event("run " + std::to_string(run), "run", traced.begin_ns, traced.duration_ns));
    for (const TracedCall& call : traced.calls) {
      const ProfiledKernel& kernel = profile.kernels[call.kernel];
      Json shown = event(kernel.name, "kernel", call.begin_ns, call.duration_ns);
      shown["args"] = {{"nodes", kernel.places}};
      const auto rate = [&](const SizeExpr& amount) {
        return static_cast<double>(amount.number().value_or(0)) /
               static_cast<double>(std::max<int64_t>(call.duration_ns, 1));
      };
      if (kernel.roofline(profile.peak) >= 0) {
        shown["args"]["bytes"] = SizeToJson(kernel.bytes);
        shown["args"]["flops"] = SizeToJson(kernel.flops);
        shown["args"]["gbps"] = rate(kernel.bytes);
        shown["args"]["gflops"] = rate(kernel.flops);
      }
      events.push_back(std::move(shown));
    }
    for (const TracedPiece& piece : traced.pieces) {
      const auto after =
          std::upper_bound(traced.calls.begin(), traced.calls.end(), piece.begin_ns,
                           [](int64_t begin_ns, const TracedCall& call) { return begin_ns < call.begin_ns; });
      if (after == traced.calls.begin()) continue;
      const ProfiledKernel& kernel = profile.kernels[std::prev(after)->kernel];
      Json shown = event(kernel.name, "part", piece.begin_ns, piece.duration_ns, piece.thread);
      shown["args"] = {{"nodes", kernel.places}};
      events.push_back(std::move(shown));
    }
  }
  return {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
}

}  // namespace deuteron::report
