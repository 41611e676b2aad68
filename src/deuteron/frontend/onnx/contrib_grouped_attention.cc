/// \file
/// GroupQueryAttention of com.microsoft: with fewer heads of keys and values, rotations and caches.
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// GroupQueryAttention: keys and values of a row are written into its cache after those that the row has, so that rows
/// of a batch may have different numbers of them.
class GroupedAttention {
 public:
  explicit GroupedAttention(const NodeContext& node)
      : node_(node), heads_(node.RequiredInt("num_heads")), kv_heads_(node.RequiredInt("kv_num_heads")) {
    for (const char* type : {"k_quant_type", "v_quant_type"}) {
      if (node.Str(type, "NONE") != "NONE")
        node.Unsupported("a quantised cache: export the model with a cache of floats");
    }
    if (node.Flag("sliding_window_cache: export the model with a cache of all tokens", false))
      node.Unsupported("sliding_window_cache: export the model with a cache of all tokens");
    if (heads_ < 1 || kv_heads_ < 1) node.Fail("the numbers of heads must be positive");
    ReadProjections();
    AttentionSpec spec{.query = query_, .key = key_, .value = value_};
    Align(node, &spec);
    // New keys and values are as many as the queries.
    key_ = WithDim(node, spec.key, 2, node.Shape(query_)[2]);
    value_ = WithDim(node, spec.value, 2, node.Shape(query_)[2]);
    batch_ = node.Shape(query_)[0];
    length_ = node.Shape(query_)[2];
    // Keys before the new ones, in each row; fewer than there are queries in all where rows are filled up.
    const Expr last = node.CastTo(node.Reshaped(node.X(5), {batch_, I64(1)}), kPosition);
    const Expr new_rows = node.CastTo(Count(length_), kPosition);
    total_ = node.Emit(relax::Add(last, node.Scalar(kPosition, 1)));
    const Expr before = relax::Subtract(total_, new_rows);
    past_ = node.Emit(relax::Maximum(before, node.Scalar(kPosition, 0)));
  }

  Results Convert() {
    const Array<PrimExpr> row = {I64(1), length_};
    const Expr positions = node_.Emit(relax::Add(past_, node_.Reshaped(Positions(node_, length_), row)));
    Normalise();
    if (node_.Flag("do_rotary", false)) Turn(positions);
    const PrimExpr total = node_.Dim(6, "total_sequence_length");
    const PrimExpr capacity = node_.Has(3) ? node_.Simplify(Max(node_.Shape(3)[2], total)) : total;
    key_ = Written(key_, 3, capacity);
    value_ = Written(value_, 4, capacity);
    AttentionSpec spec{.query = query_, .key = key_, .value = value_, .softcap = node_.Float("softcap", 0)};
    if (node_.Float("scale", 0) != 0) spec.scale = node_.Float("scale", 0);
    if (node_.Has(10)) spec.biases.push_back(ForKeys(node_, node_.X(10), capacity));
    spec.biases.push_back(Visibility(positions, capacity));
    if (node_.Has(11)) {
      spec.sink = node_.X(11);
    } else if (node_.Int("smooth_softmax", -1) == 1) {
      spec.sink = node_.Emit(relax::Zeros({I64(heads_)}, node_.DType(query_)));
    }
    const AttentionResult result = Attend(node_, spec);
    Results results = {MergeHeads(node_, result.y), key_, value_};
    if (node_.Wants(3)) results.push_back(Scores(result, total));
    return results;
  }

 private:
  /// What the attribute qk_output asks for: scores, 0 where a key is hidden, or their softmax.
  Expr Scores(const AttentionResult& result, const PrimExpr& total) {
    Expr scores = result.weights;
    if (node_.Int("qk_output", 0) != 2) {
      const DataType dtype = node_.DType(result.biased);
      const Expr hidden = node_.Scalar(dtype, -std::numeric_limits<double>::infinity());
      const Expr is_seen = relax::Greater(result.biased, hidden);
      scores = node_.Emit(relax::Where(is_seen, result.biased, node_.Scalar(dtype, 0)));
    }
    if (node_.analyzer().CanProveEqual(node_.Shape(scores)[3], total)) return scores;
    return node_.Emit(relax::StridedSlice(scores, {3}, {I64(0)}, {total}, {I64(1)}));
  }

  void ReadProjections() {
    const Expr x = node_.X(0);
    if (node_.Has(1)) {
      query_ = SplitHeads(node_, x, heads_);
      key_ = SplitHeads(node_, node_.X(1), kv_heads_);
      value_ = SplitHeads(node_, node_.X(2), kv_heads_);
      return;
    }
    const PrimExpr size = node_.Simplify(FloorDiv(node_.Shape(x)[2], I64(heads_ + 2 * kv_heads_)));
    const auto heads = [&](int64_t first, int64_t count) {
      const Expr columns = Columns(node_, x, node_.Simplify(size * first), node_.Simplify(size * (first + count)));
      return SplitHeads(node_, columns, count);
    };
    query_ = heads(0, heads_);
    key_ = heads(heads_, kv_heads_);
    value_ = heads(heads_ + kv_heads_, kv_heads_);
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
    const PrimExpr rotary = node_.Simplify(node_.Shape(7)[1] * 2);
    const bool interleaved = node_.Flag("rotary_interleaved", false);
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
    return WithRows(node_, cache, x, past_, capacity, /*clears=*/true);
  }

  /// -inf for keys after a query and, with a window, long before it.
  Expr Visibility(const Expr& positions, const PrimExpr& capacity) {
    const Expr key = node_.Reshaped(Positions(node_, capacity), {I64(1), I64(1), capacity});
    const Expr query = node_.Reshaped(positions, {batch_, length_, I64(1)});
    const bool causal = node_.Flag("causal", true);
    const Expr end = node_.Reshaped(total_, {batch_, I64(1), I64(1)});
    Expr visible = causal ? relax::LessEqual(key, query) : relax::Less(key, end);
    if (const int64_t window = node_.Int("local_window_size", -1); window > 0) {
      const Expr first = relax::Subtract(query, node_.Scalar(kPosition, static_cast<double>(window)));
      visible = relax::LogicalAnd(visible, relax::Greater(key, first));
    }
    const Array<PrimExpr> shape = {batch_, I64(1), causal ? length_ : I64(1), capacity};
    return BiasOf(node_, node_.Reshaped(node_.Emit(visible), shape), -std::numeric_limits<double>::infinity(),
                  node_.DType(query_));
  }

  const NodeContext& node_;
  int64_t heads_;
  int64_t kv_heads_;
  Expr query_, key_, value_;
  PrimExpr batch_, length_;
  /// (batch, 1), int32: keys of each row before the new ones, and with them.
  Expr past_, total_;
};

}  // namespace

Results ConvertGroupQueryAttention(const NodeContext& node) { return GroupedAttention(node).Convert(); }

}  // namespace deuteron::onnx
