#include <cmath>

#include "deuteron/backend/cudnn/cudnn.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::backend::cudnn {
namespace {

using relax::CallNode;
using relax::Expr;
using Dims = Array<PrimExpr>;

/// One value a channel, the axis of `channels` counted from the end.
void CheckBias(const Dims& bias, const PrimExpr& extent, size_t after) {
  arith::Analyzer analyzer;
  Require(bias.size() > after && analyzer.CanProveEqual(bias[static_cast<int64_t>(bias.size() - 1 - after)], extent) &&
              analyzer.CanProveEqual(Product(bias, 0, static_cast<int64_t>(bias.size())), extent),
          "a bias that is not one value a channel");
}

JsonKernel DescribeConvolution(const MatchedComposite& composite) {
  const auto* conv = composite.AttrsAt<relax::ConvAttrsNode>("root");
  const TensorTypeNode* x = composite.TensorAt("input");
  const TensorTypeNode* w = composite.TensorAt("weight");
  const TensorTypeNode* result = KnownTensor(composite.result);
  Require(result->dtype == x->dtype && w->dtype == x->dtype, "a result of another dtype than the operands");
  Require(conv->out_layout.empty() || conv->out_layout == conv->data_layout, "a result of another layout");
  Require(SameShape(*result->shape, *composite.TensorAt("root")->shape), "an operand that widens the result");
  const bool last = conv->data_layout == "NHWC";
  JsonKernel kernel;
  kernel.inputs = {composite.At("input"), composite.At("weight")};
  const bool bias = composite.Has("bias");
  if (bias) {
    const TensorTypeNode* type = composite.TensorAt("bias");
    Require(type->dtype == x->dtype, "a bias of another dtype");
    CheckBias(*type->shape, (*result->shape)[last ? 3 : 1], last ? 0 : 2);
    kernel.inputs.push_back(composite.At("bias"));
  }
  kernel.attrs = {{"op", "conv2d"},
                  {"layout", std::string(conv->data_layout)},
                  {"strides", Expanded(conv->strides, 2)},
                  {"padding", Expanded(conv->padding, 4)},
                  {"dilation", Expanded(conv->dilation, 2)},
                  {"groups", conv->groups},
                  {"bias", bias},
                  {"relu", composite.name.find("_relu") != std::string::npos}};
  return kernel;
}

void CheckSwapped(const MatchedComposite& composite, const Expr& expr) {
  const auto* permute = composite.value_of(expr).as<CallNode>();
  const auto* attrs = static_cast<const relax::PermuteDimsAttrsNode*>(permute->attrs.get());
  Require(attrs->axes.has_value() && relax::ToVector(*attrs->axes) == std::vector<int64_t>{1, 0, 2, 3},
          "a transposition of other axes than batch and row");
}

JsonKernel DescribeAttention(const MatchedComposite& composite) {
  const bool rows_first = composite.name == "cudnn.attention.SBN3H";
  const auto* call = composite.value_of(composite.At("attention")).as<CallNode>();
  const auto* attrs = static_cast<const relax::AttentionAttrsNode*>(call->attrs.get());
  const Dims stacked = *composite.TensorAt("stacked_qkv")->shape;
  std::vector<Dims> shapes;
  for (int64_t i = 0; i < 3; ++i) shapes.push_back(*KnownTensor(call->args[i])->shape);
  const auto heads = AsConstInt(shapes[0][2]), channels = AsConstInt(shapes[0][3]),
             value_channels = AsConstInt(shapes[2][3]);
  Require(heads && channels && value_channels, "a symbolic number of heads or channels");
  for (const int64_t count : {*channels, *value_channels})
    Require(count % 8 == 0 && count <= 128, "heads of no multiple of 8 channels, or of more than 128");
  arith::Analyzer analyzer;
  const int64_t width = 2 * *channels + *value_channels;
  Require(analyzer.CanProveEqual(LastOf(stacked), I64(rows_first ? width : *heads * width)),
          "rows that hold more than queries, keys and values");
  // (batch, row) lead everywhere; what attention sees has them in this order.
  for (const Dims& shape : shapes) {
    Require(analyzer.CanProveEqual(shape[0], stacked[rows_first ? 1 : 0]) &&
                analyzer.CanProveEqual(shape[1], stacked[rows_first ? 0 : 1]) &&
                analyzer.CanProveEqual(shape[2], I64(*heads)),
            "a reshape that mixes rows");
  }
  if (rows_first) {
    for (const char* role : {"q_transpose", "k_transpose", "v_transpose"}) CheckSwapped(composite, composite.At(role));
    CheckSwapped(composite, composite.result);
  }
  JsonKernel kernel;
  kernel.inputs = {composite.At("stacked_qkv")};
  kernel.attrs = {{"op", "attention"},
                  {"layout", rows_first ? "SBN3H" : "BS3NH"},
                  {"heads", *heads},
                  {"channels", *channels},
                  {"value_channels", *value_channels},
                  {"scale", attrs->scale.has_value() ? *attrs->scale : 1 / std::sqrt(static_cast<double>(*channels))}};
  return kernel;
}

}  // namespace

JsonKernel DescribeKernel(const MatchedComposite& composite) {
  return composite.Has("attention") ? DescribeAttention(composite) : DescribeConvolution(composite);
}

transform::Pass Partition() { return relax::FuseOpsByPattern(TranslatablePatterns("cudnn.", DescribeKernel)); }

relax::ExternalFunction Generate(const relax::CodegenRequest& request) {
  return GenerateGraph(request, "cudnn", DescribeKernel);
}

}  // namespace deuteron::backend::cudnn
