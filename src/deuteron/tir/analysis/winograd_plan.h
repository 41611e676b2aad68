/// \file
/// Whether a convolution of 3 × 3 windows is computed by products of transformed tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deuteron/target/machine.h"

namespace deuteron::tir {

/// A convolution in two spatial axes of float32 by constant weights.
struct PlaneConv {
  /// Output and input channels, rows and columns of the window.
  std::vector<int64_t> weights;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  int64_t groups = 1;
  /// Of the result.
  int64_t height = 0;
  int64_t width = 0;
  /// Whether the image has its channels last, and the products vectors of channels.
  bool channels_last = false;
};

struct WinogradPlan {
  /// Tiles of 2 × 2 elements of the result: those of the image; of one with channels first with so many more that the
  /// columns of the products are whole vectors, whose number divides well into those of a register tile.
  int64_t tiles_down = 0;
  int64_t tiles_across = 0;
  /// Of a core, for one image.
  double cycles = 0;
};

/// Nothing for other windows than 3 × 3, strides, dilation and groups, and where the direct sum takes no longer: the
/// transforms take as long for few channels as for many, and weights that are 16/9 as large are read from memory.
std::optional<WinogradPlan> PlanWinograd(const Machine& machine, const PlaneConv& conv);

}  // namespace deuteron::tir
