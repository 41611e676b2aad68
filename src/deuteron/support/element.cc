#include "deuteron/support/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

template <typename T>
T LoadAs(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

/// The power of two nearest to a positive finite number; what lies between two goes up.
double NearestPower(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  return std::ldexp(1.0, fraction < 0.75 ? exponent - 1 : exponent);
}

uint16_t NarrowToBrain(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t NarrowToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  constexpr uint32_t kInfinity = 0x7f800000, kTooLarge = 143U << 23, kLeastNormal = 113U << 23;  // 2^16, 2^-14
  uint32_t code = 0;
  if (magnitude > kInfinity) {
    code = 0x7e00;
  } else if (magnitude >= kTooLarge) {
    code = 0x7c00;
  } else if (magnitude < kLeastNormal) {
    // The last place of numbers from 0.5 on is the least number of the format: the sum is rounded to it.
    code = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
  } else {
    magnitude += 0xfff + (magnitude >> 13 & 1);
    code = (magnitude - (112U << 23)) >> 13;
  }
  return static_cast<uint16_t>(code | sign);
}

float WidenHalf(uint16_t code) {
  const uint32_t magnitude = code & 0x7fffU, sign = (code & 0x8000U) << 16;
  constexpr uint32_t kInfinity = 0x7c00;
  // Its exponents are those of float32 less 112; the product is exact, and makes least numbers ordinary ones.
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112F);
  if (magnitude >= kInfinity) bits = magnitude == kInfinity ? 0x7f800000 : 0x7fc00000 | (magnitude & 0x3ffU) << 13;
  return std::bit_cast<float>(bits | sign);
}

}  // namespace

double FloatFormat::Round(double value) const {
  if (special == Special::kExponent) {
    const double power = value > 0 && std::isfinite(value) ? NearestPower(value) : kNotANumber;
    return power >= Decode(0) && power <= Decode(greatest()) ? power : kNotANumber;
  }
  if (std::isnan(value)) return special == Special::kNone ? -0.0 : value;
  const auto too_large = [&] {
    if (special == Special::kInfinity) return std::copysign(kInfinite, value);
    return special == Special::kNone ? std::copysign(Decode(greatest()), value) : std::copysign(kNotANumber, value);
  };
  if (std::isinf(value)) return too_large();
  double rounded = value;
  if (value != 0) {
    int exponent = 0;
    std::frexp(value, &exponent);
    // Numbers below the least normal one are multiples of the least of all.
    const int unit = std::max(exponent, 2 - bias) - mantissa_bits - 1;
    rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  }
  if (std::fabs(rounded) > Decode(greatest())) return too_large();
  return rounded == 0 && special == Special::kNegativeZero ? 0.0 : rounded;
}

uint32_t FloatFormat::Encode(double value) const {
  if (special == Special::kExponent) {
    return std::isnan(value) ? nan() : static_cast<uint32_t>(std::ilogb(value) + bias);
  }
  const uint32_t minus = std::signbit(value) ? sign() : 0;
  if (std::isnan(value)) return nan() | minus;
  if (std::isinf(value)) return overflow() | minus;
  if (value == 0) return minus;
  const double magnitude = std::fabs(value);
  const int exponent = std::ilogb(magnitude);
  // Below the least normal number the mantissa counts from 0, else from its leading one.
  if (exponent < 1 - bias) return static_cast<uint32_t>(std::ldexp(magnitude, mantissa_bits + bias - 1)) | minus;
  const auto mantissa = static_cast<uint32_t>(std::ldexp(magnitude, mantissa_bits - exponent));
  return (mantissa + (static_cast<uint32_t>(exponent + bias - 1) << mantissa_bits)) | minus;
}

double FloatFormat::Decode(uint32_t code) const {
  if (special == Special::kExponent) {
    return (code & 0xff) == nan() ? kNotANumber : std::ldexp(1.0, static_cast<int>(code & 0xff) - bias);
  }
  const uint32_t magnitude = code & magnitudes();
  const double one = (code & sign()) != 0 ? -1 : 1;
  if (special == Special::kNegativeZero && magnitude == 0 && one < 0) return kNotANumber;
  if (special == Special::kInfinity && magnitude == overflow()) return one * kInfinite;
  const bool finite = magnitude <= greatest();
  if (!finite) return std::copysign(kNotANumber, one);
  const auto exponent = static_cast<int>(magnitude >> mantissa_bits);
  const double mantissa = magnitude & ((1U << mantissa_bits) - 1);
  if (exponent == 0) return one * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return one * std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits), exponent - bias - mantissa_bits);
}

const FloatFormat* FindFloatFormat(DLDataType dtype) {
  using Special = FloatFormat::Special;
  static constexpr FloatFormat kHalf{16, 10, 15, Special::kInfinity};
  static constexpr FloatFormat kBrain{16, 7, 127, Special::kInfinity};
  static constexpr FloatFormat kE3M4{8, 4, 3, Special::kInfinity};
  static constexpr FloatFormat kE4M3{8, 3, 7, Special::kInfinity};
  static constexpr FloatFormat kE4M3B11Fnuz{8, 3, 11, Special::kNegativeZero};
  static constexpr FloatFormat kE4M3Fn{8, 3, 7, Special::kNaN};
  static constexpr FloatFormat kE4M3Fnuz{8, 3, 8, Special::kNegativeZero};
  static constexpr FloatFormat kE5M2{8, 2, 15, Special::kInfinity};
  static constexpr FloatFormat kE5M2Fnuz{8, 2, 16, Special::kNegativeZero};
  static constexpr FloatFormat kE8M0Fnu{8, 0, 127, Special::kExponent};
  static constexpr FloatFormat kE2M3Fn{6, 3, 1, Special::kNone};
  static constexpr FloatFormat kE3M2Fn{6, 2, 3, Special::kNone};
  static constexpr FloatFormat kE2M1Fn{4, 1, 1, Special::kNone};
  switch (dtype.code) {
    case kDLFloat:
      return dtype.bits == 16 ? &kHalf : nullptr;
    case kDLBfloat:
      return &kBrain;
    case kDLFloat8_e3m4:
      return &kE3M4;
    case kDLFloat8_e4m3:
      return &kE4M3;
    case kDLFloat8_e4m3b11fnuz:
      return &kE4M3B11Fnuz;
    case kDLFloat8_e4m3fn:
      return &kE4M3Fn;
    case kDLFloat8_e4m3fnuz:
      return &kE4M3Fnuz;
    case kDLFloat8_e5m2:
      return &kE5M2;
    case kDLFloat8_e5m2fnuz:
      return &kE5M2Fnuz;
    case kDLFloat8_e8m0fnu:
      return &kE8M0Fnu;
    case kDLFloat6_e2m3fn:
      return &kE2M3Fn;
    case kDLFloat6_e3m2fn:
      return &kE3M2Fn;
    case kDLFloat4_e2m1fn:
      return &kE2M1Fn;
    default:
      return nullptr;
  }
}

bool IsFloat(DLDataType dtype) { return dtype.code == kDLFloat || FindFloatFormat(dtype) != nullptr; }

double LoadFloat(const void* data, DLDataType dtype) {
  if (dtype.bits == 32) return static_cast<double>(LoadAs<float>(data));
  if (dtype.bits == 64) return LoadAs<double>(data);
  return FindFloatFormat(dtype)->Decode(dtype.bits > 8 ? LoadAs<uint16_t>(data) : LoadAs<uint8_t>(data));
}

void StoreFloat(void* data, DLDataType dtype, double value) {
  if (dtype.bits == 32) {
    const auto single = static_cast<float>(value);
    std::memcpy(data, &single, sizeof(single));
  } else if (dtype.bits == 64) {
    std::memcpy(data, &value, sizeof(value));
  } else {
    const auto code = static_cast<uint16_t>(FindFloatFormat(dtype)->Encode(value));
    std::memcpy(data, &code, static_cast<size_t>(ElementBytes(dtype)));
  }
}

void NarrowFloats(const float* from, int64_t count, DLDataType dtype, uint16_t* to) {
  if (dtype.code == kDLBfloat) {
    for (int64_t i = 0; i < count; ++i) to[i] = NarrowToBrain(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = NarrowToHalf(from[i]);
  }
}

void WidenFloats(const uint16_t* from, int64_t count, DLDataType dtype, float* to) {
  if (dtype.code == kDLBfloat) {
    for (int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(uint32_t{from[i]} << 16);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = WidenHalf(from[i]);
  }
}

void PairBrainFloats(const float* low, const float* high, int64_t step, int64_t count, uint32_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t upper = high == nullptr ? 0 : NarrowToBrain(high[i * step]);
    to[i] = upper << 16 | NarrowToBrain(low[i * step]);
  }
}

int64_t LoadInteger(const void* data, DLDataType dtype) {
  uint64_t word = 0;
  switch (ElementBytes(dtype)) {
    case 1:
      word = LoadAs<uint8_t>(data);
      break;
    case 2:
      word = LoadAs<uint16_t>(data);
      break;
    case 4:
      word = LoadAs<uint32_t>(data);
      break;
    default:
      word = LoadAs<uint64_t>(data);
  }
  const int unused = 64 - dtype.bits;
  word <<= unused;
  return dtype.code == kDLInt ? static_cast<int64_t>(word) >> unused : static_cast<int64_t>(word >> unused);
}

void StoreInteger(void* data, DLDataType dtype, int64_t value) {
  const uint64_t word = static_cast<uint64_t>(value) & (~uint64_t{0} >> (64 - dtype.bits));
  std::memcpy(data, &word, static_cast<size_t>(ElementBytes(dtype)));
}

}  // namespace deuteron
