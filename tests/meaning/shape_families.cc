/// Families of operators that move elements.
#include <algorithm>
#include <numeric>

#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "random_graph.h"

namespace deuteron::meaning {
namespace {

using relax::Expr;
using Dims = Drawer::Dims;

/// An axis of a known extent of `least` or more.
int64_t StaticAxis(Drawer* d, const Value& a, int64_t least) {
  Dims axes;
  const auto shape = Drawer::ShapeOf(a);
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto extent = AsConstInt(shape[static_cast<int64_t>(i)]);
    if (extent && *extent >= least) axes.push_back(static_cast<int64_t>(i));
  }
  return d->Choose(axes);
}
int64_t StaticExtent(const Value& a, int64_t axis) { return *AsConstInt(Drawer::ShapeOf(a)[axis]); }

void Reshape(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  auto shape = Drawer::ShapeOf(a);
  std::vector<PrimExpr> dims(shape.begin(), shape.end());
  if (dims.size() > 1 && d->Chance(0.5)) {
    const auto at = static_cast<size_t>(d->Int(0, static_cast<int64_t>(dims.size()) - 2));
    dims[at] = dims[at] * dims[at + 1];
    dims.erase(dims.begin() + static_cast<int64_t>(at) + 1);
  } else {
    const auto at = static_cast<size_t>(StaticAxis(d, a, 2));
    const int64_t extent = StaticExtent(a, static_cast<int64_t>(at));
    int64_t factor = 2;
    while (extent % factor != 0) ++factor;
    dims[at] = I64(extent / factor);
    dims.insert(dims.begin() + static_cast<int64_t>(at) + 1, I64(factor));
    if (dims.size() > 5) throw Skip();
  }
  d->Keep(d->Same(relax::Reshape(a.var, Array<PrimExpr>(dims.begin(), dims.end())), a));
}

void Permute(Drawer* d) {
  const Value a = d->Pick([](const Value& v) { return Drawer::Rank(v) >= 2; });
  Dims axes(static_cast<size_t>(Drawer::Rank(a)));
  std::iota(axes.begin(), axes.end(), 0);
  const auto first = static_cast<size_t>(d->Int(0, static_cast<int64_t>(axes.size()) - 2));
  if (d->Chance(0.5)) {
    std::swap(axes[first], axes[first + 1]);
  } else {
    std::rotate(axes.begin(), axes.begin() + static_cast<int64_t>(first) + 1, axes.end());
  }
  d->Keep(d->Same(relax::PermuteDims(a.var, axes), a));
}

void ExpandSqueeze(Drawer* d) {
  const Value a = d->Pick();
  const auto shape = Drawer::ShapeOf(a);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!IsConstInt(shape[static_cast<int64_t>(i)], 1) || d->Chance(0.3)) continue;
    return d->Keep(d->Same(relax::Squeeze(a.var, {static_cast<int64_t>(i)}), a));
  }
  if (shape.size() >= 5) throw Skip();
  d->Keep(d->Same(relax::ExpandDims(a.var, {d->Int(0, static_cast<int64_t>(shape.size()))}), a));
}

void Broadcast(Drawer* d) {
  const Value a = d->Pick([](const Value& v) { return Drawer::Rank(v) < 4; });
  auto shape = Drawer::ShapeOf(a);
  Array<PrimExpr> wider{I64(3)};
  for (const PrimExpr& dim : shape) wider.push_back(IsConstInt(dim, 1) ? I64(4) : dim);
  d->Keep(d->Same(relax::BroadcastTo(a.var, wider), a));
}

void Join(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  Value b = d->Like(a);
  const Value c = d->Like(a);
  b.bound = std::max({a.bound, b.bound, c.bound});
  b.error = std::max({a.error, b.error, c.error});
  b.grain = std::max({a.grain, b.grain, c.grain});
  Array<Expr> parts{a.var, b.var};
  if (d->Chance(0.3)) parts.push_back(c.var);
  const int64_t rank = Drawer::Rank(a);
  const bool stacks = rank < 4 && d->Chance(0.3);
  const Expr joined = stacks ? relax::Stack(parts, d->Int(0, rank)) : relax::Concat(parts, d->Int(0, rank - 1));
  d->Keep(d->Same(joined, b));
}

void Split(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  const int64_t axis = StaticAxis(d, a, 2);
  const int64_t extent = StaticExtent(a, axis);
  int64_t parts = 2;
  Expr split;
  if (extent % 2 == 0 && d->Chance(0.7)) {
    parts = extent % 4 == 0 && d->Chance(0.4) ? 4 : 2;
    split = relax::SplitSections(a.var, parts, axis);
  } else {
    split = relax::SplitIndices(a.var, {d->Int(1, extent - 1)}, axis);
  }
  const relax::Var tuple = d->EmitTuple(split);
  // Not all of the items have users.
  const bool all = d->Chance(0.7);
  for (int64_t i = 0; i < parts; ++i) {
    if (all || d->Chance(0.5)) d->Keep(d->Same(relax::TupleGetItem(tuple, i), a));
  }
}

void Slice(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  const int64_t axis = StaticAxis(d, a, 2);
  const int64_t extent = StaticExtent(a, axis);
  const int64_t begin = d->Int(0, extent - 2);
  d->Keep(d->Same(relax::StridedSlice(a.var, {axis}, {I64(begin)}, {I64(d->Int(begin + 1, extent))},
                                      {I64(d->Choose<int64_t>({1, 1, 2}))}),
                  a));
}

void Spread(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  const int64_t axis = d->Int(0, Drawer::Rank(a) - 1);
  switch (d->Int(0, 2)) {
    case 0: {
      Dims repeats(static_cast<size_t>(Drawer::Rank(a)), 1);
      repeats[static_cast<size_t>(axis)] = 2;
      return d->Keep(d->Same(relax::Tile(a.var, repeats), a));
    }
    case 1:
      return d->Keep(d->Same(relax::Repeat(a.var, 2, axis), a));
    default:
      return d->Keep(d->Same(relax::Flip(a.var, axis), a));
  }
}

void Pad(Drawer* d) {
  const Value a = d->PickFloat(Drawer::HasDims);
  Dims width(static_cast<size_t>(2 * Drawer::Rank(a)), 0);
  width[width.size() - 1] = d->Int(0, 2);
  width[width.size() - 2] = d->Int(0, 2);
  d->Keep(d->Emit(relax::nn::Pad(a.var, width, 1), std::max(a.bound, 1.0), a.error, a.grain));
}

void Triangle(Drawer* d) {
  const Value a = d->Pick([](const Value& v) { return Drawer::Rank(v) >= 2 && !Drawer::DTypeOf(v).is_bool(); });
  const int64_t k = d->Int(-1, 1);
  d->Keep(d->Same(d->Chance(0.5) ? relax::Tril(a.var, k) : relax::Triu(a.var, k), a));
}

void Take(Drawer* d) {
  const Value a = d->Pick(Drawer::HasDims);
  const int64_t axis = StaticAxis(d, a, 3);
  const Value indices = d->Constant({d->Int(1, 4)}, 2, DataType::Int(64));
  const Value whole = d->Emit(relax::nn::Relu(indices.var), 2, 0, 0);
  d->Keep(d->Same(relax::Take(a.var, whole.var, axis), a));
}

void Create(Drawer* d) {
  const Value like = d->PickFloat();
  d->Keep(d->Chance(0.5) ? d->Emit(relax::ZerosLike(like.var), 0, 0, 0) : d->Emit(relax::OnesLike(like.var), 1, 0, 0));
}

void Tuples(Drawer* d) {
  const Value a = d->Pick();
  const Value b = d->Pick();
  const relax::Var inner = d->EmitTuple(relax::Tuple({b.var, a.var}));
  const relax::Var outer = d->EmitTuple(relax::Tuple({a.var, inner}));
  const relax::Var again = d->EmitTuple(relax::TupleGetItem(outer, 1));
  d->Keep(d->Same(relax::TupleGetItem(again, 0), b));
  d->Keep(d->Same(relax::TupleGetItem(outer, 0), a));
}

}  // namespace

std::vector<Family> ShapeFamilies() {
  return {
      {"reshape", Reshape, 3},     {"permute", Permute, 2}, {"expand", ExpandSqueeze, 2},
      {"broadcast_to", Broadcast}, {"join", Join, 2},       {"split", Split, 3},
      {"slice", Slice, 2},         {"spread", Spread},      {"pad", Pad},
      {"triangle", Triangle},      {"take", Take},          {"create", Create},
      {"tuples", Tuples},
  };
}

}  // namespace deuteron::meaning
