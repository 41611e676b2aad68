/// \file
/// Mixtures of experts of com.microsoft, with weights of floats (MoE) or of integers by block (QMoE). Every expert sees
/// every token, in products of one kernel each, and what was not chosen counts as nothing.
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

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
    const Expr x = node_.Reshaped(node_.X(0), {I64(1), tokens_, shape_.back()});
    const Expr hidden = Activated(Layer(x, first), x, third);
    const Expr y = Layer(hidden, second);
    const Expr by_expert = node_.Emit(relax::PermuteDims(Shares(mixing), {1, 0}));
    const Expr shares = node_.Reshaped(by_expert, {count_, tokens_, I64(1)});
    const Expr sum = node_.Emit(relax::Sum(relax::Multiply(y, shares), std::vector<int64_t>{0}));
    return {node_.Reshaped(sum, shape_)};
  }

 private:
  /// (tokens, experts): how much of a token's result is each expert's, 0 of those that are not chosen. `mixing`: input
  /// of other shares of those that are.
  Expr Shares(size_t mixing) {
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
    if (node_.Int("normalize_routing_weights", 0) == 0) return shares;
    return node_.Emit(relax::Divide(shares, relax::Sum(shares, std::vector<int64_t>{1}, /*keepdims=*/true)));
  }

  /// (experts, out, in), as numbers.
  Expr Weights(const LayerInputs& at) {
    const Expr given = node_.X(at.weights);
    if (!quantised_) return given;
    const char* own = at.weights == 2   ? "fc1_expert_weight_bits"
                      : at.weights == 5 ? "fc2_expert_weight_bits"
                                        : "fc3_expert_weight_bits";
    int64_t bits = node_.Int(own, 0);
    if (bits == 0) bits = node_.Int("expert_weight_bits", 4);
    const Expr numbers = node_.CastTo(Unpacked(node_, given, bits), dtype_);
    const Array<PrimExpr> shape = node_.Shape(numbers);
    const Array<PrimExpr> by_block = node_.Shape(at.scales);
    const bool has_blocks = by_block.size() == 3;
    const int64_t block = has_blocks ? node_.RequiredInt("block_size") : 1;
    if (block < 1) node_.Fail("block_size must be positive");
    const auto spread = [&](const Expr& x) -> Expr {
      if (!has_blocks) return node_.Reshaped(x, {shape[0], shape[1], I64(1)});
      return node_.WithShape(node_.Emit(relax::Repeat(x, block, 2)), shape);
    };
    Expr zero = node_.Scalar(dtype_, static_cast<double>(int64_t{1} << (bits - 1)));
    if (node_.Has(at.zero_points)) {
      const Expr packed = Unpacked(node_, node_.X(at.zero_points), bits);
      zero = spread(node_.CastTo(Shortened(node_, packed, by_block.back()), dtype_));
    }
    return node_.Emit(relax::Multiply(relax::Subtract(numbers, zero), spread(node_.X(at.scales))));
  }

  /// (experts or 1, tokens, in) → (experts, tokens, out)
  Expr Layer(const Expr& x, const LayerInputs& at) {
    const Expr weights = WithDim(node_, WithDim(node_, Weights(at), 0, count_), 2, node_.Shape(x)[2]);
    const Expr y = node_.Emit(relax::Matmul(x, node_.Emit(relax::PermuteDims(weights, {0, 2, 1}))));
    if (!node_.Has(at.bias)) return y;
    const Expr bias = WithDim(node_, WithDim(node_, node_.X(at.bias), 0, count_), 1, node_.Shape(y)[2]);
    return SumOf(node_, y, node_.Reshaped(bias, {count_, I64(1), node_.Shape(y)[2]}));
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
      const PrimExpr width = node_.Shape(hidden)[2], half = node_.Simplify(FloorDiv(width, I64(2)));
      // Neighbours, or halves.
      gate = fusion == 1 ? Part(hidden, I64(0), width, 2) : Part(hidden, I64(0), half, 1);
      linear = fusion == 1 ? Part(hidden, I64(1), width, 2) : Part(hidden, half, width, 1);
      gate = WithDim(node_, gate, 2, half);
      linear = WithDim(node_, linear, 2, half);
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
    return node_.Emit(relax::StridedSlice(x, {2}, {begin}, {end}, {I64(step)}));
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
