/// \file
/// What kernels cost: bytes that move through memory, and operations.
///
/// The unit is the byte: a merge that computes nothing twice is worth the bytes that it saves. What is computed again
/// is weighed against them by FlopsPerByte. That is all that the passes which merge kernels decide by.
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

  /// What of a cache of the second level a row may take, so that its stages find it there.
  double RowBytes() const { return static_cast<double>(target_.l2_bytes) / 2; }
  /// Below this a kernel does not run in parallel anyway.
  double SerialBytes() const { return 128 << 10; }
  /// Pointwise operations (10 for a function as exp) that take as long as a byte of a tensor of that size: four where
  /// it comes from memory, one where it is still in the cache of the second level. (Two threads with AVX-512 do about
  /// 100 G a second beside 25 GB/s.)
  double FlopsPerByte(double tensor_bytes) const {
    return tensor_bytes > static_cast<double>(target_.l2_bytes) / 2 ? 4 : 1;
  }
  /// Elements of 32 bits in a vector.
  double Lanes() const { return static_cast<double>(target_.Lanes(32)); }
  int64_t threads() const { return target_.threads; }

 private:
  Target target_;
};

}  // namespace deuteron::relax::fusion
