/// \file
/// Tensors that a kernel reads, or writes, in another shape than they have.
#pragma once

#include <utility>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// A function without the reshapes that stand at its ends: what only gives a parameter another shape is that parameter,
/// in the shape that the function computes with, so that indices are iterators, not quotients and remainders:
///
///     t[c, p] = x[c // 20, c % 20 * 64 + p]; y[p, c] = t[c, p]   →   y[p, c] = x[c, p]
struct ReshapedParameters {
  PrimFunc func;
  /// The parameters, and what stands for them.
  std::vector<std::pair<Buffer, Buffer>> reshaped;

  /// A function that was made of `func`, with the parameters as they were: the same places of memory.
  PrimFunc WithOriginals(const PrimFunc& made) const;
};

/// Of parameters of known compact shapes; no block of `func` has been scheduled yet.
ReshapedParameters WithoutReshapes(const PrimFunc& func);

}  // namespace deuteron::tir
