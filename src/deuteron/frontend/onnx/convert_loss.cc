#include <optional>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/loss.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// The labels that are input 1, in [0, classes) or `ignored`: negative ones count from the last class, others are an
/// error of the run.
Expr Labels(const NodeContext& node, const PrimExpr& classes, std::optional<int64_t> ignored) {
  const relax::PrimValue count(classes);
  if (!ignored) return node.Emit(relax::FloorMod(node.CastTo(node.Indices(1, {classes}), DataType::Int(64)), count));
  const auto number = [](int64_t value) { return relax::Constant::Scalar(DataType::Int(64), value); };
  const Expr labels = node.CastTo(node.X(1), DataType::Int(64));
  const Expr is_ignored = node.Emit(relax::Equal(labels, number(*ignored)));
  const Expr counted = node.Checked(node.Emit(relax::Where(is_ignored, number(0), labels)), {classes});
  return node.Emit(relax::Where(is_ignored, number(*ignored), relax::FloorMod(counted, count)));
}

/// The loss of log-probabilities (n, classes, …) by the labels and weights that are inputs 1 and 2.
Expr LossOf(const NodeContext& node, const Expr& log_probabilities) {
  const std::string reduction = node.Str("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    node.Fail("reduction '" + reduction + "' is unknown");
  }
  const Expr weights = node.Has(2) ? node.X(2) : Expr();
  std::optional<int64_t> ignored;
  if (node.HasAttr("ignore_index")) ignored = node.RequiredInt("ignore_index");
  if (node.Rank(log_probabilities) < 2) node.Fail("its input has no classes");
  const Expr labels = Labels(node, node.Shape(log_probabilities)[1], ignored);
  // No class is left out unless the node says so.
  return node.Emit(relax::nn::NLLLoss(log_probabilities, labels, weights, reduction, ignored.value_or(INT32_MIN)));
}

}  // namespace

Results ConvertNegativeLogLikelihoodLoss(const NodeContext& node) { return {LossOf(node, node.X(0))}; }

Results ConvertSoftmaxCrossEntropyLoss(const NodeContext& node) {
  const Expr log_probabilities = node.Emit(relax::nn::LogSoftmax(node.X(0), 1));
  return {LossOf(node, log_probabilities), log_probabilities};
}

}  // namespace deuteron::onnx
