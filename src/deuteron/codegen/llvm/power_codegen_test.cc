/// Powers, with every special case.
#include <algorithm>
#include <limits>

#include "deuteron/codegen/llvm/kernel_test_util.h"

namespace deuteron::codegen {
namespace {

/// Special values, and others over the whole range.
std::vector<float> ValuesOfPowers() {
  std::vector<float> values = {0,     1,           2,           3,          0.5,  2.5, 1e-45F, 1e-38F,
                               3e38F, 16777217.0F, 0.99999994F, 1.0000001F, 64.5, 127, 150};
  values.push_back(std::numeric_limits<float>::infinity());
  values.push_back(std::nanf(""));
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-140, 127);
  for (int i = 0; i < 47; ++i) values.push_back(std::exp2(exponent(random)));
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  return values;
}

/// Of special cases as the C library has them, others so many units in the last place off at most.
void ExpectPower(float base, float exponent, float result, float units) {
  const float expected = std::pow(base, exponent);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(result)) << base << " ^ " << exponent << " = " << result;
  } else if (std::isinf(expected) || expected == 0) {
    EXPECT_TRUE(result == expected && std::signbit(result) == std::signbit(expected))
        << base << " ^ " << exponent << " = " << result;
  } else {
    const float ulp = std::nextafter(std::fabs(expected), std::numeric_limits<float>::infinity()) - std::fabs(expected);
    EXPECT_LE(std::fabs(result - expected), units * ulp)
        << base << " ^ " << exponent << " = " << result << ", not " << expected;
  }
}

TEST(CodegenOps, PowerOfEverything) {
  const std::vector<float> values = ValuesOfPowers();
  const auto count = static_cast<int64_t>(values.size());
  CompiledKernels kernels;
  const DeuteronKernel kernel =
      Compile(&kernels, Pointwise({DataType::Float(32), DataType::Float(32)}, count, [](const auto& x) {
        return CallIntrin("pow", {x[0], x[1]});
      }));
  for (const float base : values) {
    alignas(64) float a[128];
    alignas(64) float b[128];
    alignas(64) float out[128];
    ASSERT_LE(count, 128);
    for (int64_t i = 0; i < count; ++i) {
      a[i] = base;
      b[i] = values[static_cast<size_t>(i)];
    }
    void* data[] = {a, b, out};
    kernel(nullptr, data, nullptr);
    for (int64_t i = 0; i < count; ++i) ExpectPower(a[i], b[i], out[i], 1);
  }
}

TEST(CodegenOps, PowersByRoots) {
  const std::vector<float> values = ValuesOfPowers();
  const auto count = static_cast<int64_t>(values.size());
  for (const double exponent : {0.25, 0.5, 0.75, 1.5, -0.25, -0.5, -0.75, -1.5}) {
    CompiledKernels kernels;
    const DeuteronKernel kernel = Compile(&kernels, Pointwise({DataType::Float(32)}, count, [&](const auto& x) {
      return CallIntrin("pow", {x[0], MakeConst(x[0].dtype(), exponent)});
    }));
    alignas(64) float a[128];
    alignas(64) float out[128];
    ASSERT_LE(count, 128);
    std::copy(values.begin(), values.end(), a);
    void* data[] = {a, out};
    kernel(nullptr, data, nullptr);
    for (int64_t i = 0; i < count; ++i) ExpectPower(a[i], static_cast<float>(exponent), out[i], 2.25);
  }
}

}  // namespace
}  // namespace deuteron::codegen
