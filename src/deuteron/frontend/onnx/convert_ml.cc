/// \file
/// Operators on features (domain ai.onnx.ml), and n-grams; of numbers, not of texts.
#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/trees.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/support/element.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kFeature = DataType::Float(32);

Expr FloatVector(const NodeContext& node, const std::vector<double>& values) {
  return node.ConstantFloats(values, {static_cast<int64_t>(values.size())}, kFeature);
}

/// The inverse of the error function, to 2e-3 (S. Winitzki, "A handy approximation for the error function and its
/// inverse"): what ONNX Runtime computes.
Expr InverseErf(const NodeContext& node, const Expr& x) {
  constexpr double kA = 0.147;
  const DataType dtype = node.DType(x);
  const auto number = [&](double value) { return node.Scalar(dtype, value); };
  const Expr log = node.Emit(relax::Log(relax::Multiply(relax::Subtract(number(1), x), relax::Add(number(1), x))));
  const Expr v = node.Emit(relax::Add(number(2 / (M_PI * kA)), relax::Multiply(log, number(0.5))));
  const Expr square = node.Emit(relax::Subtract(relax::Multiply(v, v), relax::Multiply(log, number(1 / kA))));
  return node.Emit(relax::Multiply(relax::Sign(x), relax::Sqrt(relax::Subtract(relax::Sqrt(square), v))));
}

/// The list attribute `name`_int64s or `name`_floats, or the tensor `name`_tensor; a tensor of one axis.
Expr ListOf(const NodeContext& node, const std::string& name) {
  if (!node.Strs(name + "_strings").empty()) node.Unsupported("texts: " + name + "_strings");
  if (const auto tensor = node.TensorAttr(name + "_tensor")) {
    const Expr constant = node.ConstantOf(*tensor);
    return node.Reshaped(constant, {node.Product(node.Shape(constant), 0, node.Rank(constant))});
  }
  if (const auto integers = node.Ints(name + "_int64s"); integers && !integers->empty()) {
    return node.ConstantInts(*integers);
  }
  const auto floats = node.Floats(name + "_floats");
  if (floats.empty()) node.Unsupported("no " + name + " that are numbers");
  return FloatVector(node, floats);
}

Expr DefaultValue(const NodeContext& node, DataType dtype) {
  if (const auto tensor = node.TensorAttr("default_tensor")) {
    return node.CastTo(node.Reshaped(node.ConstantOf(*tensor), {I64(1)}), dtype);
  }
  const double value =
      dtype.is_float() ? node.Float("default_float", -0.0) : static_cast<double>(node.Int("default_int64", -1));
  return node.Reshaped(node.Scalar(dtype, value), {I64(1)});
}

}  // namespace

Expr PostTransformed(const NodeContext& node, const Expr& scores, const std::string& transform) {
  if (transform == "NONE") return scores;
  const DataType dtype = node.DType(scores);
  if (transform == "SOFTMAX") return node.Emit(relax::nn::Softmax(scores, -1));
  if (transform == "LOGISTIC") return node.Emit(relax::Sigmoid(scores));
  if (transform == "PROBIT") {
    const Expr doubled = node.Emit(relax::Multiply(scores, node.Scalar(dtype, 2)));
    const Expr inverse = InverseErf(node, node.Emit(relax::Subtract(doubled, node.Scalar(dtype, 1))));
    return node.Emit(relax::Multiply(inverse, node.Scalar(dtype, M_SQRT2)));
  }
  if (transform != "SOFTMAX_ZERO") node.Fail("a post_transform '" + transform + "'");
  const Expr greatest = node.Emit(relax::Max(scores, {{-1}}, /*keepdims=*/true));
  const Expr is_zero = node.Emit(relax::LessEqual(relax::Abs(scores), node.Scalar(dtype, 1e-7)));
  const Expr powers =
      node.Emit(relax::Where(is_zero, node.Scalar(dtype, 0), relax::Exp(relax::Subtract(scores, greatest))));
  return node.Emit(relax::Divide(powers, relax::Sum(powers, {{-1}}, /*keepdims=*/true)));
}

Results ConvertBinarizer(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  return {node.CastTo(node.Emit(relax::Greater(x, node.Scalar(dtype, node.Float("threshold", 0)))), dtype)};
}

Results ConvertArrayFeatureExtractor(const NodeContext& node) {
  Expr x = node.X(0);
  if (node.Rank(x) == 1) x = node.Reshaped(x, {I64(1), node.Shape(x)[0]});
  const int64_t last = node.Rank(x) - 1;
  const Expr indices = node.Indices(1, {node.Shape(x)[last]});
  const Expr list = node.Reshaped(indices, {node.Product(node.Shape(indices), 0, node.Rank(indices))});
  return {node.Emit(relax::Take(x, list, last, "wrap"))};
}

Results ConvertZipMap(const NodeContext& node) {
  Expr x = node.X(0);
  if (node.DType(x) != kFeature) node.Fail("its input is no tensor of float32");
  if (node.Rank(x) == 1) x = node.Reshaped(x, {I64(1), node.Shape(x)[0]});
  if (node.Rank(x) != 2) node.Fail("its input is no matrix of rows and classes");
  const auto numbers = node.Ints("classlabels_int64s");
  const size_t labels = numbers && !numbers->empty() ? numbers->size() : node.Strs("classlabels_strings").size();
  if (labels == 0) node.Fail("it has no labels of classes");
  // Values are tensors: each row's map is its row, in the order of the labels.
  return {node.WithShape(x, {node.Shape(x)[0], I64(static_cast<int64_t>(labels))})};
}

Results ConvertScaler(const NodeContext& node) {
  const Expr x = node.CastTo(node.X(0), kFeature);
  const auto scale = node.Floats("scale"), offset = node.Floats("offset");
  Expr result = x;
  if (!offset.empty()) result = node.Emit(relax::Subtract(result, FloatVector(node, offset)));
  if (!scale.empty()) result = node.Emit(relax::Multiply(result, FloatVector(node, scale)));
  return {result};
}

Results ConvertNormalizer(const NodeContext& node) {
  const Expr x = node.CastTo(node.X(0), kFeature);
  const std::string norm = node.Str("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") node.Fail("a norm '" + norm + "'");
  Expr divisor;
  if (norm == "MAX") {
    divisor = node.Emit(relax::Max(x, {{-1}}, /*keepdims=*/true));
  } else if (norm == "L1") {
    divisor = node.Emit(relax::Sum(relax::Abs(x), {{-1}}, /*keepdims=*/true));
  } else {
    divisor = node.Emit(relax::Sqrt(relax::Sum(relax::Multiply(x, x), {{-1}}, /*keepdims=*/true)));
  }
  const Expr is_zero = node.Emit(relax::Equal(divisor, node.Scalar(kFeature, 0)));
  return {node.Emit(relax::Divide(x, relax::Where(is_zero, node.Scalar(kFeature, 1), divisor)))};
}

Results ConvertImputer(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  if (dtype.is_float()) {
    const double replaced = node.Float("replaced_value_float", 0);
    const Expr is_replaced =
        node.Emit(std::isnan(replaced) ? relax::IsNan(x) : relax::Equal(x, node.Scalar(dtype, replaced)));
    const Expr values = node.CastTo(FloatVector(node, node.Floats("imputed_value_floats")), dtype);
    return {node.Emit(relax::Where(is_replaced, values, x))};
  }
  const auto values = node.Ints("imputed_value_int64s");
  if (!values) node.Fail("imputed_value_int64s is missing");
  const Expr replaced = node.Scalar(dtype, static_cast<double>(node.Int("replaced_value_int64", 0)));
  return {node.Emit(relax::Where(relax::Equal(x, replaced), node.ConstantInts(*values, dtype), x))};
}

/// Elements that are none of the categories are zeros, with `zeros` or without.
Results ConvertOneHotEncoder(const NodeContext& node) {
  const auto categories = node.Ints("cats_int64s");
  if (!categories || categories->empty()) node.Unsupported("categories that are texts; numbers are supported");
  const Expr x = node.CastTo(node.X(0), DataType::Int(64));
  Array<PrimExpr> column = node.Shape(x);
  column.push_back(I64(1));
  const Expr same = node.Emit(relax::Equal(node.Reshaped(x, column), node.ConstantInts(*categories)));
  return {node.CastTo(same, kFeature)};
}

/// Matrices beside each other, of each as many columns as are asked for: behind its own there are zeros.
Results ConvertFeatureVectorizer(const NodeContext& node) {
  const auto widths = node.Ints("inputdimensions").value_or(std::vector<int64_t>());
  Array<Expr> parts;
  for (size_t i = 0; i < node.NumInputs(); ++i) {
    Expr x = node.CastTo(node.X(i), kFeature);
    if (node.Rank(x) == 1) x = node.Reshaped(x, {node.Shape(x)[0], I64(1)});
    if (i < widths.size()) {
      const auto columns = AsConstInt(node.Shape(x)[1]);
      if (!columns) node.Unsupported("inputs of an open number of columns");
      if (widths[i] < 0) node.Fail("a negative number among inputdimensions");
      if (widths[i] < *columns) x = node.Emit(relax::StridedSlice(x, {1}, {I64(0)}, {I64(widths[i])}, {I64(1)}));
      if (widths[i] > *columns) {
        const Expr rest = node.Emit(relax::Zeros({node.Shape(x)[0], I64(widths[i] - *columns)}, kFeature));
        x = node.Emit(relax::Concat({x, rest}, 1));
      }
    }
    parts.push_back(x);
  }
  return {node.Emit(relax::Concat(parts, 1))};
}

/// The place of an element among the keys, 0 if it is none of them, else one more than its index: the last of several.
Results ConvertLabelEncoder(const NodeContext& node) {
  const Expr keys = ListOf(node, "keys");
  const Expr values = ListOf(node, "values");
  const Expr x = node.X(0);
  const PrimExpr count = node.Shape(keys)[0];
  if (!node.analyzer().CanProveEqual(count, node.Shape(values)[0])) node.Fail("keys and values differ in number");
  Array<PrimExpr> column = node.Shape(x);
  column.push_back(I64(1));
  const Expr element = node.Reshaped(x, column);
  const Expr key = node.CastTo(keys, node.DType(x));
  Expr same = node.Emit(relax::Equal(element, key));
  if (node.DType(x).is_float()) {
    same = node.Emit(relax::LogicalOr(same, relax::LogicalAnd(relax::IsNan(element), relax::IsNan(key))));
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 1; i <= *AsConstInt(count); ++i) numbers.push_back(i);
  const Expr places = node.Emit(relax::Where(same, node.ConstantInts(numbers), node.Scalar(DataType::Int(64), 0)));
  const Expr place = node.Emit(relax::Max(places, {{node.Rank(places) - 1}}));
  const Expr table = node.Emit(relax::Concat({DefaultValue(node, node.DType(values)), values}, 0));
  return {node.Emit(relax::Take(table, place, 0))};
}

namespace {

/// Rows of features times the coefficients of each target.
Expr LinearScores(const NodeContext& node, int64_t targets) {
  const Expr x = node.CastTo(node.X(0), kFeature);
  const auto coefficients = node.Floats("coefficients");
  const auto intercepts = node.Floats("intercepts");
  const auto features = static_cast<int64_t>(coefficients.size()) / targets;
  if (features * targets != static_cast<int64_t>(coefficients.size())) node.Fail("coefficients do not fit the targets");
  const Expr weights = node.ConstantFloats(coefficients, {targets, features}, kFeature);
  const Expr scores = node.Emit(relax::Matmul(x, node.Emit(relax::PermuteDims(weights, {1, 0}))));
  return intercepts.empty() ? scores : Expr(node.Emit(relax::Add(scores, FloatVector(node, intercepts))));
}

}  // namespace

Results ConvertLinearRegressor(const NodeContext& node) {
  const Expr scores = LinearScores(node, node.Int("targets", 1));
  return {PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

Results ConvertLinearClassifier(const NodeContext& node) {
  const auto labels = node.Ints("classlabels_ints");
  if (!labels || labels->empty()) node.Unsupported("labels that are texts; numbers as labels are supported");
  const auto classes = static_cast<int64_t>(labels->size());
  const auto intercepts = node.Floats("intercepts").size();
  if (classes == 2 && intercepts == 1) node.Unsupported("two classes with coefficients of one of them alone");
  const Expr scores = LinearScores(node, classes);
  const Expr label = node.Emit(relax::Take(node.ConstantInts(*labels), node.Emit(relax::Argmax(scores, 1)), 0));
  return {label, PostTransformed(node, scores, node.Str("post_transform", "NONE"))};
}

namespace {

/// How often each n-gram of `grams` (one a row, of `length`) occurs in rows of x, its elements `step` apart.
Expr Occurrences(const NodeContext& node, const Expr& x, const std::vector<int64_t>& grams, int64_t length,
                 int64_t step) {
  const PrimExpr rows = node.Shape(x)[0];
  const PrimExpr starts = node.Simplify(Max(node.Shape(x)[1] - (length - 1) * step, I64(0)));
  const auto count = static_cast<int64_t>(grams.size()) / length;
  Expr found;
  for (int64_t i = 0; i < length; ++i) {
    const PrimExpr end = node.Simplify(starts + i * step);
    const Expr window = node.Emit(relax::StridedSlice(x, {1}, {I64(i * step)}, {end}, {I64(1)}));
    std::vector<int64_t> column;
    for (int64_t gram = 0; gram < count; ++gram) column.push_back(grams[static_cast<size_t>(gram * length + i)]);
    const Expr word = node.Reshaped(node.ConstantInts(column, node.DType(x)), {I64(1), I64(count), I64(1)});
    const Expr same = node.Emit(relax::Equal(node.Reshaped(window, {rows, I64(1), starts}), word));
    found = found.defined() ? Expr(node.Emit(relax::LogicalAnd(found, same))) : same;
  }
  return node.Emit(relax::Sum(node.CastTo(found, kFeature), {{2}}));
}

}  // namespace

Results ConvertTfIdfVectorizer(const NodeContext& node) {
  const auto pool = node.Ints("pool_int64s");
  if (!pool || pool->empty()) node.Unsupported("n-grams of texts; those of numbers are supported");
  const auto begins = node.Ints("ngram_counts"), indices = node.Ints("ngram_indexes");
  const std::string mode = node.Str("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") node.Fail("a mode '" + mode + "'");
  if (!begins || !indices) node.Fail("ngram_counts or ngram_indexes is missing");
  const Expr given = node.X(0);
  const bool is_row = node.Rank(given) == 1;
  const Expr x = is_row ? node.Reshaped(given, {I64(1), node.Shape(given)[0]}) : given;
  const auto words = AsConstInt(node.Shape(x)[1]);
  const PrimExpr rows = node.Shape(x)[0];
  // Counts of all n-grams in the order of the pool.
  Array<Expr> parts;
  int64_t total = 0;
  for (size_t n = 0; n < begins->size(); ++n) {
    const int64_t begin = (*begins)[n];
    const int64_t end = n + 1 < begins->size() ? (*begins)[n + 1] : static_cast<int64_t>(pool->size());
    const auto length = static_cast<int64_t>(n) + 1;
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool->size()) || (end - begin) % length != 0) {
      node.Fail("ngram_counts do not fit the pool");
    }
    if (begin == end) continue;
    const int64_t count = (end - begin) / length;
    const bool counted = length >= node.RequiredInt("min_gram_length") && length <= node.RequiredInt("max_gram_length");
    Expr sum = node.Emit(relax::Zeros({rows, I64(count)}, kFeature));
    // Single elements have nothing to skip between them.
    const int64_t most = length == 1 ? 0 : node.RequiredInt("max_skip_count");
    for (int64_t skip = 0; counted && skip <= most; ++skip) {
      if (words && (length - 1) * (skip + 1) >= *words) break;
      sum = node.Emit(
          relax::Add(sum, Occurrences(node, x, {pool->begin() + begin, pool->begin() + end}, length, skip + 1)));
    }
    parts.push_back(sum);
    total += count;
  }
  if (total != static_cast<int64_t>(indices->size())) node.Fail("ngram_indexes are not as many as n-grams");
  parts.push_back(node.Emit(relax::Zeros({rows, I64(1)}, kFeature)));
  Expr counts = node.Emit(relax::Concat(parts, 1));
  if (mode == "IDF") counts = node.Emit(relax::Minimum(counts, node.Scalar(kFeature, 1)));
  std::vector<double> weights = node.Floats("weights");
  if (mode != "TF" && !weights.empty()) {
    if (static_cast<int64_t>(weights.size()) != total) node.Fail("weights are not as many as n-grams");
    weights.push_back(0);
    counts = node.Emit(relax::Multiply(counts, FloatVector(node, weights)));
  }
  constexpr int64_t kMostIndex = int64_t{1} << 26;
  // Where each result comes from; from the 0 behind the counts where no n-gram has its index.
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < total; ++i) {
    const int64_t index = (*indices)[static_cast<size_t>(i)];
    if (index < 0) node.Fail("a negative index of an n-gram");
    if (index > kMostIndex) node.Unsupported("an index of an n-gram of " + std::to_string(index));
    if (index >= static_cast<int64_t>(sources.size())) sources.resize(static_cast<size_t>(index) + 1, total);
    if (sources[static_cast<size_t>(index)] != total) node.Unsupported("two n-grams of one index");
    sources[static_cast<size_t>(index)] = i;
  }
  const Expr result = node.Emit(relax::Take(counts, node.ConstantInts(sources), 1));
  return {is_row ? node.Reshaped(result, {I64(static_cast<int64_t>(sources.size()))}) : result};
}

}  // namespace deuteron::onnx
