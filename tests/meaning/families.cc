/// Families of operators that work element by element, and the list of all.
#include <algorithm>
#include <cmath>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "random_graph.h"

namespace deuteron::meaning {
namespace {

using relax::Expr;
using Dims = Drawer::Dims;

bool IsBool(const Value& value) { return Drawer::DTypeOf(value).is_bool(); }

void PlainUnary(Drawer* d) {
  const Value a = d->Pick();
  const Expr x = a.var;
  switch (d->Int(0, 3)) {
    case 0:
      return d->Keep(d->Same(relax::Negative(x), a));
    case 1:
      return d->Keep(d->Same(relax::Abs(x), a));
    case 2:
      return d->Keep(d->Same(relax::nn::Relu(x), a));
    default:
      return d->Keep(d->Multiply(a, a));
  }
}

/// Functions with jumps, which turn a small error into a large one.
void RoundingUnary(Drawer* d) {
  if (!d->exact()) throw Skip();
  const Value a = d->PickFloat();
  switch (d->Int(0, 4)) {
    case 0:
      return d->Keep(d->Emit(relax::Floor(a.var), std::ceil(a.bound), 0, 0));
    case 1:
      return d->Keep(d->Emit(relax::Ceil(a.var), std::ceil(a.bound), 0, 0));
    case 2:
      return d->Keep(d->Emit(relax::Round(a.var), std::ceil(a.bound), 0, 0));
    case 3:
      return d->Keep(d->Emit(relax::Sign(a.var), 1, 0, 0));
    default:
      return d->Keep(d->Emit(relax::Clip(a.var, -3, 2), 3, 0, a.grain));
  }
}

void SmoothUnary(Drawer* d) {
  const Value a = d->PickFloat();
  const Expr x = a.var;
  switch (d->Int(0, 9)) {
    case 0:
    case 1:
      return d->Keep(d->Smooth(relax::Tanh(x), a, 1, 1));
    case 2:
    case 3:
      return d->Keep(d->Smooth(relax::Sigmoid(x), a, 1, 1));
    case 4:
      return d->Keep(d->Smooth(relax::Erf(x), a, 1.2, 1));
    case 5:
      return d->Keep(d->Smooth(relax::Sin(x), a, 1, 1));
    case 6:
      return d->Keep(d->Smooth(relax::nn::Gelu(x), a, 1.2, a.bound));
    case 7:
      return d->Keep(d->Smooth(relax::nn::Silu(x), a, 1.2, a.bound));
    case 8:
      return d->Keep(d->Smooth(relax::nn::LeakyRelu(x, 0.125), a, 1, a.bound));
    default:
      if (a.bound > 4) throw Skip();
      return d->Keep(d->Smooth(relax::Exp(x), a, std::exp(a.bound), std::exp(a.bound)));
  }
}

Value Arithmetic(Drawer* d, const Value& a, const Value& b) {
  switch (d->Int(0, 4)) {
    case 0:
      return d->Multiply(a, b);
    case 1:
      return d->Subtract(a, b);
    case 2:
      return d->Emit(relax::Maximum(a.var, b.var), std::max(a.bound, b.bound), a.error + b.error,
                     std::max(a.grain, b.grain));
    default:
      return d->Add(a, b);
  }
}

void Binary(Drawer* d) {
  const Value a = d->Pick();
  d->Keep(Arithmetic(d, a, d->Like(a)));
}

/// With a value of fewer dimensions or dimensions of 1, of which the graph may have several already.
void BroadcastBinary(Drawer* d) {
  const Value a = d->Pick();
  const auto shape = Drawer::ShapeOf(a);
  const Value b = d->Pick([&](const Value& other) {
    const auto small = Drawer::ShapeOf(other);
    if (Drawer::DTypeOf(other) != Drawer::DTypeOf(a) || small.size() > shape.size()) return false;
    for (size_t i = 0; i < small.size(); ++i) {
      const PrimExpr& dim = small[static_cast<int64_t>(i)];
      const PrimExpr& against = shape[static_cast<int64_t>(shape.size() - small.size() + i)];
      if (!IsConstInt(dim, 1) && !ExprEqual(dim, against)) return false;
    }
    return true;
  });
  d->Keep(d->Chance(0.5) ? Arithmetic(d, a, b) : Arithmetic(d, b, a));
}

void Vector(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) >= 1; });
  const auto shape = Drawer::ShapeOf(a);
  const auto last = AsConstInt(shape.back());
  if (!last) throw Skip();
  const Value w = d->Weight({*last});
  d->Keep(d->Chance(0.5) ? d->Add(a, w) : d->Multiply(a, w));
}

void WithScalar(Drawer* d) {
  const Value a = d->PickFloat();
  const Value b = d->Scalar(d->Choose<double>({0.5, 2, -1, 0.25, 3}));
  d->Keep(Arithmetic(d, a, b));
}

void SafeDivide(Drawer* d) {
  const Value a = d->PickFloat();
  const Value b = d->Like(a);
  const Value below = d->Add(d->Same(relax::Abs(b.var), b), d->Scalar(0.5));
  d->Keep(d->Divide(a, below, 0.5));
}

void SquareRoot(Drawer* d) {
  const Value a = d->PickFloat();
  const Value positive = d->Add(d->Same(relax::Abs(a.var), a), d->Scalar(0.5));
  d->Keep(d->Chance(0.5) ? d->Smooth(relax::Sqrt(positive.var), positive, 0.8, std::sqrt(positive.bound))
                         : d->Smooth(relax::Rsqrt(positive.var), positive, 1.5, 1.5));
}

void Compare(Drawer* d) {
  if (!d->exact()) throw Skip();
  const Value a = d->Pick();
  const Value b = d->Like(a);
  const Expr condition = d->Chance(0.5) ? relax::Less(a.var, b.var) : relax::GreaterEqual(a.var, b.var);
  const Value mask = d->Emit(condition, 1, 0, 0);
  d->Keep(mask);
  if (d->Chance(0.7)) {
    const Value other = d->Like(a);
    d->Keep(d->Emit(relax::Where(mask.var, a.var, other.var), std::max(a.bound, other.bound), 0,
                    std::max(a.grain, other.grain)));
  }
}

void Logic(Drawer* d) {
  const Value a = d->Pick(IsBool);
  const Value b = d->Like(a);
  switch (d->Int(0, 2)) {
    case 0:
      return d->Keep(d->Emit(relax::LogicalAnd(a.var, b.var), 1, 0, 0));
    case 1:
      return d->Keep(d->Emit(relax::LogicalNot(a.var), 1, 0, 0));
    default:
      return d->Keep(d->Emit(relax::Astype(a.var, DataType::Float(32)), 1, 0, 0));
  }
}

void Cast(Drawer* d) {
  const Value a = d->Pick();
  if (!d->exact()) {
    if (!Drawer::IsFloat32(a)) throw Skip();
    const Value wide = d->Same(relax::Astype(a.var, DataType::Float(64)), a);
    const Value root = d->Smooth(relax::Tanh(wide.var), wide, 1, 1);
    return d->Keep(d->Same(relax::Astype(root.var, DataType::Float(32)), root));
  }
  const auto to = d->Choose<DataType>({DataType::Float(16), DataType::Float(32), DataType::Float(32),
                                       DataType::Float(64), DataType::Int(32), DataType::Int(64)});
  // Integers cut off what is behind the point, in any order of passes.
  d->Keep(d->Emit(relax::Astype(a.var, to), a.bound, 0, to.is_float() ? a.grain : 0));
}

/// A value, what is reduced of it, and both together again.
void Reduce(Drawer* d) {
  const Value a = d->Pick([](const Value& v) { return Drawer::Rank(v) >= 1 && !IsBool(v); });
  const int64_t rank = Drawer::Rank(a);
  Dims axes{rank - 1};
  if (d->Chance(0.5)) axes = d->ChooseSome(rank, 1);
  const bool keep = d->Chance(0.6);
  const auto reduce = [&](int which) {
    switch (which) {
      case 0:
        return d->Max(a, axes, keep);
      case 1:
        return d->Same(relax::Min(a.var, axes, keep), a);
      case 2:
        if (!Drawer::DTypeOf(a).is_float()) throw Skip();
        return d->Mean(a, axes, keep);
      default:
        return d->Sum(a, axes, keep);
    }
  };
  const Value reduced = reduce(static_cast<int>(d->Int(0, 4)));
  d->Keep(reduced);
  if (d->Chance(0.3)) d->Keep(reduce(static_cast<int>(d->Int(0, 4))));
  if (keep && d->Chance(0.6)) d->Keep(Arithmetic(d, a, reduced));
}

void ArgReduce(Drawer* d) {
  if (!d->exact()) throw Skip();
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) >= 1; });
  const int64_t axis = d->Int(0, Drawer::Rank(a) - 1);
  const double extent = static_cast<double>(d->Extent(Drawer::ShapeOf(a)[axis]));
  d->Keep(d->Emit(d->Chance(0.5) ? relax::Argmax(a.var, axis) : relax::Argmin(a.var, axis), extent, 0, 0));
}

void Scan(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) >= 1; });
  const int64_t axis = d->Int(0, Drawer::Rank(a) - 1);
  const double extent = static_cast<double>(d->Extent(Drawer::ShapeOf(a)[axis]));
  d->Keep(d->Emit(relax::Cumsum(a.var, axis, DataType::Void(), d->Chance(0.3)), extent * a.bound,
                  extent * (a.error + 4 * a.bound), a.grain));
}

void MatchCast(Drawer* d) {
  const Value a = d->Pick([](const Value& v) { return Drawer::Rank(v) >= 1; });
  d->Keep(d->Recast(a));
}

void Fan(Drawer* d) {
  // One value of several users that meet again.
  const Value a = d->PickFloat();
  Value sum = d->Same(relax::Negative(a.var), a);
  for (int64_t i = d->Int(1, 4); i > 0; --i) {
    const Value side = d->Chance(0.5) ? d->Same(relax::Abs(a.var), a) : d->Same(relax::nn::Relu(a.var), a);
    sum = d->Add(sum, side);
  }
  d->Keep(sum);
}

}  // namespace

const std::vector<Family>& Families() {
  static const auto* const kFamilies = [] {
    auto* all = new std::vector<Family>{
        {"unary", PlainUnary, 2},
        {"rounding", RoundingUnary},
        {"smooth", SmoothUnary, 4},
        {"binary", Binary, 3},
        {"broadcast", BroadcastBinary, 3},
        {"vector", Vector},
        {"scalar", WithScalar, 2},
        {"divide", SafeDivide},
        {"root", SquareRoot},
        {"compare", Compare, 2},
        {"logic", Logic},
        {"cast", Cast},
        {"reduce", Reduce, 4},
        {"arg", ArgReduce},
        {"scan", Scan},
        {"match_cast", MatchCast},
        {"fan", Fan},
    };
    for (const auto& more : {ShapeFamilies(), LayerFamilies()}) all->insert(all->end(), more.begin(), more.end());
    std::vector<Family> weighed;
    for (const Family& family : *all) weighed.insert(weighed.end(), static_cast<size_t>(family.weight), family);
    *all = std::move(weighed);
    return all;
  }();
  return *kFamilies;
}

}  // namespace deuteron::meaning
