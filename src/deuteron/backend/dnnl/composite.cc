#include "deuteron/backend/dnnl/composite.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

#include "deuteron/backend/dnnl/operators.h"
#include "deuteron/backend/dnnl/quantized.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/target/target.h"

namespace deuteron::backend::dnnl {
namespace {

using relax::Call;
using relax::Expr;
using Dims = Array<PrimExpr>;

/// No bound of a clip: the greatest float.
constexpr double kInfinity = std::numeric_limits<float>::max();

/// Integers up to which float32 holds them all: what oneDNN's sums of products go through.
constexpr double kLargestExact = 1 << 24;

/// Reads one Composite function.
class Describer {
 public:
  Describer(const relax::Function& function, CentredConstants* constants) : function_(function), constants_(constants) {
    for (const relax::BindingBlock& block : function->body->blocks) {
      for (const relax::Binding& binding : block->bindings) Sort(binding);
    }
  }

  JsonKernel Describe() {
    Require(!bindings_.empty(), "no operator");
    Anchor(CallOf(0));
    current_ = bindings_[0]->var;
    for (size_t next = 1; next < bindings_.size();) next += Post(next);
    Require(function_->body->body.same_as(current_), "a result besides the end of the chain");
    FinishQuantized();
    return std::move(kernel_);
  }

 private:
  /// Puts `binding` with the operands, or with the chain.
  void Sort(const relax::Binding& binding) {
    auto operand = ReadQuantizedOperand(binding, operands_);
    if (operand && inside_.count(operand->data.get()) == 0) {
      operands_.emplace(binding->var.get(), *std::move(operand));
      return;
    }
    inside_.insert(binding->var.get());
    bindings_.push_back(binding);
  }

  /// What is known to be empty is nothing to call a library for.
  static void RequireElements(const Type& type) {
    if (type.as<TensorTypeNode>() == nullptr) return;
    for (const int64_t dim : StaticDims(type)) Require(dim != 0, "an empty tensor");
  }

  Call CallOf(size_t index) const {
    const auto* call = relax::BoundValue(bindings_[index]).as<relax::CallNode>();
    Require(call != nullptr && call->op.as<OpNode>() != nullptr, "something else than a call of an operator");
    return GetRef<Call>(call);
  }

  // ----- Anchors.

  void Anchor(const Call& call) {
    const std::string op = relax::OpName(call);
    result_ = ShapeOfExpr(bindings_[0]->var);
    is_integer_ = DTypeOf(bindings_[0]->var) == DataType::Int(32);
    RequireElements(call->ty);
    for (const Expr& arg : call->args) RequireElements(arg->ty);
    if (op == "nn.conv1d" || op == "nn.conv2d" || op == "nn.conv3d") return Convolution(call);
    if (op == "matmul" || op == "nn.dense") return Product(call, op == "nn.dense");
    if (IsBinaryOp(op)) return Elementwise(call, op);
    auto kernel = DescribeOperator(call, result_);
    if (!kernel) throw Refusal{"an operator that oneDNN has no primitive for: " + op};
    kernel_ = *std::move(kernel);
  }

  /// The operands of a product, quantised or not; `channel`: the axis of the right one that its scales may run along,
  /// `depth`: products in a sum.
  void BeginProduct(const char* op, const Call& call, int64_t channel, double depth) {
    const auto a = operands_.find(call->args[0].get()), b = operands_.find(call->args[1].get());
    if (a == operands_.end() && b == operands_.end() && !is_integer_) {
      kernel_ = KernelOf(op, call->args);
      if (const char* precision = NarrowProducts(call)) kernel_.attrs["precision"] = precision;
      return;
    }
    kernel_.attrs["op"] = op;
    Require(a != operands_.end(), "a left operand that is not quantised");
    const bool right_is_read = b != operands_.end();
    Require(right_is_read || call->args[1]->kind == RelaxKind::kConstant, "a right operand that is not quantised");
    const QuantizedOperand left = a->second;
    const QuantizedOperand right = right_is_read ? b->second : QuantizedOperand{call->args[1], {}, {}, 0};
    Require(left.scale.defined() != is_integer_ && right.scale.defined() != is_integer_, "one scale of two");
    Require(is_integer_ || DTypeOf(bindings_[0]->var) == DataType::Float(32), "a dtype other than float32");
    Require(IsByte(DTypeOf(left.data)), "integers of more than 8 bits");
    depth_ = depth;
    Quantization("src", left.scale, left.zero_point);
    if (right.data->kind == RelaxKind::kConstant) {
      const Expr centred = constants_->Of(right);
      Require(centred.defined(), "weights that do not fit int8 less their zero point");
      kernel_.inputs = {left.data, centred};
      Quantization("weights", right.scale, Expr(), channel, right.axis);
    } else {
      Require(std::string_view(op) == "matmul" && IsByte(DTypeOf(right.data)), "weights that are not constant");
      kernel_.inputs = {left.data, right.data};
      Quantization("weights", right.scale, ZeroPointOfInt8(right));
    }
  }

  /// What oneDNN is to round float32 operands to ("bf16", "f16"): what the user allows, where the CPU multiplies it
  /// faster. Null: nothing.
  static const char* NarrowProducts(const Call& call) {
    const DataType precision = transform::ProductPrecision(transform::PassContext::Current());
    const Target target = Target::Current();
    const bool is_faster = target.machine.OpsPerCycle(precision) > target.machine.OpsPerCycle(DataType::Float(32));
    if (DTypeOf(call->args[0]) != DataType::Float(32) || precision == DataType::Float(32) || !is_faster) return nullptr;
    return precision.is_bfloat16() ? "bf16" : "f16";
  }

  /// oneDNN's right operands are int8: the run side takes 128 from uint8 ones, and from their zero point it is taken
  /// here.
  static Expr ZeroPointOfInt8(const QuantizedOperand& operand) {
    if (DTypeOf(operand.data) == DataType::Int(8)) return operand.zero_point;
    const auto zero = operand.zero_point.defined() ? ScalarValue(operand.zero_point) : std::optional(0.0);
    Require(zero.has_value(), "a right operand of uint8 whose zero point is not constant");
    return relax::Constant::Scalar(DataType::Int(32), static_cast<int64_t>(*zero) - 128);
  }

  /// Passes scale and zero point of an argument to the primitive. A vector of scales has to run along `channel`.
  void Quantization(const char* argument, const Expr& scale, const Expr& zero_point, int64_t channel = -1,
                    int64_t axis = -1) {
    if (scale.defined() && !IsConstantOf(scale, 1)) {
      RequireFloat(scale);
      const bool by_channel = NumElements(scale) != 1;
      Require(!by_channel || (channel >= 0 && channel == axis), "scales along an axis that oneDNN has none for");
      quantization_.push_back({{"argument", argument}, {"kind", "scale"}, {"by_channel", by_channel}});
      parameters_.push_back(scale);
    }
    if (zero_point.defined() && !IsConstantOf(zero_point, 0)) {
      Require(NumElements(zero_point) == 1, "a zero point for each channel");
      quantization_.push_back({{"argument", argument}, {"kind", "zero_point"}, {"by_channel", false}});
      parameters_.push_back(zero_point);
    }
  }

  void FinishQuantized() {
    Require(!ends_dequantized_, "a dequantisation at its end");
    if (is_integer_) {
      Require(depth_ * 255 * 128 < kLargestExact && !kernel_.attrs["bias"].get<bool>(),
              "int32 sums that may be too large for float32");
    }
    if (pending_) {
      Require(depth_ > 0 && IsByte(DTypeOf(kernel_.inputs[0])), "a quantisation of a product of floats");
      Quantization("dst", pending_->scale, pending_->zero_point);
    }
    if (quantization_.empty()) return;
    kernel_.attrs["quantization"] = quantization_;
    for (const Expr& parameter : parameters_) kernel_.inputs.push_back(parameter);
  }

  void Convolution(const Call& call) {
    const auto* attrs = static_cast<const relax::ConvAttrsNode*>(call->attrs.get());
    const size_t rank = result_.size() - 2;
    static const char* const kData[] = {"NCW", "NCHW", "NCDHW"};
    static const char* const kKernel[] = {"OIW", "OIHW", "OIDHW"};
    Require(std::string(attrs->data_layout) == kData[rank - 1] &&
                std::string(attrs->kernel_layout) == kKernel[rank - 1] &&
                (attrs->out_layout.empty() || attrs->out_layout == attrs->data_layout),
            "a layout other than NCHW and OIHW");
    double depth = 1;
    const std::vector<int64_t> kernel = StaticDims(call->args[1]->ty);
    for (size_t i = 1; i < kernel.size(); ++i) depth *= static_cast<double>(kernel[i]);
    BeginProduct("convolution", call, 0, depth);
    auto& json = kernel_.attrs;
    json["strides"] = Expanded(attrs->strides, rank);
    json["padding"] = Padding(attrs->padding, rank);
    json["dilation"] = Expanded(attrs->dilation, rank);
    json["groups"] = attrs->groups;
    json["bias"] = false;
    for (const int64_t dim : kernel) Require(dim > 0, "a kernel of symbolic size");
    channel_ = 1;
    takes_posts_ = true;
  }

  void Product(const Call& call, bool transposed) {
    const Dims a = ShapeOfExpr(call->args[0]);
    const Dims b = ShapeOfExpr(call->args[1]);
    Require(a.size() >= 2 && b.size() >= 2, "a vector as an operand");
    // Counted from the last of the batch dimensions.
    for (size_t i = 3; i <= std::min(a.size(), b.size()); ++i) {
      const PrimExpr& left = a[a.size() - i];
      const PrimExpr& right = b[b.size() - i];
      Require(ExprEqual(left, right) || IsUnit(left) || IsUnit(right), "batches that may or may not broadcast");
    }
    const auto depth = AsConstInt(a[a.size() - 1]);
    BeginProduct("matmul", call, static_cast<int64_t>(b.size()) - (transposed ? 2 : 1),
                 depth ? static_cast<double>(*depth) : kLargestExact);
    kernel_.attrs["transposed"] = transposed;
    kernel_.attrs["bias"] = false;
    channel_ = result_.size() - 1;
    takes_posts_ = true;
  }

  /// Of an image and one value a channel, or another image: the rest are post-operations.
  void Elementwise(const Call& call, const std::string& op) {
    Require(result_.size() >= 3 && result_.size() <= 5, "an operator on something else than images");
    channel_ = 1;
    const auto is_image = [&](const Expr& expr) {
      const Dims shape = ShapeOfExpr(expr);
      return shape.size() == result_.size() && ExprEqual(shape, result_);
    };
    const bool first = is_image(call->args[0]);
    const Expr& image = call->args[first ? 0 : 1];
    const Expr& other = call->args[first ? 1 : 0];
    Require(is_image(image) && !other.same_as(image) && (first || (op != "subtract" && op != "divide")),
            "an operator on something else than images");
    Require(!ScalarConstant(other).has_value(), "an operator with a scalar");
    CheckOperand(other);
    kernel_ = KernelOf("binary", {image, other});
    kernel_.attrs["alg"] = op;
    takes_posts_ = true;
  }

  // ----- Post-operations.

  /// Reads the post-operation that begins at binding `index`; the number of bindings it takes.
  size_t Post(size_t index) {
    Require(takes_posts_, "something after an operator that takes no post-operations");
    if (const auto count = QuantizedPost(index)) return Advance(index, count);
    Require(!is_integer_ && !pending_, "an operator on integers that is no post-operation");
    if (!kernel_.attrs.contains("posts")) kernel_.attrs["posts"] = nlohmann::json::array();
    if (const auto spelled = MatchSpelledOut(bindings_, index, current_)) {
      Eltwise(spelled->algorithm, spelled->alpha, spelled->beta);
      return Advance(index + spelled->count - 1, spelled->count);
    }
    const Call call = CallOf(index);
    const std::string op = relax::OpName(call);
    if (call->args.size() == 2 && IsBinaryOp(op)) {
      Binary(call, op);
    } else {
      Unary(call, op);
    }
    return Advance(index, 1);
  }

  /// Operators by which a chain goes from integers to floats and back: 1 if binding `index` is one.
  size_t QuantizedPost(size_t index) {
    const Call call = CallOf(index);
    const std::string op = relax::OpName(call);
    const bool on_current = call->args[0].same_as(current_);
    if (is_integer_ && op == "astype") {
      Require(DTypeOf(bindings_[index]->var) == DataType::Float(32), "a dtype other than float32");
      is_integer_ = false;
      return 1;
    }
    if (is_integer_ && op == "add") {
      const Expr& bias = call->args[on_current ? 1 : 0];
      Require(call->args[on_current ? 0 : 1].same_as(current_) && !kernel_.attrs["bias"].get<bool>() &&
                  !CheckOperand(bias) && IsPerChannel(bias),
              "an addition of integers that is no bias");
      kernel_.attrs["bias"] = true;
      kernel_.inputs.push_back(bias);
      return 1;
    }
    if (op == "quantize" && !is_integer_ && !pending_ && on_current) {
      Require(IsByte(DTypeOf(bindings_[index]->var)), "a quantisation to other integers than of 8 bits");
      Require(NumElements(call->args[1]) == 1 && NumElements(call->args[2]) == 1, "a quantisation by channel");
      pending_ = QuantizedOperand{bindings_[index]->var, call->args[1], call->args[2], 0};
      ends_dequantized_ = false;
      return 1;
    }
    if (op == "dequantize" && pending_ && on_current) {
      RoundInPlace({bindings_[index]->var, call->args[1], call->args[2], 0});
      return 1;
    }
    return 0;
  }

  /// A quantisation that a dequantisation follows at once: to the nearest of 256 values.
  void RoundInPlace(const QuantizedOperand& back) {
    const auto scale = ScalarValue(pending_->scale), zero = ScalarValue(pending_->zero_point);
    const auto back_scale = ScalarValue(back.scale), back_zero = ScalarValue(back.zero_point);
    Require(scale && zero && back_scale && back_zero && *scale != 0, "scales inside of a chain that are not constant");
    const bool is_signed = DTypeOf(pending_->data) == DataType::Int(8);
    const double least = is_signed ? -128 : 0, greatest = is_signed ? 127 : 255;
    Eltwise("linear", 1 / *scale, 0);
    Eltwise("round");
    Eltwise("clip", least - *zero, greatest - *zero);
    Eltwise("linear", *back_scale, (*zero - *back_zero) * *back_scale);
    pending_.reset();
    ends_dequantized_ = true;
  }

  size_t Advance(size_t last, size_t count) {
    current_ = bindings_[last]->var;
    const Dims shape = ShapeOfExpr(current_);
    Require(shape.size() == result_.size() && ExprEqual(shape, result_), "a post-operation that widens the result");
    return count;
  }

  static bool IsBinaryOp(const std::string& op) {
    static const std::map<std::string, bool> kOps = {{"add", true},     {"multiply", true}, {"subtract", false},
                                                     {"divide", false}, {"maximum", true},  {"minimum", true}};
    return kOps.count(op) != 0;
  }

  void Eltwise(const std::string& algorithm, double alpha = 0, double beta = 0) {
    ends_dequantized_ = false;
    kernel_.attrs["posts"].push_back({{"kind", "eltwise"}, {"alg", algorithm}, {"alpha", alpha}, {"beta", beta}});
  }

  /// A minimum after a maximum is a clip.
  void AtMost(double bound) {
    auto& posts = kernel_.attrs["posts"];
    const std::string last = posts.empty() ? "" : posts.back().value("alg", "");
    if (last == "relu" && posts.back()["alpha"] == 0 && bound > 0) {
      posts.erase(posts.size() - 1);
      return Eltwise("clip", 0, bound);
    }
    if (last == "clip" && posts.back()["beta"] == kInfinity && bound >= posts.back()["alpha"].get<double>()) {
      posts.back()["beta"] = bound;
      return;
    }
    Eltwise("clip", -kInfinity, bound);
  }

  void Unary(const Call& call, const std::string& op) {
    static const std::map<std::string, std::pair<const char*, double>> kOps = {
        {"nn.relu", {"relu", 0}}, {"sigmoid", {"sigmoid", 0}},        {"tanh", {"tanh", 0}}, {"nn.gelu", {"gelu", 0}},
        {"nn.silu", {"silu", 1}}, {"nn.gelu_tanh", {"gelu_tanh", 0}}, {"exp", {"exp", 0}},   {"abs", {"abs", 0}},
        {"sqrt", {"sqrt", 0}},    {"square", {"square", 0}}};
    Require(call->args[0].same_as(current_), "an operator on something else than the result so far");
    if (op == "clip") {
      const auto low = ScalarConstant(call->args[1]), high = ScalarConstant(call->args[2]);
      Require(low && high, "a clip between values that are not constant");
      return Eltwise("clip", *low, *high);
    }
    if (op == "nn.leakyrelu") {
      return Eltwise("relu", static_cast<const relax::LeakyReluAttrsNode*>(call->attrs.get())->alpha);
    }
    const auto it = kOps.find(op);
    if (it == kOps.end()) throw Refusal{"an operator that is no post-operation: " + op};
    Eltwise(it->second.first, it->second.second);
  }

  void Binary(const Call& call, const std::string& op) {
    const bool first = call->args[0].same_as(current_);
    Expr other = call->args[first ? 1 : 0];
    Require(first || call->args[1].same_as(current_), "an operator on something else than the result so far");
    ends_dequantized_ = false;
    if (const auto operand = operands_.find(other.get()); operand != operands_.end()) {
      other = AsFloat32(operand->second);
      if (!other.defined()) return QuantizedBinary(operand->second, op);
    }
    Require(!other.same_as(current_), "an operator on the result twice");
    Require(first || (op != "subtract" && op != "divide"), "the result as the right operand");
    if (const auto scalar = ScalarConstant(other)) {
      if (op == "add") return Eltwise("linear", 1, *scalar);
      if (op == "subtract") return Eltwise("linear", 1, -*scalar);
      if (op == "multiply") return Eltwise("linear", *scalar, 0);
      if (op == "divide") return Eltwise("linear", 1 / *scalar, 0);
      if (op == "maximum") return *scalar == 0 ? Eltwise("relu") : Eltwise("clip", *scalar, kInfinity);
      if (op == "minimum") return AtMost(*scalar);
    }
    RequireFloat(other);
    const bool full = CheckOperand(other);
    auto& posts = kernel_.attrs["posts"];
    if (op == "add" && posts.empty() && !full && kernel_.attrs.value("bias", true) == false && IsPerChannel(other)) {
      kernel_.attrs["bias"] = true;
    } else {
      posts.push_back({{"kind", "binary"}, {"alg", op}});
    }
    kernel_.inputs.push_back(other);
  }

  /// result + scale * (operand - zero) = scale * (result / scale - zero + operand), and without a zero point products
  /// likewise: the operand is read as the integers that it is.
  void QuantizedBinary(const QuantizedOperand& operand, const std::string& op) {
    const auto scale = ScalarValue(operand.scale), zero = ScalarValue(operand.zero_point);
    Require(scale && zero && *scale != 0, "an operand whose scale is no constant");
    Require(IsByte(DTypeOf(operand.data)), "an operand of integers of more than 8 bits");
    Require(op == "add" || (op == "multiply" && *zero == 0), "an operator on something quantised that is no sum");
    CheckOperand(operand.data);
    if (op == "add") Eltwise("linear", 1 / *scale, -*zero);
    kernel_.attrs["posts"].push_back({{"kind", "binary"}, {"alg", op}});
    kernel_.inputs.push_back(operand.data);
    Eltwise("linear", *scale, 0);
  }

  /// Whether `operand` is as large as the result; it is refused unless it is, or is a scalar or one value a channel.
  bool CheckOperand(const Expr& operand) const {
    Require(inside_.count(operand.get()) == 0, "an operand from inside of the chain");
    const Dims shape = ShapeOfExpr(operand);
    if (shape.size() == result_.size() && ExprEqual(shape, result_)) return true;
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t from_end = shape.size() - 1 - i;
      if (IsUnit(shape[i])) continue;
      Require(from_end == result_.size() - 1 - channel_ && ExprEqual(shape[i], result_[channel_]),
              "an operand that is neither as large as the result nor one value a channel");
    }
    return false;
  }

  bool IsPerChannel(const Expr& operand) const {
    const Dims shape = ShapeOfExpr(operand);
    const size_t after = result_.size() - 1 - channel_;
    return shape.size() > after && ExprEqual(shape[shape.size() - 1 - after], result_[channel_]);
  }

  const relax::Function& function_;
  CentredConstants* constants_;
  /// The chain, without its quantised operands.
  std::vector<relax::Binding> bindings_;
  std::unordered_set<const Object*> inside_;
  QuantizedOperands operands_;
  JsonKernel kernel_;
  /// The anchor's result, and its axis that a bias runs along.
  Dims result_;
  size_t channel_ = 0;
  bool takes_posts_ = false;
  /// Whether the result so far is int32, and of sums of how many products it is.
  bool is_integer_ = false;
  double depth_ = 0;
  /// The result so far is a quantisation; nothing has been added to the chain for it yet.
  std::optional<QuantizedOperand> pending_;
  bool ends_dequantized_ = false;
  /// Scales and zero points of the primitive's arguments, and what they are read from.
  nlohmann::json quantization_ = nlohmann::json::array();
  std::vector<Expr> parameters_;
  relax::Var current_ = relax::Var("", Type());
};

}  // namespace

std::optional<JsonKernel> DescribeComposite(const relax::Function& function, std::string* why,
                                            CentredConstants* constants) {
  try {
    return Describer(function, constants).Describe();
  } catch (const Refusal& refusal) {
    if (why != nullptr) *why = refusal.why;
    return std::nullopt;
  }
}

}  // namespace deuteron::backend::dnnl
