/// \file
/// Whether a convolution of 3 × 3 windows is computed by products of transformed tiles.
#pragma once

#include <cstdint>
#include <optional>

#include "deuteron/target/machine.h"

namespace deuteron::tir {

struct WinogradPlan {
  /// Tiles of 2 × 2 elements of the result: those of the image, with so many more that the columns of the products are
  /// whole vectors, whose number divides well into those of a register tile.
  int64_t tiles_down = 0;
  int64_t tiles_across = 0;
  /// Of a core, for one image.
  double cycles = 0;
};

/// For constant float32 weights, stride 1 and an image of `height` × `width` elements of the result. Nothing where the
/// direct sum takes no longer: the transforms take as long for few channels as for many, and weights that are 16/9 as
/// large are read from memory.
std::optional<WinogradPlan> PlanWinograd(const Machine& machine, int64_t out_channels, int64_t in_channels,
                                         int64_t height, int64_t width);

}  // namespace deuteron::tir
