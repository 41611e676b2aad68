#include "deuteron/relax/transform/layout/channel_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "deuteron/relax/rewrite/channel_panels.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

const char* Data(const Constant& weight) {
  return static_cast<const char*>(weight->data.data_ptr()) + weight->data.byte_offset();
}

/// The unit that multiplies operands of that packing.
std::optional<tir::MatrixUnit> UnitOf(const topi::Packing& packing) {
  if (packing.empty()) return std::nullopt;
  return tir::FindMatrixUnit(Target::Current(), Op::Get("tir." + topi::DotOf(packing)));
}

}  // namespace

ChannelBlocks BlocksOf(int64_t channels, const Constant& weight, const topi::Packing& packing) {
  if (const auto unit = UnitOf(packing)) {
    const int64_t length = tir::PanelColumns(*unit, channels);
    return {length, (channels + length - 1) / length};
  }
  Machine machine = Target::Current().machine;
  if (packing == "i16x2" || packing == "u8i7x4")
    machine = tir::MachineOfDot(machine, Op::Get("tir." + topi::DotOf(packing)));
  if (DataType(weight->data.dtype()) == DataType::Float(64)) machine = tir::MachineOfDoubles(machine);
  const tir::CostModel costs(machine);
  const int64_t length = costs.PanelVectors(channels) * machine.Lanes(32);
  return {length, (channels + length - 1) / length};
}

std::optional<ChannelBlocks> BlocksOfGroups(int64_t channels, int64_t groups, const topi::Packing& packing) {
  if (const auto unit = UnitOf(packing)) {
    const int64_t length = tir::PanelColumns(*unit, channels / groups);
    return ChannelBlocks{length, channels / length};
  }
  const tir::CostModel costs(Target::Current().machine);
  const int64_t length = costs.WholePanelVectors(channels / groups) * costs.machine().Lanes(32);
  return length == 0 ? std::nullopt : std::optional(ChannelBlocks{length, channels / length});
}

Constant MergeGroups(const Constant& weight, int64_t groups, int64_t merged) {
  if (groups == merged) return weight;
  const auto shape = weight->data.shape();
  std::vector<int64_t> merged_shape(shape.begin(), shape.end());
  const int64_t in_one = groups / merged;
  merged_shape[1] *= in_one;
  const DataType dtype(weight->data.dtype());
  Tensor result = runtime::AllocTensor(merged_shape, dtype);
  auto* out = static_cast<char*>(result.data_ptr());
  const auto row = static_cast<size_t>(weight->data.numel() / shape[0] * dtype.bytes());
  const Tensor data = CompactData(weight);
  const auto* from = static_cast<const char*>(data.data_ptr());
  std::memset(out, 0, static_cast<size_t>(shape[0]) * row * static_cast<size_t>(in_one));
  for (int64_t channel = 0; channel < shape[0]; ++channel) {
    const int64_t place = channel / (shape[0] / groups) % in_one;
    std::memcpy(out + static_cast<size_t>(channel * in_one + place) * row, from + static_cast<size_t>(channel) * row,
                row);
  }
  return Constant(std::move(result), weight->span);
}

Constant PackConv(const Constant& weight, const ChannelBlocks& blocks, bool window_first, WeightMoves* moves) {
  const auto shape = weight->data.shape();
  std::vector<int64_t> packed_shape(shape.begin() + 1, shape.end());
  int64_t window = 1;
  if (window_first) {
    for (size_t i = 2; i < shape.size(); ++i) window *= shape[i];
    std::rotate(packed_shape.begin(), packed_shape.begin() + 1, packed_shape.end());
  }
  packed_shape.push_back(blocks.length);
  if (blocks.count != 1) packed_shape.insert(packed_shape.begin(), blocks.count);
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  auto* out = static_cast<char*>(packed.data_ptr());
  const int64_t channels = shape[0], rest = weight->data.numel() / std::max<int64_t>(channels, 1);
  moves->Add(weight, [weight, out, channels, length = blocks.length, rest, window, dtype] {
    MoveRowsLast(Data(weight), out, channels, length, rest, window, dtype.bytes());
  });
  return Constant(std::move(packed), weight->span);
}

Constant PackBytes(const Constant& weight, bool columns_first, const topi::Packing& packing,
                   const ChannelBlocks& blocks, WeightMoves* moves) {
  const auto shape = weight->data.shape();
  const int64_t count = topi::NeighboursOf(packing), depth = shape[columns_first ? 1 : 0];
  std::vector<int64_t> packed_shape;
  if (blocks.count != 1 || shape.size() == 2) packed_shape.push_back(blocks.count);
  packed_shape.insert(packed_shape.end(), shape.begin() + 2, shape.end());
  packed_shape.insert(packed_shape.end(), {(depth + count - 1) / count, blocks.length});
  Tensor packed = runtime::AllocTensor(packed_shape, DataType::Int(32));
  auto* out = static_cast<uint32_t*>(packed.data_ptr());
  // Words that lie as they are to be are moved alone.
  const bool are_words = columns_first && count == 4 && depth % count == 0 && weight->data.numel() == shape[0] * depth;
  moves->Add(weight, [weight, out, columns_first, are_words, count, length = blocks.length] {
    if (are_words) {
      const auto extents = weight->data.shape();
      MoveRowsLast(Data(weight), reinterpret_cast<char*>(out), extents[0], length, extents[1] / count, /*window=*/1,
                   sizeof *out);
    } else if (columns_first) {
      PackWindowsInPanels(weight, count, length, out);
    } else {
      PackRowsInPanels(weight, count, length, out);
    }
  });
  return Constant(std::move(packed), weight->span);
}

Constant PackMatrix(const Constant& weight, bool columns_first, const ChannelBlocks& blocks, WeightMoves* moves) {
  const auto shape = weight->data.shape();
  const int64_t columns = shape[columns_first ? 0 : 1], depth = shape[columns_first ? 1 : 0];
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor({blocks.count, depth, blocks.length}, dtype);
  auto* out = static_cast<char*>(packed.data_ptr());
  moves->Add(weight, [weight, out, columns_first, columns, depth, length = blocks.length, dtype] {
    if (columns_first) {
      MoveRowsLast(Data(weight), out, columns, length, depth, /*window=*/1, dtype.bytes());
    } else {
      SplitColumns(Data(weight), out, depth, columns, length, dtype.bytes());
    }
  });
  return Constant(std::move(packed), weight->span);
}

}  // namespace deuteron::relax
