/// \file
/// Sequences of a batch one after the other, without the tokens that fill them up to one length, and biases of scores
/// by the distance of query and key: of com.microsoft, as ONNX Runtime's optimisers write them.
#include <cmath>
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// A batch (b, s) of places for tokens.
struct Grid {
  PrimExpr batch, length;
  PrimExpr places(const NodeContext& node) const { return node.Simplify(batch * length); }
};

/// Input `offsets` (b, s): the places of the tokens, in order, then the others.
Grid GridOf(const NodeContext& node, size_t offsets) {
  const Array<PrimExpr> shape = node.Shape(offsets);
  if (shape.size() != 2) {
    node.Fail("its offsets of tokens must be of rank 2 and are of rank " + std::to_string(shape.size()));
  }
  return {shape[0], shape[1]};
}

/// The first `tokens` of them.
Expr PlacesOfTokens(const NodeContext& node, size_t offsets, const PrimExpr& tokens) {
  const PrimExpr places = GridOf(node, offsets).places(node);
  const Expr all = node.Reshaped(node.CastTo(node.X(offsets), DataType::Int(64)), {places});
  const Expr first = node.Emit(relax::StridedSlice(all, {0}, {I64(0)}, {tokens}, {I64(1)}));
  return node.CheckedPositions(node.WithShape(first, {tokens}, "the places of the tokens"), {places});
}

/// `rows` (tokens, w) at their places, zeros elsewhere: (b, s, w).
Expr WithPadding(const NodeContext& node, const Expr& rows, size_t offsets) {
  const Array<PrimExpr> shape = node.Shape(rows);
  if (shape.size() != 2) {
    node.Fail("tokens without padding must be of rank 2 and are of rank " + std::to_string(shape.size()));
  }
  const Grid grid = GridOf(node, offsets);
  const Expr at = node.Reshaped(PlacesOfTokens(node, offsets, shape[0]), {shape[0], I64(1)});
  const Expr nothing = node.Emit(relax::Zeros({grid.places(node), shape[1]}, node.DType(rows)));
  return node.Reshaped(node.Emit(relax::ScatterND(nothing, at, rows)), {grid.batch, grid.length, shape[1]});
}

/// The rows (tokens, w) of `x` (b, s, w) that are at those places.
Expr WithoutPadding(const NodeContext& node, const Expr& x, size_t offsets, const PrimExpr& tokens) {
  const Array<PrimExpr> shape = node.Shape(x);
  const Expr rows = node.Reshaped(x, {node.Simplify(shape[0] * shape[1]), shape[2]});
  return node.Emit(relax::Take(rows, PlacesOfTokens(node, offsets, tokens), 0));
}

/// Attention among the tokens of each sequence, whose places are input `offsets` and whose lengths, summed up, the next
/// input; queries, keys and values are (tokens, heads · d).
Expr AttendPacked(const NodeContext& node, const Expr& query, const Expr& key, const Expr& value, size_t offsets,
                  size_t bias) {
  const PrimExpr tokens = node.Shape(query)[0];
  const Grid grid = GridOf(node, offsets);
  const int64_t heads = node.RequiredInt("num_heads");
  const auto by_head = [&](const Expr& x) {
    return SplitHeads(node, WithPadding(node, WithDim(node, x, 0, tokens), offsets), heads);
  };
  AttentionSpec spec{.query = by_head(query), .key = by_head(key), .value = by_head(value)};
  if (node.Float("scale", 0) != 0) spec.scale = node.Float("scale", 0);
  const Expr sums = node.WithShape(node.CastTo(node.X(offsets + 1), kPosition), {node.Simplify(grid.batch + 1)});
  const auto ends = [&](int64_t from) {
    const PrimExpr end = node.Simplify(grid.batch + I64(from));
    return node.WithShape(node.Emit(relax::StridedSlice(sums, {0}, {I64(from)}, {end}, {I64(1)})), {grid.batch});
  };
  const Expr lengths = node.Reshaped(node.Emit(relax::Subtract(ends(1), ends(0))), {grid.batch, I64(1)});
  const Expr visible =
      node.Emit(relax::Less(node.Reshaped(Positions(node, grid.length), {I64(1), grid.length}), lengths));
  spec.biases.push_back(BiasOf(node, node.Reshaped(visible, {grid.batch, I64(1), I64(1), grid.length}),
                               -std::numeric_limits<double>::infinity(), node.DType(query)));
  if (node.Has(bias)) spec.biases.push_back(node.X(bias));
  return WithoutPadding(node, MergeHeads(node, Attend(node, spec).y), offsets, tokens);
}

}  // namespace

Results ConvertRemovePadding(const NodeContext& node) {
  const Array<PrimExpr> shape = node.Shape(0);
  if (shape.size() != 3) node.Fail("its input must be of rank 3 and is of rank " + std::to_string(shape.size()));
  const PrimExpr places = node.Simplify(shape[0] * shape[1]);
  const DataType index = DataType::Int(64), small = DataType::Int(32);
  const Expr counts = node.CheckedWithin(node.WithShape(node.CastTo(node.X(1), index), {shape[0]}), I64(0), shape[1],
                                         "the number of tokens of a sequence");
  const Expr column = node.Reshaped(node.CastTo(counts, kPosition), {shape[0], I64(1)});
  const Expr is_padding =
      node.Emit(relax::GreaterEqual(node.Reshaped(Positions(node, shape[1]), {I64(1), shape[1]}), column));
  // Tokens first: the sort is stable.
  const Expr order =
      node.Emit(relax::Argsort(node.Reshaped(node.CastTo(is_padding, DataType::Int(8)), {places}), 0, false, small));
  const Expr total = node.Emit(relax::Sum(counts, std::vector<int64_t>{0}, /*keepdims=*/true));
  const PrimExpr tokens = node.BoundDims(total, "the number of tokens")[0];
  const Expr first = node.WithShape(node.Emit(relax::StridedSlice(order, {0}, {I64(0)}, {tokens}, {I64(1)})), {tokens});
  const Expr rows = node.Reshaped(node.X(0), {places, shape[2]});
  const Expr sums = node.Emit(relax::Cumsum(counts, 0));
  const Expr from_zero = node.Emit(relax::Concat({node.ConstantInts({0}), sums}, 0));
  const Expr longest = node.Emit(relax::Max(counts, std::vector<int64_t>{0}, /*keepdims=*/true));
  return {node.Emit(relax::Take(rows, first, 0)), node.Reshaped(order, {shape[0], shape[1]}),
          node.CastTo(from_zero, small), node.CastTo(longest, small)};
}

Results ConvertRestorePadding(const NodeContext& node) { return {WithPadding(node, node.X(0), 1)}; }

Results ConvertPackedAttention(const NodeContext& node) {
  if (node.Rank(0) != 2) node.Fail("its input must be of rank 2 and is of rank " + std::to_string(node.Rank(0)));
  const Expr product = node.Emit(relax::Matmul(node.X(0), node.X(1)));
  const PrimExpr width = node.Shape(product)[1];
  const Expr projected = SumOf(node, product, WithDim(node, node.X(2), 0, width));
  const Array<PrimExpr> sizes = SizesOfProjections(node, width);
  const PrimExpr second = node.Simplify(sizes[0] + sizes[1]);
  return {AttendPacked(node, Columns(node, projected, I64(0), sizes[0]), Columns(node, projected, sizes[0], second),
                       Columns(node, projected, second, node.Simplify(second + sizes[2])), 3, 5)};
}

Results ConvertPackedMultiHeadAttention(const NodeContext& node) {
  Array<Expr> parts;
  if (node.Rank(0) == 4) {
    if (node.Has(1) || node.Has(2)) node.Fail("a packed query has the keys and values in it: leave those out");
    const Array<PrimExpr> shape = node.Shape(0);
    const Expr packed = node.WithSizes(node.X(0), 2, {3}, "the packed query");
    for (int64_t i = 0; i < 3; ++i) {
      const Expr part = node.Emit(relax::StridedSlice(packed, {2}, {I64(i)}, {I64(i + 1)}, {I64(1)}));
      parts.push_back(node.Reshaped(part, {shape[0], node.Simplify(shape[1] * shape[3])}));
    }
  } else {
    if (!node.Has(1) || !node.Has(2)) node.Fail("keys and values are missing");
    parts = {node.X(0), node.X(1), node.X(2)};
  }
  PrimExpr begin = I64(0);
  Array<Expr> biased;
  for (const Expr& part : parts) {
    const PrimExpr end = node.Simplify(begin + node.Shape(part)[1]);
    biased.push_back(node.Has(3) ? SumOf(node, part, Columns(node, node.X(3), begin, end)) : part);
    begin = end;
  }
  return {AttendPacked(node, biased[0], biased[1], biased[2], 4, 6)};
}

namespace {

/// Distances are tables of the compiler.
constexpr int64_t kFarthestDistance = int64_t{1} << 20;

/// The bucket of `distance`: one each for short ones, then logarithmic up to `farthest`. Single precision, as models
/// are trained with.
int64_t BucketOf(int64_t distance, int64_t buckets, int64_t farthest) {
  const int64_t exact = buckets / 2;
  if (distance < exact) return distance;
  const auto base = static_cast<float>(exact);
  const float share = std::log(static_cast<float>(distance) / base) / std::log(static_cast<float>(farthest) / base);
  return std::min(exact + static_cast<int64_t>(share * static_cast<float>(buckets - exact)), buckets - 1);
}

}  // namespace

Results ConvertRelativePositionBias(const NodeContext& node) {
  const Expr table = node.X(0);
  if (node.Rank(table) != 2)
    node.Fail("its table must be of rank 2 and is of rank " + std::to_string(node.Rank(table)));
  const int64_t count = node.StaticDim(table, 0, "the number of buckets");
  const PrimExpr heads = node.Shape(table)[1];
  const bool both = node.Flag("is_bidirectional", false);
  const int64_t farthest = node.RequiredInt("max_distance");
  // Of each direction.
  const int64_t buckets = both ? count / 2 : count;
  if (buckets < 2 || farthest <= buckets / 2) {
    node.Fail(std::to_string(count) + " buckets do not divide distances up to " + std::to_string(farthest));
  }
  if (farthest > kFarthestDistance) node.Unsupported("a max_distance of " + std::to_string(farthest));
  // By key less query, from -farthest on.
  std::vector<int64_t> bucket;
  for (int64_t distance = -farthest; distance <= farthest; ++distance) {
    const int64_t length = distance <= 0 ? -distance : both ? distance : 0;
    bucket.push_back(BucketOf(length, buckets, farthest) + (both && distance > 0 ? buckets : 0));
  }
  const PrimExpr queries = node.Dim(1, "the number of queries", 0);
  const PrimExpr keys = node.Dim(2, "the number of keys", 0);
  // The rows of the table are those of heads, whatever its shape says.
  const Expr by_head = node.Reshaped(table, {heads, I64(count)});
  const Expr by_distance = node.Emit(relax::Take(by_head, node.ConstantInts(bucket), 1));
  const auto number = [&](int64_t value) { return node.Scalar(kPosition, static_cast<double>(value)); };
  const Expr query = node.Reshaped(Positions(node, queries), {queries, I64(1)});
  const Expr key = node.Reshaped(WithDim(node, Positions(node, keys), 0, queries), {I64(1), queries});
  const Expr distance =
      relax::Minimum(relax::Maximum(relax::Subtract(key, query), number(-farthest)), number(farthest));
  const Expr at = node.Emit(relax::Add(distance, number(farthest)));
  return {node.Reshaped(node.Emit(relax::Take(by_distance, at, 1)), {I64(1), heads, queries, queries})};
}

Results ConvertGatedRelativePositionBias(const NodeContext& node) {
  const int64_t heads = node.RequiredInt("num_heads");
  Expr query = node.X(0);
  query = SumOf(node, query, WithDim(node, node.X(1), 0, node.Shape(query)[node.Rank(query) - 1]));
  if (node.Rank(query) == 2) {
    if (!node.Has(6)) node.Fail("a query without padding needs the offsets of its tokens");
    query = WithPadding(node, query, 6);
  }
  query = SplitHeads(node, query, heads);
  const Array<PrimExpr> shape = node.Shape(query);
  const Expr product = node.Emit(relax::Matmul(query, WithDim(node, node.X(3), 0, shape[3])));
  const PrimExpr width = node.Shape(product)[3];
  if (const auto known = AsConstInt(width); known && *known % 2 != 0) {
    node.Fail("a gate of " + std::to_string(*known) + " columns, which are not two halves");
  }
  const Expr both = SumOf(node, product, WithDim(node, node.X(4), 0, width));
  const Expr halves =
      node.Reshaped(both, {shape[0], shape[1], shape[2], I64(2), node.Simplify(FloorDiv(width, I64(2)))});
  const Expr gates = node.Emit(relax::Sigmoid(relax::Sum(halves, std::vector<int64_t>{4})));
  const auto gate = [&](int64_t at) { return Columns(node, gates, I64(at), I64(at + 1)); };
  const DataType dtype = node.DType(query);
  const Expr scaled = ProductOf(node, gate(1), node.X(5));
  const Expr factor = node.Emit(
      relax::Add(relax::Multiply(gate(0), relax::Subtract(scaled, node.Scalar(dtype, 1))), node.Scalar(dtype, 2)));
  return {ProductOf(node, factor, node.X(2))};
}

}  // namespace deuteron::onnx
