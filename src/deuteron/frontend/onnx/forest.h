/// \file
/// Ensembles of decision trees (domain ai.onnx.ml), and three ways to find the leaves that rows reach.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// What a node asks of its feature, in the order of TreeEnsemble's enumeration.
enum class Branch : uint8_t { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };

struct TreeNode {
  Branch branch = Branch::kEqual;
  int64_t feature = 0;
  double split = 0;
  bool missing_is_true = false;
  /// Indices of nodes; those from `Forest::nodes.size()` on are leaves.
  int64_t if_true = 0;
  int64_t if_false = 0;
};

struct Forest {
  DataType dtype;
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  /// Of each leaf, weights by target.
  std::vector<std::map<int64_t, double>> leaves;
  int64_t targets = 1;

  int64_t LeafIndex(size_t leaf) const { return static_cast<int64_t>(nodes.size() + leaf); }
  bool IsLeaf(int64_t index) const { return index >= static_cast<int64_t>(nodes.size()); }
  bool has_missing() const;
  /// The questions that are asked, each once.
  std::vector<Branch> Branches() const;
  /// Levels of the deepest tree. A ModelError if there is none: nodes in a circle.
  int64_t Depth(const NodeContext& node) const;
};

/// TreeEnsemble: nodes and leaves apart.
Forest ReadForest(const NodeContext& node);
/// TreeEnsembleRegressor and TreeEnsembleClassifier: nodes by tree and number, leaves among them; `votes` is the prefix
/// of the attributes of what leaves say.
Forest ReadOldForest(const NodeContext& node, const std::string& votes, int64_t targets);
/// A list of floats, or the tensor of the same numbers in float64.
std::vector<double> FloatNumbers(const NodeContext& node, const std::string& name);
void CheckIndex(const NodeContext& node, int64_t index, size_t count, const char* what);

/// The greatest number of a feature that a node asks for; an error if `x` is known to have no such.
int64_t GreatestFeature(const NodeContext& node, const Forest& forest, const relax::Expr& x);

/// `indices`, which count on there being all features that the nodes of `forest` ask about among those of `x`, (rows,
/// features): a ModelError where there are fewer, or an error of the run where that tells how many.
relax::Expr WithFeatures(const NodeContext& node, const Forest& forest, const relax::Expr& x,
                         const relax::Expr& indices);
/// Whether `x` is what nodes ask: `asks(i)` says which ask question i of `branches`, `missing` (or null) of which a
/// missing value is.
relax::Expr Answers(const NodeContext& node, const std::vector<Branch>& branches, const relax::Expr& x,
                    const relax::Expr& split, const std::function<relax::Expr(size_t)>& asks,
                    const relax::Expr& missing);

/// The leaves that rows reach in trees.
struct ReachedLeaves {
  /// Places in `leaves`, by row and tree.
  relax::Expr places;
  int64_t tree_axis;
  /// Leaves of the forest; where a place is of none, -1.
  std::vector<int64_t> leaves;
};
/// What lies beside each other in vectors: of one row all trees, or of one tree, whose nodes stay in the cache, all
/// rows.
enum class Neighbours : uint8_t { kTrees, kRows };
/// All rows walk down all trees at once, a level at a time: as many steps as the deepest tree has levels.
ReachedLeaves WalkTrees(const NodeContext& node, const Forest& forest, const relax::Expr& x, Neighbours neighbours);
/// Each row walks down each tree by itself, of which it takes as many steps as the tree has levels.
struct SteppedTrees {
  /// Of a row, over all trees.
  int64_t steps;
  std::function<ReachedLeaves(const relax::Expr& x)> leaves;
};
/// Nothing if nodes ask for more than such steps tell. Both arguments outlive the result.
std::optional<SteppedTrees> StepTrees(const NodeContext& node, const Forest& forest);
/// All rows ask all nodes: as many steps as there are nodes, but what a step reads lies beside each other, rows in
/// vectors.
ReachedLeaves MaskLeaves(const NodeContext& node, const Forest& forest, const relax::Expr& x);
/// Of how many rows on that is faster than the steps of one by itself, if there are such, or of all at once; nothing
/// where the trees are so large, or so uneven, that to walk always is.
std::optional<int64_t> FewestRowsOfMasks(const NodeContext& node, const Forest& forest, std::optional<int64_t> steps);

}  // namespace deuteron::onnx
