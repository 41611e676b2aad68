#include "deuteron/frontend/onnx/activation.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Builds expressions of one input by its dtype's constants.
struct Build {
  const NodeContext& node;
  Expr x = node.X(0);
  DataType dtype = node.DType(x);

  Expr Const(double value) const { return node.Scalar(dtype, value); }
  Expr Done(const Expr& value) const { return node.Emit(value); }
};

}  // namespace

Results ConvertNamedActivation(const NodeContext& node) {
  const auto parameter = [&](const char* name) {
    return node.HasAttr(name) ? std::optional<double>(node.Float(name, 0)) : std::nullopt;
  };
  const std::string name(node.node().op_type);
  return {Activated(node, node.X(0), name, parameter("alpha"), parameter(name == "Selu" ? "gamma" : "beta"))};
}

Results ConvertPRelu(const NodeContext& node) {
  const Build b{node};
  // Right-aligned broadcasting, as everywhere since operator set 7.
  const std::vector<Expr> operands = BroadcastOperands(node, {b.x, node.X(1)});
  const Expr& x = operands[0];
  return {b.Done(relax::Where(relax::Less(x, b.Const(0)), relax::Multiply(x, operands[1]), x))};
}

Results ConvertGelu(const NodeContext& node) {
  const std::string approximate = node.Str("approximate", "none");
  if (approximate == "tanh") return {node.Emit(relax::nn::GeluTanh(node.X(0)))};
  if (approximate != "none") node.Fail("approximate '" + approximate + "' is neither none nor tanh");
  return {node.Emit(relax::nn::Gelu(node.X(0)))};
}

Results ConvertMish(const NodeContext& node) {
  const Build b{node};
  return {b.Done(relax::Multiply(b.x, relax::Tanh(relax::nn::Softplus(b.x))))};
}

Results ConvertSwish(const NodeContext& node) {
  const Build b{node};
  const double alpha = node.Float("alpha", 1.0);
  if (alpha == 1.0) return {b.Done(relax::nn::Silu(b.x))};
  return {b.Done(relax::Multiply(b.x, relax::Sigmoid(relax::Multiply(b.x, b.Const(alpha)))))};
}

Results ConvertSwiGLU(const NodeContext& node) {
  if (node.DType(0) != node.DType(1)) node.Fail("its inputs are of different dtypes");
  return {node.Emit(relax::Multiply(ConvertSwish(node)[0]->expr, node.WithShape(node.X(1), node.Shape(0))))};
}

Results ConvertShrink(const NodeContext& node) {
  const Build b{node};
  const double lambda = node.Float("lambd", 0.5);
  const double bias = node.Float("bias", 0.0);
  const Expr above =
      relax::Where(relax::Greater(b.x, b.Const(lambda)), relax::Subtract(b.x, b.Const(bias)), b.Const(0));
  return {b.Done(relax::Where(relax::Less(b.x, b.Const(-lambda)), relax::Add(b.x, b.Const(bias)), above))};
}

namespace {

/// Before operator set 13 these work on the matrix of the axes before `axis` and those from it on.
Expr AlongAxis(const NodeContext& node, const std::function<Expr(const Expr&, int64_t)>& apply) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  if (rank == 0) return apply(node.Reshaped(x, {I64(1)}), 0);
  const int64_t axis = node.Axis(node.Int("axis", node.opset() < 13 ? 1 : -1), rank);
  if (node.opset() >= 13 || axis == rank - 1) return apply(x, axis);
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> flat;
  for (int64_t i = 0; i < axis; ++i) flat.push_back(shape[i]);
  flat.push_back(node.Product(shape, axis, rank));
  return node.Reshaped(apply(node.Reshaped(x, flat), axis), shape);
}

}  // namespace

Results ConvertSoftmax(const NodeContext& node) {
  const bool log = node.node().op_type == "LogSoftmax";
  const Expr result = AlongAxis(node, [&](const Expr& x, int64_t axis) -> Expr {
    return node.Emit(log ? relax::nn::LogSoftmax(x, axis) : relax::nn::Softmax(x, axis));
  });
  return {node.Reshaped(result, node.Shape(0))};
}

Results ConvertHardmax(const NodeContext& node) {
  const DataType dtype = node.DType(0);
  const Expr result = AlongAxis(node, [&](const Expr& x, int64_t axis) -> Expr {
    const PrimExpr depth = node.Shape(x)[axis];
    Array<PrimExpr> along(static_cast<size_t>(node.Rank(x)), I64(1));
    along.Set(axis, depth);
    const Expr first = node.Emit(relax::Argmax(x, axis, /*keepdims=*/true));
    const Expr positions = node.Emit(relax::Arange(I64(0), depth, I64(1), DataType::Int(64)));
    return node.CastTo(node.Emit(relax::Equal(first, node.Reshaped(positions, along))), dtype);
  });
  return {node.Reshaped(result, node.Shape(0))};
}

}  // namespace deuteron::onnx
