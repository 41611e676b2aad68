#include "deuteron/relax/rewrite/integer_data.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

/// What `use` makes of the elements, which lie one behind the other: bytes where they lie in the model, int32, or what
/// stands for bfloat16.
template <typename Use>
auto WithIntegers(const Constant& constant, const Use& use) {
  const DataType dtype(constant->data.dtype());
  if (dtype == DataType::Int(8)) {
    const Tensor data = ContiguousData(constant);
    return use(reinterpret_cast<const int8_t*>(static_cast<const char*>(data.data_ptr()) + data.byte_offset()));
  }
  const Tensor data = CompactData(constant);
  return dtype.is_bfloat16() ? use(static_cast<const uint16_t*>(data.data_ptr()))
                             : use(static_cast<const int32_t*>(data.data_ptr()));
}

/// A constant's elements as `outer` times `extent` runs of `inner` that lie beside each other.
struct Runs {
  Runs(const Constant& constant, size_t axis) {
    const auto shape = constant->data.shape();
    for (size_t i = 0; i < axis; ++i) outer *= shape[i];
    extent = shape[axis];
    for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  int64_t outer = 1, extent = 1, inner = 1;
};

int64_t BytesOf(const Constant& constant) { return constant->data.numel() * DataType(constant->data.dtype()).bytes(); }

}  // namespace

bool Fits(const Constant& integers, DataType dtype) {
  const DataType held(integers->data.dtype());
  if (held == DataType::Int(8)) return true;
  if (held != DataType::Int(32)) return false;
  const int64_t least = *AsConstInt(MinValue(dtype)), greatest = *AsConstInt(MaxValue(dtype));
  return WithIntegers(integers, [&](const auto* values) {
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
  WithIntegers(integers, [&](const auto* values) {
    MakeInParallel(runs.outer * pairs, BytesOf(integers), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && fit.load(std::memory_order_relaxed); ++i) {
        const int64_t pair = i % pairs * 2;
        const auto* const first = values + (i / pairs * runs.extent + pair) * runs.inner;
        // One that has no neighbour is its own.
        const bool is_alone = pair + 1 == runs.extent;
        const auto* const second = is_alone ? first : first + runs.inner;
        uint32_t excess = 0;
        for (int64_t k = 0; k < runs.inner; ++k) {
          const auto a = static_cast<uint32_t>(int32_t{first[k]}), b = static_cast<uint32_t>(int32_t{second[k]});
          excess |= exceeds(a) | exceeds(b) | (is_alone ? 0 : exceeds(a + b));
        }
        if (excess != 0) fit.store(false, std::memory_order_relaxed);
      }
    });
  });
  return fit;
}

std::vector<int32_t> SumsBut(const Constant& integers, size_t axis) {
  const Runs runs(integers, axis);
  std::vector<uint32_t> sums(static_cast<size_t>(runs.extent), 0);
  std::mutex mutex;
  WithIntegers(integers, [&](const auto* values) {
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
  Tensor packed = runtime::AllocTensor(packed_shape, DataType::Int(32));
  auto* const out = static_cast<uint32_t*>(packed.data_ptr());
  // Of narrower integers the bits beyond are those of the sign.
  const int bits = static_cast<int>(32 / count);
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  WithIntegers(integers, [&](const auto* values) {
    const bool is_packed = runs.inner == 1 && runs.extent % count == 0 && bits == 8 * int64_t{sizeof *values};
    MakeInParallel(runs.outer * groups, BytesOf(integers), [&](int64_t begin, int64_t end) {
      if (is_packed) {
        std::memcpy(out + begin, values + begin * count, static_cast<size_t>(end - begin) * sizeof *out);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % groups * count, here = std::min(count, runs.extent - first);
        const auto* const from = values + (i / groups * runs.extent + first) * runs.inner;
        uint32_t* const row = out + i * runs.inner;
        const auto part = [&](int64_t n, int64_t k) {
          return (static_cast<uint32_t>(from[n * runs.inner + k]) & mask) << (n * bits);
        };
        if (here == 4) {
          for (int64_t k = 0; k < runs.inner; ++k) row[k] = part(0, k) | part(1, k) | part(2, k) | part(3, k);
          continue;
        }
        for (int64_t k = 0; k < runs.inner; ++k) {
          row[k] = 0;
          for (int64_t n = 0; n < here; ++n) row[k] |= part(n, k);
        }
      }
    });
  });
  return packed;
}

}  // namespace deuteron::relax
