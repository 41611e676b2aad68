/// \file
/// Fewer copies in kernels that LLVM takes longer to compile than to run.
#pragma once

#include <cstdint>

#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// How many copies of a statement the unrolled loops around it may make.
struct UnrollingLimits {
  /// Of one that adds to what it stores.
  int64_t of_sums;
  /// Of others.
  int64_t of_others;
  /// Whether loops stay whole that tell which element of a local sum is meant: what such a loop indexes is in memory,
  /// not in registers, once it is no more unrolled.
  bool keeps_registers;
};

/// A lowered statement with unrolled loops, the outermost first, that are serial where they make more copies. Those
/// stay unrolled whose variable tells which lanes of a vector are meant: masks that are known are cheap
/// (codegen/llvm/emit_masked.cc).
Stmt LimitUnrolling(const Stmt& stmt, const UnrollingLimits& limits);

}  // namespace deuteron::tir
