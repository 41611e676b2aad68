/// \file
/// What this machine can do: float32 operations a second and bytes read and written a second by a copy, on N threads.
/// Printed as one JSON object; the benchmarks state figures as shares of it.
///
///     peak [threads]
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "deuteron/driver/report/machine_peak.h"

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  if (threads < 1) {
    std::fputs("usage: peak [threads]\n", stderr);
    return 2;
  }
  const deuteron::report::MachinePeak peak = deuteron::report::MeasurePeak(threads);
  std::printf("{\"threads\": %d, \"gflops\": %.1f, \"gbps\": %.1f}\n", threads, peak.flops / 1e9, peak.bandwidth / 1e9);
  return 0;
}
