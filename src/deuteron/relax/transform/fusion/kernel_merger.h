/// \file
/// Merges the kernels that a Primitive function calls into one.
#pragma once

#include <string>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax::fusion {

/// The kernel that replaces a Primitive function.
struct MergedKernel {
  /// Null if the function cannot be merged; `why` says what stands against it.
  tir::PrimFunc func;
  std::string why;
  /// For each result, the parameter of the Primitive function (shapes not counted) whose memory it takes, or -1; empty
  /// if all are -1.
  Array<int64_t> inplace_indices;
};

/// Where a merged kernel differs for TVM's sake.
struct MergeOptions {
  /// A block that reads one buffer twice keeps the first region instead of the union.
  bool first_region_only = false;
  /// The scalars of shape parameters stand before the results, not after them.
  bool scalars_before_results = false;
  /// A call in place is believed that nothing else needs what it overwrites.
  bool trust_inplace = false;
  /// Each kernel stays a block of its own, marked tir::kKernelBlock, and is scheduled by itself.
  bool keep_kernels = false;
  /// Of kernels that are kept: threads share them out, as none needs another.
  bool side_by_side = false;
};
/// Of a Primitive function (true): its kernels are to be merged so.
inline constexpr const char* kSideBySide = "side_by_side";

/// Merges `function`. Constants, match_casts and calls of anything but kernels inside of it are ModelErrors.
///
MergedKernel MergeKernels(const IRModule& module, const GlobalVar& name, const Function& function,
                          const MergeOptions& options);

}  // namespace deuteron::relax::fusion
