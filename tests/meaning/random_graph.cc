#include "random_graph.h"

#include <algorithm>
#include <cmath>

#include "deuteron/interpreter/scalar.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::meaning {

using relax::Expr;
using relax::Var;

namespace {

/// Integers that float32 and float16 hold exactly, with room for sums inside.
constexpr double kExactFloat = 1 << 22;
constexpr double kExactHalf = 1 << 10;
/// Beyond these, smooth values are not drawn.
constexpr double kMostError = 4000;
constexpr double kMostBound = 1000;
constexpr double kUnit = 1.0 / (1 << 24);

}  // namespace

Drawer::Drawer(uint64_t seed, relax::BlockBuilder* builder) : random_(seed), builder_(builder) {
  exact_ = Chance(0.4);
  most_elements_ = Chance(0.1) ? 40000 : 3000;
  for (const size_t count = Families().size(), some = static_cast<size_t>(Int(4, 18)); chosen_.size() < some;) {
    chosen_.push_back(static_cast<size_t>(Int(0, static_cast<int64_t>(count) - 1)));
  }
  PrimExpr batch = I64(Choose<int64_t>({1, 2, 4}));
  if (Chance(0.35)) {
    const tir::Var n("n");
    extents_[n.get()] = Choose<int64_t>({1, 2, 3, 5});
    batch = n;
  }
  const int64_t channels = Choose<int64_t>({4, 8, 16});
  const int64_t side = Choose<int64_t>({3, 6, 8});
  const int64_t width = Choose<int64_t>({4, 7, 16, 32});
  AddParam("x", {batch, I64(channels), I64(side), I64(side)}, false);
  if (Chance(0.5)) AddParam("y", {batch, I64(channels), I64(side), I64(side)}, false);
  AddParam("a", {batch, I64(width)}, false);
  AddParam("b", {I64(Choose<int64_t>({3, 8})), I64(width)}, false);
  if (Chance(0.5)) AddParam("s", {batch, I64(Choose<int64_t>({5, 16})), I64(width)}, false);
  if (exact_ && Chance(0.4))
    AddParam("i", {I64(width)}, false, Choose<DataType>({DataType::Int(32), DataType::Int(64)}));
  AddParam("channel", {I64(channels)}, true);
  AddParam("bias", {I64(channels), I64(1), I64(1)}, true);
  AddParam("last", {I64(width)}, true);
  AddParam("square", {I64(width), I64(width)}, true);
  AddParam("kernel", {I64(channels), I64(channels), I64(3), I64(3)}, true);
}

void Drawer::AddParam(const std::string& name, const Shape& shape, bool is_weight, DataType dtype) {
  const Var var(name, TensorType(shape, dtype));
  const double bound = is_weight ? 1 : 2;
  params_.push_back(var);
  arguments_.emplace_back(Elements(Extents(shape), dtype, bound));
  (is_weight ? weights_ : values_).push_back({var, bound, 0, 0});
}

/// Multiples of a half (exact graphs: of one) up to `bound`, or anything between.
Tensor Drawer::Elements(const Dims& shape, DataType dtype, double bound) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    interpreter::Scalar scalar{};
    const auto whole = static_cast<int64_t>(bound);
    if (!dtype.is_float()) {
      scalar.i = Int(-whole, whole);
    } else {
      scalar.f =
          exact_ ? static_cast<double>(Int(-whole, whole)) : std::uniform_real_distribution<>(-bound, bound)(random_);
    }
    interpreter::StoreScalar(tensor.data_ptr(), dtype, i, scalar);
  }
  return tensor;
}

Drawer::Dims Drawer::ChooseSome(int64_t count, int64_t least) {
  Dims some;
  for (int64_t i = 0; i < count; ++i) {
    const bool needed = static_cast<int64_t>(some.size()) + count - i <= least;
    if (needed || Chance(0.5)) some.push_back(i);
  }
  return some;
}

// ----- What values are.

Drawer::Shape Drawer::ShapeOf(const Value& value) { return *value.var.ty().as<TensorTypeNode>()->shape; }
DataType Drawer::DTypeOf(const Value& value) { return value.var.ty().as<TensorTypeNode>()->dtype; }

int64_t Drawer::Extent(const PrimExpr& dim) const {
  ExprVarMap values;
  for (const tir::Var& var : FreeVars(dim)) values[var] = MakeConst(var.dtype(), extents_.at(var.get()));
  const auto extent = AsConstInt(Substitute(dim, values));
  if (!extent) throw Skip();
  return *extent;
}
Drawer::Dims Drawer::Extents(const Shape& shape) const {
  Dims extents;
  for (const PrimExpr& dim : shape) extents.push_back(Extent(dim));
  return extents;
}
int64_t Drawer::Elements(const Value& value) const {
  int64_t count = 1;
  for (const int64_t extent : Extents(ShapeOf(value))) count *= extent;
  return count;
}

Value Drawer::Pick(const Condition& condition) {
  std::vector<Value> found;
  for (const Value& value : values_) {
    if (condition ? condition(value) : !DTypeOf(value).is_bool()) found.push_back(value);
  }
  const size_t recent = 5;
  if (found.size() > recent && Chance(0.65)) found.erase(found.begin(), found.end() - recent);
  return Choose(found);
}
Value Drawer::PickFloat(const Condition& condition) {
  return Pick([&](const Value& value) { return IsFloat32(value) && (!condition || condition(value)); });
}
Value Drawer::Like(const Value& value) {
  return Pick([&](const Value& other) { return StructurallyEqual(other.var.ty(), value.var.ty()); });
}

// ----- Emission.

Value Drawer::Emit(const Expr& expr, double bound, double error, int grain) {
  const Expr normal = builder_->Normalize(expr);
  const auto* type = normal.ty().as<TensorTypeNode>();
  if (type == nullptr || !type->has_shape()) throw Skip();
  const DataType dtype = type->dtype;
  if (exact_ && !dtype.is_bool()) {
    const bool half = dtype.is_float() && dtype.bits() == 16;
    if (std::ldexp(bound, grain) > (half ? kExactHalf : kExactFloat) || grain > 10) throw Skip();
    if (!dtype.is_float() && grain > 0) throw Skip();
  } else if (error > kMostError || bound > kMostBound) {
    throw Skip();
  }
  int64_t count = 1;
  for (const int64_t extent : Extents(*type->shape)) count *= extent;
  if (count > most_elements_) throw Skip();
  return {builder_->Emit(normal), bound, exact_ ? 0 : error, grain};
}

Value Drawer::Constant(const Dims& shape, double bound, DataType dtype) {
  const relax::Constant constant(Elements(shape, dtype, bound));
  return Emit(constant, bound, 0, 0);
}
Value Drawer::Scalar(double value, DataType dtype) {
  Tensor tensor = runtime::AllocTensor({}, dtype);
  interpreter::Scalar scalar{};
  scalar.f = value;
  scalar.i = static_cast<int64_t>(value);
  interpreter::StoreScalar(tensor.data_ptr(), dtype, 0, scalar);
  int grain = 0;
  for (double scaled = std::fabs(value); exact_ && scaled != std::floor(scaled) && grain < 20; scaled *= 2) ++grain;
  return Emit(relax::Constant(tensor), std::fabs(value), 0, grain);
}
Value Drawer::Weight(const Dims& shape) {
  for (const Value& weight : weights_) {
    if (Extents(ShapeOf(weight)) == shape && Chance(0.6)) return weight;
  }
  return Constant(shape);
}
Value Drawer::Recast(const Value& value) {
  Shape shape = ShapeOf(value);
  const tir::Var m("m" + std::to_string(extents_.size()));
  extents_[m.get()] = Extent(shape[0]);
  shape.Set(0, m);
  return {builder_->EmitMatchCast(value.var, TensorType(shape, DTypeOf(value))), value.bound, value.error, value.grain};
}

// ----- Arithmetic.

Value Drawer::Add(const Value& a, const Value& b) {
  return Emit(relax::Add(a.var, b.var), a.bound + b.bound, a.error + b.error + a.bound + b.bound,
              std::max(a.grain, b.grain));
}
Value Drawer::Subtract(const Value& a, const Value& b) {
  return Emit(relax::Subtract(a.var, b.var), a.bound + b.bound, a.error + b.error + a.bound + b.bound,
              std::max(a.grain, b.grain));
}
Value Drawer::Multiply(const Value& a, const Value& b) {
  return Emit(relax::Multiply(a.var, b.var), a.bound * b.bound,
              a.error * b.bound + b.error * a.bound + a.bound * b.bound, a.grain + b.grain);
}
Value Drawer::Divide(const Value& a, const Value& b, double least) {
  if (exact_) throw Skip();
  const double bound = a.bound / least;
  return Emit(relax::Divide(a.var, b.var), bound, (a.error + bound * b.error) / least + bound, 0);
}
Value Drawer::Sum(const Value& a, const Dims& axes, bool keepdims) {
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(Extent(ShapeOf(a)[axis]));
  return Emit(relax::Sum(a.var, axes, keepdims), count * a.bound, count * (a.error + 4 * a.bound), a.grain);
}
Value Drawer::Mean(const Value& a, const Dims& axes, bool keepdims) {
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(Extent(ShapeOf(a)[axis]));
  const double bits = std::log2(count);
  if (exact_ && bits != std::floor(bits)) throw Skip();
  // The sum must be exact as well.
  if (exact_ && std::ldexp(count * a.bound, a.grain) > kExactFloat) throw Skip();
  return Emit(relax::Mean(a.var, axes, keepdims), a.bound, a.error + 8 * a.bound, a.grain + static_cast<int>(bits));
}
Value Drawer::Max(const Value& a, const Dims& axes, bool keepdims) {
  return Same(relax::Max(a.var, axes, keepdims), a);
}
Value Drawer::Smooth(const Expr& expr, const Value& a, double slope, double bound) {
  if (exact_) throw Skip();
  return Emit(expr, bound, slope * a.error + 8 * bound, 0);
}

// ----- The body.

void Drawer::Grow(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      try {
        Families()[Choose(chosen_)].draw(this);
        break;
      } catch (const Skip&) {
      }
    }
  }
}

double Drawer::ToleranceOf(const Value& value) const {
  if (exact_ || !DTypeOf(value).is_float()) return 0;
  return (4 * value.error + value.bound) * kUnit;
}

relax::Expr Drawer::DrawBody(std::vector<double>* tolerances) {
  if (Chance(0.1)) Grow(Int(1, 3));
  std::vector<Value> results;
  const auto blocks = Chance(0.1) ? 2 : 1;
  for (int block = 0; block < blocks; ++block) {
    builder_->Dataflow([&] {
      const size_t before = values_.size();
      Grow(Chance(0.1) ? Int(40, 80) : Int(4, 25));
      std::vector<Value> made(values_.begin() + static_cast<int64_t>(before), values_.end());
      if (made.empty()) made.push_back(Same(relax::Negative(values_.front().var), values_.front()));
      // Mostly the last ones, so that little is dead.
      const int64_t count = Int(1, 3);
      for (int64_t i = 0; i < count; ++i) {
        const auto last = static_cast<int64_t>(made.size()) - 1;
        Value value = made[static_cast<size_t>(Chance(0.7) ? std::max<int64_t>(0, last - i) : Int(0, last))];
        value.var = builder_->EmitOutput(value.var);
        results.push_back(value);
      }
      values_.resize(before);
    });
    for (const Value& value : results) values_.push_back(value);
  }
  if (Chance(0.1)) {
    const size_t before = values_.size();
    Grow(Int(1, 3));
    if (values_.size() > before) results.push_back(values_.back());
  }
  for (const Value& value : results) tolerances->push_back(ToleranceOf(value));
  if (results.size() == 1) return results[0].var;
  Array<Expr> fields;
  for (const Value& value : results) fields.push_back(value.var);
  return relax::Tuple(fields);
}

RandomGraph MakeRandomGraph(uint64_t seed) {
  relax::BlockBuilder builder;
  Drawer drawer(seed, &builder);
  RandomGraph graph;
  builder.BuildFunction("main", drawer.params(), [&] { builder.EmitFuncOutput(drawer.DrawBody(&graph.tolerances)); });
  graph.module = builder.Finalize();
  graph.arguments = drawer.arguments();
  return graph;
}

}  // namespace deuteron::meaning
