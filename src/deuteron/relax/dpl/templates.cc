#include "deuteron/relax/dpl/templates.h"

namespace deuteron::relax::dpl {
namespace {

AnnotatedPattern WithBiasAndActivation(AnnotatedPattern out, bool with_bias, std::string_view activation,
                                       bool allow_reshape = false) {
  if (with_bias) {
    const DFPattern bias = Wildcard();
    out.annotations.Set("bias", bias);
    if (allow_reshape) {
      const DFPattern reshaped = IsOp("relax.reshape").VarArgs(bias, Wildcard());
      out.pattern = IsOp("relax.add").VarArgs(out.pattern, reshaped);
    } else {
      out.pattern = out.pattern + bias;
    }
  }
  if (!activation.empty()) out.pattern = IsOp(activation)(out.pattern);
  return out;
}

/// A product of two named wildcards, the second transposed if `transposed_rhs`.
AnnotatedPattern Product(bool transposed_rhs) {
  const DFPattern lhs = Wildcard();
  const DFPattern rhs = Wildcard();
  const DFPattern right = transposed_rhs ? IsOp("relax.permute_dims")(rhs) : rhs;
  const DFPattern root = IsOp("relax.matmul")(lhs, right);
  return {root, {{"lhs", lhs}, {"rhs", rhs}, {"root", root}}};
}

}  // namespace

AnnotatedPattern MakeFusedBiasActivationPattern(std::string_view op_name, bool with_bias, std::string_view activation,
                                                bool allow_reshape) {
  const DFPattern lhs = Wildcard();
  const DFPattern rhs = Wildcard();
  const DFPattern root = IsOp(op_name)(lhs, rhs);
  return WithBiasAndActivation({root, {{"lhs", lhs}, {"rhs", rhs}, {"root", root}}}, with_bias, activation,
                               allow_reshape);
}

AnnotatedPattern MakeMatmulPattern(bool with_bias, std::string_view activation, bool transposed_rhs) {
  return WithBiasAndActivation(Product(transposed_rhs), with_bias, activation);
}

AnnotatedPattern MakeConv2DPattern(bool with_bias, std::string_view activation) {
  const DFPattern input = Wildcard();
  const DFPattern weight = Wildcard();
  const DFPattern root = IsOp("relax.nn.conv2d")(input, weight);
  return WithBiasAndActivation({root, {{"input", input}, {"weight", weight}, {"root", root}}}, with_bias, activation);
}

AnnotatedPattern MakeResidualBlockPattern(const AnnotatedPattern& node, std::string_view binary_op,
                                          std::string_view activation) {
  const DFPattern residual = Wildcard();
  const DFPattern op = IsOp(binary_op);
  AnnotatedPattern out{op(node.pattern, residual) | op(residual, node.pattern), node.annotations};
  if (!activation.empty()) out.pattern = IsOp(activation)(out.pattern);
  out.annotations.Set("residual", residual);
  return out;
}

AnnotatedPattern MakeAttentionPattern(bool with_bias, bool var_len) {
  const DFPattern query = Wildcard();
  const DFPattern key = Wildcard();
  const DFPattern value = Wildcard();
  Map<String, DFPattern> annotations{{"query", query}, {"key", key}, {"value", value}};
  const auto named = [&annotations](const char* name) {
    DFPattern part = Wildcard();
    annotations.Set(name, part);
    return part;
  };
  if (with_bias) {
    const DFPattern bias = named("bias");
    return {IsOp("relax.nn.attention_bias")(query, key, value, bias), annotations};
  }
  if (var_len) {
    const DFPattern start_q = named("seqstart_q");
    const DFPattern start_k = named("seqstart_k");
    const DFPattern max_q = named("max_seqlen_q");
    const DFPattern max_k = named("max_seqlen_k");
    return {IsOp("relax.nn.attention_var_len")(query, key, value, start_q, start_k, max_q, max_k), annotations};
  }
  return {IsOp("relax.nn.attention")(query, key, value), annotations};
}

AnnotatedPattern MakeStackedAttentionPattern(StackedStart start, bool with_bias, StackedLayout layout) {
  const DFPattern stacked = Wildcard();
  Map<String, DFPattern> annotations{{"stacked_qkv", stacked}};
  const auto note = [&annotations](const std::string& name, DFPattern part) {
    annotations.Set(name, part);
    return part;
  };
  const DFPattern split = start == StackedStart::kSplit ? note("split", IsOp("relax.split")(stacked)) : DFPattern();
  int64_t item = 0;
  const auto operand = [&](const char* name) {
    const DFPattern raw =
        split.defined() ? split[item++]
                        : note(std::string("strided_slice_") + name, IsOp("relax.strided_slice").VarArgs(stacked));
    const DFPattern shape = note(std::string(name) + "_reshape_list", Wildcard());
    if (layout == StackedLayout::kBS3NH) return IsOp("relax.reshape")(raw, shape);
    return note(std::string(1, name[0]) + "_transpose", IsOp("relax.permute_dims")(raw));
  };
  const DFPattern query = operand("query");
  const DFPattern key = operand("key");
  const DFPattern value = operand("value");
  DFPattern out = with_bias ? IsOp("relax.nn.attention_bias")(query, key, value, note("bias", Wildcard()))
                            : IsOp("relax.nn.attention")(query, key, value);
  annotations.Set("attention", out);
  if (layout == StackedLayout::kSBN3H) out = IsOp("relax.permute_dims")(out);
  return {out, annotations};
}

AnnotatedPattern MakeLayerNormPattern() {
  return {IsOp("relax.nn.layer_norm")(Wildcard(), Wildcard(), Wildcard()), {}};
}

AnnotatedPattern MakeRMSNormPattern() {
  const DFPattern input = Wildcard();
  const DFPattern function = IsGlobalVar();
  const DFPattern out = IsOp("relax.call_tir")(function, IsTuple({input, Wildcard()}));
  return {out, {{"gv", function}, {"inp", input}, {"rms_norm", out}}};
}

AnnotatedPattern MakeMatmulDequantizePattern(bool transposed_rhs) {
  AnnotatedPattern out = Product(transposed_rhs);
  const DFPattern scale = IsConst();
  const DFPattern zero_point = IsConst();
  out.annotations.Set("scale", scale);
  out.annotations.Set("zp", zero_point);
  out.pattern = IsOp("relax.dequantize")(out.pattern, scale, zero_point);
  return out;
}

AnnotatedPattern MakeMatmulMultiplyPattern(bool transposed_rhs) {
  AnnotatedPattern out = Product(transposed_rhs);
  const DFPattern scale_a = Wildcard();
  const DFPattern scale_b = Wildcard();
  out.annotations.Set("scaleA", scale_a);
  out.annotations.Set("scaleB", scale_b);
  const DFPattern scale = scale_a.HasShape({1}) * scale_b.HasShape({1});
  out.pattern = IsOp("relax.astype")(out.pattern * scale);
  return out;
}

FusionPattern MakeFusionPattern(std::string name, AnnotatedPattern pattern,
                                std::function<bool(const PatternCheckContext&)> check) {
  return {std::move(name), std::move(pattern.pattern), std::move(pattern.annotations), std::move(check)};
}

}  // namespace deuteron::relax::dpl

namespace deuteron::relax {

bool HasLeakingIntermediateVariables(const PatternCheckContext& context) {
  const Var output = context.value_to_bound_var.at(context.matched_expr);
  for (const auto& [var, value] : context.matched_bindings) {
    if (var.same_as(output)) continue;
    // Visible outside of the block, where anything may use it.
    if (var->kind != RelaxKind::kDataflowVar) return true;
    for (const Var& user : context.var_usages.at(var)) {
      if (context.matched_bindings.count(user) == 0) return true;
    }
  }
  return false;
}

}  // namespace deuteron::relax
