/// \file
/// Operators that ONNX tried in its first versions and dropped: converters of other formats write them still.
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Attribute `name` as a scalar of the input's dtype.
Expr Number(const NodeContext& node, const char* name, double otherwise) {
  return node.Scalar(node.DType(0), node.Float(name, otherwise));
}

}  // namespace

Results ConvertAffine(const NodeContext& node) {
  const Expr product = node.Emit(relax::Multiply(node.X(0), Number(node, "alpha", 1)));
  return {node.Emit(relax::Add(product, Number(node, "beta", 0)))};
}

Results ConvertScale(const NodeContext& node) {
  return {node.Emit(relax::Multiply(node.X(0), Number(node, "scale", 1)))};
}

Results ConvertScaledTanh(const NodeContext& node) {
  const Expr inner = node.Emit(relax::Multiply(node.X(0), Number(node, "beta", 1)));
  return {node.Emit(relax::Multiply(relax::Tanh(inner), Number(node, "alpha", 1)))};
}

Results ConvertParametricSoftplus(const NodeContext& node) {
  const Expr inner = node.Emit(relax::Multiply(node.X(0), Number(node, "beta", 1)));
  return {node.Emit(relax::Multiply(relax::nn::Softplus(inner), Number(node, "alpha", 1)))};
}

Results ConvertImageScaler(const NodeContext& node) {
  const std::vector<double> bias = node.Floats("bias");
  const auto channels = static_cast<int64_t>(bias.size());
  if (node.Rank(0) != 4) node.Fail("its input is no batch of images");
  const Expr x = node.WithSizes(node.X(0), 1, {channels}, "the image");
  const Expr scaled = node.Emit(relax::Multiply(x, Number(node, "scale", 1)));
  return {node.Emit(relax::Add(scaled, node.ConstantFloats(bias, {channels, 1, 1}, node.DType(0))))};
}

/// Rows and columns are left out at the borders (left, top, right, bottom), or as many kept as `scale` says.
Results ConvertCrop(const NodeContext& node) {
  const auto border = node.Ints("border"), scale = node.Ints("scale");
  if (node.Rank(0) != 4) node.Fail("its input is no batch of images");
  if (!border || border->size() != 4) node.Fail("attribute 'border' is not four numbers");
  if (scale && !scale->empty() && scale->size() != 2) node.Fail("attribute 'scale' is not two numbers");
  Array<PrimExpr> begins, ends;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t before = (*border)[1 - axis], after = (*border)[3 - axis];
    const PrimExpr extent = node.Shape(0)[axis + 2];
    const PrimExpr end = scale && !scale->empty() ? I64(before + (*scale)[axis]) : node.Simplify(extent - after);
    const auto known = AsConstInt(extent), last = AsConstInt(end);
    if (before < 0 || after < 0 || (last && *last < before) || (known && last && *last > *known)) {
      node.Fail("there is less of its image than it keeps");
    }
    begins.push_back(I64(before));
    ends.push_back(end);
  }
  return {node.Emit(relax::StridedSlice(node.X(0), {2, 3}, begins, ends, {I64(1), I64(1)}))};
}

}  // namespace deuteron::onnx
