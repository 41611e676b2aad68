#include "deuteron/frontend/onnx/forest.h"

#include <algorithm>
#include <cmath>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/support/element.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

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

std::vector<int64_t> Integers(const NodeContext& node, const char* name, size_t count, int64_t otherwise) {
  const auto given = node.Ints(name);
  if (!given || given->empty()) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count) node.Fail("attribute '" + std::string(name) + "' is not as long as the others");
  return *given;
}

Expr Compared(Branch branch, const Expr& x, const Expr& split) {
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

}  // namespace

bool Forest::has_missing() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const TreeNode& tree_node) { return tree_node.missing_is_true; });
}

std::vector<Branch> Forest::Branches() const {
  std::vector<Branch> branches;
  for (const TreeNode& tree_node : nodes) {
    if (std::find(branches.begin(), branches.end(), tree_node.branch) == branches.end())
      branches.push_back(tree_node.branch);
  }
  return branches;
}

int64_t Forest::Depth(const NodeContext& node) const {
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

std::vector<double> FloatNumbers(const NodeContext& node, const std::string& name) {
  const auto doubles = TensorNumbers(node, (name + "_as_tensor").c_str());
  return doubles ? *doubles : node.Floats(name);
}

void CheckIndex(const NodeContext& node, int64_t index, size_t count, const char* what) {
  if (index < 0 || index >= static_cast<int64_t>(count)) {
    node.Fail("there is no " + std::string(what) + " " + std::to_string(index));
  }
}

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

int64_t GreatestFeature(const NodeContext& node, const Forest& forest, const Expr& x) {
  const PrimExpr count = node.Shape(x)[1];
  int64_t greatest = 0;
  for (const TreeNode& tree_node : forest.nodes) {
    CheckIndex(node, tree_node.feature, static_cast<size_t>(AsConstInt(count).value_or(INT64_MAX)), "feature");
    greatest = std::max(greatest, tree_node.feature);
  }
  return greatest;
}

Expr WithFeatures(const NodeContext& node, const Forest& forest, const Expr& x, const Expr& indices) {
  const int64_t greatest = GreatestFeature(node, forest, x);
  const PrimExpr count = node.Shape(x)[1];
  if (AsConstInt(count)) return indices;
  const Expr checked = node.Checked(node.ConstantInts({greatest}), {count});
  const Expr nothing = node.Emit(relax::Subtract(checked, node.ConstantInts({greatest})));
  return node.Emit(relax::Add(indices, node.CastTo(nothing, node.DType(indices))));
}

Expr Answers(const NodeContext& node, const std::vector<Branch>& branches, const Expr& x, const Expr& split,
             const std::function<Expr(size_t)>& asks, const Expr& missing) {
  Expr answer;
  for (size_t i = 0; i < branches.size(); ++i) {
    const Expr compared = node.Emit(Compared(branches[i], x, split));
    answer = i == 0 ? compared : node.Emit(relax::Where(asks(i), compared, answer));
  }
  if (!missing.defined()) return answer;
  return node.Emit(relax::LogicalOr(answer, relax::LogicalAnd(missing, relax::IsNan(x))));
}

}  // namespace deuteron::onnx
