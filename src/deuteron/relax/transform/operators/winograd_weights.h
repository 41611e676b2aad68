/// \file
/// Constant weights of convolutions as products of transformed tiles multiply them (topi/winograd.h): each is
/// transformed once for all convolutions that share it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "deuteron/relax/expr.h"
#include "deuteron/relax/rewrite/byte_operands.h"

namespace deuteron::relax {

class WinogradWeights {
 public:
  /// Floats (k, c, 3, 3) as (4, 4, k, c), with `panel` 0; else in panels of so many channels, (⌈k / l⌉, 4, 4, c, l),
  /// and (k, c, t, 3, 3) as (⌈k / l⌉, 4, 4, t, c, l). The last panel is filled up with zeros.
  Constant OfFloats(const Constant& weights, int64_t panel);
  /// Integers (k, c, 3, 3), int8 or int32, as pairs of channels, (⌈k / l⌉, 4, 4, ⌈c / 2⌉, l). Null if they exceed 16
  /// bits, or sums of what they make of such data might exceed 32.
  Constant OfIntegers(const Constant& weights, int64_t panel, const CentredBytes& data);

 private:
  /// Weights, held since their tensor's address stands for them, and what became of them; of integers the greatest sum
  /// of the magnitudes that a result is multiplied by, of those for the sums of four elements, and of all others.
  struct Shared {
    Constant weights, transformed;
    int64_t of_sums = 0, of_others = 0;
  };
  template <typename Integer>
  static Shared Pairs(const Constant& weights, const Integer* from, int64_t length);

  std::map<std::pair<const void*, int64_t>, Shared> transformed_;
};

}  // namespace deuteron::relax
