/// \file
/// Support vector machines (domain ai.onnx.ml): rows of features are compared with support vectors by a kernel, and the
/// results weighted.
#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/trees.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kSvmFeature = DataType::Float(32);
/// Of all vectors for all pairs of classes, for which there is a table.
constexpr double kMostPairWeights = 1 << 28;

/// Rows of input 0 against `count` vectors: (rows, count).
Expr Compared(const NodeContext& node, const std::vector<double>& vectors, int64_t count) {
  const Expr x = node.CastTo(node.X(0), kSvmFeature);
  if (node.Rank(x) != 2) node.Fail("its input is no matrix of rows and features");
  const auto features = static_cast<int64_t>(vectors.size()) / count;
  if (features == 0 || features * count != static_cast<int64_t>(vectors.size())) {
    node.Fail("its vectors are not of one length");
  }
  const Expr given = node.WithShape(x, {node.Shape(x)[0], I64(features)});
  const std::string kernel = node.Str("kernel_type", "LINEAR");
  const std::vector<double> parameters = node.Floats("kernel_params");
  const auto parameter = [&](size_t i) { return node.Scalar(kSvmFeature, i < parameters.size() ? parameters[i] : 0); };
  if (kernel == "RBF") {
    // Vectors are neighbours, so that they are compared several at once.
    std::vector<double> columns(vectors.size());
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < features; ++j) {
        columns[static_cast<size_t>(j * count + i)] = vectors[static_cast<size_t>(i * features + j)];
      }
    }
    const Expr all = node.ConstantFloats(columns, {1, features, count}, kSvmFeature);
    const Expr each = node.Reshaped(given, {node.Shape(x)[0], I64(features), I64(1)});
    const Expr distance = node.Emit(relax::Subtract(each, all));
    const Expr sum = node.Emit(relax::Sum(node.Emit(relax::Multiply(distance, distance)), {{1}}));
    return node.Emit(relax::Exp(relax::Negative(relax::Multiply(parameter(0), sum))));
  }
  const Expr columns =
      node.Emit(relax::PermuteDims(node.ConstantFloats(vectors, {count, features}, kSvmFeature), {1, 0}));
  Expr product = node.Emit(relax::Matmul(given, columns));
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

/// Of scores of pairs, (rows, pairs), how probable each class is, (rows, classes): those by which the pairs agree best,
/// as libsvm finds them (Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling",
/// algorithm 2), to the same error.
class Coupling {
 public:
  Coupling(const NodeContext& node, const Expr& scores, int64_t classes)
      : node_(node), rows_(node.Shape(scores)[0]), classes_(classes), products_(Products(OfPairs(scores))) {}

  Expr Probabilities() const {
    const Expr equal = node_.Emit(relax::BroadcastTo(Number(1.0 / static_cast<double>(classes_)), {rows_, Classes()}));
    return EmitLoop(node_, I64(kMostSteps), Value(), {Value(equal)},
                    [&](const PrimExpr&, const Results& states) { return Step(states[0]->expr); })[0]
        ->expr;
  }

 private:
  static constexpr int64_t kMostSteps = 100;
  /// So many classes are code of their own, one after another; more are a loop.
  static constexpr int64_t kMostUnrolled = 8;

  Expr Number(double value) const { return node_.Scalar(kSvmFeature, value); }
  PrimExpr Classes() const { return I64(classes_); }

  /// How probable the first class of each pair is.
  Expr OfPairs(const Expr& scores) const {
    const auto pairs = classes_ * (classes_ - 1) / 2;
    const std::vector<double> a = node_.Floats("prob_a"), b = node_.Floats("prob_b");
    if (static_cast<int64_t>(a.size()) != pairs || b.size() != a.size()) {
      node_.Fail("prob_a and prob_b are not one of each pair of classes");
    }
    const auto vector = [&](const std::vector<double>& values) {
      return node_.ConstantFloats(values, {pairs}, kSvmFeature);
    };
    const Expr value = node_.Emit(relax::Add(node_.Emit(relax::Multiply(scores, vector(a))), vector(b)));
    const Expr first = node_.Emit(relax::Subtract(Number(1), node_.Emit(relax::Sigmoid(value))));
    return node_.Emit(relax::Minimum(relax::Maximum(first, Number(1e-7)), Number(1 - 1e-7)));
  }

  /// The matrix Q of the paper, (rows, classes, classes).
  Expr Products(const Expr& first) const {
    const auto pairs = classes_ * (classes_ - 1) / 2;
    const Expr second = node_.Emit(relax::Subtract(Number(1), first));
    const Expr none = node_.Emit(relax::BroadcastTo(Number(0), {rows_, I64(1)}));
    const Expr all = node_.Emit(relax::Concat({first, second, none}, 1));
    std::vector<int64_t> places(static_cast<size_t>(classes_ * classes_), 2 * pairs);
    int64_t pair = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        places[static_cast<size_t>(i * classes_ + j)] = pair;
        places[static_cast<size_t>(j * classes_ + i)] = pairs + pair;
      }
    }
    const Expr won =
        node_.Reshaped(node_.Emit(relax::Take(all, node_.ConstantInts(places), 1)), {rows_, Classes(), Classes()});
    const Expr lost = node_.Emit(relax::PermuteDims(won, {0, 2, 1}));
    const Expr squares = node_.Emit(relax::Sum(node_.Emit(relax::Multiply(won, won)), {{1}}, /*keepdims=*/true));
    std::vector<double> unit(places.size(), 0);
    for (int64_t i = 0; i < classes_; ++i) unit[static_cast<size_t>(i * classes_ + i)] = 1;
    const Expr diagonal =
        node_.Emit(relax::Multiply(squares, node_.ConstantFloats(unit, {classes_, classes_}, kSvmFeature)));
    return node_.Emit(relax::Subtract(diagonal, relax::Multiply(won, lost)));
  }

  /// Column `at` of a matrix, (rows, 1).
  Expr Column(const Expr& x, const PrimExpr& at) const {
    return node_.Emit(relax::StridedSlice(x, {1}, {at}, {node_.Simplify(at + 1)}, {I64(1)}, /*assume_inbound=*/true));
  }

  /// Probabilities p, Q p and pᵀ Q p once class `at` is what is best beside the others.
  Results WithClass(const PrimExpr& at, const Results& before) const {
    const Expr p = before[0]->expr, product = before[1]->expr, whole = before[2]->expr;
    const Expr row = node_.Reshaped(Column(products_, at), {rows_, Classes()});
    const Expr own = Column(row, at), mine = Column(product, at);
    const Expr change = node_.Emit(relax::Divide(node_.Emit(relax::Subtract(whole, mine)), own));
    const Expr sum = node_.Emit(relax::Add(change, Number(1)));
    const Expr all = node_.Emit(relax::Arange(I64(0), Classes(), I64(1), DataType::Int(64)));
    const Expr is_it = node_.CastTo(node_.Emit(relax::Equal(all, relax::PrimValue(at))), kSvmFeature);
    const auto scaled = [&](const Expr& x) -> Expr { return node_.Emit(relax::Divide(x, sum)); };
    const Expr twice = node_.Emit(relax::Multiply(mine, Number(2)));
    const Expr slope = node_.Emit(relax::Add(node_.Emit(relax::Multiply(change, own)), twice));
    const Expr moved = node_.Emit(relax::Add(whole, node_.Emit(relax::Multiply(change, slope))));
    return {Value(scaled(node_.Emit(relax::Add(p, node_.Emit(relax::Multiply(change, is_it)))))),
            Value(scaled(node_.Emit(relax::Add(product, node_.Emit(relax::Multiply(change, row)))))),
            Value(scaled(scaled(moved)))};
  }

  /// Another pass over the classes, for rows that are not yet there.
  LoopStep Step(const Expr& p) const {
    const Expr each = node_.Reshaped(p, {rows_, I64(1), Classes()});
    const Expr product = node_.Emit(relax::Sum(node_.Emit(relax::Multiply(products_, each)), {{2}}));
    const Expr whole = node_.Emit(relax::Sum(node_.Emit(relax::Multiply(p, product)), {{1}}, /*keepdims=*/true));
    const Expr off = node_.Emit(relax::Abs(relax::Subtract(product, whole)));
    const Expr error = node_.Emit(relax::Max(off, {{1}}, /*keepdims=*/true));
    const Expr goes_on = node_.Emit(relax::GreaterEqual(error, Number(0.005 / static_cast<double>(classes_))));
    Results state = {Value(p), Value(product), Value(whole)};
    if (classes_ <= kMostUnrolled) {
      for (int64_t at = 0; at < classes_; ++at) state = WithClass(I64(at), state);
    } else {
      state = EmitLoop(node_, Classes(), Value(), state, [&](const PrimExpr& at, const Results& states) {
        return LoopStep{.states = WithClass(at, states)};
      });
    }
    const Expr count = node_.Emit(relax::Sum(node_.CastTo(goes_on, kSvmFeature), {{0, 1}}));
    return {.condition = Value(node_.Emit(relax::Greater(count, Number(0)))),
            .states = {Value(node_.Emit(relax::Where(goes_on, state[0]->expr, p)))}};
  }

  const NodeContext& node_;
  const PrimExpr rows_;
  const int64_t classes_;
  const Expr products_;
};

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
    scores = node.Emit(relax::Matmul(kernels, node.ConstantFloats(coefficients, {supports, 1}, kSvmFeature)));
  }
  scores = node.Emit(relax::Add(scores, node.Scalar(kSvmFeature, rho[0])));
  if (node.Flag("one_class", false)) {
    const Expr is_inside = node.Emit(relax::Greater(scores, node.Scalar(kSvmFeature, 0)));
    return {node.Emit(relax::Where(is_inside, node.Scalar(kSvmFeature, 1), node.Scalar(kSvmFeature, -1)))};
  }
  return {PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

Results ConvertSVMClassifier(const NodeContext& node) {
  const auto labels = node.Ints("classlabels_ints");
  if (!labels || labels->empty()) node.Unsupported("labels that are texts; numbers as labels are supported");
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
  const Expr weights = node.ConstantFloats(pairs.weights, {total, pairs.count}, kSvmFeature);
  const Expr constant = node.ConstantFloats(rho, {pairs.count}, kSvmFeature);
  Expr scores = node.Emit(relax::Add(node.Emit(relax::Matmul(kernels, weights)), constant));
  const Expr is_first = node.Emit(relax::Greater(scores, node.Scalar(kSvmFeature, 0)));
  const auto votes_of = [&](const Expr& votes, const std::vector<double>& of) -> Expr {
    return node.Emit(relax::Matmul(votes, node.ConstantFloats(of, {pairs.count, classes}, kSvmFeature)));
  };
  const Expr first = node.CastTo(is_first, kSvmFeature);
  const Expr second = node.Emit(relax::Subtract(node.Scalar(kSvmFeature, 1), first));
  const Expr votes = node.Emit(relax::Add(votes_of(first, pairs.first), votes_of(second, pairs.second)));
  if (!node.Floats("prob_a").empty()) {
    scores = Coupling(node, scores, classes).Probabilities();
  } else if (classes == 2) {
    // As ONNX Runtime has it: the score of the second class is the pair's, the first one's its negative.
    scores = node.Emit(relax::Concat({node.Emit(relax::Negative(scores)), scores}, 1));
  }
  const Expr label = node.Emit(relax::Take(node.ConstantInts(*labels), node.Emit(relax::Argmax(votes, 1)), 0));
  return {label, PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

}  // namespace deuteron::onnx
