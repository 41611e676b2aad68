/// \file
/// Unary and binary operators against plain loops.
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test

void CheckUnary(Expr (*op)(Expr), double (*fn)(double), double low, double high) {
  const Dense x = Dense::Random({3, 5}, 1, low, high);
  Check({x}, [&](const std::vector<Var>& v) { return op(v[0]); },
        Fill(x.shape, [&](const Index& i) { return fn(x.at(i)); }), {{0, 0, "n"}});
}

TEST(UnaryOps, ComputeTheirFunctions) {
  CheckUnary(
      Abs, [](double x) { return std::abs(x); }, -2, 2);
  CheckUnary(Acos, std::acos, -1, 1);
  CheckUnary(Asin, std::asin, -1, 1);
  CheckUnary(Atan, std::atan, -3, 3);
  CheckUnary(Acosh, std::acosh, 1, 3);
  CheckUnary(Asinh, std::asinh, -3, 3);
  CheckUnary(Atanh, std::atanh, -0.9, 0.9);
  CheckUnary(Ceil, std::ceil, -3, 3);
  CheckUnary(Cos, std::cos, -3, 3);
  CheckUnary(Cosh, std::cosh, -3, 3);
  CheckUnary(Erf, std::erf, -3, 3);
  CheckUnary(Exp, std::exp, -3, 3);
  CheckUnary(Floor, std::floor, -3, 3);
  CheckUnary(Log, std::log, 0.1, 3);
  CheckUnary(
      Negative, [](double x) { return -x; }, -3, 3);
  CheckUnary(
      Round, [](double x) { return std::nearbyint(x); }, -3, 3);
  CheckUnary(
      Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 3);
  CheckUnary(
      Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -3, 3);
  CheckUnary(
      Sign, [](double x) { return x > 0   ? 1.0
                                  : x < 0 ? -1.0
                                          : 0.0; }, -3, 3);
  CheckUnary(Sin, std::sin, -3, 3);
  CheckUnary(Sinh, std::sinh, -3, 3);
  CheckUnary(Sqrt, std::sqrt, 0, 3);
  CheckUnary(
      Square, [](double x) { return x * x; }, -3, 3);
  CheckUnary(Tan, std::tan, -1, 1);
  CheckUnary(Tanh, std::tanh, -3, 3);
  CheckUnary(Trunc, std::trunc, -3, 3);
  CheckUnary([](Expr x) { return Clip(x, -0.5, 1.5); }, [](double x) { return std::clamp(x, -0.5, 1.5); }, -3, 3);
}

TEST(UnaryOps, ComputeActivations) {
  CheckUnary(
      nn::Relu, [](double x) { return std::max(x, 0.0); }, -3, 3);
  CheckUnary([](Expr x) { return nn::LeakyRelu(x, 0.1); }, [](double x) { return x > 0 ? x : 0.1 * x; }, -3, 3);
  CheckUnary(
      nn::Gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, -3, 3);
  CheckUnary(
      nn::GeluTanh,
      [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -3, 3);
  CheckUnary(
      nn::Silu, [](double x) { return x / (1 + std::exp(-x)); }, -3, 3);
  CheckUnary(
      nn::Selu, [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1)); }, -3,
      3);
  CheckUnary([](Expr x) { return nn::Softplus(x, 2.0, 3.0); },
             [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }, -3, 3);
  // Where the exponential is lost beside 1.
  CheckUnary([](Expr x) { return Multiply(nn::Softplus(x), Constant::Scalar(kFloat, 1e9)); },
             [](double x) { return 1e9 * std::log1p(std::exp(x)); }, -24, -16);
}

void CheckBinary(Expr (*op)(Expr, Expr), double (*fn)(double, double), double low = -3, double high = 3) {
  const Dense a = Dense::Random({4, 1, 3}, 1, low, high);
  const Dense b = Dense::Random({2, 3}, 2, low, high);
  Check({a, b}, [&](const std::vector<Var>& v) { return op(v[0], v[1]); },
        Fill({4, 2, 3},
             [&](const Index& i) {
               return fn(a.at({i[0], 0, i[2]}), b.at({i[1], i[2]}));
             }),
        {{0, 0, "n"}, {0, 2, "k"}, {1, 1, "k"}});
}

TEST(BinaryOps, BroadcastAndComputeTheirFunctions) {
  CheckBinary(Add, [](double a, double b) { return a + b; });
  CheckBinary(Subtract, [](double a, double b) { return a - b; });
  CheckBinary(Multiply, [](double a, double b) { return a * b; });
  CheckBinary(
      Divide, [](double a, double b) { return a / b; }, 0.5, 3);
  CheckBinary(
      FloorDivide, [](double a, double b) { return std::floor(a / b); }, 0.5, 3);
  CheckBinary(Mod, [](double a, double b) { return std::fmod(a, b); });
  CheckBinary(FloorMod, [](double a, double b) { return a - std::floor(a / b) * b; });
  CheckBinary(
      Power, [](double a, double b) { return std::pow(a, b); }, 0.1, 2);
  CheckBinary(Atan2, [](double a, double b) { return std::atan2(a, b); });
  CheckBinary(LogAddExp, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); });
  CheckBinary(Maximum, [](double a, double b) { return std::max(a, b); });
  CheckBinary(Minimum, [](double a, double b) { return std::min(a, b); });
}

TEST(BinaryOps, LogAddExpNeitherOverflowsNorMakesNan) {
  const double inf = INFINITY;
  Dense a({4});
  Dense b({4});
  a.values = {1000, -inf, inf, -1000};
  b.values = {1000, -inf, inf, -inf};
  Dense expected({4});
  expected.values = {1000 + std::log(2.0), -inf, inf, -1000};
  Check(
      {a, b}, [](const std::vector<Var>& v) { return LogAddExp(v[0], v[1]); }, expected);
}

TEST(BinaryOps, EmbedScalarConstants) {
  const Dense x = Dense::Random({2, 3});
  Check({x}, [](const std::vector<Var>& v) { return Subtract(Constant::Scalar(kFloat, 1.5), v[0]); },
        Fill(x.shape, [&](const Index& i) { return 1.5 - x.at(i); }), {{0, 1, "n"}});
}

TEST(BinaryOps, CompareToBooleans) {
  Dense a({3});
  Dense b({3});
  a.values = {1, 2, 3};
  b.values = {2, 2, 2};
  const auto bits = [&](Expr (*op)(Expr, Expr)) {
    const auto make = [&](const std::vector<Var>& v) { return op(v[0], v[1]); };
    const Dense out = RunModule({a, b}, make, {}, /*legalized=*/true)[0];
    EXPECT_TRUE(out.dtype.is_bool());
    return out.values[0] * 100 + out.values[1] * 10 + out.values[2];
  };
  EXPECT_EQ(bits(Equal), 10);
  EXPECT_EQ(bits(NotEqual), 101);
  EXPECT_EQ(bits(Less), 100);
  EXPECT_EQ(bits(LessEqual), 110);
  EXPECT_EQ(bits(Greater), 1);
  EXPECT_EQ(bits(GreaterEqual), 11);
}

}  // namespace
}  // namespace deuteron::interpreter
