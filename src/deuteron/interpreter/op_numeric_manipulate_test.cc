/// Operators that rearrange, create, reduce, search, index, sort and resample against plain loops: each call runs
/// once as an operator of concrete shapes, and once legalised with every dimension that may be symbolic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test
using Shape = std::vector<int64_t>;
using Index = std::vector<int64_t>;
constexpr DataType kFloat = DataType::Float(32);
constexpr DataType kInt = DataType::Int(64);
constexpr double kInf = std::numeric_limits<double>::infinity();

int64_t Count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// A dense array of float32, int64 or bool.
struct Dense {
  Shape shape;
  DataType dtype;
  std::vector<double> values;

  explicit Dense(Shape dims, DataType type = kFloat)
      : shape(std::move(dims)), dtype(type), values(static_cast<size_t>(Count(shape)), 0.0) {}
  Dense(Shape dims, DataType type, std::vector<double> elements)
      : shape(std::move(dims)), dtype(type), values(std::move(elements)) {}
  /// Distinct small values in random order.
  static Dense Shuffled(Shape dims, int seed = 0) {
    Dense dense(std::move(dims));
    std::iota(dense.values.begin(), dense.values.end(), -3.0);
    std::shuffle(dense.values.begin(), dense.values.end(), std::mt19937(static_cast<unsigned>(seed) + 5));
    return dense;
  }
  size_t Offset(const Index& index) const {
    int64_t offset = 0;
    for (size_t i = 0; i < shape.size(); ++i) offset = offset * shape[i] + index[i];
    return static_cast<size_t>(offset);
  }
  double at(const Index& index) const { return values[Offset(index)]; }
  double& at(const Index& index) { return values[Offset(index)]; }

  Tensor ToTensor() const {
    Tensor tensor = runtime::AllocTensor(shape, dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      if (dtype == kFloat) static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(values[i]);
      if (dtype == kInt) static_cast<int64_t*>(tensor.data_ptr())[i] = static_cast<int64_t>(values[i]);
      if (dtype.is_bool()) static_cast<uint8_t*>(tensor.data_ptr())[i] = values[i] != 0;
    }
    return tensor;
  }
  static Dense FromTensor(const Tensor& tensor) {
    Dense dense(Shape(tensor.shape().begin(), tensor.shape().end()), DataType(tensor.dtype()));
    for (size_t i = 0; i < dense.values.size(); ++i) {
      const void* data = tensor.data_ptr();
      if (dense.dtype == kFloat) dense.values[i] = static_cast<const float*>(data)[i];
      if (dense.dtype == kInt) dense.values[i] = static_cast<double>(static_cast<const int64_t*>(data)[i]);
      if (dense.dtype == DataType::Int(32)) dense.values[i] = static_cast<const int32_t*>(data)[i];
      if (dense.dtype == DataType::Int(8)) dense.values[i] = static_cast<const int8_t*>(data)[i];
    }
    return dense;
  }
};

void ForEach(const Shape& shape, const std::function<void(const Index&)>& visit) {
  if (Count(shape) == 0) return;
  Index index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}
Dense Fill(const Shape& shape, const std::function<double(const Index&)>& value, DataType dtype = kFloat) {
  Dense dense(shape, dtype);
  ForEach(shape, [&](const Index& index) { dense.at(index) = value(index); });
  return dense;
}
Index With(Index index, size_t axis, int64_t value) {
  index[axis] = value;
  return index;
}
Array<PrimExpr> Dims(const Shape& dims) {
  Array<PrimExpr> shape;
  for (const int64_t dim : dims) shape.push_back(I64(dim));
  return shape;
}

/// An axis of an input whose extent is the variable `name`.
struct Symbol {
  size_t input;
  size_t axis;
  std::string name;
};
using Make = std::function<Expr(const std::vector<Var>&)>;

std::vector<Dense> RunModule(const std::vector<Dense>& inputs, const Make& make, const std::vector<Symbol>& symbols,
                             bool legalized) {
  Array<Var> params;
  std::vector<Value> values;
  std::map<std::string, tir::Var> vars;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<PrimExpr> dims;
    for (const int64_t dim : inputs[i].shape) dims.push_back(I64(dim));
    for (const Symbol& symbol : symbols) {
      if (symbol.input == i) dims[symbol.axis] = vars.try_emplace(symbol.name, tir::Var(symbol.name)).first->second;
    }
    const TensorType type(Array<PrimExpr>(dims.begin(), dims.end()), inputs[i].dtype);
    params.push_back(Var("x" + std::to_string(i), type));
    values.emplace_back(inputs[i].ToTensor());
  }
  BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    Expr call = builder.Normalize(make({params.begin(), params.end()}));
    if (legalized) {
      const Call original = Downcast<Call>(call);
      call = FindOpInfo(Downcast<Op>(original->op))->legalize(builder, original);
      EXPECT_FALSE(call.same_as(original)) << "was not legalised";
    }
    builder.EmitFuncOutput(builder.Emit(call));
  });
  const Value result = Run(builder.Finalize(), "main", values);
  if (const auto tensor = result.as<Tensor>()) return {Dense::FromTensor(*tensor)};
  std::vector<Dense> results;
  for (const Any& field : result.cast<Array<Any>>()) results.push_back(Dense::FromTensor(field.cast<Tensor>()));
  return results;
}

void ExpectEqual(const std::vector<Dense>& actual, const std::vector<Dense>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t k = 0; k < actual.size(); ++k) {
    ASSERT_EQ(actual[k].shape, expected[k].shape) << what;
    for (size_t i = 0; i < expected[k].values.size(); ++i) {
      const double value = expected[k].values[i];
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(actual[k].values[i])) << what << ", element " << i;
      } else if (std::isinf(value)) {
        ASSERT_EQ(actual[k].values[i], value) << what << ", element " << i;
      } else {
        ASSERT_NEAR(actual[k].values[i], value, tolerance * std::max(1.0, std::abs(value))) << what << ", element " << i;
      }
    }
  }
}

void Check(const std::vector<Dense>& inputs, const Make& make, const std::vector<Dense>& expected,
           const std::vector<Symbol>& symbols = {}, double tolerance = 1e-5) {
  ExpectEqual(RunModule(inputs, make, {}, false), expected, tolerance, "the operator");
  ExpectEqual(RunModule(inputs, make, symbols, true), expected, tolerance, "the legalised operator");
}

TEST(Reshape, KeepsRowMajorOrder) {
  const auto check = [](const Shape& from, const Shape& to, const std::vector<Symbol>& symbols = {}) {
    Dense x = Dense::Shuffled(from);
    Dense expected = x;
    expected.shape = to;
    // Leading symbolic dimensions are copied.
    Shape request = to;
    for (size_t i = 0; i < symbols.size(); ++i) request[symbols[i].axis] = 0;
    const bool is_empty = Count(to) == 0;  // its zeros are meant
    Check({x}, [&](const auto& v) { return is_empty ? Reshape(v[0], ShapeExpr(Dims(to))) : Reshape(v[0], Dims(request)); },
          {expected}, symbols);
  };
  check({2, 3, 4}, {6, 4});
  check({6, 4}, {4, 6});
  check({12}, {3, 2, 2});
  check({2, 3, 8}, {2, 3, 2, 4}, {{0, 0, "n"}, {0, 1, "m"}});
  check({2, 1, 6, 1}, {2, 3, 1, 2}, {{0, 0, "n"}});
  check({1, 6}, {2, 3});
  check({1}, {});
  check({}, {1, 1});
  check({2, 3, 5, 7}, {15, 14});
  check({0, 3}, {3, 0});
}

TEST(Reshape, MergesSymbolicDimensions) {
  const Dense x = Dense::Shuffled({3, 4, 5});
  Dense expected = x;
  expected.shape = {12, 5};
  Check({x}, [](const auto& v) { return Reshape(v[0], Dims({-1, 5})); }, {expected}, {{0, 0, "n"}, {0, 1, "m"}});
  expected.shape = {60};
  Check({x}, [](const auto& v) { return Flatten(v[0]); }, {expected}, {{0, 0, "n"}});
}

TEST(Manipulate, MovesElements) {
  const Dense x = Dense::Shuffled({2, 3, 4});
  Check({x}, [](const auto& v) { return PermuteDims(v[0], {2, 0, 1}); },
        {Fill({4, 2, 3}, [&](const Index& i) { return x.at({i[1], i[2], i[0]}); })}, {{0, 0, "n"}, {0, 2, "m"}});
  Check({x}, [](const auto& v) { return ExpandDims(v[0], {1, -1}); },
        {Dense({2, 1, 3, 4, 1}, kFloat, x.values)}, {{0, 0, "n"}});
  Check({Dense({2, 1, 3, 1}, kFloat, Dense::Shuffled({6}).values)}, [](const auto& v) { return Squeeze(v[0], {1, 3}); },
        {Dense({2, 3}, kFloat, Dense::Shuffled({6}).values)}, {{0, 0, "n"}});
  const Dense row = Dense::Shuffled({3, 1});
  Check({row}, [](const auto& v) { return BroadcastTo(v[0], Dims({2, 3, 4})); },
        {Fill({2, 3, 4}, [&](const Index& i) { return row.at({i[1], 0}); })});
  Check({x}, [](const auto& v) { return Flip(v[0], 1); },
        {Fill({2, 3, 4}, [&](const Index& i) { return x.at({i[0], 2 - i[1], i[2]}); })}, {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Tile(v[0], {2, 1, 3, 1}); },
        {Fill({2, 2, 9, 4}, [&](const Index& i) { return x.at({i[1], i[2] % 3, i[3]}); })}, {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Repeat(v[0], 2, 1); },
        {Fill({2, 6, 4}, [&](const Index& i) { return x.at({i[0], i[1] / 2, i[2]}); })}, {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Repeat(v[0], 2); },
        {Fill({48}, [&](const Index& i) { return x.values[i[0] / 2]; })});
  Check({x}, [](const auto& v) { return CollapseSumTo(v[0], Dims({3, 1})); },
        {Fill({3, 1}, [&](const Index& i) {
          double sum = 0;
          for (int64_t a = 0; a < 2; ++a) {
            for (int64_t b = 0; b < 4; ++b) sum += x.at({a, i[0], b});
          }
          return sum;
        })});
}

TEST(Manipulate, JoinsAndSplits) {
  const Dense a = Dense::Shuffled({2, 3}, 1);
  const Dense b = Dense::Shuffled({2, 1}, 2);
  const Dense c = Dense::Shuffled({2, 4}, 3);
  Check({a, b, c}, [](const auto& v) { return Concat({v[0], v[1], v[2]}, -1); },
        {Fill({2, 8}, [&](const Index& i) {
          return i[1] < 3 ? a.at(i) : i[1] < 4 ? b.at({i[0], 0}) : c.at({i[0], i[1] - 4});
        })},
        {{0, 0, "n"}, {1, 0, "n"}, {2, 0, "n"}, {0, 1, "m"}});
  Check({a, a}, [](const auto& v) { return Stack({v[0], v[1]}, 1); },
        {Fill({2, 2, 3}, [&](const Index& i) { return a.at({i[0], i[2]}); })}, {{0, 0, "n"}, {1, 0, "n"}});
  const auto piece = [&](int64_t begin, int64_t length) {
    return Fill({2, length}, [=](const Index& i) { return c.at({i[0], begin + i[1]}); });
  };
  Check({c}, [](const auto& v) { return SplitSections(v[0], 2, 1); }, {piece(0, 2), piece(2, 2)}, {{0, 0, "n"}});
  Check({c}, [](const auto& v) { return SplitIndices(v[0], {1, 3}, 1); }, {piece(0, 1), piece(1, 2), piece(3, 1)},
        {{0, 1, "n"}});
  Check({c}, [](const auto& v) { return SplitSections(v[0], 1, 1); }, {c});
  Check({Dense::Shuffled({2}), Dense::Shuffled({3})},
        [](const auto& v) { return Meshgrid({v[0], v[1]}); },
        {Fill({2, 3}, [](const Index& i) { return Dense::Shuffled({2}).values[i[0]]; }),
         Fill({2, 3}, [](const Index& i) { return Dense::Shuffled({3}).values[i[1]]; })});
}

TEST(Manipulate, TransformsLayouts) {
  const Dense x = Dense::Shuffled({2, 6, 3});
  const tir::Var i("i");
  const tir::Var j("j");
  const tir::Var k("k");
  const tir::IndexMap block({i, j, k}, {i, FloorDiv(j, 4), k, FloorMod(j, 4)});
  Check({x}, [&](const auto& v) { return LayoutTransform(v[0], block, PrimExpr(MakeConst(kFloat, 7.0))); },
        {Fill({2, 2, 3, 4}, [&](const Index& p) {
          const int64_t channel = p[1] * 4 + p[3];
          return channel < 6 ? x.at({p[0], channel, p[2]}) : 7.0;
        })},
        {{0, 0, "n"}});
}

TEST(Index, Slices) {
  const Dense x = Dense::Shuffled({4, 7});
  const auto check = [&](int64_t begin, int64_t end, int64_t stride, const std::vector<int64_t>& picked) {
    Check({x}, [&](const auto& v) { return StridedSlice(v[0], {1}, {I64(begin)}, {I64(end)}, {I64(stride)}); },
          {Fill({4, static_cast<int64_t>(picked.size())}, [&](const Index& i) { return x.at({i[0], picked[i[1]]}); })},
          {{0, 0, "n"}, {0, 1, "m"}});
  };
  check(1, 5, 2, {1, 3});
  check(-3, INT64_MAX, 1, {4, 5, 6});
  check(0, -2, 1, {0, 1, 2, 3, 4});
  check(-1, INT64_MIN, -1, {6, 5, 4, 3, 2, 1, 0});
  check(5, 1, -3, {5, 2});
  check(9, 100, 1, {});
  const Dense begin({2}, kInt, {1, -1});
  const Dense end({2}, kInt, {3, -100});
  const Dense strides({2}, kInt, {1, -2});
  Check({x, begin, end, strides},
        [](const auto& v) { return DynamicStridedSlice(v[0], v[1], v[2], v[3]); },
        {Fill({2, 4}, [&](const Index& i) { return x.at({i[0] + 1, 6 - 2 * i[1]}); })}, {{0, 1, "m"}});
}

TEST(Index, TakesAndGathers) {
  const Dense x = Dense::Shuffled({3, 4});
  const Dense i({2, 2}, kInt, {2, 0, 1, 1});
  Check({x, i}, [](const auto& v) { return Take(v[0], v[1], 0); },
        {Fill({2, 2, 4}, [&](const Index& p) { return x.at({static_cast<int64_t>(i.at({p[0], p[1]})), p[2]}); })},
        {{0, 0, "n"}, {0, 1, "m"}, {1, 0, "k"}});
  const Dense far({3}, kInt, {-9, 1, 9});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "clip"); },
        {Fill({3, 3}, [&](const Index& p) { return x.at({p[0], std::clamp<int64_t>(far.values[p[1]], 0, 3)}); })});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "wrap"); },
        {Fill({3, 3}, [&](const Index& p) { return x.at({p[0], (static_cast<int64_t>(far.values[p[1]]) + 12) % 4}); })});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "nan"); },
        {Fill({3, 3}, [&](const Index& p) { return p[1] == 1 ? x.at({p[0], 1}) : std::nan(""); })});
  Check({x}, [](const auto& v) { return Take(v[0], PrimValue::Int64(2), 0); },
        {Fill({4}, [&](const Index& p) { return x.at({2, p[0]}); })});
  const Dense e({3, 2}, kInt, {0, -1, 3, 2, -4, 1});
  Check({x, e}, [](const auto& v) { return GatherElements(v[0], v[1], 1); },
        {Fill({3, 2}, [&](const Index& p) { return x.at({p[0], (static_cast<int64_t>(e.at(p)) + 4) % 4}); })},
        {{0, 1, "n"}});
  const Dense nd({2, 2}, kInt, {0, 1, -1, 3});
  Check({x, nd}, [](const auto& v) { return GatherND(v[0], v[1]); }, {Dense({2}, kFloat, {x.at({0, 1}), x.at({2, 3})})});
  const Dense one({2, 1}, kInt, {2, 0});
  Check({x, one}, [](const auto& v) { return GatherND(v[0], v[1]); },
        {Fill({2, 4}, [&](const Index& p) { return x.at({static_cast<int64_t>(one.at({p[0], 0})), p[1]}); })});
  Check({x, Dense({2}, kInt, {1, 2}), Dense({1}, kInt, {-1})},
        [](const auto& v) { return IndexTensor(v[0], {v[1], v[2]}); },
        {Dense({2}, kFloat, {x.at({1, 3}), x.at({2, 3})})});
  Check({Dense({3}, kInt, {1, 0, 2})},
        [](const auto& v) { return OneHot(v[0], MakeConst(kFloat, 5), MakeConst(kFloat, 1), 3, 0); },
        {Fill({3, 3}, [](const Index& p) { return p[0] == (p[1] == 0 ? 1 : p[1] == 1 ? 0 : 2) ? 5.0 : 1.0; })});
}

TEST(Index, Scatters) {
  const Dense x = Dense::Shuffled({3, 4});
  const Dense i({2, 3}, kInt, {1, 1, -1, 0, 2, 2});
  const Dense u = Dense::Shuffled({2, 3}, 9);
  const auto expect = [&](const std::function<double(double, double)>& combine) {
    Dense result = x;
    ForEach({2, 3}, [&](const Index& p) {
      double& target = result.at({p[0], (static_cast<int64_t>(i.at(p)) + 4) % 4});
      target = combine(target, u.at(p));
    });
    return result;
  };
  const auto check = [&](const char* how, const std::function<double(double, double)>& combine) {
    Check({x, i, u}, [&](const auto& v) { return ScatterElements(v[0], v[1], v[2], 1, how); }, {expect(combine)},
          {{0, 1, "n"}});
  };
  check("update", [](double, double b) { return b; });
  check("add", [](double a, double b) { return a + b; });
  check("mul", [](double a, double b) { return a * b; });
  check("max", [](double a, double b) { return std::max(a, b); });
  check("min", [](double a, double b) { return std::min(a, b); });
  const Dense nd({2, 1}, kInt, {-1, 0});
  const Dense rows = Dense::Shuffled({2, 4}, 3);
  Check({x, nd, rows}, [](const auto& v) { return ScatterND(v[0], v[1], v[2]); },
        {Fill({3, 4}, [&](const Index& p) {
          return p[0] == 2 ? rows.at({0, p[1]}) : p[0] == 0 ? rows.at({1, p[1]}) : x.at(p);
        })},
        {{0, 1, "n"}, {2, 1, "n"}});
  const Dense column = Dense::Shuffled({3, 2}, 4);
  Check({x, column}, [](const auto& v) { return SliceScatter(v[0], v[1], I64(1), I64(4), I64(2), 1); },
        {Fill({3, 4}, [&](const Index& p) { return p[1] % 2 == 1 ? column.at({p[0], p[1] / 2}) : x.at(p); })},
        {{0, 0, "n"}, {1, 0, "n"}});
}

Dense ReduceMiddle(const Dense& x, double start, const std::function<double(double, double)>& step) {
  return Fill({x.shape[0], x.shape[2]}, [&](const Index& i) {
    double value = start;
    for (int64_t k = 0; k < x.shape[1]; ++k) value = step(value, x.at({i[0], k, i[1]}));
    return value;
  });
}

TEST(Statistical, Reduces) {
  const Dense x = Dense::Shuffled({2, 3, 4});
  const std::vector<Symbol> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  const auto plus = [](double a, double b) { return a + b; };
  const Dense sum = ReduceMiddle(x, 0, plus);
  Dense mean = sum;
  for (double& value : mean.values) value /= 3;
  Check({x}, [](const auto& v) { return Sum(v[0], {{1}}); }, {sum}, symbols);
  Check({x}, [](const auto& v) { return Mean(v[0], {{1}}); }, {mean}, symbols);
  Check({x}, [](const auto& v) { return Prod(v[0], {{1}}); }, {ReduceMiddle(x, 1, std::multiplies<>())}, symbols);
  Check({x}, [](const auto& v) { return Max(v[0], {{1}}); },
        {ReduceMiddle(x, -kInf, [](double a, double b) { return std::max(a, b); })}, symbols);
  Check({x}, [](const auto& v) { return Min(v[0], {{1}}); },
        {ReduceMiddle(x, kInf, [](double a, double b) { return std::min(a, b); })}, symbols);
  const Dense variance = Fill({2, 4}, [&](const Index& i) {
    double total = 0;
    for (int64_t k = 0; k < 3; ++k) total += std::pow(x.at({i[0], k, i[1]}) - mean.at(i), 2);
    return total / 3;
  });
  Check({x}, [](const auto& v) { return Variance(v[0], {{1}}); }, {variance}, symbols);
  Dense deviation = variance;
  for (double& value : deviation.values) value = std::sqrt(value);
  Check({x}, [](const auto& v) { return Std(v[0], {{1}}); }, {deviation}, symbols);
  Check({x}, [](const auto& v) { return Sum(v[0], std::nullopt, true); },
        {Dense({1, 1, 1}, kFloat, {std::accumulate(x.values.begin(), x.values.end(), 0.0)})}, symbols);
  // The greatest of nothing but -inf.
  Check({Dense({2}, kFloat, {-kInf, -kInf})}, [](const auto& v) { return Max(v[0]); }, {Dense({}, kFloat, {-kInf})});
}

TEST(Statistical, Scans) {
  const Dense x = Dense::Shuffled({2, 3, 2});
  const auto scan = [&](bool exclusive, bool product) {
    return Fill({2, 3, 2}, [=](const Index& i) {
      double value = product ? 1 : 0;
      for (int64_t k = 0; k < i[1] + (exclusive ? 0 : 1); ++k) {
        value = product ? value * x.at(With(i, 1, k)) : value + x.at(With(i, 1, k));
      }
      return value;
    });
  };
  const std::vector<Symbol> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  Check({x}, [](const auto& v) { return Cumsum(v[0], 1); }, {scan(false, false)}, symbols);
  Check({x}, [](const auto& v) { return Cumsum(v[0], 1, DataType::Void(), true); }, {scan(true, false)}, symbols);
  Check({x}, [](const auto& v) { return Cumprod(v[0], 1); }, {scan(false, true)}, symbols);
}

TEST(Search, FindsAndChooses) {
  const Dense x({2, 3}, kFloat, {1, 5, 5, -2, -2, -3});
  Check({x}, [](const auto& v) { return Argmax(v[0], 1); }, {Dense({2}, kInt, {1, 0})}, {{0, 0, "n"}, {0, 1, "m"}});
  Check({x}, [](const auto& v) { return Argmin(v[0], 1, true); }, {Dense({2, 1}, kInt, {0, 2})}, {{0, 1, "m"}});
  Check({x}, [](const auto& v) { return Argmin(v[0]); }, {Dense({}, kInt, {5})});
  Check({Dense({2}, kFloat, {-kInf, -kInf})}, [](const auto& v) { return Argmax(v[0]); }, {Dense({}, kInt, {0})});
  const Dense mask({3}, DataType::Bool(), {1, 0, 1});
  Check({mask, x, Dense({}, kFloat, {9})}, [](const auto& v) { return Where(v[0], v[1], v[2]); },
        {Fill({2, 3}, [&](const Index& i) { return i[1] == 1 ? 9 : x.at(i); })}, {{1, 0, "n"}});
  const Dense bounds({3}, kFloat, {-2, 1, 5});
  Check({x, bounds}, [](const auto& v) { return Bucketize(v[0], v[1]); }, {Dense({2, 3}, kInt, {1, 2, 2, 0, 0, 0})},
        {{1, 0, "n"}});
  Check({x, bounds}, [](const auto& v) { return Bucketize(v[0], v[1], true, true); },
        {Dense({2, 3}, DataType::Int(32), {2, 3, 3, 1, 1, 0})});
}

TEST(Sorting, IsStable) {
  const Dense x({2, 5}, kFloat, {3, 1, 2, 1, 3, 0, -1, 7, std::nan(""), -1});
  const std::vector<Symbol> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  Check({x}, [](const auto& v) { return Argsort(v[0], 1, false, kInt); },
        {Dense({2, 5}, kInt, {1, 3, 2, 0, 4, 1, 4, 0, 2, 3})}, symbols);
  Check({x}, [](const auto& v) { return Argsort(v[0], 1, true, kInt); },
        {Dense({2, 5}, kInt, {0, 4, 2, 1, 3, 3, 2, 0, 1, 4})}, symbols);
  Check({x}, [](const auto& v) { return Sort(v[0]); },
        {Dense({2, 5}, kFloat, {1, 1, 2, 3, 3, -1, -1, 0, 7, std::nan("")})}, symbols);
  Check({x}, [](const auto& v) { return TopK(v[0], 2, 1, "both", false); },
        {Dense({2, 2}, kFloat, {1, 1, -1, -1}), Dense({2, 2}, DataType::Int(32), {1, 3, 1, 4})}, symbols);
  // Across the axis that is not last, longer than one merge.
  const Dense column = Dense::Shuffled({13, 2});
  Dense sorted = column;
  for (int64_t j = 0; j < 2; ++j) {
    std::vector<double> values;
    for (int64_t i = 0; i < 13; ++i) values.push_back(column.at({i, j}));
    std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < 13; ++i) sorted.at({i, j}) = values[i];
  }
  Check({column}, [](const auto& v) { return Sort(v[0], 0); }, {sorted}, {{0, 0, "n"}});
}

TEST(Create, FillsTensors) {
  const Dense x = Dense::Shuffled({3, 4});
  Check({x}, [](const auto& v) { return Full(Dims({2, 2}), Constant::Scalar(kFloat, 3.0)); },
        {Fill({2, 2}, [](const Index&) { return 3.0; })});
  Check({x}, [](const auto& v) { return ZerosLike(v[0], kInt); }, {Dense({3, 4}, kInt)}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Ones(Dims({2}), kFloat); }, {Dense({2}, kFloat, {1, 1})});
  Check({x}, [](const auto& v) { return Arange(I64(7), I64(0), I64(-3), kInt); }, {Dense({3}, kInt, {7, 4, 1})});
  Check({x}, [](const auto& v) { return Arange(MakeConst(kFloat, 1.0), MakeConst(kFloat, 2.5), MakeConst(kFloat, 0.5), kFloat); },
        {Dense({3}, kFloat, {1, 1.5, 2})});
  Check({x}, [](const auto& v) { return Tril(v[0], 1); },
        {Fill({3, 4}, [&](const Index& i) { return i[1] <= i[0] + 1 ? x.at(i) : 0; })}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Triu(v[0], -1); },
        {Fill({3, 4}, [&](const Index& i) { return i[1] >= i[0] - 1 ? x.at(i) : 0; })}, {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Eye(I64(2), I64(3), I64(1), kFloat); }, {Dense({2, 3}, kFloat, {0, 1, 0, 0, 0, 1})});
  Check({x}, [](const auto& v) { return Size(v[0]); }, {Dense({}, kInt, {12})}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Astype(v[0], kInt); }, {Dense({3, 4}, kInt, x.values)}, {{0, 0, "n"}});
}

TEST(Qdq, RoundsAndClamps) {
  const Dense x({2, 3}, kFloat, {0.26, -0.26, 100, -100, 0.25, 0.75});
  Check({x}, [](const auto& v) {
    return Quantize(v[0], Constant::Scalar(kFloat, 0.5), Constant::Scalar(DataType::Int(8), int64_t{1}));
  }, {Dense({2, 3}, DataType::Int(8), {2, 0, 127, -128, 1, 3})}, {{0, 0, "n"}});
  const Dense scale({3}, kFloat, {1, 2, 0.5});
  Check({Dense({2, 3}, kInt, {1, 2, 3, 4, 5, 6}), scale},
        [](const auto& v) { return Dequantize(v[0], v[1], Constant::Scalar(kInt, int64_t{1}), 1); },
        {Dense({2, 3}, kFloat, {0, 2, 1, 3, 8, 2.5})}, {{0, 0, "n"}});
}

/// The coordinate in the source, as the ONNX standard defines it.
double SourceOf(const std::string& mode, int64_t i, int64_t source, int64_t result) {
  const double scale = static_cast<double>(source) / static_cast<double>(result);
  const auto x = static_cast<double>(i);
  if (mode == "asymmetric") return x * scale;
  if (mode == "align_corners") return result == 1 ? 0 : x * static_cast<double>(source - 1) / static_cast<double>(result - 1);
  if (mode == "pytorch_half_pixel" && result == 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) * scale;
  return (x + 0.5) * scale - 0.5;
}
double RoundBy(const std::string& how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  if (how == "round_prefer_floor") return std::ceil(x - 0.5);
  if (how == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::nearbyint(x);
}

TEST(Image, ResizesInEveryMode) {
  const Dense x = Dense::Shuffled({1, 2, 4, 6});
  const auto clamp = [&](double i, int64_t extent) { return std::clamp<int64_t>(static_cast<int64_t>(i), 0, extent - 1); };
  for (const Shape& size : {Shape{8, 12}, Shape{2, 3}, Shape{5, 7}, Shape{1, 4}, Shape{4, 9}}) {
    for (const std::string mode : {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"}) {
      image::ResizeOptions options;
      options.coordinate_transformation_mode = mode;
      options.method = "nearest_neighbor";
      for (const std::string how : {"round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        options.rounding_method = how;
        const Dense expected = Fill({1, 2, size[0], size[1]}, [&](const Index& i) {
          return x.at({0, i[1], clamp(RoundBy(how, SourceOf(mode, i[2], 4, size[0])), 4),
                       clamp(RoundBy(how, SourceOf(mode, i[3], 6, size[1])), 6)});
        });
        ExpectEqual(RunModule({x}, [&](const auto& v) { return image::Resize2D(v[0], Dims(size), options); }, {{0, 0, "n"}}, true),
                    {expected}, 0, mode + " " + how);
      }
      options.method = "linear";
      const Dense expected = Fill({1, 2, size[0], size[1]}, [&](const Index& i) {
        const double y = SourceOf(mode, i[2], 4, size[0]);
        const double z = SourceOf(mode, i[3], 6, size[1]);
        double sum = 0;
        for (int a = 0; a < 2; ++a) {
          for (int b = 0; b < 2; ++b) {
            const double wy = a == 0 ? 1 - (y - std::floor(y)) : y - std::floor(y);
            const double wz = b == 0 ? 1 - (z - std::floor(z)) : z - std::floor(z);
            sum += wy * wz * x.at({0, i[1], clamp(std::floor(y) + a, 4), clamp(std::floor(z) + b, 6)});
          }
        }
        return sum;
      });
      ExpectEqual(RunModule({x}, [&](const auto& v) { return image::Resize2D(v[0], Dims(size), options); }, {}, true),
                  {expected}, 1e-5, mode + " linear");
    }
  }
}

TEST(Image, CubicReproducesLinesInside) {
  const Dense x = Fill({1, 1, 1, 8}, [](const Index& i) { return static_cast<double>(i[3]); });
  image::ResizeOptions options;
  options.method = "cubic";
  const std::vector<Dense> result =
      RunModule({x}, [&](const auto& v) { return image::Resize2D(v[0], Dims({1, 16}), options); }, {}, true);
  for (int64_t i = 4; i < 12; ++i) {
    EXPECT_NEAR(result[0].at({0, 0, 0, i}), (static_cast<double>(i) + 0.5) / 2 - 0.5, 0.1) << i;
  }
}

TEST(Image, SamplesGrids) {
  const Dense x = Dense::Shuffled({1, 1, 3, 3});
  // The identity with aligned corners, and a point outside.
  const Dense grid({1, 2, 1, 3}, kFloat, {-1, 0, 5, -1, 1, 0});
  Check({x, grid}, [](const auto& v) { return image::GridSample(v[0], v[1], "bilinear", "NCHW", "zeros", true); },
        {Dense({1, 1, 1, 3}, kFloat, {x.at({0, 0, 0, 0}), x.at({0, 0, 2, 1}), 0})});
  Check({x, grid}, [](const auto& v) { return image::GridSample(v[0], v[1], "nearest", "NCHW", "border", true); },
        {Dense({1, 1, 1, 3}, kFloat, {x.at({0, 0, 0, 0}), x.at({0, 0, 2, 1}), x.at({0, 0, 1, 2})})});
}

}  // namespace
}  // namespace deuteron::interpreter
