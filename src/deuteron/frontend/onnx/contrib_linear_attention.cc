/// \file
/// Attention whose memory is a matrix a head, and the causal convolutions before it, of com.microsoft and, from
/// operator set 27 on, of the standard: as builders of language models with recurrent layers write them.
#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/linear_attention.h"
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
class RecurrentMemory {
 public:
  RecurrentMemory(const NodeContext& node, const RecurrentSpec& spec) : node_(node), spec_(spec) {}

  Results Run() {
    const PrimExpr tokens = node_.Shape(spec_.key)[2];
    const auto step = [&](const PrimExpr& number, const Results& before) {
      // Bounds that hold show that it is inside.
      at_ = node_.Simplify(Min(number, tokens - I64(1)));
      const Expr state = After(before[0]->expr);
      LoopStep result;
      result.states.emplace_back(state);
      result.outputs.emplace_back(Asked(state));
      return result;
    };
    const Results results = EmitLoop(node_, tokens, Value(), {Value(spec_.state)}, step);
    return {node_.Emit(relax::PermuteDims(results[1]->expr, {1, 0, 2})), results[0]};
  }

 private:
  /// This token's part of `x`, whose axis `axis` is the tokens'.
  Expr Now(const Expr& x, int64_t axis) {
    return node_.Emit(relax::StridedSlice(x, {axis}, {at_}, {at_ + I64(1)}, {I64(1)}, /*assume_inbound=*/true));
  }
  Expr Column(const Expr& row) { return node_.Emit(relax::PermuteDims(row, {0, 1, 3, 2})); }

  Expr After(Expr state) {
    if (spec_.decay.defined()) {
      const Array<PrimExpr> shape = node_.Shape(state);
      Expr kept = node_.Emit(relax::Exp(Column(Now(spec_.decay, 2))));
      const PrimExpr own = node_.Shape(kept)[2];
      // One for all, or one a row: the run tells.
      if (!IsOne(own) && !node_.analyzer().CanProveEqual(own, shape[2])) {
        kept = node_.Emit(relax::BroadcastTo(kept, {shape[0], shape[1], shape[2], I64(1)}));
      }
      state = node_.Emit(relax::Multiply(state, kept));
    }
    const Expr key = Now(spec_.key, 2);
    Expr value = Now(spec_.value, 2);
    if (spec_.beta.defined()) {
      const Expr known = node_.Emit(relax::Matmul(key, state));
      value = node_.Emit(relax::Multiply(relax::Subtract(value, known), Now(spec_.beta, 2)));
    }
    return node_.Emit(relax::Add(state, relax::Multiply(Column(key), value)));
  }

  /// (b, heads · e)
  Expr Asked(const Expr& state) {
    const Array<PrimExpr> shape = node_.Shape(state);
    const Expr query = node_.Reshaped(Now(spec_.query, 3), {shape[0], I64(spec_.heads), I64(spec_.each), shape[2]});
    const Expr y = node_.Emit(relax::Matmul(query, state));
    return node_.Reshaped(y, {shape[0], node_.Simplify(I64(spec_.heads * spec_.each) * shape[3])});
  }

  const NodeContext& node_;
  const RecurrentSpec& spec_;
  /// The token that is converted.
  PrimExpr at_;
};

}  // namespace

Results RecurrentAttention(const NodeContext& node, const RecurrentSpec& spec) {
  return RecurrentMemory(node, spec).Run();
}

bool Decays(const NodeContext& node, const std::string& rule) {
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") {
    node.Fail("update_rule '" + rule + "' is unknown");
  }
  return rule == "gated" || rule == "gated_delta";
}

bool TakesDifferences(const std::string& rule) { return rule == "delta" || rule == "gated_delta"; }

namespace {

/// Queries (b, heads, t, d) as (b, heads of keys, queries of each, t, d), times the scale.
void ReadQueries(const NodeContext& node, const Expr& x, int64_t asking, RecurrentSpec* spec) {
  const Array<PrimExpr> shape = node.Shape(x);
  const double given = node.Float("scale", 0);
  const Expr scale = given != 0 ? node.Scalar(kStateDType, given) : relax::Rsqrt(node.ScalarOf(kStateDType, shape[3]));
  Expr query = node.Emit(relax::Multiply(x, scale));
  if (asking < spec->heads) query = node.Emit(relax::Repeat(query, spec->heads / asking, 1));
  spec->each = std::max<int64_t>(1, asking / spec->heads);
  spec->query = node.Reshaped(query, {shape[0], I64(spec->heads), I64(spec->each), shape[2], shape[3]});
}

}  // namespace

Results ConvertLinearAttention(const NodeContext& node) {
  RefuseWindow(node);
  const std::string rule = node.Str("update_rule", "gated_delta");
  RecurrentSpec spec{.heads = node.RequiredInt("kv_num_heads")};
  const int64_t asking = node.RequiredInt("q_num_heads");
  if (spec.heads < 1 || asking < 1 || (asking % spec.heads != 0 && spec.heads % asking != 0)) {
    node.Fail("q_num_heads and kv_num_heads must divide one another");
  }
  const bool decays = Decays(node, rule);
  const auto heads = [&](size_t input, int64_t count) {
    return SplitHeads(node, node.CastTo(node.X(input), kStateDType), count);
  };
  ReadQueries(node, heads(0, asking), asking, &spec);
  const Array<PrimExpr> queries = node.Shape(spec.query);
  // Of the batch and the tokens of the queries.
  const auto aligned = [&](const Expr& x) { return WithDim(node, WithDim(node, x, 0, queries[0]), 2, queries[3]); };
  spec.key = WithDim(node, aligned(heads(1, spec.heads)), 3, queries[4]);
  spec.value = aligned(heads(2, spec.heads));
  if (decays) spec.decay = aligned(heads(4, spec.heads));
  if (TakesDifferences(rule)) {
    const Array<PrimExpr> shape = node.Shape(5);
    const Expr rows = node.Emit(relax::PermuteDims(node.CastTo(node.X(5), kStateDType), {0, 2, 1}));
    spec.beta = aligned(node.Reshaped(rows, {shape[0], shape[2], shape[1], I64(1)}));
    // One for all heads, or one each: the run may tell.
    if (!AsConstInt(shape[2])) {
      spec.beta = node.Emit(relax::BroadcastTo(spec.beta, {queries[0], I64(spec.heads), queries[3], I64(1)}));
    }
  }
  const Array<PrimExpr> shape = {queries[0], I64(spec.heads), queries[4], node.Shape(spec.value)[3]};
  spec.state = node.Has(3) ? node.WithShape(node.CastTo(node.X(3), kStateDType), shape)
                           : Expr(node.Emit(relax::Zeros(shape, kStateDType)));
  const Results results = RecurrentAttention(node, spec);
  const DataType state = node.Has(3) ? node.DType(3) : node.DType(0);
  return {node.CastTo(results[0]->expr, node.DType(0)), node.CastTo(results[1]->expr, state)};
}

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
