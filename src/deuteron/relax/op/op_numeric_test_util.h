/// \file
/// For tests of operators against plain loops: each call runs once as an operator of concrete shapes, and once
/// legalised with every dimension that may be symbolic.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/interpreter/scalar.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/support/each_index.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::interpreter {

using relax::Expr;
using relax::Var;
using Shape = std::vector<int64_t>;
using Index = std::vector<int64_t>;
constexpr DataType kFloat = DataType::Float(32);
constexpr DataType kInt = DataType::Int(64);
constexpr double kInf = std::numeric_limits<double>::infinity();

inline int64_t Count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

inline Array<PrimExpr> Dims(const Shape& dims) {
  Array<PrimExpr> shape;
  for (const int64_t dim : dims) shape.push_back(I64(dim));
  return shape;
}

/// A dense array with the loops that references are made of.
struct Dense {
  Shape shape;
  DataType dtype;
  std::vector<double> values;

  explicit Dense(Shape dims, DataType type = kFloat)
      : shape(std::move(dims)), dtype(type), values(static_cast<size_t>(Count(shape)), 0.0) {}
  Dense(Shape dims, DataType type, std::vector<double> elements)
      : shape(std::move(dims)), dtype(type), values(std::move(elements)) {}
  static Dense Random(Shape dims, int seed = 0, double low = -2.0, double high = 2.0) {
    Dense dense(std::move(dims));
    std::mt19937 engine(static_cast<unsigned>(seed) + 17);
    std::uniform_real_distribution<float> distribution(static_cast<float>(low), static_cast<float>(high));
    for (double& value : dense.values) value = distribution(engine);
    return dense;
  }
  /// Distinct small values in random order.
  static Dense Shuffled(Shape dims, int seed = 0) {
    Dense dense(std::move(dims));
    std::iota(dense.values.begin(), dense.values.end(), -3.0);
    std::shuffle(dense.values.begin(), dense.values.end(), std::mt19937(static_cast<unsigned>(seed) + 5));
    return dense;
  }
  static Dense FromTensor(const Tensor& tensor) {
    Dense dense(Shape(tensor.shape().begin(), tensor.shape().end()), DataType(tensor.dtype()));
    for (size_t i = 0; i < dense.values.size(); ++i) {
      const Scalar scalar = LoadScalar(tensor.data_ptr(), dense.dtype, static_cast<int64_t>(i));
      dense.values[i] = dense.dtype.is_float() ? scalar.f : static_cast<double>(scalar.i);
    }
    return dense;
  }
  Tensor ToTensor() const {
    Tensor tensor = EmptyHostTensor(shape, dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      const Scalar scalar = dtype.is_float() ? Scalar::Float(values[i]) : Scalar::Int(static_cast<int64_t>(values[i]));
      StoreScalar(tensor.data_ptr(), dtype, static_cast<int64_t>(i), scalar);
    }
    return tensor;
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
};

inline Dense Fill(const Shape& shape, const std::function<double(const Index&)>& value, DataType dtype = kFloat) {
  Dense dense(shape, dtype);
  ForEachIndex(shape, [&](const Index& index) { dense.at(index) = value(index); });
  return dense;
}

/// An axis of an input whose extent is the variable `name`.
struct SymbolicDim {
  size_t input;
  size_t axis;
  std::string name;
};
using Make = std::function<Expr(const std::vector<Var>&)>;

/// The results of a call, of a tuple its fields.
inline std::vector<Dense> RunModule(const std::vector<Dense>& inputs, const Make& make,
                                    const std::vector<SymbolicDim>& symbolic, bool legalized) {
  Array<Var> params;
  std::vector<Value> values;
  std::map<std::string, tir::Var> vars;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<PrimExpr> dims;
    for (const int64_t dim : inputs[i].shape) dims.push_back(I64(dim));
    for (const SymbolicDim& dim : symbolic) {
      if (dim.input == i) dims[dim.axis] = vars.try_emplace(dim.name, tir::Var(dim.name)).first->second;
    }
    const TensorType type(Array<PrimExpr>(dims.begin(), dims.end()), inputs[i].dtype);
    params.push_back(Var("x" + std::to_string(i), type));
    values.emplace_back(inputs[i].ToTensor());
  }
  relax::BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    Expr call = builder.Normalize(make({params.begin(), params.end()}));
    if (legalized) {
      const auto original = Downcast<relax::Call>(call);
      call = relax::FindOpInfo(Downcast<Op>(original->op))->legalize(builder, original);
      EXPECT_FALSE(call.same_as(original)) << "was not legalised";
    }
    builder.EmitFuncOutput(builder.Emit(call));
  });
  const IRModule module = builder.Finalize();
  for (const relax::Violation& violation : relax::FindViolations(module)) ADD_FAILURE() << violation;
  const Value result = Run(module, "main", values);
  if (const auto tensor = result.as<Tensor>()) return {Dense::FromTensor(*tensor)};
  std::vector<Dense> results;
  for (const Any& field : result.cast<Array<Any>>()) results.push_back(Dense::FromTensor(field.cast<Tensor>()));
  return results;
}

/// Equal within `tolerance` relative to the greatest magnitude expected; NaN and infinities in place.
inline void ExpectClose(const Dense& actual, const Dense& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.shape, expected.shape) << what;
  double scale = 1e-30;
  for (const double value : expected.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const double value = expected.values[i];
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(actual.values[i])) << what << ", element " << i;
    } else if (std::isinf(value)) {
      ASSERT_EQ(actual.values[i], value) << what << ", element " << i;
    } else {
      ASSERT_NEAR(actual.values[i], value, tolerance * scale) << what << ", element " << i;
    }
  }
}

/// Compares all results.
inline void Check(const std::vector<Dense>& inputs, const Make& make, const std::vector<Dense>& expected,
                  const std::vector<SymbolicDim>& symbolic = {}, double tolerance = 1e-5) {
  for (const bool legalized : {false, true}) {
    const auto actual = RunModule(inputs, make, legalized ? symbolic : std::vector<SymbolicDim>{}, legalized);
    const std::string what = legalized ? "the legalised operator" : "the operator";
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (size_t i = 0; i < actual.size(); ++i) ExpectClose(actual[i], expected[i], tolerance, what);
  }
}
/// Compares the first result.
inline void Check(const std::vector<Dense>& inputs, const Make& make, const Dense& expected,
                  const std::vector<SymbolicDim>& symbolic = {}, double tolerance = 1e-5) {
  for (const bool legalized : {false, true}) {
    const auto actual = RunModule(inputs, make, legalized ? symbolic : std::vector<SymbolicDim>{}, legalized);
    ExpectClose(actual[0], expected, tolerance, legalized ? "the legalised operator" : "the operator");
  }
}

}  // namespace deuteron::interpreter
