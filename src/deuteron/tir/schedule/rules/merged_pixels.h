/// \file
/// Images whose rows are one: what is computed alike for all pixels need not know where a row ends.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// A function whose images (B, …, H, W) are (B, …, H·W), its parameters too, and what they were; with `inner`
/// dimensions behind these, of channels.
struct MergedPixels {
  PrimFunc func;
  PrimFunc original;
  int64_t inner = 0;

  /// A function that was made of `func`, with the parameters of `original`: (…, p) is (…, p / W, p mod W) there, which
  /// is the same place.
  PrimFunc WithOriginalParameters(const PrimFunc& made) const;
};

/// Makes one dimension of the last two before `inner` others of every buffer that has them, where the function allows
/// that: constant H and W above 1, and every block runs over both in loops of their own, one right under the other, and
/// uses them for nothing but as these two indices of such buffers. So it is in a pointwise convolution without strides
/// and all that is done to its result. Nothing if there is no such pair. No block of `func` has been scheduled yet.
std::optional<MergedPixels> MergePixels(const PrimFunc& func, int64_t inner = 0);

}  // namespace deuteron::tir
