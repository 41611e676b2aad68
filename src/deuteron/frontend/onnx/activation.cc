#include "deuteron/frontend/onnx/activation.h"

#include <algorithm>
#include <string_view>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/support/letters.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Builds expressions of x by its dtype's constants.
struct Builder {
  const NodeContext& node;
  const Expr& x;
  DataType dtype = node.DType(x);

  Expr Const(double value) const { return node.Scalar(dtype, value); }
  Expr Done(const Expr& value) const { return node.Emit(value); }
  /// exp(min(x, 0)) - 1: no overflow where the other branch is taken.
  Expr ExpM1OfNegative(const Expr& value) const {
    return relax::Subtract(relax::Exp(relax::Minimum(value, Const(0))), Const(1));
  }
  /// `above` where x is positive, else `below`.
  Expr BySign(const Expr& above, const Expr& below) const {
    return Done(relax::Where(relax::Greater(x, Const(0)), above, below));
  }
  Expr Line(double factor, double offset) const { return relax::Add(relax::Multiply(x, Const(factor)), Const(offset)); }
  Expr HardLine(double factor, double offset) const {
    return relax::Minimum(relax::Maximum(Line(factor, offset), Const(0)), Const(1));
  }
};

}  // namespace

int64_t NumParameters(std::string name) {
  static constexpr std::string_view kOfOne[] = {"leakyrelu", "thresholdedrelu", "elu", "celu"};
  static constexpr std::string_view kOfTwo[] = {"affine", "hardsigmoid", "scaledtanh", "parametricsoftplus", "selu"};
  name = SmallLetters(std::move(name));
  if (std::find(std::begin(kOfOne), std::end(kOfOne), name) != std::end(kOfOne)) return 1;
  return std::find(std::begin(kOfTwo), std::end(kOfTwo), name) != std::end(kOfTwo) ? 2 : 0;
}

Expr Activated(const NodeContext& node, const Expr& x, std::string name, std::optional<double> first,
               std::optional<double> second) {
  const std::string given = name;
  name = SmallLetters(std::move(name));
  const Builder b{node, x};
  // Defaults are floats, as what a node gives is: in double precision 0.2 is another number.
  if (name == "relu") return b.Done(relax::nn::Relu(x));
  if (name == "tanh") return b.Done(relax::Tanh(x));
  if (name == "sigmoid") return b.Done(relax::Sigmoid(x));
  if (name == "softplus") return b.Done(relax::nn::Softplus(x));
  if (name == "gelu") return b.Done(relax::nn::Gelu(x));
  if (name == "leakyrelu") return b.Done(relax::nn::LeakyRelu(x, first.value_or(0.01F)));
  if (name == "softsign") return b.Done(relax::Divide(x, relax::Add(relax::Abs(x), b.Const(1))));
  if (name == "affine") return b.Done(b.Line(first.value_or(1), second.value_or(0)));
  if (name == "hardsigmoid") return b.Done(b.HardLine(first.value_or(0.2F), second.value_or(0.5)));
  if (name == "hardswish") return b.Done(relax::Multiply(x, b.HardLine(1.0 / 6.0, 0.5)));
  if (name == "thresholdedrelu") {
    return b.Done(relax::Where(relax::Greater(x, b.Const(first.value_or(1))), x, b.Const(0)));
  }
  if (name == "scaledtanh") {
    const Expr inner = relax::Tanh(relax::Multiply(x, b.Const(second.value_or(1))));
    return b.Done(relax::Multiply(inner, b.Const(first.value_or(1))));
  }
  if (name == "parametricsoftplus") {
    const Expr inner = relax::nn::Softplus(relax::Multiply(x, b.Const(second.value_or(1))));
    return b.Done(relax::Multiply(inner, b.Const(first.value_or(1))));
  }
  if (name == "elu") return b.BySign(x, relax::Multiply(b.Const(first.value_or(1)), b.ExpM1OfNegative(x)));
  if (name == "selu") {
    const double alpha = first.value_or(1.67326319217681884765625);
    const double gamma = second.value_or(1.05070102214813232421875);
    return b.BySign(relax::Multiply(b.Const(gamma), x), relax::Multiply(b.Const(alpha * gamma), b.ExpM1OfNegative(x)));
  }
  if (name == "celu") {
    const double alpha = first.value_or(1);
    const Expr scaled = relax::Multiply(x, b.Const(1.0 / alpha));
    return b.BySign(x, relax::Multiply(b.Const(alpha), b.ExpM1OfNegative(scaled)));
  }
  node.Unsupported("the activation '" + given + "'");
}

}  // namespace deuteron::onnx
