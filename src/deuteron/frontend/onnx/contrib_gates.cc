/// \file
/// Gates, norms of branches and mixtures of streams of com.microsoft, as builders of language models write them.
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// What all of them compute in.
const DataType kGateDType = DataType::Float(32);

/// x / sqrt(mean(x²) + epsilon) over the last axis.
Expr NormOfBranch(const NodeContext& node, const Expr& x, double epsilon) {
  const Expr mean =
      node.Emit(relax::Mean(relax::Multiply(x, x), std::vector<int64_t>{node.Rank(x) - 1}, /*keepdims=*/true));
  return node.Emit(relax::Multiply(x, relax::Rsqrt(relax::Add(mean, node.Scalar(kGateDType, epsilon)))));
}

/// `x` (…, count · h) as (…, count, h).
Expr Branches(const NodeContext& node, const Expr& x, int64_t count) {
  Array<PrimExpr> shape = node.Shape(x);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  if (const auto known = AsConstInt(shape[last]); count < 1 || (known && *known % count != 0)) {
    node.Fail(std::to_string(count) + " branches of an axis of " + relax::Describe(shape[last]));
  }
  const PrimExpr length = node.Simplify(FloorDiv(shape[last], I64(count)));
  shape.Set(last, I64(count));
  shape.push_back(length);
  return node.Reshaped(x, shape);
}

/// Input 0, streams (…, c, h), or (…, c · h) if the attribute num_branches says how many.
Expr Streams(const NodeContext& node) {
  const int64_t count = node.Int("num_branches", 0);
  const Expr x = node.CastTo(node.X(0), kGateDType);
  return count == 0 ? x : Branches(node, x, count);
}

/// `mix`, (…, c), (…, c, 1), (…, c, h) or (…, c · h), for streams (…, c, h).
Expr MixOf(const NodeContext& node, size_t input, const Expr& streams) {
  const Expr mix = node.CastTo(node.X(input), kGateDType);
  Array<PrimExpr> shape = node.Shape(mix);
  const Array<PrimExpr> whole = node.Shape(streams);
  if (shape.size() == whole.size()) return mix;
  if (shape.size() + 1 != whole.size()) node.Fail("input " + std::to_string(input) + " does not fit the streams");
  // Of either length: a number for each branch, or h of them.
  const PrimExpr& count = whole[whole.size() - 2];
  const PrimExpr each = node.Simplify(FloorDiv(shape.back(), Max(count, I64(1))));
  shape.Set(static_cast<int64_t>(shape.size()) - 1, count);
  shape.push_back(each);
  return node.Reshaped(mix, shape);
}

}  // namespace

Results ConvertGatedRMSNorm(const NodeContext& node) {
  const Expr scale = node.CastTo(node.X(1), kGateDType);
  const PrimExpr width = node.Shape(scale)[0];
  const Array<PrimExpr> shape = node.Shape(0);
  if (shape.empty() || IsZero(width)) node.Fail("its input must have an axis");
  Array<PrimExpr> rows = shape;
  rows.Set(static_cast<int64_t>(rows.size()) - 1, node.Simplify(FloorDiv(shape.back(), Max(width, I64(1)))));
  rows.push_back(width);
  const auto by_row = [&](size_t input) { return node.Reshaped(node.CastTo(node.X(input), kGateDType), rows); };
  const Expr gate = by_row(2);
  const std::string activation = node.Str("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid") {
    node.Fail("activation '" + activation + "' is unknown");
  }
  const Expr open = activation == "sigmoid" ? relax::Sigmoid(gate) : relax::nn::Silu(gate);
  const Expr norm = NormOfBranch(node, by_row(0), node.Float("epsilon", 1e-5));
  const Expr y = node.Emit(relax::Multiply(relax::Multiply(norm, scale), open));
  return {node.CastTo(node.Reshaped(y, shape), node.DType(0))};
}

Results ConvertBranchwiseRMSNorm(const NodeContext& node) {
  const Expr x = Streams(node);
  Expr y = NormOfBranch(node, x, node.Float("epsilon", 1e-5));
  if (node.Has(1)) {
    const Array<PrimExpr> shape = node.Shape(x);
    Expr scale = node.CastTo(node.X(1), kGateDType);
    const Array<PrimExpr> own = node.Shape(scale);
    if (own.size() == 1 && !node.analyzer().CanProveEqual(own[0], shape.back())) {
      // As long as a branch, or as all of them.
      scale = node.Reshaped(scale, {node.Simplify(FloorDiv(own[0], Max(shape.back(), I64(1)))), shape.back()});
    }
    y = ProductOf(node, y, scale);
  }
  return {node.CastTo(node.Reshaped(y, node.Shape(0)), node.DType(0))};
}

Results ConvertGatedAdd(const NodeContext& node) {
  return {SumOf(node, node.X(0), ProductOf(node, node.X(1), node.X(2)))};
}

Results ConvertScaledSiLU(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  const Expr scale = node.Has(1) ? node.CastTo(node.Reshaped(node.X(1), {}), kGateDType)
                                 : node.Scalar(kGateDType, node.Float("alpha", 1.0));
  const Expr scaled = node.CastTo(node.Emit(relax::Multiply(node.CastTo(x, kGateDType), scale)), dtype);
  return {node.Emit(relax::Multiply(scaled, relax::Sigmoid(scaled)))};
}

Results ConvertHyperConnectionPreMix(const NodeContext& node) {
  const Expr x = Streams(node);
  const Expr product = ProductOf(node, x, MixOf(node, 1, x));
  Expr sum = node.Emit(relax::Sum(product, std::vector<int64_t>{node.Rank(product) - 2}));
  if (const double scale = node.Float("reduction_scale", 1.0); scale != 1.0) {
    sum = node.Emit(relax::Multiply(sum, node.Scalar(kGateDType, scale)));
  }
  return {node.CastTo(sum, node.DType(0))};
}

Results ConvertHyperConnectionPostMix(const NodeContext& node) {
  const Expr x = Streams(node);
  Array<PrimExpr> column = node.Shape(1);
  column.insert(column.end() - 1, I64(1));
  const Expr block = node.Reshaped(node.CastTo(node.X(1), kGateDType), column);
  Expr old = x;
  if (node.Has(3)) {
    Array<PrimExpr> square = node.Shape(x);
    square.Set(static_cast<int64_t>(square.size()) - 1, square[square.size() - 2]);
    const Expr mix = node.CastTo(node.WithShape(node.X(3), square), kGateDType);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < node.Rank(mix); ++i) order.push_back(i);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    old = node.Emit(relax::Matmul(node.Emit(relax::PermuteDims(mix, order)), x));
  }
  const Expr y = SumOf(node, old, ProductOf(node, MixOf(node, 2, x), block));
  return {node.CastTo(node.Reshaped(y, node.Shape(0)), node.DType(0))};
}

Results ConvertEngramGate(const NodeContext& node) {
  const double epsilon = node.Float("epsilon", 1e-5);
  const DataType dtype = node.DType(0);
  const auto norm = [&](size_t input, size_t scale) {
    return ProductOf(node, NormOfBranch(node, node.CastTo(node.X(input), kGateDType), epsilon),
                     node.CastTo(node.X(scale), kGateDType));
  };
  const Array<PrimExpr> shape = node.Shape(0);
  if (shape.size() != 4) node.Fail("its keys must be of rank 4");
  const Expr product =
      node.Emit(relax::Sum(ProductOf(node, norm(0, 3), norm(1, 4)), std::vector<int64_t>{3}, /*keepdims=*/true));
  const Expr dot = node.Emit(relax::Multiply(product, relax::Rsqrt(node.ScalarOf(kGateDType, shape[3]))));
  const Expr root = relax::Sqrt(relax::Maximum(relax::Abs(dot), node.Scalar(kGateDType, 1e-6)));
  const Expr gate = node.Emit(relax::Sigmoid(relax::Multiply(relax::Sign(dot), root)));
  const Array<PrimExpr> own = node.Shape(2);
  const Expr value = node.Reshaped(node.CastTo(node.X(2), kGateDType), {own[0], own[1], I64(1), own[2]});
  const Expr y = ProductOf(node, gate, value);
  Results results = {node.CastTo(y, dtype)};
  if (node.Wants(1)) {
    const Expr rows = NormOfBranch(node, y, epsilon);
    results.emplace_back(node.CastTo(ProductOf(node, rows, node.CastTo(node.X(5), kGateDType)), dtype));
  }
  return results;
}

}  // namespace deuteron::onnx
