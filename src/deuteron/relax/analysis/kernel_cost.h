/// \file
/// How much kernels compute.
#pragma once

#include "deuteron/relax/analysis/data_size.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {

/// The arithmetic operations of a kernel: by block, a number times extents that are expressions.
class KernelFlops {
 public:
  explicit KernelFlops(const tir::PrimFunc& func);

  /// False if it does not consist of blocks, or computes more than 64 bits count.
  bool known() const { return known_; }
  /// In one call of it, with the caller's dimensions; `result`: the type of what the call returns.
  DataSize Of(const CallTIRView& view, const Type& result) const;

 private:
  tir::PrimFunc func_;
  int64_t number_ = 0;
  /// Null if there is none.
  PrimExpr symbolic_;
  bool known_ = true;
};

}  // namespace deuteron::relax
