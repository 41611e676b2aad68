#include "deuteron/interpreter/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "deuteron/ir/scalar_format.h"

namespace deuteron::interpreter {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Scalar, IntegersWrapToTheirWidth) {
  const DataType int8 = DataType::Int(8);
  EXPECT_EQ(ApplyBinary(ExprKind::kAdd, int8, Scalar::Int(127), Scalar::Int(1)).i, -128);
  EXPECT_EQ(ApplyBinary(ExprKind::kMul, int8, Scalar::Int(100), Scalar::Int(3)).i, 44);
  EXPECT_EQ(ApplyBinary(ExprKind::kSub, DataType::UInt(8), Scalar::Int(0), Scalar::Int(1)).i, 255);
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(ApplyBinary(ExprKind::kDiv, DataType::Int(64), Scalar::Int(least), Scalar::Int(-1)).i, least);
}

TEST(Scalar, DivisionsRoundAsTheirNamesSay) {
  const DataType int64 = DataType::Int(64);
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b : {-3, -2, 2, 3}) {
      const auto apply = [&](ExprKind kind) { return ApplyBinary(kind, int64, Scalar::Int(a), Scalar::Int(b)).i; };
      const auto floored = static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
      EXPECT_EQ(apply(ExprKind::kFloorDiv), floored);
      EXPECT_EQ(apply(ExprKind::kFloorMod), a - floored * b);
      EXPECT_EQ(apply(ExprKind::kDiv), a / b);
      EXPECT_EQ(apply(ExprKind::kMod), a % b);
    }
  }
  EXPECT_THROW(ApplyBinary(ExprKind::kFloorDiv, int64, Scalar::Int(1), Scalar::Int(0)), ffi::Error);
}

TEST(Scalar, FloatsRoundOnceToTheirOwnPrecision) {
  std::mt19937 random(1);
  std::uniform_int_distribution<uint32_t> bits;
  for (int i = 0; i < 20000; ++i) {
    float a = 0;
    float b = 0;
    const uint32_t ua = bits(random);
    const uint32_t ub = bits(random);
    std::memcpy(&a, &ua, 4);
    std::memcpy(&b, &ub, 4);
    if (std::isnan(a) || std::isnan(b)) continue;
    const auto apply = [&](ExprKind kind) {
      return static_cast<float>(ApplyBinary(kind, DataType::Float(32), Scalar::Float(a), Scalar::Float(b)).f);
    };
    const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    EXPECT_TRUE(same(apply(ExprKind::kAdd), a + b));
    EXPECT_TRUE(same(apply(ExprKind::kMul), a * b));
    EXPECT_TRUE(same(apply(ExprKind::kDiv), a / b)) << a << " / " << b;
  }
  // 2049 is halfway between two float16 values; ties go to even.
  EXPECT_EQ(RoundToFormat(DataType::Float(16), 2049.0), 2048.0);
  EXPECT_EQ(RoundToFormat(DataType::Float(16), 2051.0), 2052.0);
  EXPECT_EQ(RoundToFormat(DataType::Float(16), 65520.0), kInf);
  EXPECT_EQ(RoundToFormat(DataType::BFloat16(), 257.0), 256.0);
}

TEST(Scalar, HalfPrecisionAgreesWithTheCompiler) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t storage = static_cast<uint16_t>(bits);
    _Float16 half;
    std::memcpy(&half, &storage, 2);
    const auto value = static_cast<double>(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(LoadScalar(&storage, DataType::Float(16), 0).f, value);
    const double between = value * 1.0003;
    EXPECT_EQ(RoundToFormat(DataType::Float(16), between), static_cast<double>(static_cast<_Float16>(between)));
  }
}

TEST(Scalar, MinAndMaxPropagateNaN) {
  const DataType f32 = DataType::Float(32);
  EXPECT_TRUE(std::isnan(ApplyBinary(ExprKind::kMin, f32, Scalar::Float(kNan), Scalar::Float(1)).f));
  EXPECT_TRUE(std::isnan(ApplyBinary(ExprKind::kMax, f32, Scalar::Float(1), Scalar::Float(kNan)).f));
  EXPECT_EQ(ApplyBinary(ExprKind::kMax, f32, Scalar::Float(-kInf), Scalar::Float(-1)).f, -1);
}

TEST(Scalar, CastsSaturateFromFloatAndWrapFromInt) {
  const auto cast = [](DataType from, DataType to, Scalar value) { return ApplyCast(from, to, value); };
  const DataType f32 = DataType::Float(32);
  EXPECT_EQ(cast(f32, DataType::Int(8), Scalar::Float(300.7)).i, 127);
  EXPECT_EQ(cast(f32, DataType::Int(8), Scalar::Float(-300.7)).i, -128);
  EXPECT_EQ(cast(f32, DataType::Int(32), Scalar::Float(-2.9)).i, -2);
  EXPECT_EQ(cast(f32, DataType::UInt(8), Scalar::Float(-1)).i, 0);
  EXPECT_EQ(cast(f32, DataType::Int(32), Scalar::Float(kNan)).i, 0);
  EXPECT_EQ(cast(f32, DataType::Int(64), Scalar::Float(kInf)).i, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cast(DataType::Int(32), DataType::Int(8), Scalar::Int(300)).i, 44);
  EXPECT_EQ(cast(f32, DataType::Bool(), Scalar::Float(0.5)).i, 1);
  // 2^53 + 1 rounds once, straight to float32.
  EXPECT_EQ(cast(DataType::Int(64), f32, Scalar::Int((int64_t{1} << 53) + (int64_t{1} << 29) + 1)).f, 0x1p53 + 0x1p30);
}

TEST(Scalar, IntegerPowerWrapsAndTruncates) {
  const auto pow = FindIntrinsic("tir.pow");
  const auto apply = [&](int64_t base, int64_t n) {
    const Scalar args[2] = {Scalar::Int(base), Scalar::Int(n)};
    return pow(DataType::Int(32), args).i;
  };
  EXPECT_EQ(apply(3, 4), 81);
  EXPECT_EQ(apply(2, 31), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(apply(2, -1), 0);
  EXPECT_EQ(apply(-1, -3), -1);
}

}  // namespace
}  // namespace deuteron::interpreter
