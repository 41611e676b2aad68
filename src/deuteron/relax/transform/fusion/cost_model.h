/// \file
/// What kernels cost: bytes that move through memory, and operations.
///
/// The unit is the byte. An operation counts as the bytes that could have moved in its time, a kernel's launch as
/// well. That is all that the passes which merge kernels decide by, and what they write into the decision log.
#pragma once

#include <cstdint>

#include "deuteron/relax/expr.h"
#include "deuteron/target/target.h"

namespace deuteron::relax::fusion {

/// The size of a tensor, or of a tuple of them, in bytes; a symbolic dimension counts as `kSymbolicExtent`, 0 if
/// nothing is known.
inline constexpr double kSymbolicExtent = 128;
double BytesOf(const Type& type);

/// A kernel, made or only thought of.
struct KernelCost {
  double bytes_read = 0;
  double bytes_written = 0;
  double flops = 0;
  double bytes() const { return bytes_read + bytes_written; }
};

class CostModel {
 public:
  explicit CostModel(const Target& target) : target_(target) {}

  /// Operations in the time that a byte takes to come from memory (a core does 32 to 64 a cycle with 512-bit vectors
  /// and gets 2 to 4 bytes; a transcendental counts as ten): what is recomputed instead of loaded pays below that.
  double FlopsPerByte() const { return static_cast<double>(target_.vector_bits) / 64; }
  /// A launch: the byte code's step, and waking the threads, about a microsecond.
  double LaunchBytes() const { return 8192; }
  /// Time in bytes.
  double Time(const KernelCost& cost) const { return cost.bytes() + cost.flops / FlopsPerByte() + LaunchBytes(); }
  /// What of a cache of the second level a row may take, so that its stages find it there.
  double RowBytes() const { return static_cast<double>(target_.l2_bytes) / 2; }
  /// Below this a kernel does not run in parallel anyway.
  double SerialBytes() const { return 128 << 10; }
  int64_t threads() const { return target_.threads; }

 private:
  Target target_;
};

}  // namespace deuteron::relax::fusion
