#include "deuteron/frontend/onnx/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

Expr SplitHeads(const NodeContext& node, const Expr& x, int64_t heads) {
  if (node.Rank(x) == 4) return x;
  const Array<PrimExpr> shape = node.Shape(x);
  if (shape.size() != 3) node.Fail("a tensor of rank 3 or 4 is expected, not of " + std::to_string(shape.size()));
  if (heads <= 0) node.Fail("the number of heads must be positive");
  const Expr split = node.Reshaped(x, {shape[0], shape[1], I64(heads), node.Simplify(FloorDiv(shape[2], heads))});
  return node.Emit(relax::PermuteDims(split, {0, 2, 1, 3}));
}

Expr MergeHeads(const NodeContext& node, const Expr& x) {
  const Array<PrimExpr> shape = node.Shape(x);
  const Expr swapped = node.Emit(relax::PermuteDims(x, {0, 2, 1, 3}));
  return node.Reshaped(swapped, {shape[0], shape[2], node.Simplify(shape[1] * shape[3])});
}

Expr Columns(const NodeContext& node, const Expr& x, const PrimExpr& begin, const PrimExpr& end) {
  const int64_t last = node.Rank(x) - 1;
  const Expr columns = node.Emit(relax::StridedSlice(x, {last}, {begin}, {end}, {I64(1)}));
  return WithDim(node, columns, last, node.Simplify(end - begin));
}

Array<PrimExpr> SizesOfProjections(const NodeContext& node, const PrimExpr& width) {
  const PrimExpr third = node.Simplify(FloorDiv(width, I64(3)));
  const auto given = node.Ints("qkv_hidden_sizes");
  if (!given || given->empty()) return {third, third, third};
  const auto is_size = [](int64_t size) { return size >= 1 && size <= INT64_MAX / 4; };
  const bool fits = given->size() == 3 && std::all_of(given->begin(), given->end(), is_size) &&
                    (*given)[0] == (*given)[1] &&
                    AsConstInt(width).value_or(2 * (*given)[0] + (*given)[2]) == 2 * (*given)[0] + (*given)[2];
  if (!fits) node.Fail("qkv_hidden_sizes do not fit projections of " + relax::Describe(width));
  return {I64((*given)[0]), I64((*given)[1]), I64((*given)[2])};
}

void Align(const NodeContext& node, AttentionSpec* spec) {
  const Array<PrimExpr> queries = node.Shape(spec->query);
  spec->key = WithDim(node, WithDim(node, spec->key, 0, queries[0]), 3, queries[3]);
  const PrimExpr count = node.Shape(spec->key)[2];
  spec->value = WithDim(node, WithDim(node, spec->value, 0, queries[0]), 2, count);
}

Expr Positions(const NodeContext& node, const PrimExpr& count) {
  return node.Emit(relax::Arange(I64(0), count, I64(1), kPosition));
}

Expr BiasOf(const NodeContext& node, const Expr& visible, double otherwise, DataType dtype) {
  return node.Emit(relax::Where(visible, node.Scalar(dtype, 0), node.Scalar(dtype, otherwise)));
}

Expr ForKeys(const NodeContext& node, const Expr& bias, const PrimExpr& keys) {
  Array<PrimExpr> shape = node.Shape(bias);
  if (node.analyzer().CanProveEqual(shape[3], keys)) return bias;
  shape.Set(3, node.Simplify(keys - shape[3]));
  const Expr rest = node.Emit(relax::Zeros(shape, node.DType(bias)));
  shape.Set(3, keys);
  return node.WithShape(node.Emit(relax::Concat(Array<Expr>{bias, rest}, 3)), shape);
}

Expr WithRows(const NodeContext& node, const Expr& given, const Expr& x, const Expr& past, const PrimExpr& capacity,
              bool clears) {
  Expr cache = given;
  for (const int64_t axis : {0, 1, 3}) cache = WithDim(node, cache, axis, node.Shape(x)[axis]);
  const Expr starts = node.Reshaped(past, {node.Shape(past)[0]});
  return node.Emit(relax::TensorScatter(cache, x, starts, capacity, 2, /*circular=*/false, clears));
}

Expr AnglesAt(const NodeContext& node, size_t input, const Expr& positions) {
  const Expr table = node.X(input);
  return node.Emit(relax::Take(table, node.CheckedPositions(positions, {node.Shape(table)[0]}), 0));
}

Expr CausalBias(const NodeContext& node, const PrimExpr& queries, const PrimExpr& keys, const PrimExpr& offset,
                DataType dtype) {
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  const Expr ones = node.Emit(relax::Ones({queries, keys}, DataType::Int(32)));
  const Expr visible = node.Emit(relax::Tril(ones, offset));
  const Expr hidden = relax::Equal(visible, node.Scalar(DataType::Int(32), 0));
  return node.Emit(relax::Where(hidden, lowest, node.Scalar(dtype, 0)));
}

Expr Rotate(const NodeContext& node, const Expr& x, const Expr& cosines, const Expr& sines, const PrimExpr& rotary,
            bool interleaved) {
  const Array<PrimExpr> shape = node.Shape(x);
  const PrimExpr size = shape[3];
  const PrimExpr turned = IsZero(rotary) ? size : rotary;
  const PrimExpr half = node.Simplify(FloorDiv(turned, 2));
  const auto known = AsConstInt(turned);
  if (known && (*known < 0 || *known % 2 != 0 || *known > AsConstInt(size).value_or(*known))) {
    node.Fail(std::to_string(*known) + " columns of heads of " + relax::Describe(size) + " cannot be turned");
  }
  const auto by_head = [&](const Expr& angles) -> Expr {
    const PrimExpr batch = node.Shape(angles)[0];
    const Expr rows = WithDim(node, WithDim(node, angles, 1, shape[2]), 2, half);
    const Array<PrimExpr> sizes = node.Shape(rows);
    const Expr column = node.Reshaped(rows, {batch, I64(1), sizes[1], sizes[2]});
    if (IsOne(batch) || node.analyzer().CanProveEqual(batch, shape[0])) return column;
    return node.Emit(relax::BroadcastTo(column, {shape[0], I64(1), sizes[1], sizes[2]}));
  };
  const Expr cosine = by_head(cosines);
  const Expr sine = by_head(sines);
  const auto part = [&](const PrimExpr& begin, const PrimExpr& end, int64_t stride, const PrimExpr& width) -> Expr {
    return node.WithShape(node.Emit(relax::StridedSlice(x, {3}, {begin}, {end}, {I64(stride)})),
                          {shape[0], shape[1], shape[2], width});
  };
  const Expr first = interleaved ? part(I64(0), turned, 2, half) : part(I64(0), half, 1, half);
  const Expr second = interleaved ? part(I64(1), turned, 2, half) : part(half, turned, 1, half);
  const Expr real = node.Emit(relax::Subtract(relax::Multiply(cosine, first), relax::Multiply(sine, second)));
  const Expr imaginary = node.Emit(relax::Add(relax::Multiply(sine, first), relax::Multiply(cosine, second)));
  Expr rotated;
  if (interleaved) {
    const Array<PrimExpr> column = {shape[0], shape[1], shape[2], half, I64(1)};
    const Array<Expr> pair = {node.Reshaped(real, column), node.Reshaped(imaginary, column)};
    rotated = node.Reshaped(node.Emit(relax::Concat(pair, 4)), {shape[0], shape[1], shape[2], turned});
  } else {
    rotated = node.Emit(relax::Concat(Array<Expr>{real, imaginary}, 3));
  }
  if (node.analyzer().CanProveEqual(turned, size)) return node.WithShape(rotated, shape);
  const Expr rest = part(turned, size, 1, node.Simplify(size - turned));
  return node.WithShape(node.Emit(relax::Concat(Array<Expr>{rotated, rest}, 3)), shape);
}

namespace {

/// Weights of the keys, of scores (b, heads, s, s').
Expr WeightsOf(const NodeContext& node, const AttentionSpec& spec, const Expr& scores) {
  const DataType dtype = node.DType(scores);
  const auto softmax = [&](const Expr& x) -> Expr {
    return node.CastTo(node.Emit(relax::nn::Softmax(node.CastTo(x, spec.softmax_dtype.value_or(dtype)), 3)), dtype);
  };
  if (!spec.sink.defined()) return softmax(scores);
  const Array<PrimExpr> shape = node.Shape(scores);
  const Expr by_head = node.Reshaped(spec.sink, {I64(1), node.Shape(spec.sink)[0], I64(1), I64(1)});
  const Expr column = node.Emit(relax::BroadcastTo(by_head, {shape[0], shape[1], shape[2], I64(1)}));
  const Expr all = softmax(node.Emit(relax::Concat(Array<Expr>{scores, column}, 3)));
  return node.Emit(relax::StridedSlice(all, {3}, {I64(0)}, {shape[3]}, {I64(1)}));
}

/// `bias` for `scores`, to which types may not tell how it is broadcast: that is asked at run time then.
Expr BroadcastBias(const NodeContext& node, const Expr& bias, const Expr& scores) {
  const Array<PrimExpr> own = node.Shape(bias);
  const Array<PrimExpr> shape = node.Shape(scores);
  for (size_t i = 1; i <= std::min(own.size(), shape.size()); ++i) {
    const PrimExpr& dim = own[own.size() - i];
    if (IsOne(dim) || node.analyzer().CanProveEqual(dim, shape[shape.size() - i])) continue;
    return node.Emit(relax::BroadcastTo(bias, shape));
  }
  return bias;
}

}  // namespace

namespace {

/// Keys or values (b, kv, s, d) for `heads` of queries, each for as many in a row.
Expr ForHeads(const NodeContext& node, const Expr& x, const PrimExpr& heads) {
  const Array<PrimExpr> shape = node.Shape(x);
  const PrimExpr& own = shape[1];
  if (node.analyzer().CanProveEqual(heads, own)) return x;
  const auto count = AsConstInt(own);
  const auto wanted = AsConstInt(heads);
  if (count && wanted) {
    if (*count <= 0 || *wanted % *count != 0) node.Fail("the heads of the query are no multiple of those of the key");
    return node.Emit(relax::Repeat(x, *wanted / *count, 1));
  }
  // What the heads are no multiple of does not fit the last shape.
  const PrimExpr times = node.Simplify(FloorDiv(heads, Max(own, I64(1))));
  const Expr column = node.Reshaped(x, {shape[0], own, I64(1), shape[2], shape[3]});
  const Expr repeated = node.Emit(relax::BroadcastTo(column, {shape[0], own, times, shape[2], shape[3]}));
  return node.Reshaped(repeated, {shape[0], heads, shape[2], shape[3]});
}

/// What queries are multiplied by, whose heads are of `size`.
Expr ScaleOf(const NodeContext& node, const AttentionSpec& spec, const PrimExpr& size, DataType dtype) {
  if (spec.scale) return node.Scalar(dtype, *spec.scale);
  if (const auto number = AsConstInt(size)) return node.Scalar(dtype, 1.0 / std::sqrt(static_cast<double>(*number)));
  const DataType wide = dtype.bits() < 32 ? DataType::Float(32) : dtype;
  return node.CastTo(node.Emit(relax::Rsqrt(node.ScalarOf(wide, size))), dtype);
}

}  // namespace

AttentionResult Attend(const NodeContext& node, const AttentionSpec& given) {
  AttentionSpec spec = given;
  Align(node, &spec);
  const Expr& q = spec.query;
  const Array<PrimExpr> shape = node.Shape(q);
  const Expr k = ForHeads(node, spec.key, shape[1]);
  const Expr v = ForHeads(node, spec.value, shape[1]);
  const DataType dtype = node.DType(q);
  const Expr scale = ScaleOf(node, spec, shape[3], dtype);
  const Expr transposed = node.Emit(relax::PermuteDims(k, {0, 1, 3, 2}));
  AttentionResult result;
  result.products = node.Emit(relax::Matmul(relax::Multiply(q, scale), transposed));
  Expr scores = result.products;
  const auto cap = [&] {
    if (spec.softcap == 0) return;
    const Expr bound = node.Scalar(dtype, spec.softcap);
    scores = node.Emit(relax::Multiply(relax::Tanh(relax::Divide(scores, bound)), bound));
  };
  if (!spec.cap_after_biases) cap();
  for (const Expr& bias : spec.biases) {
    scores = node.Emit(relax::Add(scores, BroadcastBias(node, bias, scores)));
  }
  result.biased = scores;
  if (spec.cap_after_biases) cap();
  result.capped = scores;
  result.weights = WeightsOf(node, spec, scores);
  result.y = node.Emit(relax::Matmul(result.weights, v));
  return result;
}

}  // namespace deuteron::onnx
