/// \file
/// Norms and activations of com.microsoft, as ONNX Runtime's optimisers write them.
#include <functional>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

constexpr double kContribEpsilon = 1e-12;

/// The layer norm over the last axis; `beta` may be null.
Expr NormOfRows(const NodeContext& node, const Expr& x, const Expr& gamma, const Expr& beta, double epsilon) {
  const int64_t last = node.Rank(x) - 1;
  const Expr centre = beta.defined() ? beta : Expr(node.Emit(relax::Zeros(node.Shape(gamma), node.DType(gamma))));
  return node.Emit(relax::nn::LayerNorm(x, gamma, centre, {last}, epsilon, beta.defined()));
}

/// (mean, 1 / standard deviation) over the last axis in float32; the mean of a simplified norm counts as 0.
Results RowStatistics(const NodeContext& node, const Expr& x, double epsilon, bool simplified) {
  const DataType wide = DataType::Float(32);
  const Expr value = node.CastTo(x, wide);
  const std::vector<int64_t> last = {node.Rank(x) - 1};
  const Expr spread = simplified ? relax::Mean(relax::Multiply(value, value), last, /*keepdims=*/true)
                                 : relax::Variance(value, last, /*keepdims=*/true);
  const Expr inverse = node.Emit(relax::Rsqrt(relax::Add(node.Emit(spread), node.Scalar(wide, epsilon))));
  if (simplified) return {node.Emit(relax::ZerosLike(inverse)), inverse};
  return {node.Emit(relax::Mean(value, last, /*keepdims=*/true)), inverse};
}

/// Outputs of SkipLayerNormalization and its simplified form: the norm, statistics, the sum that is normalised.
Results SkipNorm(const NodeContext& node, size_t bias, bool simplified) {
  Expr sum = SumOf(node, node.X(0), node.X(1));
  if (node.Has(bias)) sum = SumOf(node, sum, node.X(bias));
  const double epsilon = node.Float("epsilon", kContribEpsilon);
  const Expr y = simplified ? Expr(node.Emit(relax::nn::RMSNorm(sum, node.X(2), {node.Rank(sum) - 1}, epsilon)))
                            : NormOfRows(node, sum, node.X(2), node.Has(3) ? node.X(3) : Expr(), epsilon);
  Results statistics = {Value(), Value()};
  if (node.Wants(1) || node.Wants(2)) statistics = RowStatistics(node, sum, epsilon, simplified);
  return {y, statistics[0], statistics[1], sum};
}

}  // namespace

Results ConvertSkipLayerNormalization(const NodeContext& node) { return SkipNorm(node, 4, /*simplified=*/false); }
Results ConvertSkipSimplifiedLayerNormalization(const NodeContext& node) {
  return SkipNorm(node, 3, /*simplified=*/true);
}

namespace {

/// What both forms compute. `of_input` gives the numbers that an input's, or some of them, stand for.
Results EmbeddedNorm(const NodeContext& node, const std::function<Expr(size_t input, const Expr& part)>& of_input) {
  const bool has_places = node.node().op_type == "EmbedLayerNormalization" && node.Has(8);
  const auto rows = [&](size_t table, size_t indices) -> Expr {
    const Expr data = node.X(table);
    const Expr taken = node.Emit(relax::Take(data, node.Indices(indices, {node.Shape(data)[0]}), 0, "wrap"));
    return of_input(table, taken);
  };
  const Array<PrimExpr> shape = node.Shape(0);
  if (shape.size() != 2) node.Fail("input_ids must be of rank 2");
  Expr sum = rows(2, 0);
  if (has_places) {
    sum = SumOf(node, sum, rows(3, 8));
  } else {
    const Expr positions = node.Emit(relax::StridedSlice(node.X(3), {0}, {I64(0)}, {shape[1]}, {I64(1)}));
    sum = SumOf(node, sum, of_input(3, node.WithShape(positions, {shape[1], node.Shape(3)[1]})));
  }
  if (node.Has(1) && node.Has(4)) sum = SumOf(node, sum, rows(4, 1));
  const Expr gamma = of_input(5, node.X(5)), beta = of_input(6, node.X(6));
  const Expr y = NormOfRows(node, sum, gamma, beta, node.Float("epsilon", kContribEpsilon));
  const DataType index = DataType::Int(32);
  Value counts;
  if (node.Wants(1)) {
    counts =
        node.Has(7)
            ? Value(node.Emit(relax::Sum(relax::Astype(relax::Equal(node.X(7), node.Scalar(node.DType(7), 1)), index),
                                         std::vector<int64_t>{1})))
            : Value(node.Emit(relax::Zeros({shape[0]}, index)));
  }
  return {y, counts, sum};
}

}  // namespace

Results ConvertEmbedLayerNormalization(const NodeContext& node) {
  return EmbeddedNorm(node, [](size_t, const Expr& part) { return part; });
}

Results ConvertQEmbedLayerNormalization(const NodeContext& node) {
  // Scales and zero points stand in the order of what they are of, rows of bytes are taken first.
  constexpr size_t kScales = 6, kZeroPoints = 11;
  const DataType real = DataType::Float(32);
  const Results results = EmbeddedNorm(node, [&](size_t input, const Expr& part) -> Expr {
    const Expr zero = ZeroPointOr0(node, Parameter(node, node.X(input + kZeroPoints)), node.DType(part));
    return node.Emit(relax::Dequantize(part, Parameter(node, node.X(input + kScales)), zero, 0, real));
  });
  return {results[0], results[1]};
}

Results ConvertContribGroupNorm(const NodeContext& node) {
  const bool skip = node.node().op_type == "SkipGroupNorm";
  const bool last = node.Flag("channels_last", true);
  Expr x = node.X(0);
  if (node.Rank(x) != 4) node.Fail("its input must be of rank 4");
  if (skip) {
    Expr other = node.X(3);
    const Array<PrimExpr> dims = node.Shape(other);
    if (dims.size() == 2) other = node.Reshaped(other, {dims[0], I64(1), I64(1), dims[1]});
    x = SumOf(node, x, other);
    if (node.Has(4)) x = SumOf(node, x, node.X(4));
  }
  const Expr sum = x;
  if (last) x = node.Emit(relax::PermuteDims(x, {0, 3, 1, 2}));
  const DataType dtype = node.DType(x);
  Expr y = node.Emit(relax::nn::GroupNorm(x, node.CastTo(node.X(1), dtype), node.CastTo(node.X(2), dtype),
                                          node.RequiredInt("groups"), /*channel_axis=*/1, {2, 3},
                                          node.Float("epsilon", 1e-5)));
  if (node.RequiredInt("activation") != 0) y = node.Emit(relax::nn::Silu(y));
  if (last) y = node.Emit(relax::PermuteDims(y, {0, 2, 3, 1}));
  return {y, sum};
}

Results ConvertBiasGelu(const NodeContext& node) {
  return {node.Emit(relax::nn::Gelu(SumOf(node, node.X(0), node.X(1))))};
}

Results ConvertFastGelu(const NodeContext& node) {
  const Expr x = node.X(0);
  return {node.Emit(relax::nn::GeluTanh(node.Has(1) ? SumOf(node, x, node.X(1)) : x))};
}

Results ConvertQuickGelu(const NodeContext& node) {
  const Expr x = node.X(0);
  const double alpha = node.Float("alpha", 1.702);
  return {node.Emit(relax::Multiply(x, relax::Sigmoid(relax::Multiply(x, node.Scalar(node.DType(x), alpha)))))};
}

Results ConvertBiasSplitGelu(const NodeContext& node) {
  const Expr sum = SumOf(node, node.X(0), node.X(1));
  const relax::Var halves = node.Emit(relax::SplitSections(sum, 2, node.Rank(sum) - 1));
  const Expr first = node.Field(halves, 0);
  const Expr second = node.WithShape(node.Field(halves, 1), node.Shape(first));
  return {node.Emit(relax::Multiply(first, relax::nn::Gelu(second)))};
}

Results ConvertBiasAdd(const NodeContext& node) { return {SumOf(node, SumOf(node, node.X(0), node.X(1)), node.X(2))}; }

}  // namespace deuteron::onnx
