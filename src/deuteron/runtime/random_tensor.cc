#include "deuteron/runtime/random_tensor.h"

#include <cmath>
#include <functional>

#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

/// Number `index` of the stream of a key: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014), so that threads draw parts of a tensor without each other.
uint64_t BitsAt(uint64_t key, int64_t index) {
  uint64_t bits = key + (static_cast<uint64_t>(index) + 1) * 0x9E3779B97F4A7C15ULL;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
  return bits ^ bits >> 31;
}

/// The number below which a standard normal one lies with probability `p`, in (0, 1), to seven digits (Wichura,
/// "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37, 1988).
double NormalQuantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double magnitude = 0;
  if (r <= 5) {
    r -= 1.6;
    magnitude = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                ((0.12021132975 * r + 0.73700164250) * r + 1);
  } else {
    r -= 5;
    magnitude = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
                ((0.012258202635 * r + 0.24197894225) * r + 1);
  }
  return q < 0 ? -magnitude : magnitude;
}

double NormalOf(uint64_t bits) {
  // In the middle of one of 2^52 parts of (0, 1).
  return NormalQuantile((static_cast<double>(bits >> 12) + 0.5) * 0x1p-52);
}

/// Below `count`.
uint32_t BelowOf(uint64_t bits, uint32_t count) { return static_cast<uint32_t>((bits >> 32) * count >> 32); }

/// Calls `fill` for parts of [0, count).
void FillInParts(int64_t count, const std::function<void(int64_t begin, int64_t end)>& fill) {
  constexpr int64_t kPart = 8192;
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    (*static_cast<const std::function<void(int64_t, int64_t)>*>(closure))(begin, end);
    return 0;
  };
  runtime::ParallelFor(runtime::UsableThreads(), count, kPart, body,
                       const_cast<std::function<void(int64_t, int64_t)>*>(&fill));
}

}  // namespace

Tensor RandomTensor(const std::vector<int64_t>& shape, DLDataType dtype, std::mt19937_64* random) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  const uint64_t key = (*random)();
  void* const data = tensor.data_ptr();
  const auto fill = [&](auto* elements, const auto& draw) {
    FillInParts(tensor.numel(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        elements[i] = static_cast<std::remove_reference_t<decltype(*elements)>>(draw(BitsAt(key, i)));
      }
    });
  };
  const auto below = [](uint32_t count) { return [count](uint64_t bits) { return BelowOf(bits, count); }; };
  if (dtype.code == kDLBool) {
    fill(static_cast<uint8_t*>(data), below(2));
  } else if (const FloatFormat* format = FindFloatFormat(dtype)) {
    const int64_t bytes = ElementBytes(dtype);
    FillInParts(tensor.numel(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        StoreFloat(static_cast<char*>(data) + i * bytes, dtype, format->Round(NormalOf(BitsAt(key, i))));
      }
    });
  } else if (dtype.code == kDLFloat && dtype.bits == 32) {
    fill(static_cast<float*>(data), NormalOf);
  } else if (dtype.code == kDLFloat && dtype.bits == 64) {
    fill(static_cast<double*>(data), NormalOf);
  } else if (dtype.bits < 8) {
    fill(static_cast<uint8_t*>(data), below(1U << dtype.bits));
  } else if (dtype.bits == 8) {
    fill(static_cast<uint8_t*>(data), below(100));
  } else if (dtype.bits == 16) {
    fill(static_cast<uint16_t*>(data), below(100));
  } else if (dtype.bits == 32) {
    fill(static_cast<uint32_t*>(data), below(2));
  } else if (dtype.bits == 64) {
    fill(static_cast<uint64_t*>(data), below(2));
  } else {
    DEUTERON_THROW(UnsupportedError) << "random input of dtype " << tvm::ffi::DLDataTypeToString(dtype)
                                     << "; give it with --input";
  }
  return tensor;
}

}  // namespace deuteron
