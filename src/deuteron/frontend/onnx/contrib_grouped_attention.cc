/// \file
/// GroupQueryAttention of com.microsoft: with fewer heads of keys and values, rotations and caches; SparseAttention,
/// where blocks of queries see some blocks of keys.
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// GroupQueryAttention: keys and values of a row are written into its cache after those that the row has, so that rows
/// of a batch may have different numbers of them.
class GroupedAttention {
 public:
  /// What else hides keys: for positions of queries (batch, length) and a number of keys a bias of scores. May be null.
  using Mask = std::function<Expr(const Expr& positions, const PrimExpr& keys)>;
  explicit GroupedAttention(const NodeContext& node, Mask mask = nullptr)
      : node_(node),
        mask_(std::move(mask)),
        heads_(node.RequiredInt("num_heads")),
        kv_heads_(node.RequiredInt("kv_num_heads")) {
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
    if (mask_ != nullptr) spec.biases.push_back(mask_(positions, capacity));
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
    // Of caches in blocks what lies behind stays.
    return WithRows(node_, cache, x, past_, capacity, /*clears=*/mask_ == nullptr);
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
  Mask mask_;
  int64_t heads_;
  int64_t kv_heads_;
  Expr query_, key_, value_;
  PrimExpr batch_, length_;
  /// (batch, 1), int32: keys of each row before the new ones, and with them.
  Expr past_, total_;
};

}  // namespace

Results ConvertGroupQueryAttention(const NodeContext& node) { return GroupedAttention(node).Convert(); }

namespace {

/// Which blocks of keys blocks of queries see, (layouts, blocks, blocks) of int8: rows of columns `input + 1` that
/// begin where `input` says, -1 behind their end.
Expr BlocksSeen(const NodeContext& node, size_t input) {
  const Expr begins = node.CastTo(node.X(input), kPosition);
  const Array<PrimExpr> shape = node.Shape(begins);
  if (shape.size() != 2 || node.Rank(input + 1) != 2) node.Fail("its blocks are not rows of columns, of rank 2");
  const PrimExpr layouts = shape[0], blocks = node.Simplify(shape[1] - 1);
  const Expr columns = WithDim(node, node.CastTo(node.X(input + 1), kPosition), 0, layouts);
  const PrimExpr count = node.Shape(columns)[1];
  // The row of each column: how many rows end before it.
  const Expr ends =
      node.WithShape(node.Emit(relax::StridedSlice(begins, {1}, {I64(1)}, {shape[1]}, {I64(1)})), {layouts, blocks});
  const Expr place = node.Reshaped(Positions(node, count), {I64(1), I64(1), count});
  const Expr is_behind = node.Emit(relax::LessEqual(node.Reshaped(ends, {layouts, blocks, I64(1)}), place));
  const Expr row = node.Emit(relax::Sum(node.CastTo(is_behind, kPosition), std::vector<int64_t>{1}));
  const Expr last = node.ScalarOf(kPosition, blocks), zero = node.Scalar(kPosition, 0);
  const Expr is_column = node.Emit(relax::LogicalAnd(relax::Less(row, last), relax::GreaterEqual(columns, zero)));
  const auto index = [&](const Expr& x) {
    const Expr inside = node.Emit(relax::Where(is_column, x, zero));
    return node.CheckedPositions(node.CastTo(inside, DataType::Int(64)), {blocks});
  };
  const Expr layout = node.Emit(relax::BroadcastTo(
      node.Reshaped(node.CastTo(Positions(node, layouts), DataType::Int(64)), {layouts, I64(1)}), {layouts, count}));
  const Expr at = node.Emit(relax::Stack({layout, index(row), index(columns)}, 2));
  const DataType flag = DataType::Int(8);
  const Expr none = node.Emit(relax::Zeros({layouts, blocks, blocks}, flag));
  return node.Emit(relax::ScatterND(none, at, node.CastTo(is_column, flag), "max"));
}

}  // namespace

Results ConvertSparseAttention(const NodeContext& node) {
  const int64_t heads = node.RequiredInt("num_heads"), size = node.RequiredInt("sparse_block_size");
  if (size < 1) node.Fail("sparse_block_size is " + std::to_string(size) + " and has to be at least 1");
  const Expr seen = BlocksSeen(node, 5);
  const Array<PrimExpr> shape = node.Shape(seen);
  const PrimExpr layouts = shape[0], blocks = shape[1];
  if (const auto known = AsConstInt(layouts); known && (*known < 1 || heads % *known != 0)) {
    node.Fail(std::to_string(*known) + " layouts of blocks for " + std::to_string(heads) + " heads");
  }
  const auto mask = [&](const Expr& positions, const PrimExpr& keys) {
    const Array<PrimExpr> queries = node.Shape(positions);
    const Expr width = node.Scalar(kPosition, static_cast<double>(size));
    const auto block = [&](const Expr& at) {
      return node.CheckedPositions(node.Emit(relax::FloorDivide(at, width)), {blocks});
    };
    const Expr rows = node.Emit(relax::Take(seen, block(positions), 1));
    const Expr all = node.Emit(relax::Take(rows, block(Positions(node, keys)), 3));
    // Heads have the layouts in turn.
    const PrimExpr each = node.Simplify(FloorDiv(I64(heads), layouts));
    const Expr by_row = node.Reshaped(node.Emit(relax::PermuteDims(all, {1, 0, 2, 3})),
                                      {queries[0], I64(1), layouts, queries[1], keys});
    const Expr in_turn = node.Emit(relax::BroadcastTo(by_row, {queries[0], each, layouts, queries[1], keys}));
    const Expr by_head = node.Reshaped(in_turn, {queries[0], I64(heads), queries[1], keys});
    return BiasOf(node, node.CastTo(by_head, DataType::Bool()), -std::numeric_limits<double>::infinity(),
                  node.DType(0));
  };
  // As GroupQueryAttention, which is given the last key of each row.
  const Expr counts = node.CastTo(node.X(8), kPosition);
  const auto input = [&](size_t index) { return node.Has(index) ? node.In(index) : Value(); };
  const NodeContext grouped = node.WithInput(5, Value(node.Emit(relax::Subtract(counts, node.Scalar(kPosition, 1)))))
                                  .WithInput(6, input(7))
                                  .WithInput(7, input(9))
                                  .WithInput(8, input(10))
                                  .WithInput(9, Value())
                                  .WithInput(10, Value());
  return GroupedAttention(grouped, mask).Convert();
}

}  // namespace deuteron::onnx
