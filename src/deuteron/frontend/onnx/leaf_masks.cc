/// \file
/// A word has a bit for each of 32 leaves of a tree, in their order, those for yes before those for no. Each node whose
/// answer is no takes from it the leaves for yes. The first that is left after all have is the one that is reached: it
/// is left, and of each before it the node that parts the two has taken it. A tree of more leaves has several words, of
/// which the first that is not empty counts. After C. Lucchese et al., "QuickScorer", SIGIR 2015.
#include <algorithm>

#include "deuteron/frontend/onnx/forest.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

constexpr int64_t kWordBits = 32;
const DataType kWord = DataType::UInt(kWordBits);
constexpr uint32_t kAllLeaves = UINT32_MAX;
/// A de Bruijn sequence: times a power of two, its highest five bits are another number for each.
constexpr uint32_t kSequence = 0x077CB531;
constexpr int64_t kSequenceShift = 27;
/// What a walk costs: in the time in which a row takes a step down, full vectors of rows ask so many nodes each row;
/// fewer rows than fill them take as long as these. Not where a step would be of more nodes than `most_nodes`.
struct WalkCost {
  int64_t nodes_per_step, rows_of_vectors, most_nodes;
};
/// A step of a row by itself; and of all rows at once, for which each reads three numbers anywhere: what is won by less
/// is little.
constexpr WalkCost kOwnSteps{6, 16, 6}, kStepsAtOnce{64, 128, 32};

/// A node, and which leaves of its tree are below it for yes.
struct Subtree {
  int64_t node = 0;
  int64_t first = 0, end = 0;
};
struct UnfoldedTree {
  std::vector<Subtree> subtrees;
  /// In order.
  std::vector<int64_t> leaves;

  int64_t words() const { return (static_cast<int64_t>(leaves.size()) + kWordBits - 1) / kWordBits; }
};

/// The nodes and leaves below `root`, those that several nodes share once for each; nothing if there are more than
/// `most` leaves.
std::optional<UnfoldedTree> Unfolded(const Forest& forest, int64_t root, int64_t most) {
  struct Visit {
    int64_t index;
    size_t subtree;
    int branches_done;
  };
  UnfoldedTree tree;
  std::vector<Visit> stack{{root, 0, 0}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const auto count = static_cast<int64_t>(tree.leaves.size());
    if (forest.IsLeaf(visit.index)) {
      if (count == most) return std::nullopt;
      tree.leaves.push_back(visit.index - static_cast<int64_t>(forest.nodes.size()));
      stack.pop_back();
      continue;
    }
    const TreeNode& tree_node = forest.nodes[static_cast<size_t>(visit.index)];
    switch (visit.branches_done++) {
      case 0:
        visit.subtree = tree.subtrees.size();
        tree.subtrees.push_back({visit.index, count, 0});
        stack.push_back({tree_node.if_true, 0, 0});
        break;
      case 1:
        tree.subtrees[visit.subtree].end = count;
        stack.push_back({tree_node.if_false, 0, 0});
        break;
      default:
        stack.pop_back();
    }
  }
  return tree;
}

/// All trees.
std::optional<std::vector<UnfoldedTree>> Unfolded(const Forest& forest, int64_t most) {
  std::vector<UnfoldedTree> trees;
  for (const int64_t root : forest.roots) {
    const auto tree = Unfolded(forest, root, most);
    if (!tree) return std::nullopt;
    trees.push_back(*tree);
  }
  return trees;
}

/// The bits of leaves from `first` to before `end`, in the word whose first leaf is `start`.
uint32_t LeafBits(int64_t first, int64_t end, int64_t start) {
  const int64_t from = std::clamp<int64_t>(first - start, 0, kWordBits);
  const int64_t to = std::clamp<int64_t>(end - start, 0, kWordBits);
  return static_cast<uint32_t>((uint64_t{1} << to) - (uint64_t{1} << from));
}

/// The words of all trees, as many for each, and of each word as many nodes: tables of (words, nodes).
class LeafMasks {
 public:
  LeafMasks(const Forest& forest, const std::vector<UnfoldedTree>& trees) : forest_(forest), trees_(trees) {
    for (const UnfoldedTree& tree : trees) words_ = std::max(words_, tree.words());
    for (const UnfoldedTree& tree : trees) {
      for (int64_t word = 0; word < tree.words(); ++word)
        nodes_ = std::max(nodes_, static_cast<int64_t>(SubtreesOf(tree, word).size()));
    }
  }
  /// Of each tree.
  int64_t words() const { return words_; }
  int64_t nodes() const { return nodes_; }
  int64_t all_words() const { return words_ * static_cast<int64_t>(trees_.size()); }

  /// Calls `visit` for each element of the tables, in order: a node (any behind a word's last), and what its no leaves.
  template <typename Visitor>
  void ForEach(const Visitor& visit) const {
    for (const UnfoldedTree& tree : trees_) {
      for (int64_t word = 0; word < words_; ++word) {
        const std::vector<Subtree> subtrees = SubtreesOf(tree, word);
        for (const Subtree& subtree : subtrees) {
          visit(forest_.nodes[static_cast<size_t>(subtree.node)],
                ~LeafBits(subtree.first, subtree.end, word * kWordBits));
        }
        for (auto i = static_cast<int64_t>(subtrees.size()); i < nodes_; ++i) visit(forest_.nodes[0], kAllLeaves);
      }
    }
  }
  /// Of each bit's number in the sequence, by word, which leaf it is.
  std::vector<int64_t> Leaves() const {
    std::vector<int64_t> leaves(static_cast<size_t>(all_words() * kWordBits), -1);
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      const std::vector<int64_t>& own = trees_[tree].leaves;
      for (size_t leaf = 0; leaf < own.size(); ++leaf) {
        const size_t word = tree * static_cast<size_t>(words_) + leaf / kWordBits;
        const uint32_t number = (uint32_t{1} << leaf % kWordBits) * kSequence >> kSequenceShift;
        leaves[word * kWordBits + number] = own[leaf];
      }
    }
    return leaves;
  }

 private:
  static std::vector<Subtree> SubtreesOf(const UnfoldedTree& tree, int64_t word) {
    std::vector<Subtree> subtrees;
    for (const Subtree& subtree : tree.subtrees) {
      if (subtree.first < (word + 1) * kWordBits && subtree.end > word * kWordBits) subtrees.push_back(subtree);
    }
    return subtrees;
  }

  const Forest& forest_;
  const std::vector<UnfoldedTree>& trees_;
  int64_t words_ = 1, nodes_ = 1;
};

/// The nodes' parts of the tables, and their answers for all rows.
class Questions {
 public:
  Questions(const NodeContext& node, const Forest& forest, const LeafMasks& masks)
      : node_(node), forest_(forest), branches_(forest.Branches()), shape_{masks.all_words(), masks.nodes(), 1} {
    masks.ForEach([&](const TreeNode& tree_node, uint32_t) {
      features_.push_back(tree_node.feature);
      splits_.push_back(tree_node.split);
      missing_.push_back(tree_node.missing_is_true ? 1 : 0);
      numbers_.push_back(std::find(branches_.begin(), branches_.end(), tree_node.branch) - branches_.begin());
    });
  }

  /// A table of (words, nodes, 1).
  Expr Table(const std::vector<int64_t>& values, DataType dtype) const {
    return node_.Reshaped(node_.ConstantInts(values, dtype), Dims(shape_));
  }
  /// Whether the answer is yes, (words, nodes, rows).
  Expr Answered(const Expr& x) const {
    // Of the features, those that are asked for, each in a line.
    std::vector<int64_t> used = features_;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<int64_t> lines;
    for (const int64_t feature : features_)
      lines.push_back(std::lower_bound(used.begin(), used.end(), feature) - used.begin());
    const Expr columns = WithFeatures(node_, forest_, x, node_.ConstantInts(used));
    const bool is_all = IsConstInt(node_.Shape(x)[1], static_cast<int64_t>(used.size()));
    const Expr asked_for = is_all ? x : Expr(node_.Emit(relax::Take(x, columns, 1)));
    const Expr by_feature = node_.Emit(relax::PermuteDims(asked_for, {{1, 0}}));
    const Expr indices = node_.Reshaped(node_.ConstantInts(lines), Dims({shape_[0], shape_[1]}));
    const Expr asked = node_.Emit(relax::Take(by_feature, indices, 0));
    const auto asks = [&](size_t number) {
      std::vector<int64_t> is_number;
      for (const int64_t other : numbers_) is_number.push_back(other == static_cast<int64_t>(number) ? 1 : 0);
      return Table(is_number, DataType::Bool());
    };
    const Expr missing = forest_.has_missing() ? Table(missing_, DataType::Bool()) : Expr();
    return Answers(node_, branches_, asked, node_.ConstantFloats(splits_, shape_, forest_.dtype), asks, missing);
  }

 private:
  static Array<PrimExpr> Dims(const std::vector<int64_t>& dims) {
    Array<PrimExpr> result;
    for (const int64_t dim : dims) result.push_back(I64(dim));
    return result;
  }

  const NodeContext& node_;
  const Forest& forest_;
  std::vector<Branch> branches_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> features_, missing_, numbers_;
  std::vector<double> splits_;
};

}  // namespace

std::optional<int64_t> FewestRowsOfMasks(const NodeContext& node, const Forest& forest, std::optional<int64_t> steps) {
  if (forest.nodes.empty()) return std::nullopt;
  const WalkCost& cost = steps ? kOwnSteps : kStepsAtOnce;
  const auto count = static_cast<int64_t>(forest.roots.size());
  const int64_t walked = steps.value_or(count * forest.Depth(node));
  const int64_t most = cost.most_nodes * walked / count;
  const auto trees = Unfolded(forest, most + 1);
  if (!trees) return std::nullopt;
  const LeafMasks masks(forest, *trees);
  const int64_t asked = masks.words() * masks.nodes();
  if (asked > most) return std::nullopt;
  return cost.rows_of_vectors * asked * count / (cost.nodes_per_step * walked) + 1;
}

ReachedLeaves MaskLeaves(const NodeContext& node, const Forest& forest, const Expr& x) {
  const std::vector<UnfoldedTree> trees = *Unfolded(forest, INT64_MAX);
  const LeafMasks masks(forest, trees);
  const Questions questions(node, forest, masks);
  std::vector<int64_t> left_by_no;
  masks.ForEach([&](const TreeNode&, uint32_t left) { left_by_no.push_back(left); });
  const auto number = [&](int64_t value) { return node.Scalar(kWord, static_cast<double>(value)); };
  const Expr left =
      node.Emit(relax::Where(questions.Answered(x), number(kAllLeaves), questions.Table(left_by_no, kWord)));
  const Expr word = node.Emit(relax::CommonBits(left, {{1}}));
  const Expr first = node.Emit(relax::BitwiseAnd(word, relax::Subtract(number(0), word)));
  Expr places =
      node.Emit(relax::RightShift(node.Emit(relax::Multiply(first, number(kSequence))), number(kSequenceShift)));
  const auto count = static_cast<int64_t>(trees.size());
  const auto column = [&](int64_t size, int64_t step) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < size; ++i) values.push_back(i * step);
    return node.Reshaped(node.ConstantInts(values, kWord), {I64(size), I64(1)});
  };
  if (masks.words() > 1) {
    const Array<PrimExpr> by_tree{I64(count), I64(masks.words()), node.Shape(x)[0]};
    const Expr is_empty = node.Reshaped(node.Emit(relax::Equal(word, number(0))), by_tree);
    const Expr in_tree = node.Emit(relax::Add(node.Reshaped(places, by_tree), column(masks.words(), kWordBits)));
    places = node.Emit(relax::Min(node.Emit(relax::Where(is_empty, number(kAllLeaves), in_tree)), {{1}}));
  }
  places = node.Emit(relax::Add(places, column(count, masks.words() * kWordBits)));
  return ReachedLeaves{node.CastTo(places, DataType::Int(32)), 0, masks.Leaves()};
}

}  // namespace deuteron::onnx
