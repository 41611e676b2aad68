/// \file
/// Ensembles of decision trees (domain ai.onnx.ml). All rows walk down all trees at once, a level at a time: a place
/// (row, tree) holds a node, and each level replaces it by a child. Leaves are their own children.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/trees.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/support/element.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

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

/// Of all leaves for all targets, for which there is a table.
constexpr double kMostLeafWeights = 1 << 28;

struct Forest {
  DataType dtype;
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  /// Of each leaf, weights by target.
  std::vector<std::map<int64_t, double>> leaves;
  int64_t targets = 1;

  int64_t LeafIndex(size_t leaf) const { return static_cast<int64_t>(nodes.size() + leaf); }
  bool IsLeaf(int64_t index) const { return index >= static_cast<int64_t>(nodes.size()); }
  /// Levels of the deepest tree. A ModelError if there is none: nodes in a circle.
  int64_t Depth(const NodeContext& node) const {
    std::vector<int64_t> level = roots;
    for (size_t depth = 0; depth <= nodes.size(); ++depth) {
      std::vector<int64_t> next;
      for (const int64_t index : level) {
        if (IsLeaf(index)) continue;
        next.push_back(nodes[static_cast<size_t>(index)].if_true);
        next.push_back(nodes[static_cast<size_t>(index)].if_false);
      }
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      if (next.empty()) return static_cast<int64_t>(depth);
      level = std::move(next);
    }
    node.Fail("its trees run in a circle");
  }
};

/// A tensor attribute, or null.
std::optional<std::vector<double>> TensorNumbers(const NodeContext& node, const char* name) {
  const auto tensor = node.TensorAttr(name);
  if (!tensor) return std::nullopt;
  const DataType dtype(tensor->dtype());
  std::vector<double> values;
  for (int64_t i = 0; i < tensor->numel(); ++i) {
    const char* at = static_cast<const char*>(tensor->data_ptr()) + i * dtype.bytes();
    values.push_back(dtype.is_float() ? LoadFloat(at, dtype) : static_cast<double>(LoadInteger(at, dtype)));
  }
  return values;
}

/// A list of floats, or the tensor of the same numbers in float64.
std::vector<double> FloatNumbers(const NodeContext& node, const std::string& name) {
  const auto doubles = TensorNumbers(node, (name + "_as_tensor").c_str());
  return doubles ? *doubles : node.Floats(name);
}

std::vector<int64_t> Integers(const NodeContext& node, const char* name, size_t count, int64_t otherwise) {
  const auto given = node.Ints(name);
  if (!given || given->empty()) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count) node.Fail("attribute '" + std::string(name) + "' is not as long as the others");
  return *given;
}

void CheckIndex(const NodeContext& node, int64_t index, size_t count, const char* what) {
  if (index < 0 || index >= static_cast<int64_t>(count)) {
    node.Fail("there is no " + std::string(what) + " " + std::to_string(index));
  }
}

/// What a place (row, tree) holds of the node that it is at: in the lowest bits its index, above that whether missing
/// values are true, which question it asks, and, on top, its feature. So that of each level the split, the element and
/// the child are all that is read.
class Place {
 public:
  explicit Place(const Forest& forest) : forest_(forest), missing_(BitsOf(forest.nodes.size() + forest.leaves.size())) {
    int64_t features = 0;
    bool has_missing = false;
    for (const TreeNode& tree_node : forest.nodes) {
      features = std::max(features, tree_node.feature);
      has_missing |= tree_node.missing_is_true;
      if (std::find(branches_.begin(), branches_.end(), tree_node.branch) == branches_.end())
        branches_.push_back(tree_node.branch);
    }
    branch_ = missing_ + (has_missing ? 1 : 0);
    feature_ = branch_ + BitsOf(branches_.size());
    bits_ = feature_ + BitsOf(static_cast<size_t>(features) + 1);
  }

  /// How many bits there are: of more than 63 there are no places.
  int64_t bits() const { return bits_; }
  DataType dtype() const { return DataType::Int(bits_ < 32 ? 32 : 64); }
  /// The questions that are asked; their numbers are those of Branch().
  const std::vector<Branch>& branches() const { return branches_; }
  bool has_missing() const { return branch_ > missing_; }

  /// Of the node or leaf of an index.
  int64_t Of(int64_t index) const {
    if (forest_.IsLeaf(index)) return index;
    const TreeNode& tree_node = forest_.nodes[static_cast<size_t>(index)];
    const auto branch = std::find(branches_.begin(), branches_.end(), tree_node.branch) - branches_.begin();
    return index | int64_t{tree_node.missing_is_true} << missing_ | static_cast<int64_t>(branch) << branch_ |
           tree_node.feature << feature_;
  }
  Expr Index(const NodeContext& node, const Expr& at) const { return Field(node, at, 0, missing_); }
  Expr Missing(const NodeContext& node, const Expr& at) const { return Field(node, at, missing_, branch_); }
  Expr BranchNumber(const NodeContext& node, const Expr& at) const { return Field(node, at, branch_, feature_); }
  Expr Feature(const NodeContext& node, const Expr& at) const { return Field(node, at, feature_, bits_); }

 private:
  /// Bits that tell `count` numbers apart.
  static int64_t BitsOf(size_t count) {
    int64_t bits = 0;
    while (count > 1 && (count - 1) >> bits > 0) ++bits;
    return bits;
  }
  Expr Field(const NodeContext& node, const Expr& at, int64_t first, int64_t end) const {
    const auto number = [&](int64_t value) { return node.Scalar(dtype(), static_cast<double>(value)); };
    const Expr shifted = first == 0 ? at : node.Emit(relax::RightShift(at, number(first)));
    return end == bits_ ? shifted : node.Emit(relax::BitwiseAnd(shifted, number((int64_t{1} << (end - first)) - 1)));
  }

  const Forest& forest_;
  std::vector<Branch> branches_;
  /// Where fields begin.
  int64_t missing_, branch_ = 0, feature_ = 0, bits_ = 0;
};

/// A walk that visits places.
class ForestWalk {
 public:
  ForestWalk(const NodeContext& node, const Forest& forest)
      : node_(node), forest_(forest), x_(node.CastTo(node.X(0), forest.dtype)), place_(forest) {}

  /// Which leaves rows reach, (rows, trees).
  Expr Leaves() {
    const Array<PrimExpr> places = {node_.Shape(x_)[0], I64(static_cast<int64_t>(forest_.roots.size()))};
    Expr at = node_.Emit(relax::BroadcastTo(Roots(), places));
    const auto children = Children();
    const DataType dtype = place_.dtype();
    const int64_t depth = forest_.Depth(node_);
    for (int64_t level = 0; level < depth; ++level) {
      const Expr index = place_.Index(node_, at);
      const Expr answer = node_.CastTo(Asks(at, index), dtype);
      at = node_.Emit(relax::Take(children, node_.Emit(relax::Add(node_.Emit(relax::Add(index, index)), answer))));
    }
    return node_.Emit(relax::Subtract(place_.Index(node_, at), node_.Scalar(dtype, forest_.nodes.size())));
  }

 private:
  /// The places of the roots. Features are some that there are: a ModelError, or an error of the run where that tells
  /// how many.
  Expr Roots() {
    if (node_.Rank(x_) != 2) node_.Fail("its input is no matrix of rows and features");
    const PrimExpr count = node_.Shape(x_)[1];
    int64_t greatest = 0;
    for (const TreeNode& tree_node : forest_.nodes) {
      CheckIndex(node_, tree_node.feature, static_cast<size_t>(AsConstInt(count).value_or(INT64_MAX)), "feature");
      greatest = std::max(greatest, tree_node.feature);
    }
    if (place_.bits() > 63) node_.Unsupported("trees of that many nodes and features");
    std::vector<int64_t> roots;
    for (const int64_t root : forest_.roots) roots.push_back(place_.Of(root));
    const Expr known = node_.ConstantInts(roots, place_.dtype());
    if (AsConstInt(count)) return known;
    const Expr checked = node_.Checked(node_.ConstantInts({greatest}), {count});
    const Expr nothing = node_.Emit(relax::Subtract(checked, node_.ConstantInts({greatest})));
    return node_.Emit(relax::Add(known, node_.CastTo(nothing, place_.dtype())));
  }
  /// Of each node the places of its children: that for no, that for yes. Leaves are their own.
  Expr Children() {
    std::vector<int64_t> children;
    for (const TreeNode& tree_node : forest_.nodes) {
      children.push_back(place_.Of(tree_node.if_false));
      children.push_back(place_.Of(tree_node.if_true));
    }
    for (size_t leaf = 0; leaf < forest_.leaves.size(); ++leaf)
      children.insert(children.end(), 2, forest_.LeafIndex(leaf));
    return node_.ConstantInts(children, place_.dtype());
  }
  /// What the nodes that places are at ask, answered for the rows.
  Expr Asks(const Expr& at, const Expr& index) {
    const Expr x = node_.Emit(relax::GatherElements(x_, place_.Feature(node_, at), 1));
    std::vector<double> splits;
    for (const TreeNode& tree_node : forest_.nodes) splits.push_back(tree_node.split);
    splits.resize(splits.size() + forest_.leaves.size(), 0);
    const Expr table = node_.ConstantFloats(splits, {static_cast<int64_t>(splits.size())}, forest_.dtype);
    const Expr split = node_.Emit(relax::Take(table, index));
    Expr answer;
    for (size_t number = 0; number < place_.branches().size(); ++number) {
      const Expr compared = node_.Emit(Compared(place_.branches()[number], x, split));
      if (number == 0) {
        answer = compared;
        continue;
      }
      const Expr is_number =
          node_.Emit(relax::Equal(place_.BranchNumber(node_, at), node_.Scalar(place_.dtype(), number)));
      answer = node_.Emit(relax::Where(is_number, compared, answer));
    }
    if (!place_.has_missing()) return answer;
    const Expr follows = node_.CastTo(place_.Missing(node_, at), DataType::Bool());
    return node_.Emit(relax::LogicalOr(answer, relax::LogicalAnd(follows, relax::IsNan(x))));
  }
  static Expr Compared(Branch branch, const Expr& x, const Expr& split) {
    switch (branch) {
      case Branch::kLessEqual:
        return relax::LessEqual(x, split);
      case Branch::kLess:
        return relax::Less(x, split);
      case Branch::kGreaterEqual:
        return relax::GreaterEqual(x, split);
      case Branch::kGreater:
        return relax::Greater(x, split);
      case Branch::kNotEqual:
        return relax::NotEqual(x, split);
      case Branch::kEqual:
      case Branch::kMember:
        break;
    }
    return relax::Equal(x, split);
  }

  const NodeContext& node_;
  const Forest& forest_;
  Expr x_;
  const Place place_;
};

/// The scores of rows, (rows, targets): the leaves that they reach, put together over the trees.
Expr Scores(const NodeContext& node, const Forest& forest, const std::string& aggregate) {
  const bool extreme = aggregate == "MIN" || aggregate == "MAX";
  if (!extreme && aggregate != "SUM" && aggregate != "AVERAGE") node.Fail("an aggregate_function '" + aggregate + "'");
  const double infinity = std::numeric_limits<double>::infinity();
  const double nothing = !extreme ? 0 : aggregate == "MIN" ? infinity : -infinity;
  const double count = static_cast<double>(forest.leaves.size()) * static_cast<double>(forest.targets);
  if (count > kMostLeafWeights) node.Unsupported("weights of that many leaves for that many targets");
  std::vector<double> weights(forest.leaves.size() * static_cast<size_t>(forest.targets), nothing);
  for (size_t leaf = 0; leaf < forest.leaves.size(); ++leaf) {
    for (const auto& [target, weight] : forest.leaves[leaf]) {
      weights[leaf * static_cast<size_t>(forest.targets) + static_cast<size_t>(target)] = weight;
    }
  }
  const Expr table =
      node.ConstantFloats(weights, {static_cast<int64_t>(forest.leaves.size()), forest.targets}, forest.dtype);
  const Expr values = node.Emit(relax::Take(table, ForestWalk(node, forest).Leaves(), 0));
  if (aggregate == "MIN" || aggregate == "MAX") {
    const Expr best = node.Emit(aggregate == "MIN" ? relax::Min(values, {{1}}) : relax::Max(values, {{1}}));
    // A target for which no leaf says anything.
    return node.Emit(relax::Where(relax::IsFinite(best), best, node.Scalar(forest.dtype, 0)));
  }
  return node.Emit(aggregate == "AVERAGE" ? relax::Mean(values, {{1}}) : relax::Sum(values, {{1}}));
}

/// TreeEnsemble: nodes and leaves apart.
Forest ReadForest(const NodeContext& node) {
  Forest forest;
  const auto splits = TensorNumbers(node, "nodes_splits");
  const auto weights = TensorNumbers(node, "leaf_weights");
  const auto modes = TensorNumbers(node, "nodes_modes");
  if (!splits || !weights || !modes) node.Fail("nodes_splits, nodes_modes or leaf_weights is missing");
  forest.dtype = DataType(node.TensorAttr("nodes_splits")->dtype());
  forest.targets = node.Int("n_targets", 1);
  const size_t count = splits->size();
  const auto features = Integers(node, "nodes_featureids", count, 0);
  const auto missing = Integers(node, "nodes_missing_value_tracks_true", count, 0);
  const auto if_true = Integers(node, "nodes_truenodeids", count, 0);
  const auto if_false = Integers(node, "nodes_falsenodeids", count, 0);
  const auto true_leaf = Integers(node, "nodes_trueleafs", count, 0);
  const auto false_leaf = Integers(node, "nodes_falseleafs", count, 0);
  const auto targets = Integers(node, "leaf_targetids", weights->size(), 0);
  const auto members = TensorNumbers(node, "membership_values").value_or(std::vector<double>());
  if (modes->size() != count || forest.targets < 1) node.Fail("its attributes do not fit each other");
  // A set becomes a chain of nodes, one for each member, behind the others; the leaves come after all.
  size_t total = count;
  for (const double member : members) total += !std::isnan(member);
  for (const double mode : *modes) total -= mode == static_cast<double>(Branch::kMember);
  const auto child = [&](int64_t id, bool is_leaf) {
    CheckIndex(node, id, is_leaf ? weights->size() : count, is_leaf ? "leaf" : "node");
    return is_leaf ? static_cast<int64_t>(total) + id : id;
  };
  forest.nodes.resize(total);
  size_t next = count;
  size_t member = 0;
  for (size_t i = 0; i < count; ++i) {
    TreeNode& tree_node = forest.nodes[i];
    tree_node = {static_cast<Branch>((*modes)[i]),
                 features[i],
                 (*splits)[i],
                 missing[i] != 0,
                 child(if_true[i], true_leaf[i] != 0),
                 child(if_false[i], false_leaf[i] != 0)};
    if (tree_node.branch > Branch::kMember) node.Fail("a mode of its nodes is unknown");
    if (tree_node.branch != Branch::kMember) continue;
    tree_node.branch = Branch::kEqual;
    const int64_t otherwise = tree_node.if_false;
    size_t last = i;
    for (bool first = true; member < members.size() && !std::isnan(members[member]); ++member, first = false) {
      if (!first) {
        forest.nodes[last].if_false = static_cast<int64_t>(next);
        last = next++;
        forest.nodes[last] = forest.nodes[i];
      }
      forest.nodes[last].split = members[member];
      forest.nodes[last].if_false = otherwise;
    }
    ++member;
  }
  for (size_t leaf = 0; leaf < weights->size(); ++leaf) {
    CheckIndex(node, targets[leaf], static_cast<size_t>(forest.targets), "target");
    forest.leaves.push_back({{targets[leaf], (*weights)[leaf]}});
  }
  for (const int64_t root : node.Ints("tree_roots").value_or(std::vector<int64_t>())) {
    CheckIndex(node, root, count, "node");
    forest.roots.push_back(root);
  }
  if (forest.roots.empty()) node.Fail("it has no trees");
  return forest;
}

/// TreeEnsembleRegressor and TreeEnsembleClassifier: nodes by tree and number, leaves among them; `votes` is the prefix
/// of the attributes of what leaves say.
Forest ReadOldForest(const NodeContext& node, const std::string& votes, int64_t targets) {
  static const std::map<std::string, Branch> kModes = {
      {"BRANCH_LEQ", Branch::kLessEqual}, {"BRANCH_LT", Branch::kLess},  {"BRANCH_GTE", Branch::kGreaterEqual},
      {"BRANCH_GT", Branch::kGreater},    {"BRANCH_EQ", Branch::kEqual}, {"BRANCH_NEQ", Branch::kNotEqual}};
  if (targets < 1) node.Fail("n_targets is " + std::to_string(targets));
  Forest forest;
  forest.targets = targets;
  forest.dtype = node.TensorAttr("nodes_values_as_tensor") ? DataType::Float(64) : DataType::Float(32);
  const auto modes = node.Strs("nodes_modes");
  const size_t count = modes.size();
  const auto trees = Integers(node, "nodes_treeids", count, 0);
  const auto ids = Integers(node, "nodes_nodeids", count, 0);
  const auto features = Integers(node, "nodes_featureids", count, 0);
  const auto if_true = Integers(node, "nodes_truenodeids", count, 0);
  const auto if_false = Integers(node, "nodes_falsenodeids", count, 0);
  const auto missing = Integers(node, "nodes_missing_value_tracks_true", count, 0);
  const auto splits = FloatNumbers(node, "nodes_values");
  if (splits.size() != count) node.Fail("nodes_values is not as long as nodes_modes");
  const auto nodes = std::count_if(modes.begin(), modes.end(), [](const std::string& mode) { return mode != "LEAF"; });
  // By tree and number, the index among the nodes, then among the leaves.
  std::map<std::pair<int64_t, int64_t>, int64_t> indices;
  std::map<int64_t, bool> seen;
  int64_t next_node = 0, next_leaf = nodes;
  for (size_t i = 0; i < count; ++i) {
    const int64_t index = modes[i] == "LEAF" ? next_leaf++ : next_node++;
    if (!indices.emplace(std::pair(trees[i], ids[i]), index).second) node.Fail("two nodes of a tree have one number");
    if (seen.emplace(trees[i], true).second) forest.roots.push_back(index);
  }
  const auto find = [&](int64_t tree, int64_t id) {
    const auto it = indices.find({tree, id});
    if (it == indices.end()) node.Fail("tree " + std::to_string(tree) + " has no node " + std::to_string(id));
    return it->second;
  };
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") continue;
    const auto mode = kModes.find(modes[i]);
    if (mode == kModes.end()) node.Fail("a node's mode '" + modes[i] + "' is unknown");
    forest.nodes.push_back({mode->second, features[i], splits[i], missing[i] != 0, find(trees[i], if_true[i]),
                            find(trees[i], if_false[i])});
  }
  forest.leaves.resize(count - forest.nodes.size());
  const auto weights = FloatNumbers(node, votes + "_weights");
  const auto vote_trees = Integers(node, (votes + "_treeids").c_str(), weights.size(), 0);
  const auto vote_nodes = Integers(node, (votes + "_nodeids").c_str(), weights.size(), 0);
  const auto vote_targets = Integers(node, (votes + "_ids").c_str(), weights.size(), 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t index = find(vote_trees[i], vote_nodes[i]);
    if (!forest.IsLeaf(index)) node.Fail("a node that is no leaf has a weight");
    CheckIndex(node, vote_targets[i], static_cast<size_t>(targets), "target");
    forest.leaves[static_cast<size_t>(index) - forest.nodes.size()][vote_targets[i]] += weights[i];
  }
  if (forest.roots.empty()) node.Fail("it has no trees");
  return forest;
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
