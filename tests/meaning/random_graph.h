/// \file
/// Random graphs for tests of what passes do to results, with arguments to run them on, and how far each result may be
/// off whatever order it is computed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/block_builder.h"

namespace deuteron::meaning {

/// A module whose "main" was drawn, and what it is run on.
struct RandomGraph {
  IRModule module;
  Arguments arguments;
  /// For each tensor of the result: the greatest absolute error that another order of the same operations, or other
  /// implementations of exp, tanh, … may make. 0: every order gives the same bits.
  std::vector<double> tolerances;
};

/// The graph of a seed. Equal seeds give equal graphs.
///
/// There are two kinds. In *exact* graphs all values are small multiples of a power of two, so that sums and products
/// are exact in every order: they hold comparisons, roundings, conversions to integers and half precision, and results
/// must agree to the bit. *Smooth* graphs hold transcendental functions and divisions; bounds on values and their
/// errors are carried along, and what would amplify an error too much is not drawn.
RandomGraph MakeRandomGraph(uint64_t seed);

/// A value of the graph that is being drawn.
struct Value {
  relax::Var var;
  /// Its elements are not greater in magnitude.
  double bound = 1;
  /// Smooth graphs: how far they may be off, in units of 2^-24.
  double error = 0;
  /// Exact graphs: they are multiples of 2^-grain.
  int grain = 0;
};

/// Thrown by a family of operators that has nothing to work on; another is drawn.
struct Skip {};

/// Draws the bindings of one function.
class Drawer {
 public:
  Drawer(uint64_t seed, relax::BlockBuilder* builder);

  using Dims = std::vector<int64_t>;
  using Shape = Array<PrimExpr>;
  using Condition = std::function<bool(const Value&)>;

  bool exact() const { return exact_; }
  /// Whether a draw of probability `p` hits.
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  /// Uniform in [low, high].
  int64_t Int(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  template <typename T>
  T Choose(const std::vector<T>& from) {
    if (from.empty()) throw Skip();
    return from[static_cast<size_t>(Int(0, static_cast<int64_t>(from.size()) - 1))];
  }
  /// Some of 0..count-1, at least `least`, in order.
  Dims ChooseSome(int64_t count, int64_t least);

  // What values are.
  static Shape ShapeOf(const Value& value);
  static DataType DTypeOf(const Value& value);
  static int64_t Rank(const Value& value) { return static_cast<int64_t>(ShapeOf(value).size()); }
  static bool HasDims(const Value& value) { return Rank(value) >= 1; }
  static bool IsFloat32(const Value& value) { return DTypeOf(value) == DataType::Float(32); }
  /// The extent that a dimension has when the graph is run.
  int64_t Extent(const PrimExpr& dim) const;
  int64_t Elements(const Value& value) const;

  /// One of the values so far, mostly a recent one. Throws Skip if none fulfils `condition`; booleans only if asked
  /// for.
  Value Pick(const Condition& condition = {});
  Value PickFloat(const Condition& condition = {});
  /// One of the same shape and dtype; perhaps itself.
  Value Like(const Value& value);

  /// Binds `expr`. Throws Skip, binding nothing, where bounds or sizes go beyond what is tested.
  Value Emit(const relax::Expr& expr, double bound, double error, int grain);
  /// The same without a claim on its values: a tuple.
  relax::Var EmitTuple(const relax::Expr& expr) { return builder_->Emit(expr); }
  /// A constant tensor of drawn elements of magnitude up to `bound`; of `dtype`.
  Value Constant(const Dims& shape, double bound = 1, DataType dtype = DataType::Float(32));
  /// A constant scalar.
  Value Scalar(double value, DataType dtype = DataType::Float(32));
  /// A parameter of the shape that was prepared for all to use, or a constant.
  Value Weight(const Dims& shape);
  /// Gives the first dimension another name.
  Value Recast(const Value& value);

  /// Makes a value available to others.
  void Keep(const Value& value) { values_.push_back(value); }
  const std::vector<Value>& values() const { return values_; }

  // Arithmetic with bounds. Operands are of one dtype.
  Value Add(const Value& a, const Value& b);
  Value Subtract(const Value& a, const Value& b);
  Value Multiply(const Value& a, const Value& b);
  /// `b` is at least `least`, positive.
  Value Divide(const Value& a, const Value& b, double least);
  Value Sum(const Value& a, const Dims& axes, bool keepdims);
  Value Mean(const Value& a, const Dims& axes, bool keepdims);
  Value Max(const Value& a, const Dims& axes, bool keepdims);
  /// A function of slope up to `slope` whose results are up to `bound`.
  Value Smooth(const relax::Expr& expr, const Value& a, double slope, double bound);
  /// The same bounds and errors: a function that picks elements, or one like abs.
  Value Same(const relax::Expr& expr, const Value& a) { return Emit(expr, a.bound, a.error, a.grain); }

  /// The parameters of the function, drawn before it is opened.
  const Array<relax::Var>& params() const { return params_; }
  /// Arguments for them.
  const Arguments& arguments() const { return arguments_; }
  /// Draws the body: bindings in one or several blocks. Gives the result.
  relax::Expr DrawBody(std::vector<double>* tolerances);

 private:
  void AddParam(const std::string& name, const Shape& shape, bool is_weight, DataType dtype = DataType::Float(32));
  Tensor Elements(const Dims& shape, DataType dtype, double bound);
  Dims Extents(const Shape& shape) const;
  void Grow(int64_t count);
  /// What a result may be off.
  double ToleranceOf(const Value& value) const;

  std::mt19937_64 random_;
  relax::BlockBuilder* builder_;
  bool exact_;
  /// Most elements of a value.
  int64_t most_elements_;
  std::unordered_map<const Object*, int64_t> extents_;
  Array<relax::Var> params_;
  Arguments arguments_;
  std::vector<Value> values_;
  std::vector<Value> weights_;
  /// Numbers of families that this graph is drawn of.
  std::vector<size_t> chosen_;
};

/// Emits a few bindings and keeps what comes out of them.
struct Family {
  const char* name;
  void (*draw)(Drawer* drawer);
  /// More often if greater.
  int weight = 1;
};
/// All families.
const std::vector<Family>& Families();
/// Those of operators that change shapes; part of Families.
std::vector<Family> ShapeFamilies();
/// Those of whole layers, written out in primitive operators or not; part of Families.
std::vector<Family> LayerFamilies();

}  // namespace deuteron::meaning
