#include <cstdio>
#include <numeric>

#include "deuteron/driver/report/profile.h"
#include "deuteron/driver/report/text_table.h"
#include "deuteron/driver/report/write.h"

namespace deuteron::report {
namespace {

std::string Fixed(double value, const char* format) {
  char text[40];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

double KernelNanoseconds(const ProfileResult& profile) {
  return std::accumulate(profile.kernels.begin(), profile.kernels.end(), 0.0,
                         [](double sum, const ProfiledKernel& kernel) { return sum + kernel.nanoseconds; });
}

}  // namespace

std::string WriteProfileText(const ProfileResult& profile, const std::string& model) {
  const double total = KernelNanoseconds(profile);
  std::string text = model + ": " + Fixed(profile.run_nanoseconds / 1e6, "%.3f ms a run (median of ") +
                     std::to_string(profile.runs) + "), " + Fixed(total / 1e6, "%.3f ms in ") +
                     std::to_string(profile.kernels.size()) + " kernels, " + std::to_string(profile.threads) +
                     (profile.threads == 1 ? " thread\n" : " threads\n");
  text += "this machine, measured now: " + Fixed(profile.peak.flops / 1e9, "%.0f GFLOP/s, ") +
          Fixed(profile.peak.bandwidth / 1e9, "%.1f GB/s\n");
  if (profile.kernels.empty()) return text;
  std::vector<std::vector<std::string>> rows{
      {"time", "share", "calls", "bytes", "GB/s", "GFLOP/s", "of roofline", "kernel", "nodes"}};
  for (const ProfiledKernel& kernel : profile.kernels) {
    const double roofline = kernel.roofline(profile.peak);
    const bool known = roofline >= 0;
    rows.push_back({Fixed(kernel.nanoseconds / 1e3, "%.1f µs"),
                    Fixed(total > 0 ? 100 * kernel.nanoseconds / total : 0, "%.1f%%"), Fixed(kernel.calls, "%g"),
                    known ? HumanBytes(kernel.bytes) : "?", known ? Fixed(kernel.gbps(), "%.1f") : "?",
                    known ? Fixed(kernel.gflops(), "%.1f") : "?", known ? Fixed(100 * roofline, "%.0f%%") : "?",
                    kernel.name, JoinShort(kernel.places, 100)});
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

}  // namespace deuteron::report
