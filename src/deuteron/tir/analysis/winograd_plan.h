/// \file
/// Whether a convolution of 3 × 3 windows, or of windows that are so in the last two of three axes, is computed by
/// products of transformed tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::tir {

/// Whether convolutions by constant weights of that type may be computed so: those of float32, of narrower floats
/// where the target does not multiply pairs of these, and of integers by bytes where it multiplies pairs of int16, but
/// bytes in no less than three instructions.
bool MayTransform(DataType weights, const Target& target);

/// A convolution in two spatial axes, or three, by constant weights.
struct PlaneConv {
  /// Output and input channels, slices, if the image has some, rows and columns of the window.
  std::vector<int64_t> weights;
  /// Of one weight.
  int64_t weight_bytes = 4;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  int64_t groups = 1;
  /// Of the result.
  int64_t slices = 1;
  int64_t height = 0;
  int64_t width = 0;
  /// Whether the image has its channels last, and the products vectors of channels.
  bool channels_last = false;
  /// Whether height and width are assumed, since the run tells them.
  bool is_open = false;
  /// Images in all runs that are expected, for which weights are transformed once; 0: any number.
  int64_t all_images = 0;
  /// Of integers, whose transformed tiles are pairs of int16; of the direct sum so many products take as long as a
  /// multiply-add.
  bool are_pairs = false;
  double products_at_once = 1;
};

struct WinogradPlan {
  /// Tiles of 2 × 2 elements of the result: those of the image; of one with channels first with so many more that the
  /// columns of the products are whole vectors, whose number divides well into those of a register tile.
  int64_t tiles_down = 0;
  int64_t tiles_across = 0;
  /// Channels of a panel of weights, with channels last.
  int64_t panel = 0;
  /// Of a core, for one image.
  double cycles = 0;
};

/// Nothing for windows of other rows and columns than three, strides, groups, dilation and slices with channels first,
/// and where the direct sum takes no longer: the transforms take as long for few channels as for many, weights that are
/// 16/9 as large are read from memory, and of dilated windows some tiles are half empty.
std::optional<WinogradPlan> PlanWinograd(const Machine& machine, const PlaneConv& conv);

/// Channels of a panel of transformed weights for so many results, which a register tile reads side by side: whole
/// vectors. Wide ones for images whose size the run tells (`is_open`): of the tiles at
/// the end of a run a register tile of few rows leaves the fewest over, and each of them has more to multiply.
int64_t WinogradPanel(const CostModel& costs, int64_t results, bool is_open);

/// Images with their channels last, in tiles.
struct WinogradTiles {
  int64_t images = 1;
  /// Of one image.
  int64_t down = 0;
  int64_t across = 0;
  /// Slices of the result, and of a window.
  int64_t slices = 1;
  int64_t taps = 1;
  /// Channels of the image and of the result, and those of a panel; of pairs of channels, as many as these.
  int64_t channels = 0;
  int64_t results = 0;
  int64_t panel = 0;
  /// Times as long as a multiply-add that a product and its addition take.
  double step = 1;
};

/// What a thread computes at a time.
struct WinogradBlock {
  /// Tiles of the block; the last ones may have fewer. Of each in so many slices of the result, which divide them.
  int64_t down = 0;
  int64_t across = 0;
  int64_t slices = 1;
  /// The panels of weights are in so many groups, which divide them; a block is transformed for each anew.
  int64_t groups = 1;
  /// Of a core, for all images.
  double cycles = 0;
};

/// The block with the least work on that machine, of those whose transformed tiles stay in the cache of the second
/// level; nothing if not even one tile does.
std::optional<WinogradBlock> ChooseWinogradBlock(const CostModel& costs, const WinogradTiles& tiles);

}  // namespace deuteron::tir
