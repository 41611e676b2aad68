/// \file
/// Padding, attention and the rearrangements of nn.
#include <algorithm>
#include <cmath>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

/// Before and after of each axis.
std::vector<int64_t> Befores(const PadAttrsNode* attrs) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < attrs->pad_width.size(); i += 2) values.push_back(attrs->pad_width[i]);
  return values;
}
std::vector<int64_t> Afters(const PadAttrsNode* attrs) {
  std::vector<int64_t> values;
  for (size_t i = 1; i < attrs->pad_width.size(); i += 2) values.push_back(attrs->pad_width[i]);
  return values;
}

Type InferPad(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto* attrs = AttrsOf<PadAttrsNode>(call);
  const std::string mode(attrs->pad_mode);
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "replicate" && mode != "circular") {
    ThrowOpError(call, "pad_mode \"" + mode + "\" is none of constant, reflect, edge, circular");
  }
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim == kUnknownNDim) return GetRef<Type>(data);
  if (static_cast<int64_t>(attrs->pad_width.size()) != 2 * data->ndim) {
    ThrowOpError(call, "has " + std::to_string(attrs->pad_width.size()) + " pad widths for " +
                           Describe(GetRef<Type>(data)) + "; two an axis are needed");
  }
  if (!data->has_shape()) return GetRef<Type>(data);
  const auto before = Befores(attrs);
  const auto after = Afters(attrs);
  Array<PrimExpr> shape;
  for (size_t i = 0; i < before.size(); ++i) {
    const PrimExpr& extent = (*data->shape)[i];
    const PrimExpr padded = builder.analyzer().Simplify(extent + (before[i] + after[i]));
    if (const auto known = AsConstInt(padded); known && *known < 0) {
      ThrowOpError(call,
                   "crops more than there is along axis " + std::to_string(i) + " of " + Describe(GetRef<Type>(data)));
    }
    const auto known = AsConstInt(extent);
    if (mode == "reflect" && known && std::max(before[i], after[i]) >= std::max<int64_t>(*known, 1)) {
      ThrowOpError(
          call, "reflects more than there is along axis " + std::to_string(i) + " of " + Describe(GetRef<Type>(data)));
    }
    shape.push_back(padded);
  }
  return TensorType(shape, data->dtype, data->vdevice);
}

Expr LegalizePad(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<PadAttrsNode>(call);
  const std::string mode(attrs->pad_mode);
  const auto before = Befores(attrs);
  const auto after = Afters(attrs);
  const std::string name = mode == "constant"                      ? "pad"
                           : mode == "edge" || mode == "replicate" ? "replicate_pad"
                                                                   : mode + "_pad";
  return builder.CallTE(name, call->args, [&](const Array<Tensor>& args) {
    const Tensor& x = args[0];
    if (mode == "reflect") return Array<Tensor>{topi::PadReflect(x, before, after)};
    if (mode == "circular") return Array<Tensor>{topi::PadCircular(x, before, after)};
    if (mode == "constant") {
      return Array<Tensor>{topi::PadConstant(x, before, after, MakeConst(x.dtype(), attrs->pad_value), "PadInput")};
    }
    return Array<Tensor>{topi::PadEdge(x, before, after)};
  });
}

Type InferPixelShuffle(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const int64_t factor = AttrsOf<PixelShuffleAttrsNode>(call)->upscale_factor;
  if (factor < 1) ThrowOpError(call, "its upscale_factor must be positive");
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->has_shape()) return GetRef<Type>(data);
  if (data->ndim < 3) ThrowOpError(call, "needs at least three axes and is given " + Describe(GetRef<Type>(data)));
  const Array<PrimExpr> dims = *data->shape;
  std::vector<PrimExpr> shape(dims.begin(), dims.end());
  const size_t channel = shape.size() - 3;
  if (const auto known = AsConstInt(shape[channel]); known && *known % (factor * factor) != 0) {
    ThrowOpError(call, "the channels of " + Describe(GetRef<Type>(data)) + " do not divide by " +
                           std::to_string(factor * factor));
  }
  shape[channel] = builder.analyzer().Simplify(FloorDiv(shape[channel], factor * factor));
  shape[channel + 1] = shape[channel + 1] * factor;
  shape[channel + 2] = shape[channel + 2] * factor;
  return TensorType(Array<PrimExpr>(shape.begin(), shape.end()), data->dtype, data->vdevice);
}

Expr LegalizePixelShuffle(BlockBuilder& builder, const Call& call) {
  const int64_t r = AttrsOf<PixelShuffleAttrsNode>(call)->upscale_factor;
  return CallKernel(builder, call, "pixel_shuffle", call->args, [&](const Array<Tensor>& args) {
    return te::Compute(
        *call.ty().as<TensorTypeNode>()->shape,
        [&](const Array<tir::Var>& vars) {
          std::vector<PrimExpr> at(vars.begin(), vars.end());
          const size_t c = at.size() - 3;
          const PrimExpr channel = at[c] * (r * r) + FloorMod(at[c + 1], r) * r + FloorMod(at[c + 2], r);
          at[c + 1] = FloorDiv(at[c + 1], r);
          at[c + 2] = FloorDiv(at[c + 2], r);
          at[c] = channel;
          return args[0](Array<PrimExpr>(at.begin(), at.end()));
        },
        "T_pixel_shuffle");
  });
}

Type InferBatchFlatten(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->has_shape()) return TensorType::WithNDim(2, data->dtype, data->vdevice);
  if (data->ndim < 1) ThrowOpError(call, "needs a batch axis and is given " + Describe(GetRef<Type>(data)));
  PrimExpr rest = I64(1);
  for (size_t i = 1; i < data->shape.value().size(); ++i) rest = rest * (*data->shape)[i];
  return TensorType({(*data->shape)[0], builder.analyzer().Simplify(rest)}, data->dtype, data->vdevice);
}

Expr LegalizeBatchFlatten(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "reshape", call->args, [&](const Array<Tensor>& args) {
    const Array<PrimExpr>& shape = args[0].shape();
    return te::Compute(
        *call.ty().as<TensorTypeNode>()->shape,
        [&](const Array<tir::Var>& vars) {
          std::vector<PrimExpr> indices(shape.size());
          PrimExpr rest = vars[1];
          for (size_t i = shape.size(); i-- > 1;) {
            indices[i] = FloorMod(rest, shape[i]);
            rest = FloorDiv(rest, shape[i]);
          }
          indices[0] = vars[0];
          return args[0](Array<PrimExpr>(indices.begin(), indices.end()));
        },
        "T_reshape", {}, topi::NamesOfAxes(topi::AxisNames::kAx, 2));
  });
}

/// The result of attention of the first three arguments.
Type InferFromOperands(const Call& call, const BlockBuilder& builder) {
  CommonDType(call, 0, 1);
  const DataType dtype = CommonDType(call, 0, 2);
  const auto query = ShapeOf(TensorArg(call, 0));
  const auto key = ShapeOf(TensorArg(call, 1));
  const auto value = ShapeOf(TensorArg(call, 2));
  if (!query || !key || !value) return TensorType::WithNDim(4, dtype, CommonVDevice(call));
  // `a` against dimension `axis` of argument `arg`.
  const auto check = [&](const PrimExpr& a, size_t arg, size_t axis, const char* what) {
    const auto& shape = arg == 1 ? *key : *value;
    if (!ProvablyDiffers(builder, shape[static_cast<int64_t>(axis)], {arg, axis, a})) return;
    ThrowOpError(call, std::string(what) + " do not agree: " + Describe(call->args[0].ty()) + ", " +
                           Describe(call->args[1].ty()) + " and " + Describe(call->args[2].ty()));
  };
  for (const size_t arg : {1, 2}) {
    check((*query)[0], arg, 0, "batch sizes");
    check((*query)[2], arg, 2, "numbers of heads");
  }
  check((*query)[3], 1, 3, "head dimensions of query and key");
  check((*key)[1], 2, 1, "lengths of key and value");
  return TensorType({(*query)[0], (*query)[1], (*query)[2], (*value)[3]}, dtype, CommonVDevice(call));
}

Type InferAttention(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 3, 4);
  for (size_t i = 0; i < call->args.size(); ++i) CheckRank(call, i, 4);
  return InferFromOperands(call, builder);
}

Type InferAttentionVarLen(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 7, 7);
  for (size_t i = 0; i < 3; ++i) CheckRank(call, i, 4);
  for (size_t i = 3; i < 7; ++i) {
    if (i < 5) CheckRank(call, i, 1);
    const DataType dtype = TensorArg(call, i)->dtype;
    if (!dtype.is_void() && !(dtype == DataType::Int(32)))
      ThrowOpError(call, "its starts and lengths must be int32; given " + Describe(call->args[i].ty()));
  }
  return InferFromOperands(call, builder);
}

/// The factor of the scores of `query`.
double ScaleOf(const Call& call, const Tensor& query) {
  const auto* attrs = AttrsOf<AttentionAttrsNode>(call);
  if (attrs->window_size.has_value()) {
    DEUTERON_THROW(UnsupportedError) << OpName(call) << ": window_size is not supported";
  }
  if (attrs->scale.has_value()) return *attrs->scale;
  const auto dim = AsConstInt(query.shape()[3]);
  if (!dim) DEUTERON_THROW(UnsupportedError) << OpName(call) << ": a symbolic head dimension needs a scale";
  return 1.0 / std::sqrt(static_cast<double>(*dim));
}

Expr LegalizeAttentionVarLen(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<AttentionAttrsNode>(call);
  const Array<Expr> args(call->args.begin(), call->args.begin() + 5);
  return CallKernel(builder, call, "attention_var_len", args, [&](const Array<Tensor>& x) {
    const bool causal = attrs->causal_mask.has_value();
    return topi::AttentionOfSequences(x[0], x[1], x[2], x[3], x[4], ScaleOf(call, x[0]), causal,
                                      causal && *attrs->causal_mask == "BottomRight");
  });
}

Expr LegalizeAttention(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<AttentionAttrsNode>(call);
  return builder.CallTE(
      call->args.size() == 4 ? "attention_bias" : "attention", call->args, [&](const Array<Tensor>& args) {
        const double scale = ScaleOf(call, args[0]);
        PrimExpr offset;
        if (attrs->causal_mask.has_value()) {
          offset = *attrs->causal_mask == "BottomRight" ? args[1].shape()[1] - args[0].shape()[1] : I64(0);
        }
        return Array<Tensor>{
            topi::Attention(args[0], args[1], args[2], args.size() == 4 ? args[3] : Tensor(), scale, offset)};
      });
}

}  // namespace

std::vector<OpInfo> NNMiscOps() {
  const char* attention = "deuteron.relax.AttentionAttrs";
  return {
      {"nn.pad", {"data"}, "deuteron.relax.PadAttrs", InferPad, LegalizePad},
      {"nn.pixel_shuffle", {"data"}, "deuteron.relax.PixelShuffleAttrs", InferPixelShuffle, LegalizePixelShuffle},
      {"nn.batch_flatten", {"data"}, nullptr, InferBatchFlatten, LegalizeBatchFlatten},
      {"nn.attention", {"query", "key", "value"}, attention, InferAttention, LegalizeAttention},
      {"nn.attention_bias", {"query", "key", "value", "bias"}, attention, InferAttention, LegalizeAttention},
      {"nn.attention_var_len",
       {"query", "key", "value", "seqstart_q", "seqstart_k", "max_seqlen_q", "max_seqlen_k"},
       attention,
       InferAttentionVarLen,
       LegalizeAttentionVarLen},
  };
}

namespace nn {

Expr Pad(Expr data, std::vector<int64_t> pad_width, double pad_value, std::string pad_mode) {
  auto attrs = MakeNode<PadAttrsNode>();
  attrs->pad_width = ToArray(pad_width);
  attrs->pad_value = pad_value;
  attrs->pad_mode = pad_mode;
  return MakeCall("nn.pad", {std::move(data)}, PadAttrs(std::move(attrs)));
}

Expr PixelShuffle(Expr data, int64_t upscale_factor) {
  auto attrs = MakeNode<PixelShuffleAttrsNode>();
  attrs->upscale_factor = upscale_factor;
  return MakeCall("nn.pixel_shuffle", {std::move(data)}, PixelShuffleAttrs(std::move(attrs)));
}

Expr BatchFlatten(Expr data) { return MakeCall("nn.batch_flatten", {std::move(data)}); }

Expr Attention(Expr query, Expr key, Expr value, Expr bias, double scale, std::string causal_mask) {
  auto attrs = MakeNode<AttentionAttrsNode>();
  if (scale != 0) attrs->scale = scale;
  if (!causal_mask.empty()) attrs->causal_mask = String(causal_mask);
  const AttentionAttrs shared(std::move(attrs));
  if (!bias.defined()) {
    return MakeCall("nn.attention", {std::move(query), std::move(key), std::move(value)}, shared);
  }
  return MakeCall("nn.attention_bias", {std::move(query), std::move(key), std::move(value), std::move(bias)}, shared);
}

Expr AttentionVarLen(Expr query, Expr key, Expr value, Expr seqstart_q, Expr max_seqlen_q, Expr seqstart_k,
                     Expr max_seqlen_k, double scale, std::string causal_mask) {
  auto attrs = MakeNode<AttentionAttrsNode>();
  if (scale != 0) attrs->scale = scale;
  if (!causal_mask.empty()) attrs->causal_mask = String(causal_mask);
  if (!seqstart_k.defined()) seqstart_k = seqstart_q;
  if (!max_seqlen_k.defined()) max_seqlen_k = max_seqlen_q;
  return MakeCall("nn.attention_var_len",
                  {std::move(query), std::move(key), std::move(value), std::move(seqstart_q), std::move(seqstart_k),
                   std::move(max_seqlen_q), std::move(max_seqlen_k)},
                  AttentionAttrs(std::move(attrs)));
}

}  // namespace nn
}  // namespace deuteron::relax
