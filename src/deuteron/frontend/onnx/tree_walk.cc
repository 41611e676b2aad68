/// \file
/// A place (row, tree) holds a node, and each level replaces it by a child. Leaves are their own children.
#include <algorithm>
#include <numeric>

#include "deuteron/frontend/onnx/forest.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// What a place (row, tree) holds of the node that it is at: in the lowest bits its index, above that whether missing
/// values are true, which question it asks, and, on top, its feature. So that of each level the split, the element and
/// the child are all that is read.
class TreePlace {
 public:
  explicit TreePlace(const Forest& forest)
      : forest_(forest),
        branches_(forest.Branches()),
        missing_(BitsOf(forest.nodes.size() + forest.leaves.size())),
        branch_(missing_ + (forest.has_missing() ? 1 : 0)) {
    int64_t features = 0;
    for (const TreeNode& tree_node : forest.nodes) features = std::max(features, tree_node.feature);
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
  int64_t missing_, branch_, feature_ = 0, bits_ = 0;
};

/// A walk that visits places.
class ForestWalk {
 public:
  ForestWalk(const NodeContext& node, const Forest& forest, const Expr& x, Neighbours neighbours)
      : node_(node), forest_(forest), x_(x), neighbours_(neighbours), place_(forest) {}

  /// Which leaves rows reach, (rows, trees), or (trees, rows) where rows are neighbours.
  Expr Leaves() {
    const PrimExpr rows = node_.Shape(x_)[0], trees = I64(static_cast<int64_t>(forest_.roots.size()));
    Expr roots = Roots();
    Array<PrimExpr> places{rows, trees};
    if (neighbours_ == Neighbours::kRows) {
      places = {trees, rows};
      roots = node_.Reshaped(roots, {trees, I64(1)});
      x_ = node_.Emit(relax::PermuteDims(x_, {{1, 0}}));
    }
    Expr at = node_.Emit(relax::BroadcastTo(roots, places));
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
  Expr Roots() {
    GreatestFeature(node_, forest_, x_);  // one that there is not is told before the places of all are
    if (place_.bits() > 63) node_.Unsupported("trees of that many nodes and features");
    std::vector<int64_t> roots;
    for (const int64_t root : forest_.roots) roots.push_back(place_.Of(root));
    return WithFeatures(node_, forest_, x_, node_.ConstantInts(roots, place_.dtype()));
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
    const Expr x =
        node_.Emit(relax::GatherElements(x_, place_.Feature(node_, at), neighbours_ == Neighbours::kRows ? 0 : 1));
    std::vector<double> splits;
    for (const TreeNode& tree_node : forest_.nodes) splits.push_back(tree_node.split);
    splits.resize(splits.size() + forest_.leaves.size(), 0);
    const Expr table = node_.ConstantFloats(splits, {static_cast<int64_t>(splits.size())}, forest_.dtype);
    const Expr split = node_.Emit(relax::Take(table, index));
    const auto asks = [&](size_t number) {
      return node_.Emit(relax::Equal(place_.BranchNumber(node_, at), node_.Scalar(place_.dtype(), number)));
    };
    const Expr missing = place_.has_missing() ? node_.CastTo(place_.Missing(node_, at), DataType::Bool()) : Expr();
    return Answers(node_, place_.branches(), x, split, asks, missing);
  }

  const NodeContext& node_;
  const Forest& forest_;
  /// Features by row, or rows by feature where rows are neighbours.
  Expr x_;
  Neighbours neighbours_;
  const TreePlace place_;
};

}  // namespace

ReachedLeaves WalkTrees(const NodeContext& node, const Forest& forest, const Expr& x, Neighbours neighbours) {
  std::vector<int64_t> leaves(forest.leaves.size());
  std::iota(leaves.begin(), leaves.end(), 0);
  return {ForestWalk(node, forest, x, neighbours).Leaves(), neighbours == Neighbours::kRows ? 0 : 1, leaves};
}

}  // namespace deuteron::onnx
