/// \file
/// Ensembles of decision trees (domain ai.onnx.ml): what the leaves say that rows reach.
#include <algorithm>
#include <limits>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/forest.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/trees.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Of all leaves for all targets, for which there is a table.
constexpr double kMostLeafWeights = 1 << 28;
/// From which on rows are many.
constexpr int64_t kRowsOfVector = 16;

/// What the leaves that rows reach say, put together over the trees: (rows, targets).
Expr PutTogether(const NodeContext& node, const Forest& forest, const std::string& aggregate,
                 const ReachedLeaves& reached) {
  const bool extreme = aggregate == "MIN" || aggregate == "MAX";
  const double infinity = std::numeric_limits<double>::infinity();
  const double nothing = !extreme ? 0 : aggregate == "MIN" ? infinity : -infinity;
  const double count = static_cast<double>(reached.leaves.size()) * static_cast<double>(forest.targets);
  if (count > kMostLeafWeights) node.Unsupported("weights of that many leaves for that many targets");
  std::vector<double> weights(reached.leaves.size() * static_cast<size_t>(forest.targets), nothing);
  for (size_t place = 0; place < reached.leaves.size(); ++place) {
    if (reached.leaves[place] < 0) continue;
    for (const auto& [target, weight] : forest.leaves[static_cast<size_t>(reached.leaves[place])]) {
      weights[place * static_cast<size_t>(forest.targets) + static_cast<size_t>(target)] = weight;
    }
  }
  const Expr table =
      node.ConstantFloats(weights, {static_cast<int64_t>(reached.leaves.size()), forest.targets}, forest.dtype);
  const Expr values = node.Emit(relax::Take(table, reached.places, 0));
  const std::vector<int64_t> trees{reached.tree_axis};
  if (extreme) {
    const Expr best = node.Emit(aggregate == "MIN" ? relax::Min(values, trees) : relax::Max(values, trees));
    // A target for which no leaf says anything.
    return node.Emit(relax::Where(relax::IsFinite(best), best, node.Scalar(forest.dtype, 0)));
  }
  return node.Emit(aggregate == "AVERAGE" ? relax::Mean(values, trees) : relax::Sum(values, trees));
}

Expr Scores(const NodeContext& node, const Forest& forest, const std::string& aggregate) {
  if (aggregate != "MIN" && aggregate != "MAX" && aggregate != "SUM" && aggregate != "AVERAGE")
    node.Fail("an aggregate_function '" + aggregate + "'");
  const Expr x = node.CastTo(node.X(0), forest.dtype);
  if (node.Rank(x) != 2) node.Fail("its input is no matrix of rows and features");
  const auto stepped = StepTrees(node, forest);
  const auto fewest_masked = FewestRowsOfMasks(node, forest, stepped ? std::optional(stepped->steps) : std::nullopt);
  const auto walk = [&](Neighbours neighbours) {
    return stepped ? stepped->leaves(x) : WalkTrees(node, forest, x, neighbours);
  };
  const auto of_few = [&] { return walk(Neighbours::kTrees); };
  const auto of_many = [&] { return fewest_masked ? MaskLeaves(node, forest, x) : walk(Neighbours::kRows); };
  if (stepped && !fewest_masked) return PutTogether(node, forest, aggregate, of_few());
  const int64_t fewest = fewest_masked.value_or(kRowsOfVector);
  const PrimExpr rows = node.Shape(x)[0];
  if (const auto count = AsConstInt(rows))
    return PutTogether(node, forest, aggregate, *count < fewest ? of_few() : of_many());
  const DataType integer = DataType::Int(64);
  const Expr are_few =
      node.Emit(relax::Less(node.ScalarOf(integer, rows), node.Scalar(integer, static_cast<double>(fewest))));
  const Results scores = EmitBranches(
      node, are_few, [&] { return Results{PutTogether(node, forest, aggregate, of_few())}; },
      [&] { return Results{PutTogether(node, forest, aggregate, of_many())}; });
  return node.importer()->ExprOf(scores[0], Span());
}

Expr WithBase(const NodeContext& node, const Expr& scores, int64_t targets) {
  const auto base = FloatNumbers(node, "base_values");
  if (base.empty()) return scores;
  if (static_cast<int64_t>(base.size()) != targets && base.size() != 1)
    node.Fail("base_values are not as many as targets");
  return node.Emit(
      relax::Add(scores, node.ConstantFloats(base, {static_cast<int64_t>(base.size())}, node.DType(scores))));
}

/// Label and scores of two classes, of which the trees tell one apart: its score, a probability if no weight is
/// negative. As ONNX Runtime has it, for the specification says nothing of the other class.
Results TwoClasses(const NodeContext& node, const Expr& scores, int64_t told, const std::vector<int64_t>& labels,
                   const std::string& transform) {
  const DataType dtype = node.DType(scores);
  const auto weights = FloatNumbers(node, "class_weights");
  const bool probable = std::none_of(weights.begin(), weights.end(), [](double weight) { return weight < 0; });
  const Expr score = node.Emit(relax::StridedSlice(scores, {1}, {I64(told)}, {I64(told + 1)}, {I64(1)}));
  const Expr is_second =
      node.Emit(relax::Greater(node.Emit(relax::Squeeze(score, {1})), node.Scalar(dtype, probable ? 0.5 : 0)));
  const DataType integer = DataType::Int(64);
  const Expr label = node.Emit(relax::Where(is_second, node.Scalar(integer, static_cast<double>(labels[1])),
                                            node.Scalar(integer, static_cast<double>(labels[0]))));
  Expr first = node.Emit(probable ? relax::Subtract(node.Scalar(dtype, 1), score) : relax::Negative(score));
  Expr second = score;
  if (!probable && transform == "LOGISTIC") {
    first = node.Emit(relax::Sigmoid(first));
    second = node.Emit(relax::Sigmoid(second));
  }
  return {label, node.CastTo(node.Emit(relax::Concat({first, second}, 1)), DataType::Float(32))};
}

}  // namespace

Results ConvertTreeEnsemble(const NodeContext& node) {
  static constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  static constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t aggregate = node.Int("aggregate_function", 1), transform = node.Int("post_transform", 0);
  CheckIndex(node, aggregate, std::size(kAggregates), "aggregate_function");
  CheckIndex(node, transform, std::size(kTransforms), "post_transform");
  return {PostTransformed(node, Scores(node, ReadForest(node), kAggregates[aggregate]), kTransforms[transform])};
}

Results ConvertTreeEnsembleRegressor(const NodeContext& node) {
  const int64_t targets = node.Int("n_targets", 1);
  const Forest forest = ReadOldForest(node, "target", targets);
  const Expr scores = WithBase(node, Scores(node, forest, node.Str("aggregate_function", "SUM")), targets);
  return {node.CastTo(PostTransformed(node, scores, node.Str("post_transform", "NONE")), DataType::Float(32))};
}

Results ConvertTreeEnsembleClassifier(const NodeContext& node) {
  const auto labels = node.Ints("classlabels_int64s");
  if (!labels || labels->empty()) node.Unsupported("labels that are strings; the model with numbers as labels is");
  const auto classes = static_cast<int64_t>(labels->size());
  const Forest forest = ReadOldForest(node, "class", classes);
  const std::string transform = node.Str("post_transform", "NONE");
  const Expr scores = WithBase(node, Scores(node, forest, "SUM"), classes);
  const auto ids = node.Ints("class_ids").value_or(std::vector<int64_t>());
  const auto is_first = [&](int64_t id) { return id == ids[0]; };
  if (classes == 2 && !ids.empty() && std::all_of(ids.begin(), ids.end(), is_first)) {
    return TwoClasses(node, scores, ids[0], *labels, transform);
  }
  const Expr label = node.Emit(relax::Take(node.ConstantInts(*labels), node.Emit(relax::Argmax(scores, 1)), 0));
  return {label, node.CastTo(PostTransformed(node, scores, transform), DataType::Float(32))};
}

}  // namespace deuteron::onnx
