/// \file
/// Patterns that back ends share, each with its annotated parts.
#pragma once

#include <string>

#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/pattern.h"

namespace deuteron::relax::dpl {

struct AnnotatedPattern {
  DFPattern pattern;
  Map<String, DFPattern> annotations;
};

/// `op_name(lhs, rhs)`, + bias, activation. Annotated: lhs, rhs, root (the call of `op_name`), bias. `activation` is
/// the name of an operator ("relax.nn.relu") or empty. With `allow_reshape`, the bias is reshaped before it is added.
AnnotatedPattern MakeFusedBiasActivationPattern(std::string_view op_name, bool with_bias = false,
                                                std::string_view activation = "", bool allow_reshape = false);
/// Annotated: lhs, rhs (before it is transposed), root, bias.
AnnotatedPattern MakeMatmulPattern(bool with_bias = false, std::string_view activation = "",
                                   bool transposed_rhs = false);
/// Annotated: input, weight, root, bias.
AnnotatedPattern MakeConv2DPattern(bool with_bias = false, std::string_view activation = "");
/// `node` combined with another value by `binary_op`, then an activation. Annotated: residual, and what `node` has.
AnnotatedPattern MakeResidualBlockPattern(const AnnotatedPattern& node, std::string_view binary_op = "relax.add",
                                          std::string_view activation = "");
/// nn.attention, nn.attention_bias, or nn.attention_var_len. Annotated: query, key, value; bias; seqstart_q,
/// seqstart_k, max_seqlen_q, max_seqlen_k.
AnnotatedPattern MakeAttentionPattern(bool with_bias = false, bool var_len = false);

enum class StackedStart : uint8_t { kSplit, kStridedSlice };
enum class StackedLayout : uint8_t { kBS3NH, kSBN3H };
/// Attention whose query, key and value are parts of one tensor. Annotated: stacked_qkv, attention,
/// {query,key,value}_reshape_list, split or strided_slice_{query,key,value}, {q,k,v}_transpose, bias.
AnnotatedPattern MakeStackedAttentionPattern(StackedStart start, bool with_bias = false,
                                             StackedLayout layout = StackedLayout::kBS3NH);
AnnotatedPattern MakeLayerNormPattern();
/// A call_tir of a function of two tensors. Annotated: gv, inp, rms_norm.
AnnotatedPattern MakeRMSNormPattern();
/// A product, dequantized by a constant scale and zero point. Annotated: lhs, rhs, root, scale, zp.
AnnotatedPattern MakeMatmulDequantizePattern(bool transposed_rhs = false);
/// A product times the product of two scales of shape (1,), cast. Annotated: lhs, rhs, root, scaleA, scaleB.
AnnotatedPattern MakeMatmulMultiplyPattern(bool transposed_rhs = false);

/// For the registry.
FusionPattern MakeFusionPattern(std::string name, AnnotatedPattern pattern,
                                std::function<bool(const PatternCheckContext&)> check = nullptr);

}  // namespace deuteron::relax::dpl

namespace deuteron::relax {

/// Whether something outside of a match uses one of its values other than the last: it would have to be computed again.
bool HasLeakingIntermediateVariables(const PatternCheckContext& context);

}  // namespace deuteron::relax
