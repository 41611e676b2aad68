#include "deuteron/relax/op/loss.h"

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/loss.h"

namespace deuteron::relax {
namespace {

/// `a` against dimension `axis` of argument `arg`.
void CheckSameExtent(const Call& call, const BlockBuilder& builder, const PrimExpr& a, size_t arg, size_t axis,
                     const char* what) {
  if (!ProvablyDiffers(builder, (*TensorArg(call, arg)->shape)[static_cast<int64_t>(axis)], {arg, axis, a})) return;
  std::string types;
  for (const Expr& arg : call->args) types += (types.empty() ? "" : ", ") + Describe(arg.ty());
  ThrowOpError(call, std::string(what) + " do not agree: " + types);
}

Type InferCrossEntropy(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const DataType dtype = CommonDType(call, 0, 1);
  const TensorTypeNode* predictions = TensorArg(call, 0);
  const TensorTypeNode* labels = TensorArg(call, 1);
  for (const TensorTypeNode* type : {predictions, labels}) {
    if (type->ndim != kUnknownNDim && type->ndim != 1 && type->ndim != 2) {
      ThrowOpError(call, "takes vectors or matrices and is given " + Describe(GetRef<Type>(type)));
    }
  }
  if (predictions->ndim != kUnknownNDim) CheckRank(call, 1, predictions->ndim);
  if (predictions->has_shape() && labels->has_shape()) {
    for (int64_t i = 0; i < predictions->ndim; ++i) {
      CheckSameExtent(call, builder, (*predictions->shape)[i], 1, static_cast<size_t>(i), "the shapes");
    }
  }
  return TensorType(Array<PrimExpr>(), dtype, CommonVDevice(call));
}

Expr LegalizeCrossEntropy(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "cross_entropy_with_logits", call->args,
                    [](const Array<te::Tensor>& args) { return topi::CrossEntropyWithLogits(args[0], args[1]); });
}

Type InferNLLLoss(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 3);
  const TensorTypeNode* predictions = TensorArg(call, 0);
  const TensorTypeNode* targets = TensorArg(call, 1);
  const std::string reduction(AttrsOf<NLLLossAttrsNode>(call)->reduction);
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    ThrowOpError(call, "reduction must be none, sum or mean and is \"" + reduction + "\"");
  }
  if (!targets->dtype.is_void() && !targets->dtype.is_integer()) {
    ThrowOpError(call, "its targets must be integers and are " + Describe(GetRef<Type>(targets)));
  }
  if (call->args.size() == 3) {
    CommonDType(call, 0, 2);
    CheckRank(call, 2, 1);
  }
  const auto shape = ShapeOf(predictions);
  const auto target_shape = ShapeOf(targets);
  if (predictions->ndim == 0) ThrowOpError(call, "its predictions need an axis of classes");
  if (predictions->ndim != kUnknownNDim) CheckRank(call, 1, predictions->ndim - 1);
  if (shape && target_shape) {
    for (size_t i = 0; i < target_shape->size(); ++i) {
      CheckSameExtent(call, builder, (*shape)[i == 0 ? 0 : i + 1], 1, i, "predictions and targets");
    }
  }
  if (shape && call->args.size() == 3 && TensorArg(call, 2)->has_shape()) {
    CheckSameExtent(call, builder, (*shape)[shape->size() > 1 ? 1 : 0], 2, 0, "classes and weights");
  }
  const VDevice device = CommonVDevice(call);
  if (reduction != "none") return TensorType(Array<PrimExpr>(), predictions->dtype, device);
  if (target_shape) return TensorType(*target_shape, predictions->dtype, device);
  if (!shape) return TensorType::WithNDim(targets->ndim, predictions->dtype, device);
  Array<PrimExpr> losses = *shape;
  losses.erase(losses.begin() + (losses.size() > 1 ? 1 : 0));
  return TensorType(losses, predictions->dtype, device);
}

Expr LegalizeNLLLoss(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<NLLLossAttrsNode>(call);
  return CallKernel(builder, call, "nll_loss", call->args, [&](const Array<te::Tensor>& args) {
    return topi::NLLLoss(args[0], args[1], args.size() == 3 ? args[2] : te::Tensor(), std::string(attrs->reduction),
                         attrs->ignore_index);
  });
}

}  // namespace

std::vector<OpInfo> LossOps() {
  return {
      {"nn.cross_entropy_with_logits", {"predictions", "labels"}, nullptr, InferCrossEntropy, LegalizeCrossEntropy},
      {"nn.nll_loss",
       {"predictions", "targets", "weights?"},
       "deuteron.relax.NLLLossAttrs",
       InferNLLLoss,
       LegalizeNLLLoss},
  };
}

Expr nn::CrossEntropyWithLogits(Expr predictions, Expr labels) {
  return MakeCall("nn.cross_entropy_with_logits", {std::move(predictions), std::move(labels)});
}
Expr nn::NLLLoss(Expr predictions, Expr targets, Expr weights, std::string reduction, int64_t ignore_index) {
  auto attrs = MakeNode<NLLLossAttrsNode>();
  attrs->reduction = String(reduction);
  attrs->ignore_index = ignore_index;
  Array<Expr> args = {std::move(predictions), std::move(targets)};
  if (weights.defined()) args.push_back(std::move(weights));
  return MakeCall("nn.nll_loss", std::move(args), Attrs(attrs));
}

void NLLLossAttrsNode::RegisterReflection() {
  refl::ObjectDef<NLLLossAttrsNode>()
      .def_ro("reduction", &NLLLossAttrsNode::reduction)
      .def_ro("ignore_index", &NLLLossAttrsNode::ignore_index);
}
DEUTERON_REFLECTION() { NLLLossAttrsNode::RegisterReflection(); }

}  // namespace deuteron::relax
