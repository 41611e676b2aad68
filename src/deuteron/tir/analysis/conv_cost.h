/// \file
/// How long a convolution takes generated code on a machine, in either layout of its image: what the choice of layouts
/// and that of a library ask.
#pragma once

#include <cstdint>
#include <vector>

#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/winograd_plan.h"

namespace deuteron::tir {

/// A convolution in any number of spatial axes.
struct ConvWork {
  /// Images, and the spatial extents of the result.
  int64_t images = 1;
  std::vector<int64_t> result;
  /// Output channels, input channels of a group, the window.
  std::vector<int64_t> weights;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  int64_t groups = 1;
  /// Products of neighbours along the channels that are summed up in a lane while a multiply-add takes.
  double products_at_once = 1;
  bool are_integers = false;
  /// Whether products of transformed tiles may stand for it (ConvToWinograd): constant weights, floats of 32 bits or
  /// fewer, or bytes.
  bool may_transform = false;
  /// Of one weight.
  int64_t weight_bytes = 4;
  /// Runs for which its weights are transformed once; 0: any number.
  int64_t expected_runs = 0;
  /// Whether the sides of the image are known: else there are such tiles of channels last alone, and no vectors of the
  /// pixels of a line.
  bool has_known_sides = true;

  bool IsDepthwise() const { return groups > 1 && weights[1] == 1; }
};

enum class ImageLayout { kChannelsFirst, kChannelsLast };

/// Cycles of one core; infinite where generated code has no such convolution: with channels last, groups of them that
/// are no whole vectors.
double CyclesOfConvolution(const CostModel& costs, const ConvWork& work, ImageLayout layout);
/// The plan of transformed tiles by which it is computed, if that is less.
std::optional<WinogradPlan> TransformedTiles(const CostModel& costs, const ConvWork& work, ImageLayout layout);

}  // namespace deuteron::tir
