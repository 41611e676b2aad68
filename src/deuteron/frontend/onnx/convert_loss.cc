#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/loss.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// The loss of log-probabilities (n, classes, …) by the labels and weights that are inputs 1 and 2.
Expr LossOf(const NodeContext& node, const Expr& log_probabilities) {
  const std::string reduction = node.Str("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    node.Fail("reduction '" + reduction + "' is unknown");
  }
  const Expr weights = node.Has(2) ? node.X(2) : Expr();
  // No class is left out unless the node says so.
  const int64_t ignored = node.HasAttr("ignore_index") ? node.RequiredInt("ignore_index") : INT32_MIN;
  return node.Emit(relax::nn::NLLLoss(log_probabilities, node.X(1), weights, reduction, ignored));
}

}  // namespace

Results ConvertNegativeLogLikelihoodLoss(const NodeContext& node) { return {LossOf(node, node.X(0))}; }

Results ConvertSoftmaxCrossEntropyLoss(const NodeContext& node) {
  const Expr log_probabilities = node.Emit(relax::nn::LogSoftmax(node.X(0), 1));
  return {LossOf(node, log_probabilities), log_probabilities};
}

}  // namespace deuteron::onnx
