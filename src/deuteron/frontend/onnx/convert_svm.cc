/// \file
/// Support vector machines (domain ai.onnx.ml): rows of features are compared with support vectors by a kernel, and the
/// results weighted.
#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/trees.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kFeature = DataType::Float(32);
/// Of all vectors for all pairs of classes, for which there is a table.
constexpr double kMostPairWeights = 1 << 28;

/// Rows of input 0 against `count` vectors: (rows, count).
Expr Compared(const NodeContext& node, const std::vector<double>& vectors, int64_t count) {
  const Expr x = node.CastTo(node.X(0), kFeature);
  if (node.Rank(x) != 2) node.Fail("its input is no matrix of rows and features");
  const auto features = static_cast<int64_t>(vectors.size()) / count;
  if (features == 0 || features * count != static_cast<int64_t>(vectors.size())) {
    node.Fail("its vectors are not of one length");
  }
  const Expr given = node.WithShape(x, {node.Shape(x)[0], I64(features)});
  const std::string kernel = node.Str("kernel_type", "LINEAR");
  const std::vector<double> parameters = node.Floats("kernel_params");
  const auto parameter = [&](size_t i) { return node.Scalar(kFeature, i < parameters.size() ? parameters[i] : 0); };
  if (kernel == "RBF") {
    const Expr one = node.ConstantFloats(vectors, {1, count, features}, kFeature);
    const Expr each = node.Reshaped(given, {node.Shape(x)[0], I64(1), I64(features)});
    const Expr distance = node.Emit(relax::Subtract(each, one));
    const Expr sum = node.Emit(relax::Sum(node.Emit(relax::Multiply(distance, distance)), {{2}}));
    return node.Emit(relax::Exp(relax::Negative(relax::Multiply(parameter(0), sum))));
  }
  const Expr columns = node.Emit(relax::PermuteDims(node.ConstantFloats(vectors, {count, features}, kFeature), {1, 0}));
  const Expr product = node.Emit(relax::Matmul(given, columns));
  if (kernel == "LINEAR") return product;
  const Expr scaled = node.Emit(relax::Add(relax::Multiply(product, parameter(0)), parameter(1)));
  if (kernel == "SIGMOID") return node.Emit(relax::Tanh(scaled));
  if (kernel != "POLY") node.Fail("a kernel_type '" + kernel + "'");
  return node.Emit(relax::Power(scaled, parameter(2)));
}

/// Of each pair of classes the weights of all vectors, (vectors, pairs), and which class a positive score votes for,
/// and which another, (pairs, classes).
struct Pairs {
  std::vector<double> weights, first, second;
  int64_t count = 0;
};

Pairs PairsOf(const std::vector<int64_t>& vectors, const std::vector<double>& coefficients, int64_t total) {
  const auto classes = static_cast<int64_t>(vectors.size());
  Pairs pairs;
  pairs.count = classes * (classes - 1) / 2;
  pairs.weights.resize(static_cast<size_t>(total * pairs.count), 0);
  pairs.first.resize(static_cast<size_t>(pairs.count * classes), 0);
  pairs.second = pairs.first;
  std::vector<int64_t> begins = {0};
  for (const int64_t count : vectors) begins.push_back(begins.back() + count);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      const auto take = [&](int64_t of_class, int64_t row) {
        for (int64_t v = begins[static_cast<size_t>(of_class)]; v < begins[static_cast<size_t>(of_class) + 1]; ++v) {
          pairs.weights[static_cast<size_t>(v * pairs.count + pair)] =
              coefficients[static_cast<size_t>(row * total + v)];
        }
      };
      take(i, j - 1);
      take(j, i);
      pairs.first[static_cast<size_t>(pair * classes + i)] = 1;
      pairs.second[static_cast<size_t>(pair * classes + j)] = 1;
    }
  }
  return pairs;
}

}  // namespace

Results ConvertSVMRegressor(const NodeContext& node) {
  const std::vector<double> coefficients = node.Floats("coefficients"), rho = node.Floats("rho");
  const int64_t supports = node.Int("n_supports", 0);
  if (coefficients.empty() || rho.empty() || supports < 0) node.Fail("coefficients or rho are missing");
  Expr scores;
  if (supports == 0) {
    // The coefficients are the only vector.
    scores = Compared(node, coefficients, 1);
  } else {
    if (static_cast<int64_t>(coefficients.size()) != supports) node.Fail("coefficients are not as many as n_supports");
    const Expr kernels = Compared(node, node.Floats("support_vectors"), supports);
    scores = node.Emit(relax::Matmul(kernels, node.ConstantFloats(coefficients, {supports, 1}, kFeature)));
  }
  scores = node.Emit(relax::Add(scores, node.Scalar(kFeature, rho[0])));
  if (node.Flag("one_class", false)) {
    const Expr is_inside = node.Emit(relax::Greater(scores, node.Scalar(kFeature, 0)));
    return {node.Emit(relax::Where(is_inside, node.Scalar(kFeature, 1), node.Scalar(kFeature, -1)))};
  }
  return {PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

Results ConvertSVMClassifier(const NodeContext& node) {
  const auto labels = node.Ints("classlabels_ints");
  if (!labels || labels->empty()) node.Unsupported("labels that are texts; numbers as labels are supported");
  if (!node.Floats("prob_a").empty()) node.Unsupported("probabilities (prob_a): their iteration; without them it is");
  const auto vectors = node.Ints("vectors_per_class");
  if (!vectors || vectors->empty()) node.Unsupported("coefficients of classes without vectors_per_class");
  const auto classes = static_cast<int64_t>(labels->size());
  const std::vector<double> coefficients = node.Floats("coefficients"), rho = node.Floats("rho");
  int64_t total = 0;
  for (const int64_t count : *vectors) {
    const auto most = static_cast<int64_t>(coefficients.size()) - total;
    if (count < 0 || count > most) node.Fail("vectors_per_class are not as many as coefficients");
    total += count;
  }
  if (classes < 2 || static_cast<int64_t>(vectors->size()) != classes || total == 0 ||
      static_cast<int64_t>(coefficients.size()) != (classes - 1) * total ||
      static_cast<int64_t>(rho.size()) != classes * (classes - 1) / 2) {
    node.Fail("vectors_per_class, coefficients, rho and classlabels_ints do not fit each other");
  }
  if (static_cast<double>(rho.size()) * static_cast<double>(std::max(total, classes)) > kMostPairWeights) {
    node.Unsupported("weights of that many vectors for that many pairs of classes");
  }
  const Pairs pairs = PairsOf(*vectors, coefficients, total);
  const Expr kernels = Compared(node, node.Floats("support_vectors"), total);
  const Expr weights = node.ConstantFloats(pairs.weights, {total, pairs.count}, kFeature);
  const Expr constant = node.ConstantFloats(rho, {pairs.count}, kFeature);
  Expr scores = node.Emit(relax::Add(node.Emit(relax::Matmul(kernels, weights)), constant));
  const Expr is_first = node.Emit(relax::Greater(scores, node.Scalar(kFeature, 0)));
  const auto votes_of = [&](const Expr& votes, const std::vector<double>& of) -> Expr {
    return node.Emit(relax::Matmul(votes, node.ConstantFloats(of, {pairs.count, classes}, kFeature)));
  };
  const Expr first = node.CastTo(is_first, kFeature);
  const Expr second = node.Emit(relax::Subtract(node.Scalar(kFeature, 1), first));
  const Expr votes = node.Emit(relax::Add(votes_of(first, pairs.first), votes_of(second, pairs.second)));
  if (classes == 2) {
    // As ONNX Runtime has it: the score of the second class is the pair's, the first one's its negative.
    scores = node.Emit(relax::Concat({node.Emit(relax::Negative(scores)), scores}, 1));
  }
  const Expr label = node.Emit(relax::Take(node.ConstantInts(*labels), node.Emit(relax::Argmax(votes, 1)), 0));
  return {label, PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

}  // namespace deuteron::onnx
