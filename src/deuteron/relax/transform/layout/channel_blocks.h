/// \file
/// Weights in blocks of output channels, as kernels with vectors of channels read them.
#pragma once

#include <optional>

#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/layout/weight_moves.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {

/// Output channels in blocks: `count` of `length`.
struct ChannelBlocks {
  int64_t length;
  int64_t count;
  int64_t channels() const { return length * count; }
};

/// Of a weight whose operands have that packing.
ChannelBlocks BlocksOf(int64_t channels, const Constant& weight, const topi::Packing& packing);
/// Blocks of channels of one group each, of operands that have that packing; nothing where groups are no whole vectors,
/// or of one channel.
std::optional<ChannelBlocks> BlocksOfGroups(int64_t channels, int64_t groups, const topi::Packing& packing);

/// A kernel OI… of `groups`, of as many as several of them make one: weights are 0 for the channels of others.
Constant MergeGroups(const Constant& weight, int64_t groups, int64_t merged);

/// A kernel OI… as OI…o, or as I…O where one block has all channels; with `window_first` as O…Io or …IO. `moves` fills
/// it.
Constant PackConv(const Constant& weight, const ChannelBlocks& blocks, bool window_first, WeightMoves* moves);
/// A weight (n, k) (`columns_first`) or (k, n) as (ceil(n / length), k, length), likewise.
Constant PackMatrix(const Constant& weight, bool columns_first, const ChannelBlocks& blocks, WeightMoves* moves);
/// A weight of int8 whose neighbours share an int32 in that packing: (k, n) as PackMatrix has its words of rows, and
/// OI…
/// (`columns_first`), or (n, k), as PackConv has those of channels with `window_first`.
Constant PackBytes(const Constant& weight, bool columns_first, const topi::Packing& packing,
                   const ChannelBlocks& blocks, WeightMoves* moves);

}  // namespace deuteron::relax
