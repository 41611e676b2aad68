/// \file
/// Tensors that are read in another shape than they have, as behind a reshape.
#pragma once

#include <utility>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// A function that reads such tensors in the shape in which its indices are iterators, for rules that look at these.
struct PlainReads {
  PrimFunc func;
  /// The parameters, and what stands for them.
  std::vector<std::pair<Buffer, Buffer>> reshaped;

  /// A function that was made of `func`, with the parameters as they were: the same places of memory.
  PrimFunc WithOriginalParameters(const PrimFunc& made) const;
};

/// Finds parameters of known compact shape that are only read, and not by sums, all of their accesses at a sum of
/// iterators, each times what those behind it run over, though their own indices are quotients and remainders of these:
///
///     x[c // 20, c % 20 * 64 + p] of (32, 1280)   →   x[c, p] of (640, 64)
///
/// No block of `func` has been scheduled yet.
PlainReads WithPlainReads(const PrimFunc& func);

}  // namespace deuteron::tir
