/// \file
/// Mixtures of experts of com.microsoft, with weights of floats (MoE) or of integers by block (QMoE). Each expert
/// computes the tokens that chose it, and nothing where none did: one token of few experts takes as long as the weights
/// of these are read. Of experts whose number the types do not tell each sees every token, in products of one kernel
/// each, and what was not chosen counts as nothing.
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
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
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Where the inputs of a layer are, and where those of its weights' scales and zero points, if they are integers.
struct LayerInputs {
  size_t weights, bias;
  size_t scales = 0, zero_points = 0;
};

class Experts {
 public:
  Experts(const NodeContext& node, bool quantised)
      : node_(node),
        quantised_(quantised),
        shape_(node.Shape(0)),
        dtype_(node.DType(0)),
        activation_(node.Str("activation_type", "relu")) {
    if (node.Int("use_sparse_mixer", 0) != 0)
      node.Unsupported("use_sparse_mixer: leave it 0, so that softmax routes tokens");
    if (shape_.size() != 2 && shape_.size() != 3) node.Fail("its input must be of rank 2 or 3");
    tokens_ = shape_.size() == 2 ? shape_[0] : node.Simplify(shape_[0] * shape_[1]);
    count_ = node.Shape(2)[0];
    router_ = WithDim(node, WithDim(node, node.X(1), 0, tokens_), 1, count_);
  }

  Results Convert(const LayerInputs& first, const LayerInputs& second, const LayerInputs& third, size_t mixing) {
    const auto compute = [&](const Expr& x) { return Layer(Activated(Layer(x, first), x, third), second); };
    const Choice choice = Choose(mixing);
    if (const auto count = AsConstInt(count_)) return {node_.Reshaped(OfChosen(*count, choice, compute), shape_)};
    const Expr y = compute(node_.Reshaped(node_.X(0), {I64(1), tokens_, shape_.back()}));
    const auto by_expert = [&](const Expr& of_tokens) {
      return node_.Reshaped(node_.Emit(relax::PermuteDims(of_tokens, {1, 0})), {count_, tokens_, I64(1)});
    };
    const Expr is_chosen = node_.Emit(relax::Greater(by_expert(choice.chosen), node_.Scalar(dtype_, 0)));
    const Expr own =
        node_.Emit(relax::Where(is_chosen, relax::Multiply(y, by_expert(choice.shares)), node_.Scalar(dtype_, 0)));
    const Expr sum = node_.Emit(relax::Sum(own, std::vector<int64_t>{0}));
    return {node_.Reshaped(sum, shape_)};
  }

 private:
  /// (tokens, experts): 1 where a token has chosen an expert, else 0, and how much of its result is that one's.
  struct Choice {
    Expr chosen, shares;
  };

  /// The sum of what experts compute of the tokens that chose them.
  Expr OfChosen(int64_t count, const Choice& choice, const std::function<Expr(const Expr& x)>& compute) {
    const DataType wide = dtype_.bits() < 32 ? DataType::Float(32) : dtype_;
    const Expr x = node_.Reshaped(node_.X(0), {tokens_, shape_.back()});
    const Expr most = node_.Emit(relax::Max(choice.chosen, std::vector<int64_t>{0}));
    const Expr is_used = node_.Emit(relax::Greater(most, node_.Scalar(dtype_, 0)));
    Expr sum = node_.Emit(relax::Zeros({tokens_, shape_.back()}, wide));
    for (int64_t expert = 0; expert < count; ++expert) {
      const auto part = [&](const Expr& of_all, int64_t axis) -> Expr {
        return node_.Emit(relax::StridedSlice(of_all, {axis}, {I64(expert)}, {I64(expert + 1)}, {I64(1)}));
      };
      const Expr condition = node_.Reshaped(part(is_used, 0), {});
      const Expr chosen = node_.Reshaped(part(choice.chosen, 1), {tokens_});
      const Expr shares = part(choice.shares, 1);
      expert_ = expert;
      const auto add = [&] {
        const Expr at = PositionsOfTrue(node_, node_.Emit(relax::Greater(chosen, node_.Scalar(dtype_, 0))));
        const Expr y = WithDim(node_, compute(node_.Emit(relax::Take(x, at, 0))), 1, shape_.back());
        const Expr own = node_.Emit(relax::Multiply(y, node_.Emit(relax::Take(shares, at, 0))));
        const Expr rows = node_.Reshaped(at, {node_.Shape(at)[0], I64(1)});
        return Results{node_.Emit(relax::ScatterND(sum, rows, node_.CastTo(own, wide), "add"))};
      };
      sum = node_.importer()->ExprOf(EmitBranches(node_, condition, add, [&] { return Results{sum}; })[0], Span());
      expert_.reset();
    }
    return node_.CastTo(sum, dtype_);
  }

  /// A parameter of the experts, or of the one at hand.
  Expr OfExpert(size_t input) {
    const Expr all = WithDim(node_, node_.X(input), 0, count_);
    if (!expert_) return all;
    Array<PrimExpr> shape = node_.Shape(all);
    shape.erase(shape.begin());
    const auto* constant = all.as<relax::ConstantNode>();
    if (constant == nullptr) {
      const Expr own = relax::StridedSlice(all, {0}, {I64(*expert_)}, {I64(*expert_ + 1)}, {I64(1)});
      return node_.Reshaped(node_.Emit(own), shape);
    }
    const Tensor& data = constant->data;
    std::vector<int64_t> dims;
    for (int64_t i = 1; i < data.ndim(); ++i) dims.push_back(data.shape()[i]);
    const Tensor own = EmptyHostTensor(dims, data.dtype());
    const auto bytes = static_cast<size_t>(CheckedByteSize(dims, data.dtype()));
    std::memcpy(own.data_ptr(), static_cast<const char*>(data.data_ptr()) + bytes * static_cast<size_t>(*expert_),
                bytes);
    return node_.ConstantOf(own);
  }

  /// `mixing`: input of other shares of those that are chosen.
  Choice Choose(size_t mixing) {
    const int64_t k = node_.Int("k", 1);
    if (k < 1 || k > AsConstInt(count_).value_or(k)) {
      node_.Fail("k = " + std::to_string(k) + " of " + relax::Describe(count_) + " experts");
    }
    const Expr weights = node_.Emit(relax::nn::Softmax(router_, 1));
    const auto best = node_.Emit(relax::TopK(weights, k, 1, "both", /*largest=*/true, kPosition));
    const Expr at = node_.Reshaped(node_.Field(best, 1), {tokens_, I64(k), I64(1)});
    const Expr all = node_.Reshaped(Positions(node_, count_), {I64(1), I64(1), count_});
    const Expr chosen = node_.CastTo(node_.Emit(relax::Equal(at, all)), dtype_);
    const Expr is_chosen = node_.Emit(relax::Sum(chosen, std::vector<int64_t>{1}));
    const Expr shares = node_.Emit(relax::Multiply(node_.Has(mixing) ? node_.X(mixing) : weights, is_chosen));
    if (node_.Int("normalize_routing_weights", 0) == 0) return {is_chosen, shares};
    const Expr all_shares = relax::Sum(shares, std::vector<int64_t>{1}, /*keepdims=*/true);
    return {is_chosen, node_.Emit(relax::Divide(shares, all_shares))};
  }

  /// (experts, out, in), or (out, in) of the expert at hand, as numbers.
  Expr Weights(const LayerInputs& at) {
    const Expr given = OfExpert(at.weights);
    if (!quantised_) return given;
    const char* own = at.weights == 2   ? "fc1_expert_weight_bits"
                      : at.weights == 5 ? "fc2_expert_weight_bits"
                                        : "fc3_expert_weight_bits";
    int64_t bits = node_.Int(own, 0);
    if (bits == 0) bits = node_.Int("expert_weight_bits", 4);
    const Expr numbers = node_.CastTo(Unpacked(node_, given, bits), dtype_);
    const Array<PrimExpr> shape = node_.Shape(numbers);
    const Expr scales = OfExpert(at.scales);
    const Array<PrimExpr> by_block = node_.Shape(scales);
    const bool has_blocks = by_block.size() == shape.size();
    const auto depth = static_cast<int64_t>(shape.size()) - 1;
    const int64_t block = has_blocks ? node_.RequiredInt("block_size") : 1;
    if (block < 1) node_.Fail("block_size must be positive");
    const auto spread = [&](const Expr& x) -> Expr {
      Array<PrimExpr> columns = shape;
      columns.Set(depth, I64(1));
      if (!has_blocks) return node_.Reshaped(x, columns);
      return node_.WithShape(node_.Emit(relax::Repeat(x, block, depth)), shape);
    };
    Expr zero = node_.Scalar(dtype_, static_cast<double>(int64_t{1} << (bits - 1)));
    if (node_.Has(at.zero_points)) {
      const Expr packed = Unpacked(node_, OfExpert(at.zero_points), bits);
      zero = spread(node_.CastTo(Shortened(node_, packed, by_block.back()), dtype_));
    }
    return node_.Emit(relax::Multiply(relax::Subtract(numbers, zero), spread(scales)));
  }

  /// (experts or 1, tokens, in) → (experts, tokens, out), or (tokens, in) → (tokens, out) of the expert at hand.
  Expr Layer(const Expr& x, const LayerInputs& at) {
    const int64_t last = node_.Rank(x) - 1;
    const Expr weights = WithDim(node_, Weights(at), last, node_.Shape(x)[last]);
    const std::vector<int64_t> order = expert_ ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 2, 1};
    const Expr y = node_.Emit(relax::Matmul(x, node_.Emit(relax::PermuteDims(weights, order))));
    if (!node_.Has(at.bias)) return y;
    const PrimExpr width = node_.Shape(y)[last];
    const Expr bias = WithDim(node_, OfExpert(at.bias), last - 1, width);
    return SumOf(node_, y, expert_ ? bias : node_.Reshaped(bias, {count_, I64(1), width}));
  }

  /// What stands between the layers: an activation, gated by a third layer where there is one.
  Expr Activated(const Expr& hidden, const Expr& x, const LayerInputs& third) {
    if (activation_ == "swiglu") return Gated(hidden, x, third);
    Expr y = hidden;
    if (activation_ == "relu") {
      y = node_.Emit(relax::nn::Relu(hidden));
    } else if (activation_ == "gelu") {
      y = node_.Emit(relax::nn::Gelu(hidden));
    } else if (activation_ == "silu") {
      y = node_.Emit(relax::nn::Silu(hidden));
    } else if (activation_ != "identity") {
      node_.Fail("activation_type '" + activation_ + "' is unknown");
    }
    return node_.Has(third.weights) ? Expr(node_.Emit(relax::Multiply(y, Layer(x, third)))) : y;
  }

  Expr Gated(const Expr& hidden, const Expr& x, const LayerInputs& third) {
    const int64_t fusion = node_.Int("swiglu_fusion", 0);
    Expr gate = hidden, linear;
    if (fusion == 0) {
      linear = Layer(x, third);
    } else {
      const int64_t last = node_.Rank(hidden) - 1;
      const PrimExpr width = node_.Shape(hidden)[last], half = node_.Simplify(FloorDiv(width, I64(2)));
      // Neighbours, or halves.
      gate = fusion == 1 ? Part(hidden, I64(0), width, 2) : Part(hidden, I64(0), half, 1);
      linear = fusion == 1 ? Part(hidden, I64(1), width, 2) : Part(hidden, half, width, 1);
      gate = WithDim(node_, gate, last, half);
      linear = WithDim(node_, linear, last, half);
    }
    const double limit = node_.Float("swiglu_limit", std::numeric_limits<double>::infinity());
    if (limit < std::numeric_limits<double>::infinity()) {
      const Expr most = node_.Scalar(dtype_, limit), least = node_.Scalar(dtype_, -limit);
      gate = node_.Emit(relax::Minimum(gate, most));
      linear = node_.Emit(relax::Maximum(relax::Minimum(linear, most), least));
    }
    const Expr steep = relax::Multiply(gate, node_.Scalar(dtype_, node_.Float("activation_alpha", 1)));
    const Expr moved = relax::Add(linear, node_.Scalar(dtype_, node_.Float("activation_beta", 0)));
    return node_.Emit(relax::Multiply(relax::Multiply(gate, relax::Sigmoid(steep)), moved));
  }

  Expr Part(const Expr& x, const PrimExpr& begin, const PrimExpr& end, int64_t step) {
    return node_.Emit(relax::StridedSlice(x, {node_.Rank(x) - 1}, {begin}, {end}, {I64(step)}));
  }

  const NodeContext& node_;
  bool quantised_;
  Array<PrimExpr> shape_;
  DataType dtype_;
  std::string activation_;
  PrimExpr tokens_;
  /// Of experts.
  PrimExpr count_;
  /// (tokens, experts)
  Expr router_;
  /// Whose parameters are at hand; none: those of all.
  std::optional<int64_t> expert_;
};

}  // namespace

Results ConvertMoE(const NodeContext& node) {
  return Experts(node, /*quantised=*/false)
      .Convert({.weights = 2, .bias = 3}, {.weights = 4, .bias = 5}, {.weights = 6, .bias = 7}, node.NumInputs());
}

Results ConvertQMoE(const NodeContext& node) {
  if (const std::string type = node.Str("quant_type", "int"); type != "int") {
    node.Unsupported("weights of quant_type '" + type + "': export it with int");
  }
  if (node.Int("weights_prepacked", -1) == 1)
    node.Unsupported("weights laid out for another device: export them as they are, weights_prepacked=0");
  return Experts(node, /*quantised=*/true)
      .Convert({.weights = 2, .bias = 4, .scales = 3, .zero_points = 11},
               {.weights = 5, .bias = 7, .scales = 6, .zero_points = 12},
               {.weights = 8, .bias = 10, .scales = 9, .zero_points = 13}, /*mixing=*/14);
}

}  // namespace deuteron::onnx
