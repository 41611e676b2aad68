/// Every operation, intrinsic and cast, as vectors, against C's libm in double precision and the interpreter.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::codegen {
namespace {

using tir::Buffer;
using tir::PrimFunc;
using tir::Var;

std::vector<float> TestPoints() {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> points = {0.0f,    -0.0f,  1.0f,        -1.0f,      infinity, -infinity, std::nanf(""), 1e-40f,
                               -1e-40f, 1e-38f, 3e38f,       -3e38f,     88.7f,    -87.3f,    -103.0f,       89.0f,
                               -90.0f,  -97.5f, 0.5f,        -0.5f,      1.5f,     2.5f,      -2.5f,         1e-8f,
                               -1e-8f,  0.625f, 0.99999994f, 1.0000001f, 1e9f,     -1e10f};
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 3000; ++i) points.push_back(normal(random) * std::exp2(static_cast<float>(i % 9 - 4)));
  return points;
}

struct FunctionCase {
  const char* name;
  double (*reference)(double);
  /// In units in the last place of the result; the absolute slack counts where that is larger.
  double ulp;
  double absolute;
};

class FloatIntrinsic : public testing::TestWithParam<FunctionCase> {};

TEST_P(FloatIntrinsic, AgreesWithLibm) {
  const FunctionCase& c = GetParam();
  const std::vector<float> points = TestPoints();
  const auto count = static_cast<int64_t>(points.size());
  CompiledKernels kernels;
  const DeuteronKernel kernel = Compile(
      &kernels, Pointwise({DataType::Float(32)}, count, [&](const auto& x) { return CallIntrin(c.name, {x[0]}); }));
  const Tensor in = EmptyHostTensor({count}, DataType::Float(32));
  const Tensor out = EmptyHostTensor({count}, DataType::Float(32));
  std::memcpy(in.data_ptr(), points.data(), points.size() * sizeof(float));
  void* data[] = {in.data_ptr(), out.data_ptr()};
  TestContext context;
  ASSERT_EQ(kernel(context.get(), data, nullptr), 0);
  double worst = 0;
  int wrong = 0;
  for (size_t i = 0; i < points.size() && wrong < 5; ++i) {
    const float got = static_cast<const float*>(out.data_ptr())[i];
    const float expected = static_cast<float>(c.reference(points[i]));
    if (std::isnan(expected) || std::isinf(expected) || std::isinf(got)) {
      const bool same = std::isnan(expected) ? std::isnan(got) : got == expected;
      // An overflow may come one ulp early.
      if (!same && !(std::isinf(got) && std::abs(expected) > 3.4e38f)) {
        ++wrong;
        ADD_FAILURE() << c.name << "(" << points[i] << ") = " << got << ", expected " << expected;
      }
      continue;
    }
    const double exact = c.reference(points[i]);
    const double unit = std::max<double>(
        std::abs(std::nextafter(expected, std::numeric_limits<float>::infinity()) - expected), 1.4e-45);
    const double error = std::abs(got - exact);
    if (error > c.absolute) worst = std::max(worst, error / unit);
    if (error > c.absolute && error > c.ulp * unit) {
      ++wrong;
      ADD_FAILURE() << c.name << "(" << points[i] << ") = " << got << ", expected " << expected << ", " << error / unit
                    << " ulp";
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Exp10(double x) { return std::pow(10.0, x); }

INSTANTIATE_TEST_SUITE_P(
    All, FloatIntrinsic,
    testing::Values(FunctionCase{"exp", std::exp, 2, 0}, FunctionCase{"exp2", std::exp2, 2, 0},
                    FunctionCase{"exp10", Exp10, 2, 0}, FunctionCase{"log", std::log, 2, 0},
                    FunctionCase{"log2", std::log2, 3, 0}, FunctionCase{"log10", std::log10, 3, 0},
                    FunctionCase{"log1p", std::log1p, 2, 0}, FunctionCase{"sqrt", std::sqrt, 1, 0},
                    FunctionCase{"rsqrt", Rsqrt, 2, 0}, FunctionCase{"tanh", std::tanh, 2.5, 0},
                    FunctionCase{"sigmoid", Sigmoid, 3, 0}, FunctionCase{"erf", std::erf, 2.5, 0},
                    FunctionCase{"sin", std::sin, 2.5, 0}, FunctionCase{"cos", std::cos, 2.5, 0},
                    FunctionCase{"tan", std::tan, 4, 0}, FunctionCase{"sinh", std::sinh, 3, 0},
                    FunctionCase{"cosh", std::cosh, 3, 0}, FunctionCase{"asin", std::asin, 2.5, 0},
                    FunctionCase{"acos", std::acos, 2, 0}, FunctionCase{"atan", std::atan, 2.5, 0},
                    FunctionCase{"asinh", std::asinh, 3, 0}, FunctionCase{"acosh", std::acosh, 3, 0},
                    FunctionCase{"atanh", std::atanh, 3, 0}, FunctionCase{"floor", std::floor, 0, 0},
                    FunctionCase{"ceil", std::ceil, 0, 0}, FunctionCase{"trunc", std::trunc, 0, 0},
                    FunctionCase{"round", std::nearbyint, 0, 0}, FunctionCase{"abs", std::fabs, 0, 0}),
    [](const auto& info) { return info.param.name; });

const DataType kNarrowTypes[] = {
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
    {kDLInt, 4},
    {kDLUInt, 4},
    {kDLInt, 2},
    {kDLUInt, 2},
    {kDLUInt, 1},
    {kDLBfloat, 16},
};

/// Every code of each type becomes the number that it stands for; and numbers around every one of them, in the middle
/// between two, too large, and not finite become the codes that the interpreter has for them, bit for bit.
/// Exactly: 1 less such a value is multiplied by what is large (GELU).
TEST(CodegenOps, FunctionsThatTendTo1ReachIt) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> points = {9.1f,  12.0f,  18.0f,  30.0f,  60.0f,  217.0f,  1e5f,  infinity,
                                     -9.1f, -12.0f, -18.0f, -30.0f, -60.0f, -217.0f, -1e5f, -infinity};
  const auto count = static_cast<int64_t>(points.size());
  for (const char* name : {"tanh", "erf"}) {
    CompiledKernels kernels;
    const DeuteronKernel kernel = Compile(
        &kernels, Pointwise({DataType::Float(32)}, count, [&](const auto& x) { return CallIntrin(name, {x[0]}); }));
    const Tensor in = EmptyHostTensor({count}, DataType::Float(32)), out = CopyTensor(in);
    std::memcpy(in.data_ptr(), points.data(), points.size() * sizeof(float));
    void* data[] = {in.data_ptr(), out.data_ptr()};
    TestContext context;
    ASSERT_EQ(kernel(context.get(), data, nullptr), 0);
    for (size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(static_cast<const float*>(out.data_ptr())[i], std::copysign(1.0f, points[i])) << name << points[i];
  }
}

TEST(CodegenOps, NarrowTypes) {
  for (const DataType type : kNarrowTypes) {
    SCOPED_TRACE(type.ToString());
    const int64_t codes = int64_t{1} << type.bits();
    const auto run = [](const PrimFunc& func, const Tensor& in, const Tensor& out) {
      CompiledKernels kernels;
      void* data[] = {in.data_ptr(), out.data_ptr()};
      TestContext context;
      ASSERT_EQ(Compile(&kernels, func)(context.get(), data, nullptr), 0);
    };
    const Tensor all = EmptyHostTensor({codes}, type);
    for (int64_t i = 0; i < codes; ++i)
      std::memcpy(static_cast<char*>(all.data_ptr()) + i * type.bytes(), &i, type.bytes());
    const Tensor numbers = EmptyHostTensor({codes}, DataType::Float(32));
    run(Pointwise({type}, codes, [](const auto& x) { return tir::Cast(DataType::Float(32), x[0]); }), all, numbers);
    std::vector<double> values;
    for (int64_t i = 0; i < codes; ++i) {
      const double number = ElementOf(all, i);
      const double got = ElementOf(numbers, i);
      EXPECT_TRUE(std::isnan(number) ? std::isnan(got) : got == number)
          << "code " << i << ": " << got << ", " << number;
      if (std::isfinite(number)) values.push_back(number);
    }
    std::sort(values.begin(), values.end());
    std::vector<float> points = TestPoints();
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const auto middle = static_cast<float>((values[i] + values[i + 1]) / 2);
      points.insert(points.end(), {static_cast<float>(values[i]), middle, std::nextafter(middle, -INFINITY),
                                   std::nextafter(middle, INFINITY)});
    }
    for (const double value : {values.front(), values.back()}) {
      for (const double factor : {1.0, 1.01, 1.06, 1.2, 1.49, 1.5, 2.0, 100.0})
        points.push_back(static_cast<float>(value * factor));
    }
    const auto count = static_cast<int64_t>(points.size());
    const Tensor in = EmptyHostTensor({count}, DataType::Float(32));
    std::memcpy(in.data_ptr(), points.data(), points.size() * sizeof(float));
    const PrimFunc narrow =
        Pointwise({DataType::Float(32)}, count, [&](const auto& x) { return tir::Cast(type, x[0]); });
    const Tensor expected = EmptyHostTensor({count}, type);
    interpreter::RunPrimFunc(narrow, {in, expected}, {});
    for (const PrimFunc& kernel : {narrow, tir::ApplyScheduleRules(narrow, Target::Host()).func}) {
      const Tensor got = EmptyHostTensor({count}, type);
      run(kernel, in, got);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = i * type.bytes();
        const bool same = std::memcmp(static_cast<char*>(got.data_ptr()) + at,
                                      static_cast<char*>(expected.data_ptr()) + at, type.bytes()) == 0;
        const bool both_nan = std::isnan(ElementOf(got, i)) && std::isnan(ElementOf(expected, i));
        ASSERT_TRUE(same || both_nan) << points[i] << " becomes " << ElementOf(got, i) << ", expected "
                                      << ElementOf(expected, i);
      }
    }
  }
}

/// Where the CPU has an instruction for it, vectors are rounded to bfloat16 by that.
TEST(CodegenOps, RoundsVectorsToBfloat16) {
  const auto code_for = [](const std::string& cpu) {
    const Target target = Target::Parse("llvm -mcpu=" + cpu);
    const PrimFunc narrow =
        Pointwise({DataType::Float(32)}, 4096, [](const auto& x) { return tir::Cast(DataType::BFloat16(), x[0]); });
    return EmitLlvmIr(Lowered(tir::ApplyScheduleRules(narrow, target).func, target), target, {});
  };
  EXPECT_EQ(code_for("x86-64-v4").find("cvtneps2bf16"), std::string::npos);
  EXPECT_NE(code_for("x86-64-v4 -mattr=+avx512bf16").find("@llvm.x86.avx512bf16.cvtneps2bf16.512"), std::string::npos);
  EXPECT_NE(code_for("x86-64-v4 -mattr=+avx512bf16 -vector-bits=256").find("@llvm.x86.avx512bf16.cvtneps2bf16.256"),
            std::string::npos);
}

TEST(CodegenOps, CastsBetweenAllTypes) {
  const std::vector<DataType> types = {DataType::Int(8),
                                       DataType::Int(16),
                                       DataType::Int(32),
                                       DataType::Int(64),
                                       DataType::UInt(8),
                                       DataType::UInt(16),
                                       DataType::UInt(32),
                                       DataType::Bool(),
                                       DataType::Float(16),
                                       DataType::BFloat16(),
                                       DataType::Float(32),
                                       DataType::Float(64),
                                       DataType::Int(4),
                                       DataType(kDLFloat8_e4m3fn, 8),
                                       DataType(kDLFloat8_e8m0fnu, 8)};
  for (const DataType from : types) {
    // One kernel a source type: all casts of it.
    for (const DataType to : types) {
      if (from == to) continue;
      SCOPED_TRACE(from.ToString() + " to " + to.ToString());
      if (to.is_uint() && from.is_float()) continue;
      Check(Pointwise({from}, 37, [&](const auto& x) { return tir::Cast(to, x[0]); }));
    }
  }
}

/// Towards 0, NaN to 0, what is beyond the type to its end.
template <typename T>
void CheckSaturation(
    DataType dtype, const std::function<PrimExpr(const PrimExpr&)>& before = [](const PrimExpr& x) { return x; }) {
  SCOPED_TRACE(dtype.ToString());
  const std::vector<float> points = {1e20f,         -1e20f,         std::nanf(""), 200.7f,  -200.7f,  127.9f, -128.9f,
                                     3e9f,          -3e9f,          0.9f,          -0.9f,   255.9f,   256.0f, 32767.5f,
                                     2147483648.0f, -2147483648.0f, 9.3e18f,       1.9e19f, 65535.9f, -1.0f};
  const auto count = static_cast<int64_t>(points.size());
  CompiledKernels kernels;
  const DeuteronKernel kernel = Compile(
      &kernels, Pointwise({DataType::Float(32)}, count, [&](const auto& x) { return tir::Cast(dtype, before(x[0])); }));
  alignas(64) float in[32];
  alignas(64) T out[32];
  std::copy(points.begin(), points.end(), in);
  void* data[] = {in, out};
  kernel(nullptr, data, nullptr);
  using Limits = std::numeric_limits<T>;
  for (int64_t i = 0; i < count; ++i) {
    const float point = points[static_cast<size_t>(i)];
    const T expected = std::isnan(point)                            ? T{0}
                       : point >= std::exp2(float{Limits::digits})  ? Limits::max()
                       : point <= static_cast<float>(Limits::min()) ? Limits::min()
                                                                    : static_cast<T>(point);
    EXPECT_EQ(out[i], expected) << point;
  }
}

TEST(CodegenOps, SaturatingCasts) {
  CheckSaturation<int8_t>(DataType::Int(8));
  CheckSaturation<uint8_t>(DataType::UInt(8));
  CheckSaturation<int16_t>(DataType::Int(16));
  CheckSaturation<int32_t>(DataType::Int(32));
  CheckSaturation<uint32_t>(DataType::UInt(32));
  CheckSaturation<int64_t>(DataType::Int(64));
}

/// What has been brought into the type's range, or nearly, as quantisations do.
TEST(CodegenOps, SaturatingCastsOfClamped) {
  const auto between = [](double least, double greatest) {
    return [=](const PrimExpr& x) { return Max(Min(x, MakeConst(x.dtype(), greatest)), MakeConst(x.dtype(), least)); };
  };
  CheckSaturation<int8_t>(DataType::Int(8), between(-128, 127));
  CheckSaturation<uint8_t>(DataType::UInt(8), between(0, 255));
  CheckSaturation<uint16_t>(DataType::UInt(16), between(0, 65535));
  CheckSaturation<int8_t>(DataType::Int(8), between(-128, 200));
  CheckSaturation<uint8_t>(DataType::UInt(8), between(-1, 255));
  CheckSaturation<int8_t>(DataType::Int(8), [](const PrimExpr& x) { return Max(x, MakeConst(x.dtype(), -128.0)); });
}

TEST(CodegenOps, BinaryOperations) {
  const ExprKind arithmetic[] = {ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kMin,
                                 ExprKind::kMax, ExprKind::kEQ,  ExprKind::kNE,  ExprKind::kLT,
                                 ExprKind::kLE,  ExprKind::kGT,  ExprKind::kGE};
  const DataType types[] = {DataType::Int(8),    DataType::Int(32),    DataType::Int(64),   DataType::UInt(8),
                            DataType::Float(16), DataType::BFloat16(), DataType::Float(32), DataType::Float(64)};
  for (const DataType type : types) {
    for (const ExprKind kind : arithmetic) {
      SCOPED_TRACE(type.ToString() + " operation " + std::to_string(static_cast<int>(kind)));
      Check(Pointwise({type, type}, 21, [&](const auto& x) { return MakeBinary(kind, x[0], x[1]); }));
    }
  }
  for (const DataType type : {DataType::Int(8), DataType::Int(32), DataType::Int(64)}) {
    for (const ExprKind kind : {ExprKind::kDiv, ExprKind::kMod, ExprKind::kFloorDiv, ExprKind::kFloorMod}) {
      SCOPED_TRACE(type.ToString() + " division " + std::to_string(static_cast<int>(kind)));
      for (const int64_t divisor : {3, -3, 4, -4, 1, -1}) {
        Check(Pointwise({type}, 50, [&](const auto& x) { return MakeBinary(kind, x[0], MakeConst(type, divisor)); }));
      }
    }
  }
  Check(Pointwise({DataType::Float(32), DataType::Float(32)}, 21, [](const auto& x) { return tir::Div(x[0], x[1]); }),
        1e-7);
}

/// Of rows by a number for each, which is multiplied by the reciprocal where that is faster: as IEEE 754 rounds.
TEST(CodegenOps, QuotientsByOneNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> divisors = {3.0f,    -7.0f,    1.41421354f, 0.1f, 1e-30f, -1e30f,        3e38f, 1.2e-38f,   1e-40f,
                                 -1e-44f, infinity, -infinity,   0.0f, -0.0f,  std::nanf(""), 1.0f,  16777215.0f};
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  while (divisors.size() < 100)
    divisors.push_back(normal(random) * std::exp2(static_cast<float>(divisors.size() % 60)));
  std::vector<float> points = TestPoints();
  points.resize(3008, 1.0f);
  const auto rows = static_cast<int64_t>(divisors.size()), columns = static_cast<int64_t>(points.size());
  const DataType single = DataType::Float(32);
  const te::Tensor x = te::Placeholder({I64(columns)}, single, "x"), d = te::Placeholder({I64(rows)}, single, "d");
  const te::Tensor y = te::Compute(
      {I64(rows), I64(columns)}, [&](const Array<Var>& i) { return tir::Div(x({i[1]}), d({i[0]})); }, "y");
  CompiledKernels kernels;
  const DeuteronKernel kernel =
      Compile(&kernels, tir::ApplyScheduleRules(te::CreatePrimFunc({x, d, y}), Target::Host()).func);
  const Tensor of_x = EmptyHostTensor({columns}, single), of_d = EmptyHostTensor({rows}, single);
  const Tensor of_y = EmptyHostTensor({rows, columns}, single);
  std::memcpy(of_x.data_ptr(), points.data(), points.size() * sizeof(float));
  std::memcpy(of_d.data_ptr(), divisors.data(), divisors.size() * sizeof(float));
  void* data[] = {of_x.data_ptr(), of_d.data_ptr(), of_y.data_ptr()};
  const auto* out = static_cast<const float*>(of_y.data_ptr());
  TestContext context;
  ASSERT_EQ(kernel(context.get(), data, nullptr), 0);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const float a = points[i % columns], b = divisors[i / columns], expected = a / b;
    const bool both_nan = std::isnan(expected) && std::isnan(out[i]);
    // A denormal result is rounded twice; of a denormal number the reciprocal's product is rounded as coarsely.
    constexpr float kLeastNormal = 1.17549435e-38f, kLeast = 1.4e-45f;
    const float of_number = std::fabs(a) < kLeastNormal ? 2 * kLeast / std::fabs(b) : 0;
    const float slack = std::max(of_number, std::fabs(expected) < kLeastNormal ? kLeast : 0);
    ASSERT_TRUE(both_nan || out[i] == expected || std::fabs(out[i] - expected) <= slack)
        << a << " / " << b << " = " << expected << ", not " << out[i];
    ASSERT_TRUE(both_nan || std::signbit(out[i]) == std::signbit(expected)) << a << " / " << b;
  }
}

TEST(CodegenOps, IntegersAndPredicates) {
  const DataType i32 = DataType::Int(32);
  for (const char* name : {"bitwise_and", "bitwise_or", "bitwise_xor", "add_i16x2", "subtract_i16x2", "dot_i16x2",
                           "dot_u8i8x4", "dot_i8x4", "dot_u8i7x4"}) {
    SCOPED_TRACE(name);
    Check(Pointwise({i32, i32}, 20, [&](const auto& x) { return CallIntrin(name, {x[0], x[1]}); }));
    Check(Pointwise({i32, i32, i32}, 20, [&](const auto& x) { return x[2] + CallIntrin(name, {x[0], x[1]}); }));
  }
  Check(Pointwise({i32}, 20, [&](const auto& x) { return CallIntrin("bitwise_not", {x[0]}); }));
  Check(Pointwise({i32}, 20, [&](const auto& x) { return CallIntrin("abs", {x[0]}); }));
  Check(Pointwise({i32}, 20, [&](const auto& x) {
    return CallIntrin("shift_right", {x[0], MakeConst(x[0].dtype(), 3)});
  }));
  Check(Pointwise({i32}, 20, [&](const auto& x) {
    return CallIntrin("shift_left", {x[0], MakeConst(x[0].dtype(), 3)});
  }));
  const DataType f32 = DataType::Float(32);
  for (const char* name : {"isnan", "isinf", "isfinite"}) {
    SCOPED_TRACE(name);
    Check(Pointwise(
        {f32}, 20, [&](const auto& x) { return CallIntrin(name, DataType::Bool(), {Infinity(x[0].dtype()) * x[0]}); }));
  }
  for (const double exponent : {2.0, 3.0, 4.0, 0.5, -0.5, -1.0, 1.7, 0.25, 0.75, -0.75, 1.5}) {
    SCOPED_TRACE(exponent);
    Check(Pointwise({f32}, 40,
                    [&](const auto& x) {
                      return CallIntrin("pow", {x[0], MakeConst(x[0].dtype(), exponent)});
                    }),
          1e-6);
  }
  Check(Pointwise({f32, f32}, 40, [&](const auto& x) { return CallIntrin("pow", {x[0], x[1]}); }), 1e-6);
  Check(Pointwise({f32}, 20, [&](const auto& x) { return CallIntrin("reinterpret", DataType::Int(32), {x[0]}); }));
  for (const char* name : {"fmod", "atan2", "copysign", "hypot"}) {
    SCOPED_TRACE(name);
    Check(Pointwise({f32, f32}, 20, [&](const auto& x) { return CallIntrin(name, {x[0], x[1]}); }), 1e-6);
  }
}

/// Quotients next to integers, beyond all integers of the type, of no number: the remainder is exact.
template <typename T>
void CheckRemainders() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T some[] = {0,
                    -0.0,
                    1,
                    -1,
                    T(0.1),
                    3,
                    7,
                    5,
                    T(1) / 3,
                    1e9,
                    6e8,
                    T(16777215.5),
                    kInfinity,
                    -kInfinity,
                    -3,
                    std::numeric_limits<T>::quiet_NaN(),
                    1e30,
                    std::numeric_limits<T>::denorm_min(),
                    std::numeric_limits<T>::max(),
                    T(0.3),
                    -T(0.7),
                    4194304,
                    T(1e-30)};
  std::vector<T> xs, ys;
  for (const T x : some) {
    for (const T y : some) {
      for (const T dividend : {x, x * y, x * y - y}) {
        xs.push_back(dividend);
        ys.push_back(y);
      }
    }
  }
  const auto count = static_cast<int64_t>(xs.size());
  const DataType dtype = DataType::Float(sizeof(T) * 8);
  CompiledKernels kernels;
  const DeuteronKernel kernel = Compile(&kernels, Pointwise({dtype, dtype}, count, [](const auto& x) {
    return CallIntrin("fmod", {x[0], x[1]});
  }));
  std::vector<T> out(xs.size());
  void* data[] = {xs.data(), ys.data(), out.data()};
  TestContext context;
  ASSERT_EQ(kernel(context.get(), data, nullptr), 0);
  for (size_t i = 0; i < xs.size(); ++i) {
    const T expected = std::fmod(xs[i], ys[i]);
    const bool same = std::isnan(expected) ? std::isnan(out[i])
                                           : out[i] == expected && std::signbit(out[i]) == std::signbit(expected);
    EXPECT_TRUE(same) << xs[i] << " mod " << ys[i] << " = " << out[i] << ", expected " << expected;
  }
}

TEST(CodegenOps, RemaindersAreExact) {
  CheckRemainders<float>();
  CheckRemainders<double>();
}

/// The least integer by -1, and anything by zero: neither is left to the machine.
TEST(CodegenOps, DivisionsThatHaveNoQuotient) {
  constexpr int kCount = 50;
  for (const ExprKind kind : {ExprKind::kDiv, ExprKind::kMod, ExprKind::kFloorDiv, ExprKind::kFloorMod}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const DataType type = DataType::Int(32);
    CompiledKernels kernels;
    const DeuteronKernel kernel =
        Compile(&kernels, Pointwise({type, type}, kCount, [&](const auto& x) { return MakeBinary(kind, x[0], x[1]); }));
    alignas(64) int32_t a[64];
    alignas(64) int32_t b[64];
    alignas(64) int32_t out[64];
    void* data[] = {a, b, out};
    std::fill_n(a, 64, INT32_MIN);
    std::fill_n(b, 64, -1);
    TestContext context;
    EXPECT_EQ(kernel(context.get(), data, nullptr), 0);
    const bool is_quotient = kind == ExprKind::kDiv || kind == ExprKind::kFloorDiv;
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(out[i], is_quotient ? INT32_MIN : 0);
    for (const int zero : {0, 17, kCount - 1}) {
      b[zero] = 0;
      context.error.clear();
      EXPECT_NE(kernel(context.get(), data, nullptr), 0);
      EXPECT_EQ(context.error, "division of an integer by zero");
      b[zero] = 7;
    }
    // Beyond the end nothing is divided.
    b[kCount] = 0;
    EXPECT_EQ(kernel(context.get(), data, nullptr), 0);
  }
}

TEST(CodegenOps, NanPropagatesThroughMinAndMax) {
  alignas(64) float a[16] = {std::nanf(""), 1, std::nanf(""), 2};
  alignas(64) float b[16] = {1, std::nanf(""), std::nanf(""), 3};
  alignas(64) float out[16];
  CompiledKernels kernels;
  const DeuteronKernel kernel =
      Compile(&kernels, Pointwise({DataType::Float(32), DataType::Float(32)}, 4,
                                  [](const auto& x) { return Min(Max(x[0], MakeConst(x[0].dtype(), 0.0)), x[1]); }));
  void* data[] = {a, b, out};
  kernel(nullptr, data, nullptr);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], 2);
}

/// Lanes of the widest load, compiled for a machine of 16 lanes, and so many runs (0: any number).
int WidestLoad(const std::function<PrimExpr(const PrimExpr&)>& make, int64_t runs) {
  Target target = Target::Parse("llvm -mcpu=x86-64-v4");
  target.machine.expected_calls = runs;
  const PrimFunc func = Pointwise({DataType::Float(32)}, 512, [&](const auto& x) { return make(x[0]); });
  int lanes = 0;
  tir::PostOrderVisit(tir::LowerPrimFunc(func, target)->body, [&lanes](const ObjectRef& node) {
    if (const auto* load = node.as<tir::BufferLoadNode>()) lanes = std::max<int>(lanes, load->dtype.lanes());
  });
  return lanes;
}

TEST(CodegenOps, VectorsOfFunctionsRunSideBySide) {
  const auto tanh = [](const PrimExpr& x) { return CallIntrin("tanh", {x}); };
  EXPECT_EQ(WidestLoad([](const PrimExpr& x) { return x * x; }, 0), 16);
  EXPECT_EQ(WidestLoad(tanh, 0), 64);
  EXPECT_EQ(WidestLoad(tanh, 1), 16);
  EXPECT_EQ(WidestLoad([&](const PrimExpr& x) { return tanh(tanh(x)); }, 1), 64);
}

TEST(CodegenOps, FailedAssertionReachesTheCaller) {
  const Var n("n");
  const Buffer out("out", DataType::Float(32), {n});
  const tir::Stmt body = tir::SeqStmt({tir::AssertStmt(n >= 3, "n must be at least 3"),
                                       tir::BufferStore(out, MakeConst(DataType::Float(32), 1.0), {I64(0)})});
  CompiledKernels kernels;
  const DeuteronKernel kernel = Compile(&kernels, PrimFunc::FromBuffers({out}, {}, body));
  alignas(64) float value[16] = {};
  void* data[] = {value};
  TestContext context;
  int64_t scalars[] = {2};
  EXPECT_NE(kernel(context.get(), data, scalars), 0);
  EXPECT_EQ(context.error, "n must be at least 3");
  scalars[0] = 3;
  EXPECT_EQ(kernel(context.get(), data, scalars), 0);
  EXPECT_EQ(value[0], 1);
}

}  // namespace
}  // namespace deuteron::codegen
