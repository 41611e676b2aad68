/// \file
/// GatedDeltaNet of com.microsoft: recurrent attention of sequences one after the other.
#include <string>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/linear_attention.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kMemoryDType = DataType::Float(32);

/// Inputs of tokens as (batch, longest, …): what fills a sequence up is 0, which leaves the memory as it is.
class DeltaNet {
 public:
  explicit DeltaNet(const NodeContext& node) : node_(node), rule_(node.Str("update_rule", "gated_delta")) {
    if (node.Wants(2) || node.Int("state_update_capacity", 0) != 0) {
      node.Unsupported("state_update, which has the changes of several tokens: set state_update_capacity to 0");
    }
    // Heads and their sizes are behind the axes of tokens.
    is_packed_ = !node.Has(1);
    if (is_packed_ != !node.Has(2)) node.Fail("key and value go together");
    if (is_packed_ && !node.Has(6)) node.Fail("packed queries, keys and values need initial_state");
    token_axes_ = node.Rank(0) - (is_packed_ ? 1 : 2);
    if (token_axes_ != 1 && token_axes_ != 2) {
      node.Fail("a query of rank " + std::to_string(node.Rank(0)) +
                ", which is neither of tokens nor of a batch of them");
    }
    ReadBatch();
  }

  Results Convert() {
    ReadHeads();
    const bool decays = Decays(node_, rule_);
    if (node_.Flag("qk_l2_norm", false)) {
      spec_.query = OfLengthOne(spec_.query);
      spec_.key = OfLengthOne(spec_.key);
    }
    if (decays) spec_.decay = Decay();
    if (TakesDifferences(rule_)) {
      const std::string activation = node_.Str("beta_activation", "none");
      if (activation != "none" && activation != "sigmoid")
        node_.Fail("beta_activation '" + activation + "' is unknown");
      const Expr beta = Real(5);
      const Expr activated = activation == "none" ? beta : Expr(node_.Emit(relax::Sigmoid(beta)));
      spec_.beta = ByHead(Column(Batched(activated)));
    }
    const double scale = node_.Float("scale", 0);
    const Array<PrimExpr> query = node_.Shape(spec_.query);
    const Expr factor =
        scale != 0 ? node_.Scalar(kMemoryDType, scale) : relax::Rsqrt(node_.ScalarOf(kMemoryDType, query[3]));
    const Array<PrimExpr> keys = {batch_, I64(spec_.heads), longest_, query[3]};
    spec_.query = node_.Reshaped(ForHeads(node_.Emit(relax::Multiply(spec_.query, factor))),
                                 {batch_, I64(spec_.heads), I64(1), longest_, query[3]});
    spec_.key = node_.WithShape(ForHeads(spec_.key), keys);
    const Array<PrimExpr> shape = {batch_, I64(spec_.heads), node_.Shape(spec_.value)[3], query[3]};
    const Expr state = node_.Has(6) ? node_.WithShape(node_.CastTo(node_.X(6), kMemoryDType), shape)
                                    : Expr(node_.Emit(relax::Zeros(shape, kMemoryDType)));
    spec_.state = node_.Emit(relax::PermuteDims(state, {0, 1, 3, 2}));
    const Results results = RecurrentAttention(node_, spec_);
    const Expr y = node_.Reshaped(results[0]->expr, {batch_, longest_, shape[1], shape[2]});
    return {node_.CastTo(Unbatched(y), node_.DType(0)), node_.Emit(relax::PermuteDims(results[1]->expr, {0, 1, 3, 2}))};
  }

 private:
  void ReadBatch() {
    const Array<PrimExpr> shape = node_.Shape(0);
    if (node_.Has(3)) {
      if (token_axes_ != 1) node_.Fail("sequences of different lengths have one axis of tokens");
      tokens_ = shape[0];
      const Expr sums = node_.CastTo(node_.X(3), kPosition);
      batch_ = node_.Simplify(node_.Shape(sums)[0] - 1);
      const auto ends = [&](int64_t from) {
        const PrimExpr end = node_.Simplify(batch_ + I64(from));
        return node_.WithShape(node_.Emit(relax::StridedSlice(sums, {0}, {I64(from)}, {end}, {I64(1)})), {batch_});
      };
      begins_ = ends(0);
      ends_ = ends(1);
      lengths_ = node_.Emit(relax::Subtract(ends_, begins_));
      const Expr most = node_.Emit(relax::Max(lengths_, std::vector<int64_t>{0}, /*keepdims=*/true));
      longest_ = node_.BoundDims(node_.CastTo(most, DataType::Int(64)), "the length of the longest sequence")[0];
      return;
    }
    if (token_axes_ == 2) {
      batch_ = shape[0];
      longest_ = shape[1];
      return;
    }
    if (!node_.Has(6)) node_.Fail("sequences of one length need initial_state, whose first axis is their number");
    batch_ = node_.Shape(6)[0];
    longest_ = node_.Simplify(FloorDiv(shape[0], Max(batch_, I64(1))));
  }

  Expr Real(size_t input) const { return node_.CastTo(node_.X(input), kMemoryDType); }

  /// `x` (tokens…, rest…) as (batch, longest, rest…).
  Expr Batched(const Expr& x) const {
    Array<PrimExpr> shape = {batch_, longest_};
    const Array<PrimExpr> own = node_.Shape(x);
    for (size_t i = token_axes_; i < own.size(); ++i) shape.push_back(own[static_cast<int64_t>(i)]);
    if (!begins_.defined()) return node_.Reshaped(x, shape);
    const Expr place = node_.Reshaped(Positions(node_, longest_), {I64(1), longest_});
    const auto column = [&](const Expr& of_sequence) { return node_.Reshaped(of_sequence, {batch_, I64(1)}); };
    const Expr is_there = node_.Emit(relax::Less(place, column(lengths_)));
    const Expr at = node_.Emit(relax::Where(is_there, relax::Add(place, column(begins_)), node_.Scalar(kPosition, 0)));
    const Expr rows = node_.Emit(relax::Take(x, node_.CheckedPositions(at, {tokens_}), 0));
    Array<PrimExpr> mask = {batch_, longest_};
    for (size_t i = 2; i < shape.size(); ++i) mask.push_back(I64(1));
    return node_.Emit(relax::Where(node_.Reshaped(is_there, mask), rows, node_.Scalar(kMemoryDType, 0)));
  }

  /// The inverse.
  Expr Unbatched(const Expr& y) const {
    Array<PrimExpr> shape = node_.Shape(y);
    if (token_axes_ == 2) return y;
    Array<PrimExpr> flat = {node_.Simplify(batch_ * longest_), shape[2], shape[3]};
    const Expr rows = node_.Reshaped(y, flat);
    if (!begins_.defined()) return node_.WithShape(rows, {node_.Shape(0)[0], shape[2], shape[3]});
    const Expr token = Positions(node_, tokens_);
    const Expr has_ended =
        node_.Emit(relax::LessEqual(node_.Reshaped(ends_, {I64(1), batch_}), node_.Reshaped(token, {tokens_, I64(1)})));
    const Expr sequence = node_.CheckedPositions(
        node_.Emit(relax::Sum(node_.CastTo(has_ended, kPosition), std::vector<int64_t>{1})), {batch_});
    const Expr place = relax::Subtract(token, relax::Take(begins_, sequence, 0));
    const Expr at = node_.Emit(relax::Add(relax::Multiply(sequence, node_.ScalarOf(kPosition, longest_)), place));
    return node_.Emit(relax::Take(rows, node_.CheckedPositions(at, {flat[0]}), 0));
  }

  /// (b, t, heads, d) ↔ (b, heads, t, d)
  Expr ByHead(const Expr& x) const { return node_.Emit(relax::PermuteDims(x, {0, 2, 1, 3})); }
  /// (b, t, heads) as (b, t, heads, 1).
  Expr Column(const Expr& x) const {
    Array<PrimExpr> shape = node_.Shape(x);
    shape.push_back(I64(1));
    return node_.Reshaped(x, shape);
  }

  void ReadHeads() {
    if (!is_packed_) {
      const auto heads = [&](size_t input) { return ByHead(Batched(Real(input))); };
      spec_.query = heads(0);
      spec_.key = heads(1);
      spec_.value = heads(2);
      spec_.heads = node_.StaticDim(spec_.value, 1, "the number of heads of values");
      return;
    }
    const Array<PrimExpr> state = node_.Shape(6);
    if (state.size() != 4) node_.Fail("initial_state must be of rank 4 and is of rank " + std::to_string(state.size()));
    spec_.heads = node_.StaticDim(node_.X(6), 1, "the number of heads of values");
    const Expr all = Batched(Real(0));
    const PrimExpr width = node_.Shape(all)[2];
    const PrimExpr values = node_.Simplify(state[1] * state[2]);
    const PrimExpr keys = node_.Simplify(FloorDiv(width - values, I64(2)));
    const auto part = [&](const PrimExpr& begin, const PrimExpr& size, const PrimExpr& each) {
      const Expr columns = Columns(node_, all, begin, node_.Simplify(begin + size));
      return ByHead(node_.Reshaped(columns, {batch_, longest_, node_.Simplify(FloorDiv(size, each)), each}));
    };
    spec_.query = part(I64(0), keys, state[3]);
    spec_.key = part(keys, keys, state[3]);
    spec_.value = part(node_.Simplify(keys * 2), values, state[2]);
  }

  /// Heads of queries and keys for those of values: each for as many in a row.
  Expr ForHeads(const Expr& x) const {
    const int64_t own = node_.StaticDim(x, 1, "the number of heads of queries and keys");
    if (own < 1 || spec_.heads % own != 0) {
      node_.Fail(std::to_string(spec_.heads) + " heads of values are no multiple of " + std::to_string(own) +
                 " of keys");
    }
    return own == spec_.heads ? x : Expr(node_.Emit(relax::Repeat(x, spec_.heads / own, 1)));
  }

  Expr OfLengthOne(const Expr& x) const {
    // What keeps those of nothing from being divided by 0.
    constexpr double kLeast = 1e-6;
    const Expr square = relax::Sum(relax::Multiply(x, x), std::vector<int64_t>{3}, /*keepdims=*/true);
    return node_.Emit(relax::Multiply(x, relax::Rsqrt(relax::Add(square, node_.Scalar(kMemoryDType, kLeast)))));
  }

  /// The logarithm of what is kept of a memory.
  Expr Decay() const {
    Expr decay = Real(4);
    const std::string activation = node_.Str("gate_activation", "none");
    if (activation != "none" && activation != "qwen") node_.Fail("gate_activation '" + activation + "' is unknown");
    const bool by_head = node_.Rank(decay) == token_axes_ + 1;
    if (activation == "qwen") {
      if (!by_head) node_.Fail("gate_activation 'qwen' of a decay by column of keys");
      const Expr inner = node_.Emit(relax::nn::Softplus(SumOf(node_, decay, Real(8))));
      decay = node_.Emit(relax::Negative(ProductOf(node_, inner, node_.Emit(relax::Exp(Real(7))))));
    }
    return ByHead(by_head ? Column(Batched(decay)) : Batched(decay));
  }

  const NodeContext& node_;
  std::string rule_;
  bool is_packed_ = false;
  int64_t token_axes_ = 1;
  PrimExpr batch_, longest_, tokens_;
  /// (batch), of sequences of different lengths; else null.
  Expr begins_, ends_, lengths_;
  RecurrentSpec spec_;
};

}  // namespace

Results ConvertGatedDeltaNet(const NodeContext& node) { return DeltaNet(node).Convert(); }

}  // namespace deuteron::onnx
