/// \file
/// Attention whose memory is a matrix a head, and the causal convolutions before it, of com.microsoft and, from
/// operator set 27 on, of the standard: as builders of language models with recurrent layers write them.
#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kStateDType = DataType::Float(32);

void RefuseWindow(const NodeContext& node) {
  if (node.Int("state_window", 0) != 0) {
    node.Unsupported("state_window, which keeps states of several tokens: set it to 0, which keeps the last");
  }
}

/// The tokens one after the other: each changes the state (b, heads, d, e) by its key and value, and asks it.
class LinearAttention {
 public:
  explicit LinearAttention(const NodeContext& node)
      : node_(node), heads_(node.RequiredInt("kv_num_heads")), rule_(node.Str("update_rule", "gated_delta")) {
    RefuseWindow(node);
    const int64_t asking = node.RequiredInt("q_num_heads");
    if (heads_ < 1 || asking < 1 || (asking % heads_ != 0 && heads_ % asking != 0)) {
      node.Fail("q_num_heads and kv_num_heads must divide one another");
    }
    if (rule_ != "linear" && rule_ != "gated" && rule_ != "delta" && rule_ != "gated_delta") {
      node.Fail("update_rule '" + rule_ + "' is unknown");
    }
    const auto heads = [&](size_t input, int64_t count) {
      return SplitHeads(node, node.CastTo(node.X(input), kStateDType), count);
    };
    ReadQueries(heads(0, asking), asking);
    const Array<PrimExpr> queries = node.Shape(query_);
    // Of the batch and the tokens of the queries.
    const auto aligned = [&](const Expr& x) { return WithDim(node, WithDim(node, x, 0, queries[0]), 2, queries[3]); };
    key_ = WithDim(node, aligned(heads(1, heads_)), 3, queries[4]);
    value_ = aligned(heads(2, heads_));
    if (rule_ == "gated" || rule_ == "gated_delta") decay_ = aligned(heads(4, heads_));
    if (rule_ == "delta" || rule_ == "gated_delta") {
      const Array<PrimExpr> shape = node.Shape(5);
      const Expr rows = node.Emit(relax::PermuteDims(node.CastTo(node.X(5), kStateDType), {0, 2, 1}));
      beta_ = aligned(node.Reshaped(rows, {shape[0], shape[2], shape[1], I64(1)}));
      // One for all heads, or one each: the run may tell.
      if (!AsConstInt(shape[2])) {
        beta_ = node.Emit(relax::BroadcastTo(beta_, {queries[0], I64(heads_), queries[3], I64(1)}));
      }
    }
  }

  Results Convert() {
    const Array<PrimExpr> keys = node_.Shape(key_), values = node_.Shape(value_);
    const PrimExpr batch = keys[0], tokens = keys[2];
    const Array<PrimExpr> shape = {batch, I64(heads_), keys[3], values[3]};
    const Expr first = node_.Has(3) ? node_.WithShape(node_.CastTo(node_.X(3), kStateDType), shape)
                                    : Expr(node_.Emit(relax::Zeros(shape, kStateDType)));
    const auto step = [&](const PrimExpr& number, const Results& before) {
      // Bounds that hold show that it is inside.
      at_ = node_.Simplify(Min(number, tokens - I64(1)));
      const Expr state = After(before[0]->expr);
      LoopStep result;
      result.states.emplace_back(state);
      result.outputs.emplace_back(Asked(state));
      return result;
    };
    const Results results = EmitLoop(node_, tokens, Value(), {Value(first)}, step);
    const Expr y = node_.Emit(relax::PermuteDims(results[1]->expr, {1, 0, 2}));
    const DataType state = node_.Has(3) ? node_.DType(3) : node_.DType(0);
    return {node_.CastTo(y, node_.DType(0)), node_.CastTo(results[0]->expr, state)};
  }

 private:
  /// Queries (b, heads, t, d) as (b, heads of keys, queries of each, t, d), times the scale.
  void ReadQueries(const Expr& x, int64_t asking) {
    Array<PrimExpr> shape = node_.Shape(x);
    const double given = node_.Float("scale", 0);
    const Expr scale =
        given != 0 ? node_.Scalar(kStateDType, given) : relax::Rsqrt(node_.ScalarOf(kStateDType, shape[3]));
    query_ = node_.Emit(relax::Multiply(x, scale));
    if (asking < heads_) query_ = node_.Emit(relax::Repeat(query_, heads_ / asking, 1));
    each_ = std::max<int64_t>(1, asking / heads_);
    query_ = node_.Reshaped(query_, {shape[0], I64(heads_), I64(each_), shape[2], shape[3]});
  }

  /// This token's part of `x`, whose axis `axis` is the tokens'.
  Expr Now(const Expr& x, int64_t axis) {
    return node_.Emit(relax::StridedSlice(x, {axis}, {at_}, {at_ + I64(1)}, {I64(1)}, /*assume_inbound=*/true));
  }
  Expr Column(const Expr& row) { return node_.Emit(relax::PermuteDims(row, {0, 1, 3, 2})); }

  Expr After(Expr state) {
    if (decay_.defined()) {
      const Array<PrimExpr> shape = node_.Shape(state);
      Expr kept = node_.Emit(relax::Exp(Column(Now(decay_, 2))));
      const PrimExpr own = node_.Shape(kept)[2];
      // One for all, or one a row: the run tells.
      if (!IsOne(own) && !node_.analyzer().CanProveEqual(own, shape[2])) {
        kept = node_.Emit(relax::BroadcastTo(kept, {shape[0], shape[1], shape[2], I64(1)}));
      }
      state = node_.Emit(relax::Multiply(state, kept));
    }
    const Expr key = Now(key_, 2);
    Expr value = Now(value_, 2);
    if (beta_.defined()) {
      const Expr known = node_.Emit(relax::Matmul(key, state));
      value = node_.Emit(relax::Multiply(relax::Subtract(value, known), Now(beta_, 2)));
    }
    return node_.Emit(relax::Add(state, relax::Multiply(Column(key), value)));
  }

  /// (b, heads · e)
  Expr Asked(const Expr& state) {
    const Array<PrimExpr> shape = node_.Shape(state);
    const Expr query = node_.Reshaped(Now(query_, 3), {shape[0], I64(heads_), I64(each_), shape[2]});
    const Expr y = node_.Emit(relax::Matmul(query, state));
    return node_.Reshaped(y, {shape[0], node_.Simplify(I64(heads_ * each_) * shape[3])});
  }

  const NodeContext& node_;
  int64_t heads_;
  int64_t each_ = 1;
  std::string rule_;
  Expr query_, key_, value_;
  /// (b, heads, t, d or 1), the logarithm of what is kept of a state; (b, heads or 1, t, 1), how much of the new is
  /// taken. Null where the rule has none.
  Expr decay_, beta_;
  /// The token that is converted.
  PrimExpr at_;
};

}  // namespace

Results ConvertLinearAttention(const NodeContext& node) { return LinearAttention(node).Convert(); }

Results ConvertLinearAttentionGate(const NodeContext& node) {
  const DataType dtype = node.DType(0);
  const Expr a = SumOf(node, node.CastTo(node.X(0), kStateDType), node.CastTo(node.X(1), kStateDType));
  const Expr decay = ProductOf(node, node.Emit(relax::nn::Softplus(a)), node.CastTo(node.X(2), kStateDType));
  Results results = {node.CastTo(decay, dtype)};
  if (node.Wants(1)) results.emplace_back(node.Emit(relax::Sigmoid(node.X(3))));
  return results;
}

Results ConvertCausalConvWithState(const NodeContext& node) {
  RefuseWindow(node);
  if (node.Int("ndim", 1) != 1)
    node.Unsupported("a causal convolution along more than one axis: write it as Concat and Conv");
  const bool last = node.Flag("channels_last", false);
  const Array<PrimExpr> given = node.Shape(0);
  if (given.size() < 3) node.Fail("its input must have a batch, channels and a length");
  const PrimExpr channels = node.Shape(1)[0];
  // (batch, length, channels…) ↔ (batch, channels, length)
  const auto channels_second = [&](const Expr& x) -> Expr {
    if (!last) return x;
    const Array<PrimExpr> shape = node.Shape(x);
    return node.Emit(relax::PermuteDims(node.Reshaped(x, {shape[0], shape[1], channels}), {0, 2, 1}));
  };
  const auto back = [&](const Expr& x) -> Expr {
    if (!last) return x;
    Array<PrimExpr> shape = given;
    shape.Set(1, node.Shape(x)[2]);
    return node.Reshaped(node.Emit(relax::PermuteDims(x, {0, 2, 1})), shape);
  };
  const int64_t kernel = node.StaticDim(node.X(1), 2, "the size of the kernel");
  const int64_t dilation = node.Int("dilation", 1);
  if (dilation < 1) node.Fail("a dilation of " + std::to_string(dilation));
  const int64_t before = (kernel - 1) * dilation;
  const Expr x = channels_second(node.X(0));
  const Array<PrimExpr> shape = node.Shape(x);
  const Array<PrimExpr> past_shape = {shape[0], shape[1], I64(before)};
  const Expr past = node.Has(3) ? node.WithShape(channels_second(node.X(3)), past_shape)
                                : Expr(node.Emit(relax::Zeros(past_shape, node.DType(x))));
  const Expr all = node.Emit(relax::Concat({past, x}, 2));
  const auto groups = AsConstInt(channels);
  if (!groups) node.Unsupported("channels of unknown number; fix them with --shape");
  Expr y = node.Emit(relax::nn::Conv1D(all, node.X(1), {.dilation = {dilation}, .groups = *groups}));
  if (node.Has(2)) y = SumOf(node, y, node.Reshaped(node.X(2), {I64(1), channels, I64(1)}));
  const std::string activation = node.Str("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = node.Emit(relax::nn::Silu(y));
  } else if (activation != "none") {
    node.Fail("activation '" + activation + "' is unknown");
  }
  const PrimExpr length = node.Simplify(shape[2] + I64(before));
  const Expr state = node.Emit(relax::StridedSlice(all, {2}, {shape[2]}, {length}, {I64(1)}));
  return {back(y), back(node.WithShape(state, past_shape))};
}

}  // namespace deuteron::onnx
