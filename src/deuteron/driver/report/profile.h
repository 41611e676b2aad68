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

/// One call of a kernel, since the begin of the first run that is measured. Kernels of a library, of which only the
/// durations are known, follow each other within its call.
struct TracedCall {
  /// In ProfileResult::kernels.
  size_t kernel = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};
/// A part of a parallel loop, on another thread than the caller's: 1, 2, …
struct TracedPiece {
  int thread = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};
struct TracedRun {
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
  /// In order of time.
  std::vector<TracedCall> calls;
  std::vector<TracedPiece> pieces;
};

struct ProfileResult {
  int threads = 0;
  int64_t runs = 0;
  /// Median of whole runs, profiler attached.
  double run_nanoseconds = 0;
  MachinePeak peak;
  /// By time, longest first.
  std::vector<ProfiledKernel> kernels;
  /// The first of the runs that were measured.
  std::vector<TracedRun> trace;
};

/// Runs "main" for at least `seconds` (and three times) after one warm-up.
ProfileResult Profile(const Executable& executable, const std::vector<Tensor>& inputs, double seconds);

std::string WriteProfileText(const ProfileResult& profile, const std::string& model);
nlohmann::ordered_json WriteProfileJson(const ProfileResult& profile, const std::string& model);
/// The traced runs in the Trace Event Format, which Perfetto and Chrome (about:tracing) show: microseconds, runs with
/// their kernels, each with its places, bytes, GB/s and GFLOP/s, on the thread that calls them, and on other threads
/// the parts of their loops that these ran. (What threads of a library do is not known.)
nlohmann::ordered_json WriteTrace(const ProfileResult& profile, const std::string& model);

}  // namespace deuteron::report
