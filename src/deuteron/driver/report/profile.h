/// \file
/// Where the time of a compiled model goes, kernel by kernel, beside what fusion decided and what the machine can do.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/report/fusion_report.h"
#include "deuteron/driver/report/machine_peak.h"

namespace deuteron::report {

/// One launch.
struct ProfiledKernel {
  std::string name;
  /// The places in the user's model that it computes.
  std::vector<std::string> places;
  /// In the report's kernels; SIZE_MAX for an external function, or where the artefact carries no log.
  size_t kernel = SIZE_MAX;
  /// In one run.
  double calls = 0;
  /// Of one run: median of the runs, in nanoseconds.
  double nanoseconds = 0;
  /// Of one call; unknown where the log does not tell.
  SizeExpr bytes, flops;

  double gbps() const;
  double gflops() const;
  /// The time that the roofline allows as a share of the time taken: 1 is as fast as memory or arithmetic permits; data
  /// that stays in caches may exceed it. Negative if unknown.
  double roofline(const MachinePeak& peak) const;
};

struct ProfileResult {
  int threads = 0;
  int64_t runs = 0;
  /// Median of whole runs, profiler attached.
  double run_nanoseconds = 0;
  MachinePeak peak;
  /// By time, longest first.
  std::vector<ProfiledKernel> kernels;
};

/// Runs "main" for at least `seconds` (and three times) after one warm-up.
ProfileResult Profile(const Executable& executable, const std::vector<Tensor>& inputs, double seconds);

std::string WriteProfileText(const ProfileResult& profile, const std::string& model);
nlohmann::ordered_json WriteProfileJson(const ProfileResult& profile, const std::string& model);

}  // namespace deuteron::report
