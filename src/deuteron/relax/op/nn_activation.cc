#include <cmath>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

using te::Tensor;
using topi::AxisNames;
using topi::ConstLike;

Type InferFloat(const Call& call, const BlockBuilder& builder) {
  const Type type = InferSameType(call, builder);
  const DataType dtype = TensorArg(call, 0)->dtype;
  if (!dtype.is_void() && !dtype.is_float()) {
    ThrowOpError(call, "takes a floating-point tensor and is given " + Describe(type) + "; cast it first");
  }
  return type;
}

Expr LegalizeRelu(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "relu", call->args, [](const Array<Tensor>& args) {
    return topi::Map(args[0], [](PrimExpr x) { return Max(x, MakeConst(x.dtype(), 0)); });
  });
}

/// alpha * x where x is negative.
PrimExpr Leak(const PrimExpr& x, const PrimExpr& alpha) {
  return SelectExpr(MakeConst(x.dtype(), 0) < x, x, x * alpha);
}

Expr LegalizeLeakyRelu(BlockBuilder& builder, const Call& call) {
  const double alpha = AttrsOf<LeakyReluAttrsNode>(call)->alpha;
  return CallKernel(builder, call, "leaky_relu", call->args, [&](const Array<Tensor>& args) {
    return topi::Map(args[0], [&](const PrimExpr& x) { return Leak(x, MakeConst(x.dtype(), alpha)); });
  });
}

Type InferPRelu(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  CommonDType(call, 0, 1);
  CheckRank(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* alpha = TensorArg(call, 1);
  if (data->ndim == kUnknownNDim) return GetRef<Type>(data);
  // A vector has no channels: its slope is one number.
  if (data->ndim == 0) ThrowOpError(call, "its data must have at least one axis");
  const int64_t axis = NormalizeAxis(call, AttrsOf<PReluAttrsNode>(call)->axis, data->ndim);
  if (data->has_shape() && alpha->has_shape()) {
    const PrimExpr& slopes = (*alpha->shape)[0];
    const PrimExpr& channels = (*data->shape)[axis];
    if (!IsOne(slopes) && ProvablyDiffers(builder, slopes, {1, 0, channels})) {
      ThrowOpError(call, "has " + Describe(slopes) + " slopes for the " + Describe(channels) + " channels of " +
                             Describe(GetRef<Type>(data)));
    }
  }
  return GetRef<Type>(data);
}

Expr LegalizePRelu(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto axis =
      static_cast<size_t>(NormalizeAxis(call, AttrsOf<PReluAttrsNode>(call)->axis, TensorArg(call, 0)->ndim));
  return builder.CallTE("prelu", call->args, [&](const Array<Tensor>& args) {
    const bool shared = IsOne(args[1].shape()[0]) && !IsOne(args[0].shape()[axis]);
    return Array<Tensor>{te::Compute(args[0].shape(), [&](const Array<tir::Var>& vars) {
      return Leak(args[0](topi::Indices(vars)), args[1]({shared ? I64(0) : PrimExpr(vars[axis])}));
    })};
  });
}

/// A function of a tensor in 16-bit floats through float32.
Tensor Erf(const Tensor& x) {
  const DataType wide = topi::AccumulatorType(x.dtype());
  return topi::Map(x, [&](PrimExpr value) {
    const DataType dtype = value.dtype();
    return CastTo(dtype, CallIntrin("erf", {CastTo(wide, std::move(value))}));
  });
}

Expr LegalizeGelu(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "gelu", call->args, [](const Array<Tensor>& args) {
    const Tensor& x = args[0];
    const Tensor erf = Erf(topi::Multiply(x, ConstLike(x, std::sqrt(0.5))));
    const Tensor half = topi::Multiply(erf, ConstLike(x, 0.5));
    return topi::Multiply(x, topi::Add(ConstLike(x, 0.5), half));
  });
}

Expr LegalizeGeluTanh(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "gelu_tanh", call->args, [](const Array<Tensor>& args) {
    // x / 2 * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x * x)))
    const Tensor& x = args[0];
    const Tensor half = topi::Multiply(ConstLike(x, 0.5), x);
    const Tensor scaled = topi::Multiply(ConstLike(x, std::sqrt(2.0 / M_PI)), x);
    const Tensor cubic = topi::Multiply(topi::Multiply(ConstLike(x, 0.044715), x), x);
    const Tensor inner = topi::Multiply(scaled, topi::Add(ConstLike(x, 1.0), cubic));
    const Tensor tanh = topi::Map(inner, [](PrimExpr value) { return CallIntrin("tanh", {std::move(value)}); });
    return topi::Multiply(half, topi::Add(ConstLike(x, 1.0), tanh));
  });
}

Expr LegalizeSilu(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "silu", call->args, [](const Array<Tensor>& args) {
    const Tensor sigmoid = topi::Map(args[0], [](PrimExpr value) { return CallIntrin("sigmoid", {std::move(value)}); });
    return topi::Multiply(args[0], sigmoid);
  });
}

Expr LegalizeSelu(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "selu", call->args, [](const Array<Tensor>& args) {
    constexpr double kAlpha = 1.6732632423543772;
    constexpr double kScale = 1.0507009873554805;
    const Tensor& x = args[0];
    const Tensor exponent = topi::Map(x, [](PrimExpr value) { return CallIntrin("exp", {std::move(value)}); });
    const Tensor negative = topi::Multiply(ConstLike(x, kAlpha), topi::Subtract(exponent, ConstLike(x, 1.0)));
    const Tensor sum = topi::Add(topi::Maximum(x, ConstLike(x, 0.0)), topi::Minimum(ConstLike(x, 0.0), negative));
    return topi::Multiply(ConstLike(x, kScale), sum);
  });
}

Expr LegalizeSoftplus(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<SoftplusAttrsNode>(call);
  return CallKernel(builder, call, "softplus", call->args, [&](const Array<Tensor>& args) {
    return topi::Map(args[0], [&](const PrimExpr& x) {
      const auto constant = [&](double value) { return MakeConst(x.dtype(), value); };
      const PrimExpr scaled = attrs->beta == 1.0 ? x : constant(attrs->beta) * x;
      // The exponential of a positive number may be too large for float16, where the result is not.
      PrimExpr soft =
          Max(scaled, constant(0)) + CallIntrin("log1p", {CallIntrin("exp", {Min(scaled, constant(0) - scaled)})});
      if (attrs->beta != 1.0) soft = constant(1.0 / attrs->beta) * soft;
      return SelectExpr(constant(attrs->threshold) < scaled, x, soft);
    });
  });
}

Type InferSoftmax(const Call& call, const BlockBuilder& builder) {
  const Type type = InferFloat(call, builder);
  const int64_t ndim = TensorArg(call, 0)->ndim;
  if (ndim != kUnknownNDim) NormalizeAxis(call, AttrsOf<SoftmaxAttrsNode>(call)->axis, ndim);
  return type;
}

size_t SoftmaxAxis(const Call& call) {
  return static_cast<size_t>(NormalizeAxis(call, AttrsOf<SoftmaxAttrsNode>(call)->axis, TensorArg(call, 0)->ndim));
}

Expr LegalizeSoftmax(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "softmax", call->args,
                    [&](const Array<Tensor>& args) { return topi::Softmax(args[0], SoftmaxAxis(call)); });
}

Expr LegalizeLogSoftmax(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "log_softmax", call->args,
                    [&](const Array<Tensor>& args) { return topi::LogSoftmax(args[0], SoftmaxAxis(call)); });
}

Type InferDropout(const Call& call, const BlockBuilder& builder) {
  const Type type = InferSameType(call, builder);
  return TupleType({type, type});
}

Expr LegalizeDropout(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  return builder.CallTE("dropout", call->args, [](const Array<Tensor>& args) {
    const DataType dtype = args[0].dtype();
    return Array<Tensor>{
        topi::Map(args[0], [](PrimExpr x) { return x; }),
        topi::Map(
            args[0], [&](const PrimExpr&) { return MakeConst(dtype, 1); }, "T_full_like", AxisNames::kAx)};
  });
}

}  // namespace

std::vector<OpInfo> NNActivationOps() {
  return {
      {"nn.relu", {"data"}, nullptr, InferSameType, LegalizeRelu},
      {"nn.leakyrelu", {"data"}, "deuteron.relax.LeakyReluAttrs", InferFloat, LegalizeLeakyRelu},
      {"nn.prelu", {"data", "alpha"}, "deuteron.relax.PReluAttrs", InferPRelu, LegalizePRelu},
      {"nn.gelu", {"data"}, nullptr, InferFloat, LegalizeGelu},
      {"nn.gelu_tanh", {"data"}, nullptr, InferFloat, LegalizeGeluTanh},
      {"nn.silu", {"data"}, nullptr, InferFloat, LegalizeSilu},
      {"nn.selu", {"data"}, nullptr, InferFloat, LegalizeSelu},
      {"nn.softplus", {"data"}, "deuteron.relax.SoftplusAttrs", InferFloat, LegalizeSoftplus},
      {"nn.softmax", {"data"}, "deuteron.relax.SoftmaxAttrs", InferSoftmax, LegalizeSoftmax},
      {"nn.log_softmax", {"data"}, "deuteron.relax.SoftmaxAttrs", InferSoftmax, LegalizeLogSoftmax},
      {"nn.dropout", {"data"}, "deuteron.relax.DropoutAttrs", InferDropout, LegalizeDropout},
  };
}

namespace nn {

Expr Relu(Expr data) { return MakeCall("nn.relu", {std::move(data)}); }
Expr LeakyRelu(Expr data, double alpha) {
  auto attrs = MakeNode<LeakyReluAttrsNode>();
  attrs->alpha = alpha;
  return MakeCall("nn.leakyrelu", {std::move(data)}, LeakyReluAttrs(std::move(attrs)));
}
Expr PRelu(Expr data, Expr alpha, int64_t axis) {
  auto attrs = MakeNode<PReluAttrsNode>();
  attrs->axis = axis;
  return MakeCall("nn.prelu", {std::move(data), std::move(alpha)}, PReluAttrs(std::move(attrs)));
}
Expr Gelu(Expr data) { return MakeCall("nn.gelu", {std::move(data)}); }
Expr GeluTanh(Expr data) { return MakeCall("nn.gelu_tanh", {std::move(data)}); }
Expr Silu(Expr data) { return MakeCall("nn.silu", {std::move(data)}); }
Expr Selu(Expr data) { return MakeCall("nn.selu", {std::move(data)}); }
Expr Softplus(Expr data, double beta, double threshold) {
  auto attrs = MakeNode<SoftplusAttrsNode>();
  attrs->beta = beta;
  attrs->threshold = threshold;
  return MakeCall("nn.softplus", {std::move(data)}, SoftplusAttrs(std::move(attrs)));
}
Expr Softmax(Expr data, int64_t axis) {
  auto attrs = MakeNode<SoftmaxAttrsNode>();
  attrs->axis = axis;
  return MakeCall("nn.softmax", {std::move(data)}, SoftmaxAttrs(std::move(attrs)));
}
Expr LogSoftmax(Expr data, int64_t axis) {
  auto attrs = MakeNode<SoftmaxAttrsNode>();
  attrs->axis = axis;
  return MakeCall("nn.log_softmax", {std::move(data)}, SoftmaxAttrs(std::move(attrs)));
}
Expr Dropout(Expr data, double rate) {
  auto attrs = MakeNode<DropoutAttrsNode>();
  attrs->rate = rate;
  return MakeCall("nn.dropout", {std::move(data)}, DropoutAttrs(std::move(attrs)));
}

}  // namespace nn
}  // namespace deuteron::relax
