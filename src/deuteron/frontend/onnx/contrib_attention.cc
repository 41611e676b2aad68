/// \file
/// Attention of com.microsoft: with projections (Attention), of given queries, keys and values
/// (MultiHeadAttention, DecoderMaskedMultiHeadAttention); rotations.
#include <algorithm>
#include <functional>
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// What input `mask` (of 0 where a key is hidden, or of the lengths of rows) adds to the scores of `batch` rows of
/// `keys` keys.
Expr MaskBias(const NodeContext& node, size_t mask, const PrimExpr& batch, const PrimExpr& queries,
              const PrimExpr& keys, DataType dtype) {
  const double hidden = node.Float("mask_filter_value", -10000.0);
  Expr given = node.CastTo(node.X(mask), kPosition);
  const Array<PrimExpr> shape = node.Shape(given);
  const PrimExpr one = I64(1);
  if (shape.size() > 1) {
    Expr visible = node.Emit(relax::Greater(given, node.Scalar(kPosition, 0)));
    if (shape.size() == 2) visible = node.Reshaped(visible, {shape[0], one, one, shape[1]});
    if (shape.size() == 3) visible = node.Reshaped(visible, {shape[0], one, shape[1], shape[2]});
    if (shape.size() == 4) {
      // Of the longest sequence: the rows of these queries, the columns of these keys.
      const PrimExpr past = node.Simplify(keys - queries);
      visible = node.Emit(relax::StridedSlice(visible, {2, 3}, {past, I64(0)}, {keys, keys}, {one, one}));
    }
    return BiasOf(node, visible, hidden, dtype);
  }
  if (shape.size() != 1) node.Fail("a mask must have an axis");
  const Expr positions = node.Reshaped(Positions(node, keys), {one, keys});
  const auto begins_and_ends = [&](const Expr& ends, const Expr& begins) {
    return relax::LogicalAnd(relax::Less(positions, ends), relax::GreaterEqual(positions, begins));
  };
  const auto rows = [&](const PrimExpr& begin) {
    const Expr part = node.Emit(relax::StridedSlice(given, {0}, {begin}, {node.Simplify(begin + batch)}, {one}));
    return node.Reshaped(part, {batch, one});
  };
  Expr visible;
  if (node.analyzer().CanProveEqual(shape[0], batch)) {
    visible = relax::Less(positions, node.Reshaped(given, {batch, one}));
  } else if (node.analyzer().CanProveEqual(shape[0], batch * 3 + 2)) {
    // Of packed sequences: their lengths come first.
    visible = relax::Less(positions, rows(I64(0)));
  } else if (node.analyzer().CanProveEqual(shape[0], batch * 2)) {
    visible = begins_and_ends(rows(I64(0)), rows(batch));
  } else {
    // The run tells which of the three it is.
    const auto is_long = [&](const PrimExpr& length) {
      return node.Simplify(Max(I64(0), one - Max(shape[0] - length, length - shape[0])));
    };
    const PrimExpr has_begins = is_long(batch * 2);
    const PrimExpr length = batch + has_begins * batch + is_long(batch * 3 + 2) * (batch * 2 + 2);
    given = node.WithShape(given, {node.Simplify(length)});
    const Expr second =
        node.Emit(relax::Multiply(rows(node.Simplify(has_begins * batch)), node.ScalarOf(kPosition, has_begins)));
    visible = begins_and_ends(rows(I64(0)), second);
  }
  return BiasOf(node, node.Reshaped(node.Emit(visible), {batch, one, one, keys}), hidden, dtype);
}

/// Fills in what the operators share: the scale, the mask, the bias, who may look at whom. Of more keys than queries,
/// those that come first are `past`.
AttentionResult AttendWithMask(const NodeContext& node, AttentionSpec spec, const PrimExpr& past, size_t mask,
                               size_t bias) {
  const DataType dtype = node.DType(spec.query);
  const Array<PrimExpr> queries = node.Shape(spec.query);
  const PrimExpr keys = node.Shape(spec.key)[2];
  if (node.Float("scale", 0) != 0) spec.scale = node.Float("scale", 0);
  if (node.Has(mask)) spec.biases.push_back(MaskBias(node, mask, queries[0], queries[2], keys, dtype));
  if (node.Has(bias)) spec.biases.push_back(node.X(bias));
  if (node.Flag("unidirectional", false)) spec.biases.push_back(CausalBias(node, queries[2], keys, past, dtype));
  return Attend(node, spec);
}

/// Keys or values after those of the past (b, heads, p, d), if there are any.
Expr AfterPast(const NodeContext& node, const Expr& past, const Expr& x) {
  if (!past.defined()) return x;
  Expr before = past;
  for (const int64_t axis : {0, 1, 3}) before = WithDim(node, before, axis, node.Shape(x)[axis]);
  return node.Emit(relax::Concat(Array<Expr>{before, x}, 2));
}

/// Where the inputs are that operators with caches share.
struct HeadInputs {
  size_t bias = 0, mask = 0, attention_bias = 0, past_key = 0, past_value = 0, past_length = 0, indirection = 0;
};

/// Rows of `cache` (batch * beams, heads, capacity, d) as the beams have come by them: a row's first `past` are those
/// of the beams that `indirection` (batch, beams, capacity) names.
Expr OfBeams(const NodeContext& node, const Expr& cache, const Expr& indirection, const Expr& past) {
  const Array<PrimExpr> shape = node.Shape(cache);
  const Array<PrimExpr> column = {shape[0], I64(1), shape[2], I64(1)};
  const Expr row = node.Reshaped(Positions(node, shape[0]), {shape[0], I64(1)});
  const Expr beams = node.ScalarOf(kPosition, node.Shape(indirection)[1]);
  const Expr first = relax::Multiply(relax::FloorDivide(row, beams), beams);
  const Expr named = node.Reshaped(node.CastTo(indirection, kPosition), {shape[0], shape[2]});
  const Expr place = node.Reshaped(Positions(node, shape[2]), {I64(1), shape[2]});
  const Expr from = node.Emit(relax::Where(relax::Less(place, past), relax::Add(named, first), row));
  const Expr inside = node.Checked(node.CastTo(from, DataType::Int(64)), {shape[0]});
  const Expr index = node.Emit(relax::BroadcastTo(node.Reshaped(inside, column), shape));
  return node.Emit(relax::GatherElements(cache, index, 0));
}

/// Attention whose keys and values are written into caches, behind as many as the run says that they have.
Results AttendInCaches(const NodeContext& node, AttentionSpec spec, const HeadInputs& at, const Expr& past_key,
                       const Expr& past_value) {
  if (node.Wants(3)) node.Unsupported("the output qk of a cache that is written in place: leave it out");
  const DataType dtype = node.DType(spec.query);
  const Array<PrimExpr> queries = node.Shape(spec.query);
  const PrimExpr length = node.Shape(spec.key)[2];
  const PrimExpr capacity = node.Shape(past_key)[2];
  const Expr past = node.CastTo(node.Reshaped(node.X(at.past_length), {I64(1), I64(1)}), kPosition);
  const Expr keys = WithRows(node, past_key, spec.key, past, capacity, /*clears=*/false);
  const Expr values = WithRows(node, past_value, spec.value, past, capacity, /*clears=*/false);
  spec.key = keys;
  spec.value = values;
  if (node.Has(at.indirection)) {
    spec.key = OfBeams(node, keys, node.X(at.indirection), past);
    spec.value = OfBeams(node, values, node.X(at.indirection), past);
  }
  if (node.Float("scale", 0) != 0) spec.scale = node.Float("scale", 0);
  if (node.Has(at.mask)) {
    spec.biases.push_back(ForKeys(node, MaskBias(node, at.mask, queries[0], queries[2], capacity, dtype), capacity));
  }
  if (node.Has(at.attention_bias)) spec.biases.push_back(ForKeys(node, node.X(at.attention_bias), capacity));
  const bool causal = node.Flag("unidirectional", false);
  const PrimExpr rows = causal ? queries[2] : I64(1);
  // The last key that a query sees.
  const Expr last = causal ? relax::Add(node.Reshaped(Positions(node, rows), {rows, I64(1)}), past)
                           : relax::Add(past, node.ScalarOf(kPosition, node.Simplify(length - 1)));
  const Expr visible = relax::LessEqual(node.Reshaped(Positions(node, capacity), {I64(1), capacity}), last);
  spec.biases.push_back(BiasOf(node, node.Reshaped(node.Emit(visible), {I64(1), I64(1), rows, capacity}),
                               -std::numeric_limits<double>::infinity(), dtype));
  return {MergeHeads(node, Attend(node, spec).y), keys, values};
}

/// Keys (0) or values (1) of input `past`, (2, b, heads, p, d).
Expr HalfOfPast(const NodeContext& node, size_t past, int64_t index) {
  const Array<PrimExpr> shape = node.Shape(past);
  if (shape.size() != 5) node.Fail("the past must be of rank 5");
  const Expr half = node.Emit(relax::StridedSlice(node.X(past), {0}, {I64(index)}, {I64(index + 1)}, {I64(1)}));
  return node.Reshaped(half, {shape[1], shape[2], shape[3], shape[4]});
}

/// Heads of part `index` of the projections of queries, keys and values, whose columns are `sizes`.
Expr ProjectedHeads(const NodeContext& node, const Expr& projected, const Array<PrimExpr>& sizes, int64_t index) {
  PrimExpr begin = I64(0);
  for (int64_t i = 0; i < index; ++i) begin = node.Simplify(begin + sizes[i]);
  const Expr columns = Columns(node, projected, begin, node.Simplify(begin + sizes[index]));
  return SplitHeads(node, columns, node.RequiredInt("num_heads"));
}

/// Attention of the projected (b, s, 3 * hidden); the past is input `past`, (2, b, heads, p, d).
Results AttendProjected(const NodeContext& node, const Expr& projected, size_t mask, size_t past, size_t bias) {
  if (node.Flag("do_rotary", false)) node.Unsupported("do_rotary: export the model with RotaryEmbedding nodes");
  const Array<PrimExpr> sizes = SizesOfProjections(node, node.Shape(projected)[2]);
  const Expr key = ProjectedHeads(node, projected, sizes, 1);
  const Expr value = ProjectedHeads(node, projected, sizes, 2);
  if (node.Flag("past_present_share_buffer", false)) {
    constexpr size_t kPastLength = 6;
    if (node.node().op_type != "Attention" || !node.Has(past) || !node.Has(kPastLength)) {
      node.Unsupported("past_present_share_buffer without a past and its length: give both, or set it to 0");
    }
    if (node.Has(mask) && node.Rank(mask) != 2) {
      node.Unsupported("past_present_share_buffer with a mask of rank " + std::to_string(node.Rank(mask)) +
                       ": give one of rank 2");
    }
    const HeadInputs at{
        .mask = mask, .attention_bias = bias, .past_length = kPastLength, .indirection = node.NumInputs()};
    const AttentionSpec spec{.query = ProjectedHeads(node, projected, sizes, 0), .key = key, .value = value};
    const Results results = AttendInCaches(node, spec, at, HalfOfPast(node, past, 0), HalfOfPast(node, past, 1));
    return {results[0], node.Emit(relax::Stack({results[1]->expr, results[2]->expr}, 0))};
  }
  Expr past_key;
  Expr past_value;
  PrimExpr before = I64(0);
  if (node.Has(past)) {
    past_key = HalfOfPast(node, past, 0);
    past_value = HalfOfPast(node, past, 1);
    before = node.Shape(past_key)[2];
  }
  const AttentionSpec spec{.query = ProjectedHeads(node, projected, sizes, 0),
                           .key = AfterPast(node, past_key, key),
                           .value = AfterPast(node, past_value, value)};
  Results results = {MergeHeads(node, AttendWithMask(node, spec, before, mask, bias).y)};
  if (node.Wants(1)) results.emplace_back(node.Emit(relax::Stack({spec.key, spec.value}, 0)));
  return results;
}

/// Input 0 times input 1, the weights of queries, keys and values beside each other, and their bias.
Expr Projected(const NodeContext& node) {
  const Expr product = node.Emit(relax::Matmul(node.X(0), node.X(1)));
  return node.Has(2) ? SumOf(node, product, WithDim(node, node.X(2), 0, node.Shape(product)[2])) : product;
}

}  // namespace

Results ConvertContribAttention(const NodeContext& node) { return AttendProjected(node, Projected(node), 3, 4, 5); }

Results ConvertQAttention(const NodeContext& node) {
  const Expr scale = ProductOf(node, MatrixParameter(node, 3, true), MatrixParameter(node, 4, false));
  const Expr product = IntegerProduct(node, node.X(0), node.X(1), MatrixParameter(node, 6, true),
                                      MatrixParameter(node, 7, false), scale);
  const Expr projected = SumOf(node, product, WithDim(node, node.X(2), 0, node.Shape(product)[2]));
  return AttendProjected(node, projected, 5, 8, node.NumInputs());
}

namespace {

/// (b, s, heads, count, d) → part `index` of `count`, (b, heads, s, d).
Expr UnpackHeads(const NodeContext& node, const Expr& packed, int64_t index) {
  const Array<PrimExpr> shape = node.Shape(packed);
  const Expr part = node.Emit(relax::StridedSlice(packed, {3}, {I64(index)}, {I64(index + 1)}, {I64(1)}));
  const Expr plain = node.Reshaped(part, {shape[0], shape[1], shape[2], shape[4]});
  return node.Emit(relax::PermuteDims(plain, {0, 2, 1, 3}));
}

}  // namespace

namespace {

/// Query, keys and values of the first three inputs, with the columns of the bias.
AttentionSpec ReadHeads(const NodeContext& node, size_t bias) {
  const int64_t heads = node.RequiredInt("num_heads");
  AttentionSpec spec;
  if (node.Rank(0) == 5) {
    const Expr packed = node.X(0);
    spec.query = UnpackHeads(node, packed, 0);
    spec.key = UnpackHeads(node, packed, 1);
    spec.value = UnpackHeads(node, packed, 2);
    if (node.Has(bias)) node.Unsupported("a bias of packed projections: add it before they are packed");
    return spec;
  }
  PrimExpr offset = I64(0);
  // Columns of the bias go with the projections, one after another.
  const auto biased = [&](Expr x) {
    if (!node.Has(bias) || node.Rank(x) != 3) return x;
    const PrimExpr end = node.Simplify(offset + node.Shape(x)[2]);
    x = SumOf(node, x, Columns(node, node.X(bias), offset, end));
    offset = end;
    return x;
  };
  spec.query = SplitHeads(node, biased(node.X(0)), heads);
  if (node.Rank(1) == 5) {
    spec.key = UnpackHeads(node, node.X(1), 0);
    spec.value = UnpackHeads(node, node.X(1), 1);
  } else {
    spec.key = SplitHeads(node, biased(node.X(1)), heads);
    spec.value = SplitHeads(node, biased(node.X(2)), heads);
  }
  Align(node, &spec);
  return spec;
}

Results AttendHeads(const NodeContext& node, const HeadInputs& at) {
  AttentionSpec spec = ReadHeads(node, at.bias);
  if (node.Has(at.past_key) != node.Has(at.past_value)) node.Fail("past_key and past_value go together");
  if (node.Has(at.past_key) && node.Has(at.past_length)) {
    return AttendInCaches(node, spec, at, node.X(at.past_key), node.X(at.past_value));
  }
  if (node.Has(at.indirection)) node.Unsupported("cache_indirection without past_sequence_length: give both");
  PrimExpr before = I64(0);
  if (node.Has(at.past_key)) {
    before = node.Shape(at.past_key)[2];
    spec.key = AfterPast(node, node.X(at.past_key), spec.key);
    spec.value = AfterPast(node, node.X(at.past_value), spec.value);
  }
  const AttentionResult result = AttendWithMask(node, spec, before, at.mask, at.attention_bias);
  return {MergeHeads(node, result.y), spec.key, spec.value, result.biased};
}

}  // namespace

Results ConvertMultiHeadAttention(const NodeContext& node) {
  return AttendHeads(
      node,
      {.bias = 3, .mask = 4, .attention_bias = 5, .past_key = 6, .past_value = 7, .past_length = 8, .indirection = 9});
}

Results ConvertDecoderMaskedSelfAttention(const NodeContext& node) {
  constexpr HeadInputs kInputs = {.mask = 3, .attention_bias = 5, .past_length = 6, .indirection = 8};
  if (node.Flag("do_rotary", false)) node.Unsupported("do_rotary: export the model with RotaryEmbedding nodes");
  if (!node.Flag("past_present_share_buffer", false)) {
    node.Unsupported("caches that are not written in place: set past_present_share_buffer to 1");
  }
  const Expr projected = Projected(node);
  const Array<PrimExpr> sizes = SizesOfProjections(node, node.Shape(projected)[2]);
  const AttentionSpec spec{.query = ProjectedHeads(node, projected, sizes, 0),
                           .key = ProjectedHeads(node, projected, sizes, 1),
                           .value = ProjectedHeads(node, projected, sizes, 2)};
  // Keys lie in blocks of 16 bytes, block by block: (b, heads, d / block, capacity, block).
  const Expr keys = HalfOfPast(node, 4, 0);
  const Array<PrimExpr> shape = node.Shape(keys);
  constexpr int64_t kBits = 128;
  const PrimExpr block = I64(kBits / node.DType(keys).bits());
  if (const auto size = AsConstInt(shape[3]); size && *size % *AsConstInt(block) != 0) {
    node.Fail("heads of " + std::to_string(*size) + " are no blocks of 16 bytes");
  }
  const PrimExpr blocks = node.Simplify(FloorDiv(shape[3], block));
  const auto moved = [&](const Expr& x, const PrimExpr& second, const PrimExpr& third) {
    const Expr parts = node.Reshaped(x, {shape[0], shape[1], second, third, block});
    return node.Reshaped(node.Emit(relax::PermuteDims(parts, {0, 1, 3, 2, 4})), shape);
  };
  const Results results = AttendInCaches(node, spec, kInputs, moved(keys, blocks, shape[2]), HalfOfPast(node, 4, 1));
  const Expr key = moved(results[1]->expr, shape[2], blocks);
  return {results[0], node.Emit(relax::Stack({key, results[2]->expr}, 0))};
}

Results ConvertDecoderMaskedMultiHeadAttention(const NodeContext& node) {
  return AttendHeads(
      node,
      {.bias = 10, .mask = 3, .attention_bias = 4, .past_key = 5, .past_value = 6, .past_length = 7, .indirection = 9});
}

namespace {

/// No head is as large.
constexpr int64_t kLargestHead = int64_t{1} << 20;

/// Input 0 turned by the angles whose cosines and sines `angles` gives, of tables that are inputs 2 and 3 and
/// whose rows are `half` long.
Expr Turned(const NodeContext& node, const PrimExpr& half,
            const std::function<Expr(size_t table, const PrimExpr& length)>& angles) {
  // Nothing depends on is_packed_batching and scale, ONNX Runtime's result neither.
  const bool merged = node.Rank(0) == 3;
  int64_t heads = node.Int("num_heads", 0);
  const int64_t given = node.Int("rotary_embedding_dim", 0);
  const PrimExpr rotary = given == 0 ? node.Simplify(half * 2) : I64(given);
  const auto known = AsConstInt(half), width = AsConstInt(node.Shape(0).back());
  Expr x = node.X(0);
  if (merged && given == 0 && known && width) heads = *width / std::max<int64_t>(1, 2 * *known);
  if (merged && given == 0 && heads == 0 && !(known && width)) {
    // As many heads as the run has columns for.
    const Array<PrimExpr> shape = node.Shape(0);
    const PrimExpr count = node.Simplify(FloorDiv(shape[2], Max(rotary, I64(1))));
    x = WithDim(node, x, 2, node.Simplify(count * rotary));
    x = node.Emit(relax::PermuteDims(node.Reshaped(x, {shape[0], shape[1], count, rotary}), {0, 2, 1, 3}));
  } else {
    x = SplitHeads(node, x, heads);
  }
  const PrimExpr length = node.Shape(x)[2];
  const Expr y = Rotate(node, x, angles(2, length), angles(3, length), rotary, node.Flag("interleaved", false));
  return merged ? MergeHeads(node, y) : y;
}

}  // namespace

Results ConvertContribRotaryEmbedding(const NodeContext& node) {
  const auto angles = [&](size_t table, const PrimExpr& length) {
    Expr positions = node.X(1);
    if (node.Rank(positions) == 1) {
      // The position of the first.
      const Expr row = node.CastTo(Positions(node, length), node.DType(positions));
      const Expr first = node.WithSizes(positions, 0, {1}, "positions");
      positions = node.Reshaped(node.Emit(relax::Add(row, first)), {I64(1), length});
    }
    return AnglesAt(node, table, positions);
  };
  return {Turned(node, node.Shape(2)[1], angles)};
}

Results ConvertMRotaryEmbedding(const NodeContext& node) {
  const Array<PrimExpr> shape = node.Shape(1);
  if (shape.size() != 3) node.Fail("its positions must be of rank 3");
  const auto sections = node.Ints("mrope_section").value_or(std::vector<int64_t>{});
  const auto is_size = [](int64_t size) { return size >= 0 && size <= kLargestHead; };
  if (sections.size() != 3 || !std::all_of(sections.begin(), sections.end(), is_size)) {
    node.Fail("mrope_section must be three sizes");
  }
  const int64_t half = sections[0] + sections[1] + sections[2];
  if (const auto width = AsConstInt(node.Shape(2)[1]); width && *width != half) {
    node.Fail("mrope_section must be three numbers whose sum is " + std::to_string(*width));
  }
  const bool mixed = node.Flag("mrope_layout", false);
  // Whether column `i` of the tables is looked up by positions of `stream`: time, height, width.
  const auto belongs = [&](int64_t i, int64_t stream) {
    if (mixed) return i % 3 == stream && i < 3 * sections[stream];
    const int64_t begin = stream == 1 ? sections[0] : sections[0] + sections[1];
    return i >= begin && i < begin + sections[stream];
  };
  const auto angles = [&](size_t table, const PrimExpr&) {
    const auto by_stream = [&](int64_t stream) {
      const Expr part = node.Emit(relax::StridedSlice(node.X(1), {0}, {I64(stream)}, {I64(stream + 1)}, {I64(1)}));
      return WithDim(node, AnglesAt(node, table, node.Reshaped(part, {shape[1], shape[2]})), 2, I64(half));
    };
    Expr all = by_stream(0);
    for (const int64_t stream : {1, 2}) {
      if (sections[stream] == 0) continue;
      std::vector<double> columns;
      for (int64_t i = 0; i < half; ++i) columns.push_back(belongs(i, stream) ? 1 : 0);
      const Expr mask = node.CastTo(node.ConstantFloats(columns, {half}, DataType::Float(32)), DataType::Bool());
      all = node.Emit(relax::Where(mask, by_stream(stream), all));
    }
    return all;
  };
  return {Turned(node, I64(half), angles)};
}

}  // namespace deuteron::onnx
