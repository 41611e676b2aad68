#include "deuteron/backend/cutlass/patterns.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/backend/partition.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/backend/workspace.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::cutlass {
namespace {

using relax::CallNode;
using relax::Expr;
using relax::FusionPattern;
using relax::PatternCheckContext;
using relax::Var;
using namespace relax::dpl;  // NOLINT(google-build-using-namespace)

bool DtypesSupported(DataType lhs, DataType rhs) {
  const auto is_byte = [](DataType dtype) { return dtype == DataType::Int(8) || dtype == DataType::UInt(8); };
  if (is_byte(lhs)) return is_byte(rhs);
  return lhs == rhs && (lhs == DataType::Float(16) || lhs == DataType::Float(32));
}

/// One value a channel.
bool IsBiasLike(const Array<PrimExpr>& shape, const PrimExpr& channels) {
  if (shape.empty()) return false;
  arith::Analyzer analyzer;
  return analyzer.CanProveEqual(LastOf(shape), channels) &&
         analyzer.CanProveEqual(Product(shape, 0, static_cast<int64_t>(shape.size())), channels);
}

/// Whether `value` is computed from `from`, directly or not, in this block.
bool DependsOn(const Var& value, const Var& from, const Map<Var, Array<Var>>& usages) {
  std::unordered_set<const Object*> seen;
  std::vector<Var> pending{from};
  while (!pending.empty()) {
    const Var current = pending.back();
    pending.pop_back();
    if (current.same_as(value)) return true;
    const auto users = usages.find(current);
    if (users == usages.end()) continue;
    for (const Var& user : (*users).second) {
      if (seen.insert(user.get()).second) pending.push_back(user);
    }
  }
  return false;
}

/// The residual is there before the result, and of its shape or one value a channel.
bool CheckResidual(const PatternCheckContext& context) {
  const auto annotated = context.annotated_expr.find("residual");
  if (annotated == context.annotated_expr.end()) return true;
  const Expr root = context.annotated_expr.at("root");
  Var residual = As<Var>((*annotated).second);
  if (!residual.defined()) {
    const auto bound = context.value_to_bound_var.find((*annotated).second);
    if (bound == context.value_to_bound_var.end()) return false;
    residual = (*bound).second;
  }
  const Var result = context.value_to_bound_var.at(root);
  if (DependsOn(residual, result, context.var_usages)) return false;
  const auto* type = result.ty().as<TensorTypeNode>();
  const auto* other = residual.ty().as<TensorTypeNode>();
  if (type == nullptr || other == nullptr || !type->has_shape() || !other->has_shape() || type->ndim == 0) return false;
  return SameShape(*type->shape, *other->shape) || IsBiasLike(*other->shape, LastOf(*type->shape));
}

bool CheckConv2D(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const TensorTypeNode* data = TensorOf(context, "lhs");
  const TensorTypeNode* weight = TensorOf(context, "rhs");
  if (data == nullptr || weight == nullptr || !DtypesSupported(data->dtype, weight->dtype)) return false;
  const auto* attrs =
      static_cast<const relax::ConvAttrsNode*>(context.annotated_expr.at("root").as<CallNode>()->attrs.get());
  if (attrs->data_layout != "NHWC" || attrs->kernel_layout != "OHWI" || !CheckResidual(context)) return false;
  if (!data->has_shape() || !weight->has_shape()) return false;
  for (const PrimExpr& dim : *data->shape) {
    if (dim->kind == ExprKind::kVar) return false;
  }
  // No depthwise kernels.
  const auto in = AsConstInt((*data->shape)[3]);
  const auto out = AsConstInt((*weight->shape)[0]);
  return !(in && out && *in == *out && *out == attrs->groups);
}

/// A plain product, or a batch whose matrices follow each other at one distance on both sides.
bool ShapesSupported(const Array<PrimExpr>& lhs, const Array<PrimExpr>& rhs) {
  if (lhs.empty() || rhs.empty() || !AsConstInt(LastOf(lhs))) return false;
  const auto lhs_rank = static_cast<int64_t>(lhs.size());
  const auto rhs_rank = static_cast<int64_t>(rhs.size());
  if (IsOne(Product(lhs, 0, lhs_rank - 2)) || IsOne(Product(rhs, 0, rhs_rank - 2))) return true;
  arith::Analyzer analyzer;
  for (int64_t i = 3; i <= std::max(lhs_rank, rhs_rank); ++i) {
    const PrimExpr a = i <= lhs_rank ? lhs[lhs_rank - i] : I64(1);
    const PrimExpr b = i <= rhs_rank ? rhs[rhs_rank - i] : I64(1);
    if (!analyzer.CanProveEqual(a, b)) return false;
  }
  return true;
}

bool CheckMatmul(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const TensorTypeNode* lhs = TensorOf(context, "lhs");
  const TensorTypeNode* rhs = TensorOf(context, "rhs");
  if (lhs == nullptr || rhs == nullptr || !lhs->has_shape() || !rhs->has_shape()) return false;
  return DtypesSupported(lhs->dtype, rhs->dtype) && CheckResidual(context) && ShapesSupported(*lhs->shape, *rhs->shape);
}

/// A product with weights that a function "…decode…" unpacks from bytes and half-float scales.
bool CheckDecodeMatmul(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context) || !CheckResidual(context)) return false;
  const TensorTypeNode* root = TensorOf(context, "root");
  if (root == nullptr || !root->has_shape() || root->ndim == 0 || root->dtype == DataType::Float(32)) return false;
  const auto* decode = context.annotated_expr.at("w_decoded").as<CallNode>()->args[0].as<GlobalVarNode>();
  if (decode == nullptr || std::string(decode->name_hint).find("decode") == std::string::npos) return false;
  const TensorTypeNode* lhs = TensorOf(context, "lhs");
  const TensorTypeNode* packed = TensorOf(context, "w_encoded");
  const TensorTypeNode* scales = TensorOf(context, "scales");
  if (lhs == nullptr || packed == nullptr || scales == nullptr) return false;
  if (!(lhs->dtype == DataType::Float(16)) || !(packed->dtype == DataType::Int(8))) return false;
  // What packs them, if it is a call, has to lay them out as the kernel reads them.
  if (const auto* call = context.annotated_expr.at("w_encoded").as<CallNode>();
      call != nullptr && !call->args.empty()) {
    const auto* external = call->args[0].as<relax::ExternFuncNode>();
    if (external != nullptr && external->global_symbol != "cutlass.ft_preprocess_weight") return false;
  }
  const PrimExpr columns = LastOf(*root->shape);
  if (!(scales->dtype == DataType::Float(16)) || !scales->has_shape() || scales->ndim == 0 || scales->ndim > 2)
    return false;
  arith::Analyzer analyzer;
  if (!analyzer.CanProveEqual(LastOf(*scales->shape), columns)) return false;
  const TensorTypeNode* bias = TensorOf(context, "bias");
  if (bias == nullptr) return true;
  return bias->has_shape() && (IsBiasLike(*bias->shape, columns) || SameShape(*root->shape, *bias->shape));
}

bool CheckStackedAttention(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const TensorTypeNode* stacked = TensorOf(context, "stacked_qkv");
  if (stacked == nullptr || stacked->ndim != 3) return false;
  if (const auto split = context.annotated_expr.find("split"); split != context.annotated_expr.end()) {
    return static_cast<const relax::SplitAttrsNode*>((*split).second.as<CallNode>()->attrs.get())->axis == 2;
  }
  // Three slices of the last axis, one behind the other.
  int64_t last_end = 0;
  for (const char* name : {"strided_slice_query", "strided_slice_key", "strided_slice_value"}) {
    const auto* slice = context.annotated_expr.at(name).as<CallNode>();
    if (slice->args.size() < 5) return false;
    const auto axes = Integers(slice->args[1]);
    const auto begin = Integers(slice->args[2]);
    const auto end = Integers(slice->args[3]);
    const auto strides = Integers(slice->args[4]);
    if (!axes || !begin || !end || !strides || end->size() != 1) return false;
    if (*axes != std::vector<int64_t>{2} || *begin != std::vector<int64_t>{last_end}) return false;
    if (*strides != std::vector<int64_t>{1}) return false;
    last_end = (*end)[0];
  }
  return true;
}

/// Along the last axis, with scale and shift.
bool CheckLayerNorm(const PatternCheckContext& context) {
  const auto* call = context.matched_expr.as<CallNode>();
  const auto* attrs = static_cast<const relax::LayerNormAttrsNode*>(call->attrs.get());
  const auto* type = context.matched_expr.ty().as<TensorTypeNode>();
  if (type == nullptr || type->ndim < 1 || !attrs->center || !attrs->scale || attrs->axes.size() != 1) return false;
  const int64_t axis = attrs->axes[0];
  return (axis < 0 ? axis + type->ndim : axis) == type->ndim - 1;
}

bool CheckRMSNorm(const PatternCheckContext& context) {
  const auto* callee = context.annotated_expr.at("rms_norm").as<CallNode>()->args[0].as<GlobalVarNode>();
  return callee != nullptr && std::string(callee->name_hint).find("rms_norm") != std::string::npos;
}

// ----- Patterns.

using PatternList = std::vector<FusionPattern>;

PatternList Conv2DPatterns() {
  const auto make = [](const char* name, bool with_bias, const char* activation) {
    return MakeFusionPattern(name, MakeFusedBiasActivationPattern("relax.nn.conv2d", with_bias, activation),
                             CheckConv2D);
  };
  return {make("cutlass.conv2d", false, ""), make("cutlass.conv2d_bias", true, ""),
          make("cutlass.conv2d_bias_relu", true, "relax.nn.relu"),
          make("cutlass.conv2d_bias_silu", true, "relax.nn.silu")};
}

PatternList MatmulPatterns() {
  PatternList patterns;
  for (const bool transposed : {false, true}) {
    const std::string name = transposed ? "cutlass.matmul_transposed" : "cutlass.matmul";
    const auto add = [&](const char* suffix, bool with_bias, const char* activation) {
      patterns.push_back(
          MakeFusionPattern(name + suffix, MakeMatmulPattern(with_bias, activation, transposed), CheckMatmul));
    };
    add("", false, "");
    add("_bias", true, "");
    add("_bias_relu", true, "relax.nn.relu");
    add("_bias_gelu", true, "relax.nn.gelu");
  }
  return patterns;
}

FusionPattern DecodeMatmulPattern(const char* name, bool cast, bool with_bias, bool gelu) {
  const DFPattern scales = Wildcard();
  const DFPattern x = Wildcard();
  const DFPattern packed = Wildcard();
  const DFPattern decoded = IsOp("relax.call_tir")(IsGlobalVar(), IsTuple({packed, scales}));
  DFPattern out = IsOp("relax.matmul")(x, decoded);
  if (cast) out = IsOp("relax.astype")(out);
  Map<String, DFPattern> annotations{
      {"root", out}, {"lhs", x}, {"w_encoded", packed}, {"w_decoded", decoded}, {"scales", scales}};
  if (with_bias) {
    const DFPattern bias = Wildcard();
    annotations.Set("bias", bias);
    out = out + bias;
  }
  if (gelu) out = IsOp("relax.nn.gelu")(out);
  return {name, out, annotations, CheckDecodeMatmul};
}

PatternList DecodeMatmulPatterns() {
  return {DecodeMatmulPattern("cutlass.decode_matmul", false, false, false),
          DecodeMatmulPattern("cutlass.decode_matmul_bias", false, true, false),
          DecodeMatmulPattern("cutlass.decode_matmul_cast", true, false, false),
          DecodeMatmulPattern("cutlass.decode_matmul_cast_bias", true, true, false),
          DecodeMatmulPattern("cutlass.decode_matmul_bias_gelu", false, true, true),
          DecodeMatmulPattern("cutlass.decode_matmul_cast_bias_gelu", true, true, true)};
}

/// Without a bias, the residual is what the patterns with a bias take for it.
PatternList ResidualBlockPatterns() {
  PatternList patterns;
  for (const char* activation : {"", "relax.nn.relu"}) {
    for (const PatternList& bases : {Conv2DPatterns(), MatmulPatterns(), DecodeMatmulPatterns()}) {
      for (const FusionPattern& base : bases) {
        if (base.name.find("_bias") == std::string::npos) continue;
        for (const char* op : {"add", "multiply"}) {
          const std::string name = base.name + "_residual_" + op + (*activation != '\0' ? "_relu" : "");
          const auto block = MakeResidualBlockPattern({base.pattern, base.annotation_patterns},
                                                      std::string("relax.") + op, activation);
          patterns.push_back(MakeFusionPattern(name, block, base.check));
        }
      }
    }
  }
  return patterns;
}

PatternList AttentionPatterns() {
  PatternList patterns{MakeFusionPattern("cutlass.attention", MakeAttentionPattern()),
                       MakeFusionPattern("cutlass.attention_bias", MakeAttentionPattern(true))};
  for (const StackedStart start : {StackedStart::kSplit, StackedStart::kStridedSlice}) {
    for (const bool with_bias : {false, true}) {
      patterns.push_back(MakeFusionPattern("cutlass.stacked_attention", MakeStackedAttentionPattern(start, with_bias),
                                           CheckStackedAttention));
    }
  }
  patterns.push_back(MakeFusionPattern("cutlass.attention_var_len", MakeAttentionPattern(false, true)));
  return patterns;
}

}  // namespace

std::vector<FusionPattern> Patterns() {
  PatternList all;
  const PatternList norms{MakeFusionPattern("cutlass.layer_norm", MakeLayerNormPattern(), CheckLayerNorm),
                          MakeFusionPattern("cutlass.rms_norm", MakeRMSNormPattern(), CheckRMSNorm)};
  for (const PatternList& family : {Conv2DPatterns(), MatmulPatterns(), DecodeMatmulPatterns(), ResidualBlockPatterns(),
                                    AttentionPatterns(), norms}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace deuteron::backend::cutlass

namespace deuteron::backend {

IRModule PartitionForCutlass(IRModule module, bool annotate_codegen, bool use_flash_mqa) {
  module = relax::UpdateFunctions(std::move(module), [&](const GlobalVar&, relax::Function function) {
    return cutlass::RewriteAttention(std::move(function), use_flash_mqa);
  });
  module =
      PartitionByPrefix(std::move(module), "cutlass.", {.bind_constants = false, .annotate_codegen = annotate_codegen});
  return AnnotateWorkspace(std::move(module), "cutlass");
}

}  // namespace deuteron::backend
