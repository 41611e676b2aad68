#include "deuteron/backend/cudnn/patterns.h"

#include "deuteron/backend/partition.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/backend/workspace.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/nn_attrs.h"

namespace deuteron::backend::cudnn {
namespace {

using relax::FusionPattern;
using relax::PatternCheckContext;
using relax::dpl::StackedLayout;

template <typename AttrsNode>
const AttrsNode* AttrsOf(const PatternCheckContext& context, const char* name) {
  return static_cast<const AttrsNode*>(context.annotated_expr.at(name).as<relax::CallNode>()->attrs.get());
}

bool CheckConv2D(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const TensorTypeNode* input = TensorOf(context, "input");
  const TensorTypeNode* weight = TensorOf(context, "weight");
  if (input == nullptr || weight == nullptr || !(input->dtype == weight->dtype)) return false;
  if (!(input->dtype == DataType::Float(16)) && !(input->dtype == DataType::Float(32))) return false;
  const auto* attrs = AttrsOf<relax::ConvAttrsNode>(context, "root");
  return (attrs->data_layout == "NHWC" && attrs->kernel_layout == "OHWI") ||
         (attrs->data_layout == "NCHW" && attrs->kernel_layout == "OIHW");
}

/// Half floats, split along the axis of heads, without a mask: the runtime's graph has none.
bool CheckStackedAttention(const PatternCheckContext& context, StackedLayout layout) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const TensorTypeNode* stacked = TensorOf(context, "stacked_qkv");
  const int64_t rank = layout == StackedLayout::kBS3NH ? 3 : 4;
  if (stacked == nullptr || stacked->ndim != rank || !(stacked->dtype == DataType::Float(16))) return false;
  if (AttrsOf<relax::SplitAttrsNode>(context, "split")->axis != rank - 1) return false;
  const auto* attention = AttrsOf<relax::AttentionAttrsNode>(context, "attention");
  return !attention->causal_mask.has_value() && !attention->window_size.has_value();
}

}  // namespace

std::vector<FusionPattern> Patterns() {
  using namespace relax::dpl;  // NOLINT(google-build-using-namespace)
  const auto attention = [](const char* name, StackedLayout layout) {
    return MakeFusionPattern(
        name, MakeStackedAttentionPattern(StackedStart::kSplit, false, layout),
        [layout](const PatternCheckContext& context) { return CheckStackedAttention(context, layout); });
  };
  return {MakeFusionPattern("cudnn.conv2d.nhwc_ohwi", MakeConv2DPattern(), CheckConv2D),
          MakeFusionPattern("cudnn.conv2d.nhwc_ohwi_bias", MakeConv2DPattern(true), CheckConv2D),
          MakeFusionPattern("cudnn.conv2d.nhwc_ohwi_bias_relu", MakeConv2DPattern(true, "relax.nn.relu"), CheckConv2D),
          attention("cudnn.attention.BS3NH", StackedLayout::kBS3NH),
          attention("cudnn.attention.SBN3H", StackedLayout::kSBN3H)};
}

}  // namespace deuteron::backend::cudnn

namespace deuteron::backend {

IRModule PartitionForCudnn(IRModule module) {
  module = PartitionByPrefix(std::move(module), "cudnn.", {.bind_constants = false, .annotate_codegen = true});
  return AnnotateWorkspace(std::move(module), "cudnn");
}

}  // namespace deuteron::backend
