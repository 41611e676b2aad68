/// \file
/// One step of an optimiser (domain ai.onnx.preview.training). Each takes a learning rate, the number of steps before
/// it, and then groups of as many tensors as are optimised: their values, their gradients, what the optimiser
/// remembers.
#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// The arithmetic of one node, in the dtype of the tensors that it optimises.
class OptimizerStep {
 public:
  /// `groups` of tensors follow the learning rate and the count.
  OptimizerStep(const NodeContext& node, size_t groups) : node_(node), dtype_(node.DType(2)) {
    if (node.NumInputs() < 2 + groups || (node.NumInputs() - 2) % groups != 0) {
      node.Fail("its inputs are not " + std::to_string(groups) + " for each tensor");
    }
    count_ = (node.NumInputs() - 2) / groups;
  }

  size_t count() const { return count_; }
  Expr Input(size_t group, size_t tensor) const { return node_.X(2 + group * count_ + tensor); }
  Expr Rate() const { return node_.CastTo(node_.Reshaped(node_.X(0), {}), dtype_); }
  Expr Steps() const { return node_.CastTo(node_.Reshaped(node_.X(1), {}), dtype_); }
  Expr IsFirst() const { return node_.Emit(relax::LessEqual(Steps(), Number(0))); }
  Expr Attr(const char* name, double otherwise) const { return Number(node_.Float(name, otherwise)); }
  Expr Number(double value) const { return node_.Scalar(dtype_, value); }
  Expr Plus(const Expr& a, const Expr& b) const { return node_.Emit(relax::Add(a, b)); }
  Expr Minus(const Expr& a, const Expr& b) const { return node_.Emit(relax::Subtract(a, b)); }
  Expr Times(const Expr& a, const Expr& b) const { return node_.Emit(relax::Multiply(a, b)); }
  Expr Over(const Expr& a, const Expr& b) const { return node_.Emit(relax::Divide(a, b)); }
  Expr Root(const Expr& a) const { return node_.Emit(relax::Sqrt(a)); }
  Expr Choice(const Expr& condition, const Expr& a, const Expr& b) const {
    return node_.Emit(relax::Where(condition, a, b));
  }
  /// The gradient of a tensor, with that of its norm.
  Expr Gradient(size_t tensor) const {
    return Plus(Times(Attr("norm_coefficient", 0), Input(0, tensor)), Input(1, tensor));
  }

 private:
  const NodeContext& node_;
  DataType dtype_;
  size_t count_ = 0;
};

/// Results of each tensor, in the order of the outputs: all first ones, all second ones, ….
Results Transposed(const std::vector<std::vector<Expr>>& tensors) {
  Results results;
  for (size_t group = 0; group < tensors.at(0).size(); ++group) {
    for (const std::vector<Expr>& tensor : tensors) results.emplace_back(tensor[group]);
  }
  return results;
}

}  // namespace

Results ConvertAdagrad(const NodeContext& node) {
  const OptimizerStep step(node, 3);
  const Expr decay = step.Plus(step.Number(1), step.Times(step.Steps(), step.Attr("decay_factor", 0)));
  const Expr rate = step.Over(step.Rate(), decay);
  std::vector<std::vector<Expr>> tensors;
  for (size_t i = 0; i < step.count(); ++i) {
    const Expr gradient = step.Gradient(i);
    const Expr squares = step.Plus(step.Input(2, i), step.Times(gradient, gradient));
    const Expr scale = step.Plus(step.Root(squares), step.Attr("epsilon", 1e-6));
    tensors.push_back({step.Minus(step.Input(0, i), step.Over(step.Times(rate, gradient), scale)), squares});
  }
  return Transposed(tensors);
}

Results ConvertAdam(const NodeContext& node) {
  const OptimizerStep step(node, 4);
  const Expr one = step.Number(1);
  const Expr alpha = step.Attr("alpha", 0.9), beta = step.Attr("beta", 0.999);
  // What the averages lack after few steps.
  const auto lacking = [&](const Expr& factor) {
    return step.Minus(one, node.Emit(relax::Power(factor, step.Steps())));
  };
  const Expr corrected = step.Over(step.Times(step.Rate(), step.Root(lacking(beta))), lacking(alpha));
  const Expr rate = step.Choice(step.IsFirst(), step.Rate(), corrected);
  std::vector<std::vector<Expr>> tensors;
  for (size_t i = 0; i < step.count(); ++i) {
    const Expr gradient = step.Gradient(i);
    const Expr mean = step.Plus(step.Times(alpha, step.Input(2, i)), step.Times(step.Minus(one, alpha), gradient));
    const Expr squares = step.Plus(step.Times(beta, step.Input(3, i)),
                                   step.Times(step.Minus(one, beta), step.Times(gradient, gradient)));
    const Expr scale = step.Plus(step.Root(squares), step.Attr("epsilon", 1e-6));
    const Expr moved = step.Minus(step.Input(0, i), step.Over(step.Times(rate, mean), scale));
    tensors.push_back({step.Times(step.Minus(one, step.Attr("norm_coefficient_post", 0)), moved), mean, squares});
  }
  return Transposed(tensors);
}

Results ConvertMomentum(const NodeContext& node) {
  const OptimizerStep step(node, 3);
  const std::string mode = node.Str("mode", "standard");
  if (mode != "standard" && mode != "nesterov") node.Fail("a mode '" + mode + "'");
  const Expr alpha = step.Attr("alpha", 0);
  const Expr beta = step.Choice(step.IsFirst(), step.Number(1), step.Attr("beta", 0));
  std::vector<std::vector<Expr>> tensors;
  for (size_t i = 0; i < step.count(); ++i) {
    const Expr gradient = step.Gradient(i);
    const Expr momentum = step.Plus(step.Times(alpha, step.Input(2, i)), step.Times(beta, gradient));
    const Expr direction = mode == "standard" ? momentum : step.Plus(gradient, step.Times(alpha, momentum));
    tensors.push_back({step.Minus(step.Input(0, i), step.Times(step.Rate(), direction)), momentum});
  }
  return Transposed(tensors);
}

}  // namespace deuteron::onnx
