#include "deuteron/runtime/random_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

/// std::generate_canonical's number of 64 bits: in [0, 1). Both halves are doubles without a rounding, so that their
/// sum has the one of a conversion of the whole, without that one's branch by the highest bit.
double UnitNumber(uint64_t bits) {
  constexpr double kBelowOne = 0x1.fffffffffffffp-1;
  const auto high = static_cast<double>(static_cast<int64_t>(bits >> 32));
  const auto low = static_cast<double>(static_cast<int64_t>(bits & 0xffffffffU));
  return std::min(high * 0x1p-32 + low * 0x1p-64, kBelowOne);
}

/// Calls `store` with each of `count` numbers that std::normal_distribution<double> draws, in order (Marsaglia's polar
/// method, two at a time): in less than half of the time, which is a part of every first start of a model.
template <typename Store>
void DrawNormal(int64_t count, std::mt19937_64* random, Store&& store) {
  constexpr int64_t kPairs = 256;
  std::array<double, kPairs> xs, ys, factors;
  for (int64_t left = count; left > 0; left -= 2 * kPairs) {
    const int64_t pairs = std::min(kPairs, (left + 1) / 2);
    // Points in the square, until enough of them lie in the circle.
    for (int64_t i = 0; i < pairs;) {
      const double x = 2.0 * UnitNumber((*random)()) - 1.0;
      const double y = 2.0 * UnitNumber((*random)()) - 1.0;
      const double square = x * x + y * y;
      xs[i] = x;
      ys[i] = y;
      factors[i] = square;
      i += static_cast<int64_t>(square <= 1.0 && square != 0.0);
    }
    for (int64_t i = 0; i < pairs; ++i) factors[i] = std::sqrt(-2 * std::log(factors[i]) / factors[i]);
    for (int64_t i = 0; i < pairs; ++i) {
      store(ys[i] * factors[i]);
      if (2 * i + 1 < left) store(xs[i] * factors[i]);
    }
  }
}

}  // namespace

Tensor RandomTensor(const std::vector<int64_t>& shape, DLDataType dtype, std::mt19937_64* random) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  const int64_t count = tensor.numel();
  std::uniform_int_distribution<int> integer(0, dtype.bits >= 32 ? 1 : 99);
  const auto fill = [&](auto* data, auto&& draw) {
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<std::remove_reference_t<decltype(*data)>>(draw());
  };
  void* data = tensor.data_ptr();
  const auto fill_normal = [&](auto* to) {
    DrawNormal(count, random,
               [&to](double number) { *to++ = static_cast<std::remove_reference_t<decltype(*to)>>(number); });
  };
  const auto draw_int = [&] { return integer(*random); };
  if (dtype.code == kDLBool) {
    fill(static_cast<uint8_t*>(data), [&] { return integer(*random) % 2; });
  } else if (const FloatFormat* format = FindFloatFormat(dtype)) {
    auto* element = static_cast<char*>(data);
    DrawNormal(count, random, [&](double number) {
      StoreFloat(element, dtype, format->Round(number));
      element += (dtype.bits * dtype.lanes + 7) / 8;
    });
  } else if (dtype.code == kDLFloat && dtype.bits == 32) {
    fill_normal(static_cast<float*>(data));
  } else if (dtype.code == kDLFloat && dtype.bits == 64) {
    fill_normal(static_cast<double*>(data));
  } else if (dtype.bits < 8) {
    std::uniform_int_distribution<int> code(0, (1 << dtype.bits) - 1);
    fill(static_cast<uint8_t*>(data), [&] { return code(*random); });
  } else if (dtype.bits == 8) {
    fill(static_cast<uint8_t*>(data), draw_int);
  } else if (dtype.bits == 16) {
    fill(static_cast<uint16_t*>(data), draw_int);
  } else if (dtype.bits == 32) {
    fill(static_cast<uint32_t*>(data), draw_int);
  } else if (dtype.bits == 64) {
    fill(static_cast<uint64_t*>(data), draw_int);
  } else {
    DEUTERON_THROW(UnsupportedError) << "random input of dtype " << tvm::ffi::DLDataTypeToString(dtype)
                                     << "; give it with --input";
  }
  return tensor;
}

}  // namespace deuteron
