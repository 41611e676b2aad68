/// \file
/// How much calls compute and move, in the caller's terms; what that costs says tir/analysis/cost.h.
#pragma once

#include <cstdint>
#include <optional>

#include "deuteron/relax/analysis/data_size.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {

/// The size of a tensor, or of a tuple of them, in bytes, extents that are not known assumed (tir/analysis/cost.h); 0
/// if nothing is known.
double AssumedBytes(const Type& type);
/// The elements of a tensor, likewise.
double AssumedElements(const Type& type);

/// Operations of an operator that is a product or a convolution, a multiply-add being two; 0 of others. Symbolic
/// dimensions count as `symbolic_extent`.
double OpsOfProduct(const Call& call, int64_t symbolic_extent);

/// The same where all dimensions are numbers; nothing where one is not, of other operators, or beyond 64 bits.
std::optional<int64_t> OpsOfKnownProduct(const Call& call);

/// What a kernel, made or only thought of, moves and computes.
struct KernelCost {
  double bytes_read = 0;
  double bytes_written = 0;
  double flops = 0;
  double bytes() const { return bytes_read + bytes_written; }
};

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
