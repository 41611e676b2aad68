/// \file
/// What this machine can do at most, measured: the roof of a roofline.
#pragma once

namespace deuteron::report {

struct MachinePeak {
  /// Float32 operations a second (a multiply-add is two) in vector registers.
  double flops = 0;
  /// Bytes a second read and written by a copy larger than the caches.
  double bandwidth = 0;
};

/// Measures on `threads` threads of the process's pool; takes about a quarter of a second.
MachinePeak MeasurePeak(int threads);

}  // namespace deuteron::report
