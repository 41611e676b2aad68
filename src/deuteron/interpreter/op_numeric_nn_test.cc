/// Operators of the arithmetic, nn and linear-algebra families against plain loops: each call runs once as an
/// operator of concrete shapes, and once legalised with every dimension that may be symbolic.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test
using Shape = std::vector<int64_t>;
using Index = std::vector<int64_t>;
using Make = std::function<Expr(const std::vector<Var>&)>;
constexpr DataType kFloat = DataType::Float(32);

int64_t Product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// A dense array of float32 with the loops that references are made of.
struct Dense {
  Shape shape;
  std::vector<double> values;

  explicit Dense(Shape dims) : shape(std::move(dims)), values(static_cast<size_t>(Product(shape)), 0.0) {}
  static Dense Random(Shape dims, int seed = 0, double low = -2.0, double high = 2.0) {
    Dense dense(std::move(dims));
    std::mt19937 engine(static_cast<unsigned>(seed) + 17);
    std::uniform_real_distribution<float> distribution(static_cast<float>(low), static_cast<float>(high));
    for (double& value : dense.values) value = distribution(engine);
    return dense;
  }
  size_t Offset(const Index& index) const {
    int64_t offset = 0;
    for (size_t i = 0; i < shape.size(); ++i) offset = offset * shape[i] + index[i];
    return static_cast<size_t>(offset);
  }
  bool Contains(const Index& index) const {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (index[i] < 0 || index[i] >= shape[i]) return false;
    }
    return true;
  }
  double at(const Index& index) const { return values[Offset(index)]; }
  double& at(const Index& index) { return values[Offset(index)]; }
  Tensor ToTensor() const {
    Tensor tensor = runtime::AllocTensor(shape, kFloat);
    auto* data = static_cast<float*>(tensor.data_ptr());
    for (size_t i = 0; i < values.size(); ++i) data[i] = static_cast<float>(values[i]);
    return tensor;
  }
};

void ForEach(const Shape& shape, const std::function<void(const Index&)>& visit) {
  if (Product(shape) == 0) return;
  Index index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

Dense Fill(const Shape& shape, const std::function<double(const Index&)>& value) {
  Dense dense(shape);
  ForEach(shape, [&](const Index& index) { dense.at(index) = value(index); });
  return dense;
}

std::string ToString(const Shape& shape) {
  std::string text;
  for (const int64_t dim : shape) text += std::to_string(dim) + " ";
  return text;
}

/// Element 0 of a tuple, or the tensor.
Tensor FirstTensor(const Value& value) {
  if (const auto tensor = value.as<Tensor>()) return *tensor;
  return value.cast<Array<Any>>()[0].cast<Tensor>();
}

void ExpectClose(const Tensor& actual, const Dense& expected, double tolerance, const std::string& what) {
  const Shape shape(actual.shape().begin(), actual.shape().end());
  ASSERT_EQ(shape, expected.shape) << what << " has shape " << ToString(shape);
  double scale = 1e-30;
  for (const double value : expected.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  const auto* data = static_cast<const float*>(actual.data_ptr());
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (!std::isfinite(expected.values[i])) {
      ASSERT_EQ(std::isnan(expected.values[i]), std::isnan(data[i])) << what << ", element " << i;
      if (!std::isnan(data[i])) {
        ASSERT_EQ(data[i], expected.values[i]) << what << ", element " << i;
      }
      continue;
    }
    ASSERT_NEAR(data[i], expected.values[i], tolerance * scale) << what << ", element " << i;
  }
}

/// An axis of an input whose extent is the variable `name`.
struct SymbolicDim {
  size_t input;
  size_t axis;
  std::string name;
};

Value RunModule(const std::vector<Dense>& inputs, const Make& make, const std::vector<SymbolicDim>& symbolic,
                bool legalized) {
  Array<Var> params;
  std::vector<Value> values;
  std::map<std::string, tir::Var> vars;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<PrimExpr> dims;
    for (const int64_t dim : inputs[i].shape) dims.push_back(I64(dim));
    for (const SymbolicDim& dim : symbolic) {
      if (dim.input == i) dims[dim.axis] = vars.try_emplace(dim.name, tir::Var(dim.name)).first->second;
    }
    params.push_back(Var("x" + std::to_string(i), TensorType(Array<PrimExpr>(dims.begin(), dims.end()), kFloat)));
    values.emplace_back(inputs[i].ToTensor());
  }
  BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    Expr call = builder.Normalize(make({params.begin(), params.end()}));
    if (legalized) {
      const Call original = Downcast<Call>(call);
      call = FindOpInfo(Downcast<Op>(original->op))->legalize(builder, original);
      ASSERT_FALSE(call.same_as(original)) << "was not legalised";
    }
    builder.EmitFuncOutput(builder.Emit(call));
  });
  return Run(builder.Finalize(), "main", values);
}

void Check(const std::vector<Dense>& inputs, const Make& make, const Dense& expected,
           const std::vector<SymbolicDim>& symbolic = {}, double tolerance = 1e-5) {
  ExpectClose(FirstTensor(RunModule(inputs, make, {}, /*legalized=*/false)), expected, tolerance, "the operator");
  ExpectClose(FirstTensor(RunModule(inputs, make, symbolic, /*legalized=*/true)), expected, tolerance,
              "the legalised operator");
}

// Elementwise.

void CheckUnary(Expr (*op)(Expr), double (*fn)(double), double low, double high) {
  const Dense x = Dense::Random({3, 5}, 1, low, high);
  Check({x}, [&](const std::vector<Var>& v) { return op(v[0]); },
        Fill(x.shape, [&](const Index& i) { return fn(x.at(i)); }), {{0, 0, "n"}});
}

TEST(UnaryOps, ComputeTheirFunctions) {
  CheckUnary(Abs, [](double x) { return std::abs(x); }, -2, 2);
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
  CheckUnary(Negative, [](double x) { return -x; }, -3, 3);
  CheckUnary(Round, [](double x) { return std::nearbyint(x); }, -3, 3);
  CheckUnary(Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 3);
  CheckUnary(Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -3, 3);
  CheckUnary(Sign, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }, -3, 3);
  CheckUnary(Sin, std::sin, -3, 3);
  CheckUnary(Sinh, std::sinh, -3, 3);
  CheckUnary(Sqrt, std::sqrt, 0, 3);
  CheckUnary(Square, [](double x) { return x * x; }, -3, 3);
  CheckUnary(Tan, std::tan, -1, 1);
  CheckUnary(Tanh, std::tanh, -3, 3);
  CheckUnary(Trunc, std::trunc, -3, 3);
  CheckUnary([](Expr x) { return Clip(x, -0.5, 1.5); }, [](double x) { return std::clamp(x, -0.5, 1.5); }, -3, 3);
}

TEST(UnaryOps, ComputeActivations) {
  CheckUnary(nn::Relu, [](double x) { return std::max(x, 0.0); }, -3, 3);
  CheckUnary([](Expr x) { return nn::LeakyRelu(x, 0.1); }, [](double x) { return x > 0 ? x : 0.1 * x; }, -3, 3);
  CheckUnary(nn::Gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, -3, 3);
  CheckUnary(
      nn::GeluTanh,
      [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -3, 3);
  CheckUnary(nn::Silu, [](double x) { return x / (1 + std::exp(-x)); }, -3, 3);
  CheckUnary(
      nn::Selu,
      [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1)); }, -3, 3);
  CheckUnary([](Expr x) { return nn::Softplus(x, 2.0, 3.0); },
             [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }, -3, 3);
}

void CheckBinary(Expr (*op)(Expr, Expr), double (*fn)(double, double), double low = -3, double high = 3) {
  const Dense a = Dense::Random({4, 1, 3}, 1, low, high);
  const Dense b = Dense::Random({2, 3}, 2, low, high);
  Check({a, b}, [&](const std::vector<Var>& v) { return op(v[0], v[1]); },
        Fill({4, 2, 3}, [&](const Index& i) { return fn(a.at({i[0], 0, i[2]}), b.at({i[1], i[2]})); }),
        {{0, 0, "n"}, {0, 2, "k"}, {1, 1, "k"}});
}

TEST(BinaryOps, BroadcastAndComputeTheirFunctions) {
  CheckBinary(Add, [](double a, double b) { return a + b; });
  CheckBinary(Subtract, [](double a, double b) { return a - b; });
  CheckBinary(Multiply, [](double a, double b) { return a * b; });
  CheckBinary(Divide, [](double a, double b) { return a / b; }, 0.5, 3);
  CheckBinary(FloorDivide, [](double a, double b) { return std::floor(a / b); }, 0.5, 3);
  CheckBinary(Mod, [](double a, double b) { return std::fmod(a, b); });
  CheckBinary(FloorMod, [](double a, double b) { return a - std::floor(a / b) * b; });
  CheckBinary(Power, [](double a, double b) { return std::pow(a, b); }, 0.1, 2);
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
  Check({a, b}, [](const std::vector<Var>& v) { return LogAddExp(v[0], v[1]); }, expected);
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
    const Tensor out = FirstTensor(RunModule(
        {a, b}, [&](const std::vector<Var>& v) { return op(v[0], v[1]); }, {}, /*legalized=*/true));
    EXPECT_TRUE(DataType(out.dtype()).is_bool());
    const auto* data = static_cast<const uint8_t*>(out.data_ptr());
    return data[0] * 100 + data[1] * 10 + data[2];
  };
  EXPECT_EQ(bits(Equal), 10);
  EXPECT_EQ(bits(NotEqual), 101);
  EXPECT_EQ(bits(Less), 100);
  EXPECT_EQ(bits(LessEqual), 110);
  EXPECT_EQ(bits(Greater), 1);
  EXPECT_EQ(bits(GreaterEqual), 11);
}

// Convolutions.

struct ConvCase {
  Shape data;
  Shape kernel;
  nn::ConvOptions options;
};

/// Channels-first reference of any rank; padding is given in full.
Dense ReferenceConv(const Dense& x, const Dense& w, const nn::ConvOptions& o, const Shape& out_shape) {
  const size_t rank = x.shape.size() - 2;
  const int64_t out_per_group = w.shape[0] / o.groups;
  return Fill(out_shape, [&](const Index& out) {
    double sum = 0;
    ForEach(Shape(w.shape.begin() + 1, w.shape.end()), [&](const Index& k) {
      Index in = {out[0], out[1] / out_per_group * w.shape[1] + k[0]};
      Index kernel = {out[1], k[0]};
      for (size_t i = 0; i < rank; ++i) {
        in.push_back(out[i + 2] * o.strides[i] + k[i + 1] * o.dilation[i] - o.padding[i]);
        kernel.push_back(k[i + 1]);
      }
      if (x.Contains(in)) sum += x.at(in) * w.at(kernel);
    });
    return sum;
  });
}

void CheckConv(const ConvCase& test, const Shape& out_shape) {
  const Dense x = Dense::Random(test.data, 1);
  const Dense w = Dense::Random(test.kernel, 2);
  const auto make = [&](const std::vector<Var>& v) {
    switch (test.data.size()) {
      case 3: return nn::Conv1D(v[0], v[1], test.options);
      case 4: return nn::Conv2D(v[0], v[1], test.options);
      default: return nn::Conv3D(v[0], v[1], test.options);
    }
  };
  std::vector<SymbolicDim> symbolic = {{0, 0, "n"}};
  for (size_t i = 2; i < test.data.size(); ++i) symbolic.push_back({0, i, "s" + std::to_string(i)});
  Check({x, w}, make, ReferenceConv(x, w, test.options, out_shape), symbolic);
}

TEST(Conv, StridesPaddingAndDilation) {
  CheckConv({{2, 3, 7, 6}, {4, 3, 3, 2}, {{2, 1}, {1, 0, 2, 1}, {1, 2}}}, {2, 4, 4, 5});
  CheckConv({{1, 2, 9}, {3, 2, 3}, {{2}, {1, 1}, {2}}}, {1, 3, 4});
  CheckConv({{1, 2, 4, 5, 3}, {2, 2, 2, 3, 1}, {{1, 2, 1}, {0, 1, 0, 1, 1, 0}, {1, 1, 1}}}, {1, 2, 4, 3, 3});
}

TEST(Conv, Groups) {
  CheckConv({{1, 6, 5, 5}, {4, 3, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 2}}, {1, 4, 5, 5});
  CheckConv({{1, 4, 5, 5}, {4, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 4}}, {1, 4, 3, 3});
  CheckConv({{1, 3, 5, 5}, {6, 1, 3, 3}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 3}}, {1, 6, 3, 3});
}

TEST(Conv, ChannelsLast) {
  const Dense x = Dense::Random({2, 5, 4, 3}, 1);
  const Dense w = Dense::Random({3, 2, 3, 4}, 2);  // HWIO
  const nn::ConvOptions plain{{1, 1}, {1, 0, 1, 1}, {1, 1}};
  const Dense nchw = Fill({2, 3, 5, 4}, [&](const Index& i) { return x.at({i[0], i[2], i[3], i[1]}); });
  const Dense oihw = Fill({4, 3, 3, 2}, [&](const Index& i) { return w.at({i[2], i[3], i[1], i[0]}); });
  const Dense reference = ReferenceConv(nchw, oihw, plain, {2, 4, 5, 4});
  nn::ConvOptions options = plain;
  options.data_layout = "NHWC";
  options.kernel_layout = "HWIO";
  Check({x, w}, [&](const std::vector<Var>& v) { return nn::Conv2D(v[0], v[1], options); },
        Fill({2, 5, 4, 4}, [&](const Index& i) { return reference.at({i[0], i[3], i[1], i[2]}); }), {{0, 1, "h"}});
}

TEST(ConvTranspose, ScattersItsInput) {
  for (const int64_t groups : {1, 2}) {
    const Dense x = Dense::Random({2, 4, 3, 4}, 1);
    const Dense w = Dense::Random({4, 3, 3, 2}, 2);  // IOHW
    const nn::ConvTransposeOptions o{{2, 3}, {1, 0, 1, 1}, {1, 2}, {1, 2}, groups};
    // (in - 1) * stride + (k - 1) * dilation + 1 - padding + output_padding
    const Shape shape = {2, 3 * groups, 2 * 2 + 2 + 1 - 2 + 1, 3 * 3 + 2 + 1 - 1 + 2};
    Dense expected(shape);
    ForEach(x.shape, [&](const Index& in) {
      ForEach({3, 3, 2}, [&](const Index& k) {
        const Index out = {in[0], in[1] / (4 / groups) * 3 + k[0], in[2] * 2 + k[1] * 1 - 1, in[3] * 3 + k[2] * 2};
        if (expected.Contains(out)) expected.at(out) += x.at(in) * w.at({in[1], k[0], k[1], k[2]});
      });
    });
    Check({x, w}, [&](const std::vector<Var>& v) { return nn::Conv2DTranspose(v[0], v[1], o); }, expected,
          {{0, 0, "n"}, {0, 2, "h"}});
  }
  const Dense x = Dense::Random({1, 2, 4}, 1);
  const Dense w = Dense::Random({2, 1, 3}, 2);
  Dense expected({1, 1, 6});
  ForEach(x.shape, [&](const Index& in) {
    for (int64_t k = 0; k < 3; ++k) expected.at({0, 0, in[2] + k}) += x.at(in) * w.at({in[1], 0, k});
  });
  Check({x, w}, [&](const std::vector<Var>& v) { return nn::Conv1DTranspose(v[0], v[1]); }, expected);
}

// Pools.

Dense ReferencePool(const Dense& x, const nn::PoolOptions& o, const Shape& out_shape, bool is_max) {
  const size_t rank = out_shape.size() - 2;
  return Fill(out_shape, [&](const Index& out) {
    double best = -INFINITY;
    double sum = 0;
    int64_t count = 0;
    ForEach(o.pool_size, [&](const Index& k) {
      Index in = {out[0], out[1]};
      bool in_padding = true;
      for (size_t i = 0; i < rank; ++i) {
        in.push_back(out[i + 2] * o.strides[i] + k[i] * o.dilation[i] - o.padding[i]);
        in_padding = in_padding && in.back() < x.shape[i + 2] + o.padding[rank + i];
      }
      if (x.Contains(in)) {
        best = std::max(best, x.at(in));
        sum += x.at(in);
        ++count;
      } else if (o.count_include_pad && in_padding) {
        ++count;
      }
    });
    return is_max ? best : sum / static_cast<double>(count);
  });
}

void CheckPools(const Shape& data, const nn::PoolOptions& options, const Shape& out_shape) {
  const Dense x = Dense::Random(data, 3);
  std::vector<SymbolicDim> symbolic = {{0, 0, "n"}};
  for (size_t i = 2; i < data.size(); ++i) symbolic.push_back({0, i, "s" + std::to_string(i)});
  const auto pick = [&](auto one, auto two, auto three) {
    return [=](const std::vector<Var>& v) {
      return data.size() == 3 ? one(v[0], options) : data.size() == 4 ? two(v[0], options) : three(v[0], options);
    };
  };
  Check({x}, pick(nn::MaxPool1D, nn::MaxPool2D, nn::MaxPool3D), ReferencePool(x, options, out_shape, true),
        symbolic);
  Check({x}, pick(nn::AvgPool1D, nn::AvgPool2D, nn::AvgPool3D), ReferencePool(x, options, out_shape, false),
        symbolic);
}

TEST(Pool, WindowsStridesPaddingDilation) {
  CheckPools({2, 3, 7, 6}, {{3, 2}, {2, 1}, {1, 1}, {0, 0, 0, 0}}, {2, 3, 3, 5});
  CheckPools({1, 2, 7, 7}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}, {1, 2, 4, 4});
  CheckPools({1, 2, 7, 7}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, false, true}, {1, 2, 4, 4});
  CheckPools({1, 2, 9, 8}, {{3, 2}, {2, 2}, {2, 3}, {1, 0, 2, 1}}, {1, 2, 4, 3});
  CheckPools({1, 2, 9}, {{3}, {2}, {1}, {1, 0}}, {1, 2, 4});
  CheckPools({1, 2, 4, 5, 3}, {{2, 2, 2}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0, 1, 0, 0}}, {1, 2, 4, 3, 2});
}

TEST(Pool, CeilModeDropsWindowsThatBeginInThePadding) {
  CheckPools({1, 1, 6, 6}, {{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true}, {1, 1, 3, 3});
  CheckPools({1, 1, 6, 6}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, true}, {1, 1, 4, 4});
  CheckPools({1, 1, 5, 5}, {{2, 2}, {3, 3}, {1, 1}, {1, 1, 1, 1}, true}, {1, 1, 2, 2});
}

TEST(Pool, AdaptiveWindowsCoverTheirInput) {
  for (const Shape& out : {Shape{1, 1}, Shape{3, 2}, Shape{2, 5}, Shape{7, 6}}) {
    const Dense x = Dense::Random({2, 3, 7, 6}, 4);
    const Dense expected = Fill({2, 3, out[0], out[1]}, [&](const Index& i) {
      double sum = 0;
      int64_t count = 0;
      for (int64_t h = i[2] * 7 / out[0]; h < ((i[2] + 1) * 7 + out[0] - 1) / out[0]; ++h) {
        for (int64_t w = i[3] * 6 / out[1]; w < ((i[3] + 1) * 6 + out[1] - 1) / out[1]; ++w) {
          sum += x.at({i[0], i[1], h, w});
          ++count;
        }
      }
      return sum / static_cast<double>(count);
    });
    Check({x}, [&](const std::vector<Var>& v) { return nn::AdaptiveAvgPool2D(v[0], out); }, expected,
          {{0, 0, "n"}, {0, 2, "h"}, {0, 3, "w"}});
  }
}

// Softmax and norms.

TEST(Softmax, AlongAnyAxisWithLargeValues) {
  for (const int64_t axis : {0, 1, -1}) {
    Dense x = Dense::Random({3, 4, 5}, 5, -10, 10);
    x.values[7] = 1e4;  // exp overflows unless the maximum is subtracted
    const size_t at = axis < 0 ? 2 : static_cast<size_t>(axis);
    const auto log_softmax = [&](const Index& i) {
      double max = -INFINITY;
      double sum = 0;
      for (int64_t k = 0; k < x.shape[at]; ++k) {
        Index j = i;
        j[at] = k;
        max = std::max(max, x.at(j));
      }
      for (int64_t k = 0; k < x.shape[at]; ++k) {
        Index j = i;
        j[at] = k;
        sum += std::exp(x.at(j) - max);
      }
      return x.at(i) - max - std::log(sum);
    };
    Check({x}, [&](const std::vector<Var>& v) { return nn::Softmax(v[0], axis); },
          Fill(x.shape, [&](const Index& i) { return std::exp(log_softmax(i)); }), {{0, 0, "n"}, {0, 2, "m"}});
    Check({x}, [&](const std::vector<Var>& v) { return nn::LogSoftmax(v[0], axis); }, Fill(x.shape, log_softmax),
          {{0, 0, "n"}, {0, 2, "m"}});
  }
}

/// (x - mean) / sqrt(var + eps) where `same(i, j)` says which elements are averaged together.
Dense ReferenceNorm(const Dense& x, double epsilon, const std::function<bool(const Index&, const Index&)>& same) {
  return Fill(x.shape, [&](const Index& i) {
    double sum = 0;
    double count = 0;
    ForEach(x.shape, [&](const Index& j) {
      if (same(i, j)) sum += x.at(j), count += 1;
    });
    const double mean = sum / count;
    double squares = 0;
    ForEach(x.shape, [&](const Index& j) {
      if (same(i, j)) squares += (x.at(j) - mean) * (x.at(j) - mean);
    });
    return (x.at(i) - mean) / std::sqrt(squares / count + epsilon);
  });
}

TEST(Norm, LayerNormSurvivesALargeMean) {
  const Dense x = Dense::Random({2, 3, 4, 5}, 6, 999, 1001);
  const Dense gamma = Dense::Random({4, 5}, 7);
  const Dense beta = Dense::Random({4, 5}, 8);
  Dense expected = ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i[1] == j[1]; });
  ForEach(x.shape, [&](const Index& i) {
    expected.at(i) = expected.at(i) * gamma.at({i[2], i[3]}) + beta.at({i[2], i[3]});
  });
  Check({x, gamma, beta}, [](const std::vector<Var>& v) { return nn::LayerNorm(v[0], v[1], v[2], {-2, -1}); },
        expected, {{0, 0, "n"}, {0, 1, "s"}}, 2e-4);
}

TEST(Norm, GroupAndInstanceNorm) {
  const Dense x = Dense::Random({2, 6, 3, 2}, 9, 9, 12);
  const Dense gamma = Dense::Random({6}, 7);
  const Dense beta = Dense::Random({6}, 8);
  const auto affine = [&](Dense value) {
    ForEach(x.shape, [&](const Index& i) { value.at(i) = value.at(i) * gamma.at({i[1]}) + beta.at({i[1]}); });
    return value;
  };
  Check({x, gamma, beta}, [](const std::vector<Var>& v) { return nn::GroupNorm(v[0], v[1], v[2], 2, 1, {2, 3}); },
        affine(ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) {
          return i[0] == j[0] && i[1] / 3 == j[1] / 3;
        })),
        {{0, 0, "n"}, {0, 2, "h"}}, 1e-4);
  Check({x, gamma, beta}, [](const std::vector<Var>& v) { return nn::InstanceNorm(v[0], v[1], v[2], 1, {2, 3}); },
        affine(ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i[1] == j[1]; })),
        {{0, 0, "n"}, {0, 2, "h"}}, 1e-4);
}

TEST(Norm, RMSNorm) {
  const Dense x = Dense::Random({2, 3, 8}, 10);
  const Dense weight = Dense::Random({8}, 11);
  Check({x, weight}, [](const std::vector<Var>& v) { return nn::RMSNorm(v[0], v[1], {-1}, 1e-6); },
        Fill(x.shape,
             [&](const Index& i) {
               double squares = 0;
               for (int64_t k = 0; k < 8; ++k) squares += x.at({i[0], i[1], k}) * x.at({i[0], i[1], k});
               return x.at(i) / std::sqrt(squares / 8 + 1e-6) * weight.at({i[2]});
             }),
        {{0, 1, "s"}});
}

TEST(Norm, BatchNormOfTheMovingAndOfTheBatchMoments) {
  const Dense x = Dense::Random({3, 4, 2, 3}, 12);
  const Dense gamma = Dense::Random({4}, 13);
  const Dense beta = Dense::Random({4}, 14);
  const Dense mean = Dense::Random({4}, 15);
  const Dense variance = Dense::Random({4}, 16, 0.5, 2);
  Check({x, gamma, beta, mean, variance},
        [](const std::vector<Var>& v) {
          return nn::BatchNorm(v[0], v[1], v[2], v[3], v[4], 1, 1e-3, true, true, 0.1, /*training=*/false);
        },
        Fill(x.shape,
             [&](const Index& i) {
               const Index c = {i[1]};
               return (x.at(i) - mean.at(c)) / std::sqrt(variance.at(c) + 1e-3) * gamma.at(c) + beta.at(c);
             }),
        {{0, 0, "n"}});
  Dense batch = ReferenceNorm(x, 1e-3, [](const Index& i, const Index& j) { return i[1] == j[1]; });
  ForEach(x.shape, [&](const Index& i) { batch.at(i) = batch.at(i) * gamma.at({i[1]}) + beta.at({i[1]}); });
  Check({x, gamma, beta, mean, variance},
        [](const std::vector<Var>& v) { return nn::BatchNorm(v[0], v[1], v[2], v[3], v[4], 1, 1e-3); }, batch,
        {{0, 0, "n"}}, 1e-4);
}

// Products.

TEST(Matmul, AllRanks) {
  const auto check = [](const Shape& a_shape, const Shape& b_shape, const Shape& out_shape,
                        const std::function<double(const Dense&, const Dense&, const Index&)>& element,
                        const std::vector<SymbolicDim>& symbolic = {}) {
    const Dense a = Dense::Random(a_shape, 1);
    const Dense b = Dense::Random(b_shape, 2);
    Check({a, b}, [](const std::vector<Var>& v) { return Matmul(v[0], v[1]); },
          Fill(out_shape, [&](const Index& i) { return element(a, b, i); }), symbolic);
  };
  const auto sum = [](int64_t n, const std::function<double(int64_t)>& term) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) total += term(k);
    return total;
  };
  check({3, 4}, {4, 5}, {3, 5},
        [&](const Dense& a, const Dense& b, const Index& i) {
          return sum(4, [&](int64_t k) { return a.at({i[0], k}) * b.at({k, i[1]}); });
        },
        {{0, 0, "m"}, {0, 1, "k"}, {1, 0, "k"}});
  check({4}, {4}, {}, [&](const Dense& a, const Dense& b, const Index&) {
    return sum(4, [&](int64_t k) { return a.at({k}) * b.at({k}); });
  });
  check({4}, {2, 4, 5}, {2, 5}, [&](const Dense& a, const Dense& b, const Index& i) {
    return sum(4, [&](int64_t k) { return a.at({k}) * b.at({i[0], k, i[1]}); });
  });
  check({2, 3, 4}, {4}, {2, 3}, [&](const Dense& a, const Dense& b, const Index& i) {
    return sum(4, [&](int64_t k) { return a.at({i[0], i[1], k}) * b.at({k}); });
  });
  check({2, 1, 3, 4}, {6, 4, 5}, {2, 6, 3, 5},
        [&](const Dense& a, const Dense& b, const Index& i) {
          return sum(4, [&](int64_t k) { return a.at({i[0], 0, i[2], k}) * b.at({i[1], k, i[3]}); });
        },
        {{0, 0, "b"}, {1, 2, "n"}});
}

TEST(Einsum, SumsTheLettersThatTheOutputLacks) {
  const Dense a = Dense::Random({2, 3, 4}, 1);
  const Dense b = Dense::Random({2, 4, 5}, 2);
  Check({a, b}, [](const std::vector<Var>& v) { return Einsum(Tuple({v[0], v[1]}), "bij,bjk->bki"); },
        Fill({2, 5, 3},
             [&](const Index& i) {
               double total = 0;
               for (int64_t j = 0; j < 4; ++j) total += a.at({i[0], i[2], j}) * b.at({i[0], j, i[1]});
               return total;
             }),
        {{0, 0, "b"}, {1, 0, "b"}});
}

TEST(Attention, MasksAndScales) {
  const Dense q = Dense::Random({2, 3, 2, 4}, 1);
  const Dense k = Dense::Random({2, 5, 2, 4}, 2);
  const Dense v = Dense::Random({2, 5, 2, 6}, 3);
  const Dense expected = Fill({2, 3, 2, 6}, [&](const Index& i) {
    double sum = 0;
    double total = 0;
    for (int64_t t = 0; t <= i[1] + 2; ++t) {  // BottomRight: 5 - 3 further
      double score = 0;
      for (int64_t d = 0; d < 4; ++d) score += q.at({i[0], i[1], i[2], d}) * k.at({i[0], t, i[2], d});
      const double weight = std::exp(score / 2);
      sum += weight;
      total += weight * v.at({i[0], t, i[2], i[3]});
    }
    return total / sum;
  });
  Check({q, k, v},
        [](const std::vector<Var>& x) { return nn::Attention(x[0], x[1], x[2], Expr(), 0, "BottomRight"); }, expected,
        {{0, 1, "s"}});
}

// Padding.

TEST(Pad, AllModes) {
  const Dense x = Dense::Random({4, 5}, 1);
  const auto check = [&](const std::string& mode, const std::function<double(int64_t, int64_t)>& value) {
    Check({x}, [&](const std::vector<Var>& v) { return nn::Pad(v[0], {2, 1, 0, 3}, 7.0, mode); },
          Fill({7, 8}, [&](const Index& i) { return value(i[0] - 2, i[1]); }), {{0, 0, "n"}});
  };
  const auto reflect = [](int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; };
  check("constant", [&](int64_t h, int64_t w) { return x.Contains({h, w}) ? x.at({h, w}) : 7.0; });
  check("reflect", [&](int64_t h, int64_t w) { return x.at({reflect(h, 4), reflect(w, 5)}); });
  check("edge", [&](int64_t h, int64_t w) {
    return x.at({std::clamp<int64_t>(h, 0, 3), std::clamp<int64_t>(w, 0, 4)});
  });
  check("circular", [&](int64_t h, int64_t w) { return x.at({(h + 4) % 4, w % 5}); });
  Check({x}, [](const std::vector<Var>& v) { return nn::Pad(v[0], {-1, 1, 0, -2}); },
        Fill({4, 3}, [&](const Index& i) { return i[0] < 3 ? x.at({i[0] + 1, i[1]}) : 0.0; }), {{0, 0, "n"}});
}

TEST(Rearrangements, PReluPixelShuffleBatchFlatten) {
  const Dense x = Dense::Random({2, 8, 2, 3}, 1);
  const Dense slope = Dense::Random({8}, 2);
  Check({x, slope}, [](const std::vector<Var>& v) { return nn::PRelu(v[0], v[1], 1); },
        Fill(x.shape, [&](const Index& i) { return x.at(i) > 0 ? x.at(i) : x.at(i) * slope.at({i[1]}); }),
        {{0, 0, "n"}});
  Check({x}, [](const std::vector<Var>& v) { return nn::PixelShuffle(v[0], 2); },
        Fill({2, 2, 4, 6},
             [&](const Index& i) { return x.at({i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2}); }),
        {{0, 0, "n"}});
  Check({x}, [](const std::vector<Var>& v) { return nn::BatchFlatten(v[0]); },
        Fill({2, 48}, [&](const Index& i) { return x.at({i[0], i[1] / 6, i[1] / 3 % 2, i[1] % 3}); }),
        {{0, 0, "n"}, {0, 2, "h"}});
}

}  // namespace
}  // namespace deuteron::interpreter
