/// \file
/// Attention of com.microsoft: with projections (Attention), of given queries, keys and values (MultiHeadAttention),
/// with fewer heads of keys and values, rotations and caches (GroupQueryAttention).
#include <algorithm>
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/quantized.h"
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

const DataType kIndex = DataType::Int(32);

/// Columns [begin, end) of the last axis.
Expr Columns(const NodeContext& node, const Expr& x, int64_t begin, int64_t end) {
  return node.Emit(relax::StridedSlice(x, {node.Rank(x) - 1}, {I64(begin)}, {I64(end)}, {I64(1)}));
}

/// 0, 1, … below `count`, int32.
Expr Positions(const NodeContext& node, const PrimExpr& count) {
  return node.Emit(relax::Arange(I64(0), count, I64(1), kIndex));
}

/// 0 where `visible`, `otherwise` elsewhere.
Expr BiasOf(const NodeContext& node, const Expr& visible, double otherwise, DataType dtype) {
  return node.Emit(relax::Where(visible, node.Scalar(dtype, 0), node.Scalar(dtype, otherwise)));
}

/// What input `mask` (of 0 where a key is hidden, or of the lengths of rows) adds to the scores of `batch` rows of
/// `keys` keys.
Expr MaskBias(const NodeContext& node, size_t mask, const PrimExpr& batch, const PrimExpr& queries,
              const PrimExpr& keys, DataType dtype) {
  const double hidden = node.Float("mask_filter_value", -10000.0);
  const Expr given = node.CastTo(node.X(mask), kIndex);
  const Array<PrimExpr> shape = node.Shape(given);
  const PrimExpr one = I64(1);
  if (shape.size() > 1) {
    Expr visible = node.Emit(relax::Greater(given, node.Scalar(kIndex, 0)));
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
  const auto rows = [&](const PrimExpr& begin) {
    const Expr part = node.Emit(relax::StridedSlice(given, {0}, {begin}, {node.Simplify(begin + batch)}, {one}));
    return node.Reshaped(part, {batch, one});
  };
  Expr visible;
  if (node.analyzer().CanProveEqual(shape[0], batch)) {
    visible = relax::Less(positions, node.Reshaped(given, {batch, one}));
  } else if (node.analyzer().CanProveEqual(shape[0], batch * 2)) {
    visible = relax::LogicalAnd(relax::Less(positions, rows(I64(0))), relax::GreaterEqual(positions, rows(batch)));
  } else {
    node.Unsupported("a mask of " + relax::Describe(shape[0]) + " for " + relax::Describe(batch) + " rows");
  }
  return BiasOf(node, node.Reshaped(node.Emit(visible), {batch, one, one, keys}), hidden, dtype);
}

/// Fills in what the operators share: the scale, the mask, the bias, who may look at whom. The score's output.
Expr AttendWithMask(const NodeContext& node, AttentionSpec spec, const PrimExpr& past, size_t mask, size_t bias) {
  const DataType dtype = node.DType(spec.query);
  const Array<PrimExpr> queries = node.Shape(spec.query);
  const PrimExpr keys = node.Shape(spec.key)[2];
  if (node.Float("scale", 0) != 0) spec.scale = node.Float("scale", 0);
  if (node.Has(mask)) spec.biases.push_back(MaskBias(node, mask, queries[0], queries[2], keys, dtype));
  if (node.Has(bias)) spec.biases.push_back(node.X(bias));
  if (node.Int("unidirectional", 0) != 0) spec.biases.push_back(CausalBias(node, queries[2], keys, past, dtype));
  return MergeHeads(node, Attend(node, spec).y);
}

/// Keys or values after those of the past (b, heads, p, d), if there are any.
Expr AfterPast(const NodeContext& node, const Expr& past, const Expr& x) {
  return past.defined() ? Expr(node.Emit(relax::Concat(Array<Expr>{past, x}, 2))) : x;
}

/// Attention of the projected (b, s, 3 * hidden); the past is input `past`, (2, b, heads, p, d).
Results AttendProjected(const NodeContext& node, const Expr& projected, size_t mask, size_t past, size_t bias) {
  if (node.Int("past_present_share_buffer", 0) != 0) node.Unsupported("past_present_share_buffer");
  if (node.Int("do_rotary", 0) != 0) node.Unsupported("do_rotary");
  const int64_t heads = node.RequiredInt("num_heads");
  const int64_t width = node.StaticDim(projected, 2, "the size of the projections");
  const std::vector<int64_t> sizes =
      node.Ints("qkv_hidden_sizes").value_or(std::vector<int64_t>{width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[0] != sizes[1] || sizes[2] < 1 || sizes[0] > width / 2 ||
      sizes[2] != width - 2 * sizes[0]) {
    node.Fail("qkv_hidden_sizes do not fit projections of " + std::to_string(width));
  }
  const auto part = [&](int64_t begin, int64_t size) {
    return SplitHeads(node, Columns(node, projected, begin, begin + size), heads);
  };
  const Expr key = part(sizes[0], sizes[1]);
  const Expr value = part(sizes[0] + sizes[1], sizes[2]);
  Expr past_key;
  Expr past_value;
  PrimExpr before = I64(0);
  if (node.Has(past)) {
    const Array<PrimExpr> shape = node.Shape(past);
    if (shape.size() != 5) node.Fail("the past must be of rank 5");
    before = shape[3];
    const auto half = [&](int64_t index) {
      const Expr slice = node.Emit(relax::StridedSlice(node.X(past), {0}, {I64(index)}, {I64(index + 1)}, {I64(1)}));
      return node.Reshaped(slice, {shape[1], shape[2], shape[3], shape[4]});
    };
    past_key = half(0);
    past_value = half(1);
  }
  const AttentionSpec spec{
      .query = part(0, sizes[0]), .key = AfterPast(node, past_key, key), .value = AfterPast(node, past_value, value)};
  Results results = {AttendWithMask(node, spec, before, mask, bias)};
  if (node.Wants(1)) results.emplace_back(node.Emit(relax::Stack({spec.key, spec.value}, 0)));
  return results;
}

}  // namespace

Results ConvertContribAttention(const NodeContext& node) {
  Expr projected = node.Emit(relax::Matmul(node.X(0), node.X(1)));
  if (node.Has(2)) projected = node.Emit(relax::Add(projected, node.X(2)));
  return AttendProjected(node, projected, 3, 4, 5);
}

Results ConvertQAttention(const NodeContext& node) {
  const Expr scale = node.Emit(relax::Multiply(MatrixParameter(node, 3, true), MatrixParameter(node, 4, false)));
  const Expr product = IntegerProduct(node, node.X(0), node.X(1), MatrixParameter(node, 6, true),
                                      MatrixParameter(node, 7, false), scale);
  const Expr projected = node.Emit(relax::Add(product, node.X(2)));
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

Results ConvertMultiHeadAttention(const NodeContext& node) {
  if (node.Has(8) || node.Has(9)) node.Unsupported("a cache that is written in place");
  if (node.Wants(3)) node.Unsupported("the output qk");
  const int64_t heads = node.RequiredInt("num_heads");
  AttentionSpec spec;
  if (node.Rank(0) == 5) {
    const Expr packed = node.X(0);
    spec.query = UnpackHeads(node, packed, 0);
    spec.key = UnpackHeads(node, packed, 1);
    spec.value = UnpackHeads(node, packed, 2);
    if (node.Has(3)) node.Unsupported("a bias of packed projections");
  } else {
    int64_t offset = 0;
    // Columns of the bias go with the projections, one after another.
    const auto biased = [&](Expr x) {
      if (!node.Has(3) || node.Rank(x) != 3) return x;
      const int64_t width = node.StaticDim(x, 2, "the size of a projection");
      x = node.Emit(relax::Add(x, Columns(node, node.X(3), offset, offset + width)));
      offset += width;
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
  }
  PrimExpr before = I64(0);
  if (node.Has(6) != node.Has(7)) node.Fail("past_key and past_value go together");
  if (node.Has(6)) {
    before = node.Shape(6)[2];
    spec.key = AfterPast(node, node.X(6), spec.key);
    spec.value = AfterPast(node, node.X(7), spec.value);
  }
  return {AttendWithMask(node, spec, before, 4, 5), spec.key, spec.value};
}

namespace {

/// Angles of the rows at `positions` (b, s) of input `cache`.
Expr AnglesAt(const NodeContext& node, size_t cache, const Expr& positions) {
  const Expr table = node.X(cache);
  return node.Emit(relax::Take(table, node.Checked(positions, {node.Shape(table)[0]}), 0, "wrap"));
}

}  // namespace

Results ConvertContribRotaryEmbedding(const NodeContext& node) {
  if (node.Int("is_packed_batching", 0) != 0) node.Unsupported("is_packed_batching");
  if (const double scale = node.Float("scale", 1.0); scale != 1.0) node.Unsupported("a scale of positions");
  const bool merged = node.Rank(0) == 3;
  int64_t heads = node.Int("num_heads", 0);
  int64_t rotary = node.Int("rotary_embedding_dim", 0);
  const int64_t half = node.StaticDim(node.X(2), 1, "the size of a head");
  if (merged && rotary == 0)
    heads = node.StaticDim(node.X(0), 2, "the size of the heads") / std::max<int64_t>(1, 2 * half);
  if (rotary == 0) rotary = 2 * half;
  const Expr x = SplitHeads(node, node.X(0), heads);
  const Array<PrimExpr> shape = node.Shape(x);
  Expr positions = node.X(1);
  if (node.Rank(positions) == 1) {
    // The position of the first.
    const Expr row = node.CastTo(Positions(node, shape[2]), node.DType(positions));
    positions = node.Reshaped(node.Emit(relax::Add(row, positions)), {I64(1), shape[2]});
  }
  const bool interleaved = node.Int("interleaved", 0) != 0;
  const Expr y = Rotate(node, x, AnglesAt(node, 2, positions), AnglesAt(node, 3, positions), rotary, interleaved);
  return {merged ? MergeHeads(node, y) : y};
}

namespace {

/// GroupQueryAttention: keys and values of a row are written into its cache after those that the row has, so that rows
/// of a batch may have different numbers of them.
class GroupedAttention {
 public:
  explicit GroupedAttention(const NodeContext& node)
      : node_(node), heads_(node.RequiredInt("num_heads")), kv_heads_(node.RequiredInt("kv_num_heads")) {
    for (const char* type : {"k_quant_type", "v_quant_type"}) {
      if (node.Str(type, "NONE") != "NONE") node.Unsupported("a quantised cache");
    }
    if (node.Int("sliding_window_cache", 0) != 0) node.Unsupported("sliding_window_cache");
    if (node.Wants(3)) node.Unsupported("the output output_qk");
    if (heads_ < 1 || kv_heads_ < 1) node.Fail("the numbers of heads must be positive");
    ReadProjections();
    batch_ = node.Shape(query_)[0];
    length_ = node.Shape(query_)[2];
    // Keys before the new ones, in each row; fewer than there are queries in all where rows are filled up.
    const Expr last = node.CastTo(node.Reshaped(node.X(5), {batch_, I64(1)}), kIndex);
    const Expr new_rows = node.CastTo(Count(length_), kIndex);
    const Expr before = relax::Subtract(relax::Add(last, node.Scalar(kIndex, 1)), new_rows);
    past_ = node.Emit(relax::Maximum(before, node.Scalar(kIndex, 0)));
  }

  Results Convert() {
    const Array<PrimExpr> row = {I64(1), length_};
    const Expr positions = node_.Emit(relax::Add(past_, node_.Reshaped(Positions(node_, length_), row)));
    Normalise();
    if (node_.Int("do_rotary", 0) != 0) Turn(positions);
    PrimExpr capacity = node_.Dim(6, "total_sequence_length");
    if (node_.Has(3)) capacity = node_.Simplify(Max(node_.Shape(3)[2], capacity));
    key_ = Written(key_, 3, capacity);
    value_ = Written(value_, 4, capacity);
    AttentionSpec spec{.query = query_, .key = key_, .value = value_, .softcap = node_.Float("softcap", 0)};
    if (node_.Float("scale", 0) != 0) spec.scale = node_.Float("scale", 0);
    if (node_.Has(10)) spec.biases.push_back(BiasOfKeys(capacity));
    spec.biases.push_back(Visibility(positions, capacity));
    if (node_.Has(11)) {
      spec.sink = node_.X(11);
    } else if (node_.Int("smooth_softmax", -1) == 1) {
      spec.sink = node_.Emit(relax::Zeros({I64(heads_)}, node_.DType(query_)));
    }
    return {MergeHeads(node_, Attend(node_, spec).y), key_, value_};
  }

 private:
  void ReadProjections() {
    const Expr x = node_.X(0);
    if (node_.Has(1)) {
      query_ = SplitHeads(node_, x, heads_);
      key_ = SplitHeads(node_, node_.X(1), kv_heads_);
      value_ = SplitHeads(node_, node_.X(2), kv_heads_);
      return;
    }
    const int64_t size = node_.StaticDim(x, 2, "the size of the projections") / (heads_ + 2 * kv_heads_);
    query_ = SplitHeads(node_, Columns(node_, x, 0, heads_ * size), heads_);
    const int64_t key = heads_ * size;
    const int64_t value = key + kv_heads_ * size;
    key_ = SplitHeads(node_, Columns(node_, x, key, value), kv_heads_);
    value_ = SplitHeads(node_, Columns(node_, x, value, value + kv_heads_ * size), kv_heads_);
  }

  /// A dimension as a tensor of rank 0.
  Expr Count(const PrimExpr& dim) {
    return node_.Reshaped(node_.importer()->ExprOf(Value(SymbolicVector({dim})), Span()), {});
  }

  void Normalise() {
    if (!node_.Has(14) && !node_.Has(15)) return;
    const double epsilon = node_.Float("qk_norm_epsilon", 1e-6);
    query_ = node_.Emit(relax::nn::RMSNorm(query_, node_.X(14), {3}, epsilon));
    key_ = node_.Emit(relax::nn::RMSNorm(key_, node_.X(15), {3}, epsilon));
  }

  void Turn(const Expr& positions) {
    const Expr at = node_.Has(9) ? node_.X(9) : positions;
    const Expr cosines = AnglesAt(node_, 7, at);
    const Expr sines = AnglesAt(node_, 8, at);
    const int64_t rotary = 2 * node_.StaticDim(node_.X(7), 1, "the size of a head");
    const bool interleaved = node_.Int("rotary_interleaved", 0) != 0;
    query_ = Rotate(node_, query_, cosines, sines, rotary, interleaved);
    key_ = Rotate(node_, key_, cosines, sines, rotary, interleaved);
  }

  /// The cache that input `past` is (empty if it is left out), grown to `capacity`, with the new rows `x` in it.
  Expr Written(const Expr& x, size_t past, const PrimExpr& capacity) {
    const DataType dtype = node_.DType(x);
    const Array<PrimExpr> shape = node_.Shape(x);
    if (!node_.Has(past) && node_.analyzer().CanProveEqual(capacity, length_)) return x;
    Expr cache =
        node_.Has(past) ? node_.X(past) : node_.Emit(relax::Zeros({shape[0], shape[1], I64(0), shape[3]}, dtype));
    const PrimExpr more = node_.Simplify(capacity - node_.Shape(cache)[2]);
    if (!IsZero(more)) {
      const Expr rest = node_.Emit(relax::Zeros({shape[0], shape[1], more, shape[3]}, dtype));
      const Expr grown = node_.Emit(relax::Concat(Array<Expr>{cache, rest}, 2));
      cache = node_.WithShape(grown, {shape[0], shape[1], capacity, shape[3]});
    }
    const Expr row = node_.Reshaped(Positions(node_, capacity), {I64(1), capacity});
    const Expr from = node_.Emit(relax::Subtract(row, past_));
    const Expr greatest = node_.Emit(relax::Subtract(node_.CastTo(Count(length_), kIndex), node_.Scalar(kIndex, 1)));
    const Expr inside = relax::Minimum(relax::Maximum(from, node_.Scalar(kIndex, 0)), greatest);
    const Array<PrimExpr> column = {batch_, I64(1), capacity, I64(1)};
    const Array<PrimExpr> all = {shape[0], shape[1], capacity, shape[3]};
    const Expr index = node_.Emit(
        relax::BroadcastTo(node_.Reshaped(node_.CastTo(node_.Emit(inside), DataType::Int(64)), column), all));
    const Expr rows = node_.Emit(relax::GatherElements(x, index, 2));
    const Expr is_new =
        relax::LogicalAnd(relax::GreaterEqual(from, node_.Scalar(kIndex, 0)), relax::LessEqual(from, greatest));
    // Behind them nothing is.
    const Expr is_old = node_.Reshaped(node_.Emit(relax::Less(from, node_.Scalar(kIndex, 0))), column);
    const Expr old = relax::Where(is_old, cache, node_.Scalar(dtype, 0));
    return node_.Emit(relax::Where(node_.Reshaped(node_.Emit(is_new), column), rows, old));
  }

  /// -inf for keys after a query and, with a window, long before it.
  Expr Visibility(const Expr& positions, const PrimExpr& capacity) {
    const Expr key = node_.Reshaped(Positions(node_, capacity), {I64(1), I64(1), capacity});
    const Expr query = node_.Reshaped(positions, {batch_, length_, I64(1)});
    const bool causal = node_.Int("causal", 1) != 0;
    const Expr end =
        node_.Reshaped(node_.Emit(relax::Add(past_, node_.CastTo(Count(length_), kIndex))), {batch_, I64(1), I64(1)});
    Expr visible = causal ? relax::LessEqual(key, query) : relax::Less(key, end);
    if (const int64_t window = node_.Int("local_window_size", -1); window > 0) {
      const Expr first = relax::Subtract(query, node_.Scalar(kIndex, static_cast<double>(window)));
      visible = relax::LogicalAnd(visible, relax::Greater(key, first));
    }
    const Array<PrimExpr> shape = {batch_, I64(1), causal ? length_ : I64(1), capacity};
    return BiasOf(node_, node_.Reshaped(node_.Emit(visible), shape), -std::numeric_limits<double>::infinity(),
                  node_.DType(query_));
  }

  /// The bias that is given, for as many keys as the cache has.
  Expr BiasOfKeys(const PrimExpr& capacity) {
    const Expr bias = node_.X(10);
    Array<PrimExpr> shape = node_.Shape(bias);
    if (node_.analyzer().CanProveEqual(shape[3], capacity)) return bias;
    shape.Set(3, node_.Simplify(capacity - shape[3]));
    const Expr rest = node_.Emit(relax::Zeros(shape, node_.DType(bias)));
    shape.Set(3, capacity);
    return node_.WithShape(node_.Emit(relax::Concat(Array<Expr>{bias, rest}, 3)), shape);
  }

  const NodeContext& node_;
  int64_t heads_;
  int64_t kv_heads_;
  Expr query_, key_, value_;
  PrimExpr batch_, length_;
  /// (batch, 1), int32: keys of each row before the new ones.
  Expr past_;
};

}  // namespace

Results ConvertGroupQueryAttention(const NodeContext& node) { return GroupedAttention(node).Convert(); }

}  // namespace deuteron::onnx
