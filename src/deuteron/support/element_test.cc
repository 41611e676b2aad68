#include "deuteron/support/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace deuteron {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

DLDataType Type(int code, int bits) { return {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1}; }

uint32_t Code(int dtype, int bits, double value) {
  const FloatFormat* format = FindFloatFormat(Type(dtype, bits));
  return format->Encode(format->Round(value));
}

const std::pair<int, int> kFormats[] = {
    {kDLFloat, 16},
    {kDLBfloat, 16},
    {kDLFloat8_e3m4, 8},
    {kDLFloat8_e4m3, 8},
    {kDLFloat8_e4m3b11fnuz, 8},
    {kDLFloat8_e4m3fn, 8},
    {kDLFloat8_e4m3fnuz, 8},
    {kDLFloat8_e5m2, 8},
    {kDLFloat8_e5m2fnuz, 8},
    {kDLFloat8_e8m0fnu, 8},
    {kDLFloat6_e2m3fn, 6},
    {kDLFloat6_e3m2fn, 6},
    {kDLFloat4_e2m1fn, 4},
};

TEST(FloatFormatTest, ArraysAreNarrowedAsSingleNumbersAre) {
  for (const int dtype : {kDLFloat, kDLBfloat}) {
    const FloatFormat* format = FindFloatFormat(Type(dtype, 16));
    std::vector<float> numbers = {0.0F, -0.0F, 65504.0F, 65519.99F, 65520.0F, 1e-8F, 3e-8F, 1e38F, -3.4e38F};
    for (uint32_t code = 0; code < 1U << 16; ++code) {
      // Each number of the format, what lies halfway to the next, and the neighbours of both.
      const double here = format->Decode(code), next = format->Decode(code + 1);
      if (std::isnan(here) || !std::isfinite(next)) continue;
      for (const auto value : {static_cast<float>(here), static_cast<float>((here + next) / 2)}) {
        numbers.insert(numbers.end(), {std::nextafter(value, -INFINITY), value, std::nextafter(value, INFINITY)});
      }
    }
    std::vector<uint16_t> narrow(numbers.size());
    NarrowFloats(numbers.data(), static_cast<int64_t>(numbers.size()), Type(dtype, 16), narrow.data());
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(narrow[i], Code(dtype, 16, static_cast<double>(numbers[i]))) << numbers[i];
    }
    const float special[] = {INFINITY, -INFINITY, NAN};
    uint16_t codes[3];
    NarrowFloats(special, 3, Type(dtype, 16), codes);
    EXPECT_EQ(format->Decode(codes[0]), kInf);
    EXPECT_EQ(format->Decode(codes[1]), -kInf);
    EXPECT_TRUE(std::isnan(format->Decode(codes[2])));
  }
}

TEST(FloatFormatTest, ArraysAreWidenedAsSingleNumbersAre) {
  for (const int dtype : {kDLFloat, kDLBfloat}) {
    std::vector<uint16_t> codes(1U << 16);
    std::iota(codes.begin(), codes.end(), uint16_t{0});
    std::vector<float> wide(codes.size());
    WidenFloats(codes.data(), static_cast<int64_t>(codes.size()), Type(dtype, 16), wide.data());
    for (size_t code = 0; code < codes.size(); ++code) {
      const double expected = FindFloatFormat(Type(dtype, 16))->Decode(static_cast<uint32_t>(code));
      ASSERT_EQ(std::isnan(wide[code]), std::isnan(expected)) << code;
      ASSERT_EQ(std::signbit(wide[code]), (code & 0x8000) != 0) << code;
      if (!std::isnan(expected)) ASSERT_EQ(static_cast<double>(wide[code]), expected) << code;
    }
  }
}

TEST(FloatFormatTest, EveryCodeIsItsNumbers) {
  for (const auto& [code, bits] : kFormats) {
    const FloatFormat* format = FindFloatFormat(Type(code, bits));
    for (uint32_t i = 0; i < 1U << format->bits; ++i) {
      const double value = format->Decode(i);
      if (std::isnan(value)) continue;
      EXPECT_EQ(format->Encode(value), i) << code << " " << i;
      EXPECT_EQ(format->Round(value), value);
    }
  }
}

TEST(FloatFormatTest, RoundsToTheNearestAndTiesToEven) {
  for (const auto& [code, bits] : kFormats) {
    const FloatFormat* format = FindFloatFormat(Type(code, bits));
    if (format->special == FloatFormat::Special::kExponent) continue;
    for (uint32_t i = 0; i < format->greatest(); ++i) {
      const double low = format->Decode(i), high = format->Decode(i + 1), middle = (low + high) / 2;
      EXPECT_EQ(format->Round(std::nextafter(middle, low)), low);
      EXPECT_EQ(format->Round(std::nextafter(middle, high)), high);
      EXPECT_EQ(format->Round(middle), i % 2 == 0 ? low : high) << code << " " << i;
    }
  }
}

/// As ml_dtypes has them.
TEST(FloatFormatTest, SpecialValues) {
  const double values[] = {kNaN, kInf, -kInf, -0.0, -1e-30, 464, 465, 248};
  const auto codes = [&](int dtype, int bits) {
    std::vector<uint32_t> result;
    for (const double value : values) result.push_back(Code(dtype, bits, value));
    return result;
  };
  using Codes = std::vector<uint32_t>;
  EXPECT_EQ(codes(kDLFloat8_e4m3fn, 8), (Codes{0x7f, 0x7f, 0xff, 0x80, 0x80, 0x7e, 0x7f, 0x78}));
  EXPECT_EQ(codes(kDLFloat8_e4m3fnuz, 8), (Codes{0x80, 0x80, 0x80, 0, 0, 0x80, 0x80, 0x80}));
  EXPECT_EQ(codes(kDLFloat8_e5m2, 8), (Codes{0x7e, 0x7c, 0xfc, 0x80, 0x80, 0x5f, 0x5f, 0x5c}));
  EXPECT_EQ(codes(kDLFloat8_e5m2fnuz, 8), (Codes{0x80, 0x80, 0x80, 0, 0, 0x63, 0x63, 0x60}));
  EXPECT_EQ(codes(kDLFloat8_e3m4, 8), (Codes{0x78, 0x70, 0xf0, 0x80, 0x80, 0x70, 0x70, 0x70}));
  EXPECT_EQ(codes(kDLFloat4_e2m1fn, 4), (Codes{8, 7, 15, 8, 8, 7, 7, 7}));
}

TEST(FloatFormatTest, PowersOfTwo) {
  const auto code = [](double value) { return Code(kDLFloat8_e8m0fnu, 8, value); };
  EXPECT_EQ(code(1), 0x7f);
  EXPECT_EQ(code(1.49), 0x7f);
  EXPECT_EQ(code(1.5), 0x80);
  EXPECT_EQ(code(0x1p-127), 0);
  EXPECT_EQ(code(0x1.49p-127), 0);
  EXPECT_EQ(code(0x1.8p-127), 1);
  EXPECT_EQ(code(0x1.8p-128), 0);
  EXPECT_EQ(code(0x1p-128), 0xff);
  EXPECT_EQ(code(0x1.7p127), 0xfe);
  EXPECT_EQ(code(0x1.8p127), 0xff);
  for (const double value : {0.0, -1.0, kInf, kNaN}) EXPECT_EQ(code(value), 0xff);
}

TEST(ElementTest, NarrowIntegersHaveAByteOfTheirOwn) {
  uint8_t byte = 0;
  StoreInteger(&byte, Type(kDLInt, 4), -3);
  EXPECT_EQ(byte, 0x0d);
  EXPECT_EQ(LoadInteger(&byte, Type(kDLInt, 4)), -3);
  EXPECT_EQ(LoadInteger(&byte, Type(kDLUInt, 4)), 13);
  byte = 0xfd;  // the upper bits are not read
  EXPECT_EQ(LoadInteger(&byte, Type(kDLUInt, 4)), 13);
  EXPECT_EQ(LoadInteger(&byte, Type(kDLInt, 2)), 1);
  EXPECT_EQ(LoadFloat(&byte, Type(kDLFloat4_e2m1fn, 4)), -3);
  const uint64_t wide = ~uint64_t{0};
  EXPECT_EQ(LoadInteger(&wide, Type(kDLInt, 64)), -1);
  EXPECT_EQ(ElementBytes(Type(kDLUInt, 2)), 1);
}

}  // namespace
}  // namespace deuteron
