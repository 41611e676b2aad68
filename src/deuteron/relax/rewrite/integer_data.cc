#include "deuteron/relax/rewrite/integer_data.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "deuteron/relax/rewrite/channel_panels.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron::relax {
namespace {

/// What `use` makes of a tensor and its elements, which lie one behind the other: bytes where they lie in the model,
/// int32, or what stands for bfloat16.
template <typename Use>
auto WithIntegers(const Constant& constant, const Use& use) {
  const DataType dtype(constant->data.dtype());
  if (dtype == DataType::Int(8)) {
    const Tensor data = ContiguousData(constant);
    return use(data, reinterpret_cast<const int8_t*>(static_cast<const char*>(data.data_ptr()) + data.byte_offset()));
  }
  const Tensor data = CompactData(constant);
  return dtype.is_bfloat16() ? use(data, static_cast<const uint16_t*>(data.data_ptr()))
                             : use(data, static_cast<const int32_t*>(data.data_ptr()));
}

/// Memory of another tensor.
struct PartOf {
  Tensor owner;
  const void* data;
  void AllocData(DLTensor* tensor) { tensor->data = const_cast<void*>(data); }
  void FreeData(DLTensor*) {}
};

/// Elements of `bits` bits of `count` rows that begin `apart` from each other as parts of `width` elements of int32. Of
/// narrower integers the bits beyond are those of the sign.
template <typename Element>
void JoinRows(const Element* rows, int64_t apart, int64_t count, int bits, int64_t width, uint32_t* out) {
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  const auto part = [&](int64_t row, int64_t i) {
    return (static_cast<uint32_t>(rows[row * apart + i]) & mask) << (row * bits);
  };
  // As one sum it has vectors.
  if (count == 4) {
    for (int64_t i = 0; i < width; ++i) out[i] = part(0, i) | part(1, i) | part(2, i) | part(3, i);
    return;
  }
  if (count == 2) {
    for (int64_t i = 0; i < width; ++i) out[i] = part(0, i) | part(1, i);
    return;
  }
  for (int64_t i = 0; i < width; ++i) {
    out[i] = 0;
    for (int64_t row = 0; row < count; ++row) out[i] |= part(row, i);
  }
}

/// The same of `kCount` neighbours each that lie beside each other, `width` times.
template <int64_t kCount, typename Element>
void JoinNeighbours(const Element* from, int64_t width, uint32_t* out) {
  constexpr int kBits = 32 / kCount;
  constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;
  for (int64_t i = 0; i < width; ++i) {
    uint32_t joined = 0;
    for (int64_t k = 0; k < kCount; ++k) joined |= (static_cast<uint32_t>(from[kCount * i + k]) & kMask) << (k * kBits);
    out[i] = joined;
  }
}

int64_t BytesOf(const Constant& constant) { return constant->data.numel() * DataType(constant->data.dtype()).bytes(); }

}  // namespace

bool Fits(const Constant& integers, DataType dtype) {
  const DataType held(integers->data.dtype());
  if (held == DataType::Int(8)) return true;
  if (held != DataType::Int(32)) return false;
  const int64_t least = *AsConstInt(MinValue(dtype)), greatest = *AsConstInt(MaxValue(dtype));
  return WithIntegers(integers, [&](const Tensor&, const auto* values) {
    return std::all_of(values, values + integers->data.numel(),
                       [&](int64_t value) { return value >= least && value <= greatest; });
  });
}

bool FitPairs(const Constant& integers, size_t axis) {
  // Of the products with the greatest byte the sum of those of one sign, 128 * 255, is the greatest that fits: neither
  // a weight nor the sum of both is more than 128 away from 0.
  constexpr uint32_t kMost = std::numeric_limits<int16_t>::max() / std::numeric_limits<uint8_t>::max();
  const auto exceeds = [](uint32_t value) { return static_cast<uint32_t>(value + kMost > 2 * kMost); };
  const Runs runs(integers, axis);
  const int64_t pairs = (runs.extent + 1) / 2;
  std::atomic<bool> fit{true};
  WithIntegers(integers, [&](const Tensor&, const auto* values) {
    // Whether some pairs do not fit, of `count` that begin `step` apart, the second of each `apart` from the first.
    const auto exceed = [&](const auto* first, int64_t apart, int64_t step, int64_t count) {
      uint32_t excess = 0;
      for (int64_t i = 0; i < count; ++i) {
        const auto a = static_cast<uint32_t>(int32_t{first[i * step]});
        const auto b = static_cast<uint32_t>(int32_t{first[i * step + apart]});
        // One that has no neighbour is its own.
        excess |= exceeds(a) | exceeds(b) | (apart == 0 ? 0 : exceeds(a + b));
      }
      return excess != 0;
    };
    constexpr int64_t kAtOnce = 4096;
    const bool lie_together = runs.inner == 1 && runs.extent % 2 == 0;
    MakeInParallel(runs.outer * pairs, BytesOf(integers), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin, count = 1; i < end && fit.load(std::memory_order_relaxed); i += count) {
        bool is_excess = false;
        if (lie_together) {
          count = std::min(end - i, kAtOnce);
          is_excess = exceed(values + 2 * i, /*apart=*/1, /*step=*/2, count);
        } else {
          const int64_t pair = i % pairs * 2;
          const auto* const first = values + (i / pairs * runs.extent + pair) * runs.inner;
          is_excess = exceed(first, pair + 1 == runs.extent ? 0 : runs.inner, /*step=*/1, runs.inner);
        }
        if (is_excess) fit.store(false, std::memory_order_relaxed);
      }
    });
  });
  return fit;
}

std::vector<int32_t> SumsBut(const Constant& integers, size_t axis) {
  const Runs runs(integers, axis);
  std::vector<uint32_t> sums(static_cast<size_t>(runs.extent), 0);
  std::mutex mutex;
  WithIntegers(integers, [&](const Tensor&, const auto* values) {
    MakeInParallel(runs.outer, BytesOf(integers), [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> own(sums.size(), 0);
      for (int64_t i = begin; i < end; ++i) {
        const auto* from = values + i * runs.extent * runs.inner;
        if (runs.inner == 1) {
          for (size_t channel = 0; channel < own.size(); ++channel)
            own[channel] += static_cast<uint32_t>(from[channel]);
          continue;
        }
        for (uint32_t& sum : own) {
          uint32_t of_run = 0;
          for (int64_t k = 0; k < runs.inner; ++k) of_run += static_cast<uint32_t>(from[k]);
          sum += of_run;
          from += runs.inner;
        }
      }
      const std::scoped_lock lock(mutex);
      for (size_t channel = 0; channel < own.size(); ++channel) sums[channel] += own[channel];
    });
  });
  return {sums.begin(), sums.end()};
}

Tensor PackNeighbours(const Constant& integers, size_t axis, int64_t count) {
  const Runs runs(integers, axis);
  const auto shape = integers->data.shape();
  const int64_t groups = (runs.extent + count - 1) / count;
  std::vector<int64_t> packed_shape(shape.begin(), shape.end());
  packed_shape[axis] = groups;
  const int bits = static_cast<int>(32 / count);
  return WithIntegers(integers, [&](const Tensor& data, const auto* values) {
    if (runs.inner == 1 && runs.extent % count == 0 && bits == 8 * int64_t{sizeof *values})
      return Tensor::FromNDAlloc(PartOf{data, values}, tvm::ffi::Shape(packed_shape), DataType::Int(32),
                                 DLDevice{kDLCPU, 0});
    Tensor packed = runtime::AllocTensor(packed_shape, DataType::Int(32));
    auto* const out = static_cast<uint32_t*>(packed.data_ptr());
    MakeInParallel(runs.outer * groups, BytesOf(integers), [&](int64_t begin, int64_t end) {
      if (runs.inner == 1 && runs.extent % count == 0) {
        const auto* const from = values + count * begin;
        return count == 2 ? JoinNeighbours<2>(from, end - begin, out + begin)
                          : JoinNeighbours<4>(from, end - begin, out + begin);
      }
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % groups * count, here = std::min(count, runs.extent - first);
        const auto* const from = values + (i / groups * runs.extent + first) * runs.inner;
        JoinRows(from, runs.inner, here, bits, runs.inner, out + i * runs.inner);
      }
    });
    return packed;
  });
}

void PackRowsInPanels(const Constant& bytes, int64_t count, int64_t length, uint32_t* out) {
  const int64_t rows = bytes->data.shape()[0], columns = bytes->data.shape()[1], words = (rows + count - 1) / count;
  const int bits = static_cast<int>(32 / count);
  WithIntegers(bytes, [&](const Tensor&, const auto* values) {
    // Whole pages of what is read, so that it may leave memory.
    constexpr int64_t kWordsAtOnce = 8;
    const int64_t tiles = (words + kWordsAtOnce - 1) / kWordsAtOnce;
    MakeInParallel(tiles, BytesOf(bytes), [&](int64_t begin, int64_t end) {
      const auto row_at = [&](int64_t row) { return reinterpret_cast<const char*>(values + row * columns); };
      ReadOnce read(row_at(count * begin * kWordsAtOnce));
      for (int64_t word = begin * kWordsAtOnce; word < std::min(end * kWordsAtOnce, words); ++word) {
        if (word % kWordsAtOnce == 0) read.DoneUntil(row_at(count * word));
        const int64_t here = std::min<int64_t>(rows - count * word, count);
        const auto* const from = values + count * word * columns;
        for (int64_t first = 0; first < columns; first += length) {
          uint32_t* const to = out + first * words + word * length;
          const int64_t width = std::min(length, columns - first);
          JoinRows(from + first, columns, here, bits, width, to);
          std::fill(to + width, to + length, 0);
        }
      }
    });
  });
}

void PackWindowsInPanels(const Constant& bytes, int64_t count, int64_t length, uint32_t* out) {
  const auto shape = bytes->data.shape();
  const int64_t results = shape[0], channels = shape[1], words = (channels + count - 1) / count;
  const int64_t window = bytes->data.numel() / std::max<int64_t>(results * channels, 1);
  const int64_t panels = (results + length - 1) / length, of_result = channels * window;
  const int bits = static_cast<int>(32 / count);
  const Tensor data = ContiguousData(bytes);
  const char* const begin_of_data = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
  // Channels of which the first cache holds a panel, and so few that those of no two taps meet in a set of it.
  constexpr int64_t kChannelsAtOnce = 64;
  MakeInParallel(panels, BytesOf(bytes), [&](int64_t begin, int64_t end) {
    ReadOnce read(begin_of_data + begin * length * of_result);
    std::vector<int8_t> rows(static_cast<size_t>(std::min(channels, kChannelsAtOnce) * window * length));
    for (int64_t panel = begin; panel < end; ++panel) {
      const char* const from = begin_of_data + panel * length * of_result;
      read.DoneUntil(from);
      for (int64_t first = 0; first < channels; first += kChannelsAtOnce) {
        const int64_t depth = std::min(channels - first, kChannelsAtOnce);
        MoveBytesLast(reinterpret_cast<const int8_t*>(from) + first * window, of_result, rows.data(),
                      std::min(length, results - panel * length), length, depth, window);
        const int8_t* row = rows.data();
        for (int64_t tap = 0; tap < window; ++tap) {
          uint32_t* to = out + ((panel * window + tap) * words + first / count) * length;
          for (int64_t channel = 0; channel < depth; channel += count, to += length) {
            const int64_t here = std::min(count, depth - channel);
            JoinRows(row, length, here, bits, length, to);
            row += here * length;
          }
        }
      }
    }
  });
}

}  // namespace deuteron::relax
