/// \file
/// Images whose rows are one: what is computed alike for all pixels need not know where a row ends.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Which dimension of a buffer is that of lines, the next one that of columns; nothing if it is no image.
using DimOfLines = std::function<std::optional<int64_t>(const Buffer&)>;

/// A function whose images (B, …, H, W, …) are (B, …, H·W, …), its parameters too, and what they were.
struct MergedPixels {
  PrimFunc func;
  PrimFunc original;
  DimOfLines dim_of_lines;

  /// A function that was made of `func`, with the parameters of `original`: (…, p) is (…, p / W, p mod W) there, which
  /// is the same place.
  PrimFunc WithOriginalParameters(const PrimFunc& made) const;
};

/// Makes one dimension of the lines and columns of every buffer that has them, where the function allows that: constant
/// H and W above 1, and every block runs over both in loops of their own, one right under the other, and uses them for
/// nothing but as these two indices of such buffers. So it is in a pointwise convolution without strides and all that
/// is done to its result. Nothing if there is no such pair. No block of `func` has been scheduled yet.
std::optional<MergedPixels> MergePixels(const PrimFunc& func, const DimOfLines& dim_of_lines);

/// The last two dimensions before `inner` others, of channels.
DimOfLines LinesBefore(int64_t inner);

}  // namespace deuteron::tir
