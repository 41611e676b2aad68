/// \file
/// Each row walks down a tree by itself. All a node asks is whether a feature is not greater than its split, and yes is
/// the child behind that for no: other comparisons are put so by the next number up or down and by negated features;
/// what of missing values is true asks the contrary, for a comparison with NaN is false. Of a leaf the split is NaN and
/// no child the leaf itself.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "deuteron/frontend/onnx/forest.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/trees.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/topi/indexing.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Bits of a node's second number.
constexpr int kBits = 31;
constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

/// Whether x, or -x, is not greater than the split; if `swaps`, of the contrary of what is asked.
struct Question {
  bool negated = false, swaps = false;
  float split = kNaN;
};

/// The greatest number below; of the least one, below which none is, NaN.
float Below(float number) { return number == -kInfinity ? kNaN : std::nextafter(number, -kInfinity); }

/// Nothing for what only asks whether numbers are equal.
std::optional<Question> QuestionOf(const TreeNode& tree_node) {
  const auto split = static_cast<float>(tree_node.split);
  if (std::isnan(split)) return std::nullopt;
  const bool swaps = tree_node.missing_is_true;
  switch (tree_node.branch) {
    case Branch::kLessEqual:
    case Branch::kGreater: {
      const bool negated = (tree_node.branch == Branch::kGreater) != swaps;
      return Question{negated, swaps, negated ? Below(-split) : split};
    }
    case Branch::kLess:
    case Branch::kGreaterEqual: {
      const bool negated = (tree_node.branch == Branch::kGreaterEqual) != swaps;
      return Question{negated, swaps, negated ? -split : Below(split)};
    }
    case Branch::kEqual:
    case Branch::kNotEqual:
    case Branch::kMember:
      break;
  }
  return std::nullopt;
}

/// Nodes and leaves of trees, children side by side.
class PackedForest {
 public:
  /// False if they ask for what such nodes do not hold.
  bool Pack(const Forest& forest) {
    for (const TreeNode& tree_node : forest.nodes) {
      const auto question = QuestionOf(tree_node);
      if (!question) return false;
      questions_.push_back(*question);
      has_negated_ |= question->negated;
      features_ = std::max(features_, tree_node.feature + 1);
    }
    if (has_negated_) features_ *= 2;
    // Nodes that several share are there for each.
    const size_t most = 2 * (forest.nodes.size() + forest.leaves.size());
    std::vector<int64_t> depths;
    for (const int64_t root : forest.roots) {
      roots_.push_back(std::ssize(places_));
      places_.push_back({root, 0});
      int64_t depth = 0;
      for (size_t end = places_.size(), begin = end - 1; begin < end; begin = end, end = places_.size()) {
        for (size_t i = begin; i < end; ++i) {
          if (forest.IsLeaf(places_[i].index)) continue;
          const auto own = static_cast<size_t>(places_[i].index);
          const TreeNode& tree_node = forest.nodes[own];
          places_[i].children = std::ssize(places_);
          const bool swaps = questions_[own].swaps;
          places_.push_back({swaps ? tree_node.if_true : tree_node.if_false, 0});
          places_.push_back({swaps ? tree_node.if_false : tree_node.if_true, 0});
          if (places_.size() > most) return false;
        }
        if (places_.size() > end) ++depth;
      }
      if (depth > topi::kMostLevelsOfTrees) return false;
      depths.push_back(depth);
    }
    child_bits_ = std::bit_width(places_.size());
    if (child_bits_ + std::bit_width(static_cast<size_t>(features_)) > kBits) return false;
    Group(depths);
    return true;
  }

  /// Of a row.
  int64_t steps() const {
    int64_t steps = 0;
    for (size_t group = 0; group < ends_.size(); ++group)
      steps += (ends_[group] - (group == 0 ? 0 : ends_[group - 1])) * levels_[group];
    return steps;
  }
  Expr Walk(const NodeContext& node, const Forest& forest, const Expr& x) const {
    const Expr roots = WithFeatures(node, forest, x, node.ConstantInts(roots_, DataType::Int(32)));
    return node.Emit(relax::WalkTrees(Features(node, x), Nodes(forest), roots, child_bits_, ends_, levels_));
  }
  /// Of each place its leaf, or -1.
  std::vector<int64_t> Leaves(const Forest& forest) const {
    std::vector<int64_t> leaves;
    for (const Place& place : places_) {
      const bool is_leaf = forest.IsLeaf(place.index);
      leaves.push_back(is_leaf ? place.index - static_cast<int64_t>(forest.nodes.size()) : -1);
    }
    return leaves;
  }

 private:
  struct Place {
    /// In the forest.
    int64_t index;
    int64_t children;
  };

  /// Orders trees by their depths: those that are walked together have as many levels as the deepest of them.
  void Group(const std::vector<int64_t>& depths) {
    std::vector<size_t> order(roots_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return depths[a] < depths[b]; });
    std::vector<int64_t> roots;
    for (const size_t tree : order) roots.push_back(roots_[tree]);
    for (size_t first = 0; first < order.size(); first += topi::kTreesAtOnce) {
      const size_t end = std::min(order.size(), first + topi::kTreesAtOnce);
      // Depths that differ little share the code.
      const int64_t levels = std::min(depths[order[end - 1]] + depths[order[end - 1]] % 2, depths[order.back()]);
      if (!levels_.empty() && levels_.back() == levels) {
        ends_.back() = static_cast<int64_t>(end);
      } else {
        ends_.push_back(static_cast<int64_t>(end));
        levels_.push_back(levels);
      }
    }
    roots_ = std::move(roots);
  }
  Expr Nodes(const Forest& forest) const {
    Tensor tensor = EmptyHostTensor({std::ssize(places_), 2}, DataType::Int(32));
    auto* words = static_cast<int32_t*>(tensor.data_ptr());
    for (size_t i = 0; i < places_.size(); ++i) {
      const auto own = static_cast<size_t>(places_[i].index);
      const bool is_leaf = forest.IsLeaf(places_[i].index);
      const Question question = is_leaf ? Question() : questions_[own];
      const int64_t feature = is_leaf ? 0 : forest.nodes[own].feature;
      const int64_t place = has_negated_ ? 2 * feature + (question.negated ? 1 : 0) : feature;
      const int64_t child = is_leaf ? static_cast<int64_t>(i) : places_[i].children;
      words[2 * i] = std::bit_cast<int32_t>(question.split);
      words[2 * i + 1] = static_cast<int32_t>(place << child_bits_ | child);
    }
    return relax::Constant(tensor);
  }
  /// Each feature and behind it, if any node asks for that, what it is negated.
  Expr Features(const NodeContext& node, const Expr& x) const {
    if (!has_negated_) return x;
    const Expr both = node.Emit(relax::Stack({x, node.Emit(relax::Negative(x))}, 2));
    return node.Reshaped(both, {node.Shape(x)[0], node.Shape(x)[1] * 2});
  }

  std::vector<Question> questions_;
  std::vector<Place> places_;
  std::vector<int64_t> roots_, ends_, levels_;
  int64_t features_ = 1, child_bits_ = 0;
  bool has_negated_ = false;
};

}  // namespace

std::optional<SteppedTrees> StepTrees(const NodeContext& node, const Forest& forest) {
  forest.Depth(node);  // trees in a circle are told first
  const auto packed = std::make_shared<PackedForest>();
  if (forest.dtype != DataType::Float(32) || !packed->Pack(forest)) return std::nullopt;
  const auto leaves_of = [&node, &forest, packed](const Expr& x) -> ReachedLeaves {
    const Expr places = packed->Walk(node, forest, x);
    std::vector<int64_t> leaves = packed->Leaves(forest);
    if (forest.targets == 1) return {places, 1, leaves};
    // Of nodes there are no weights for each target.
    std::vector<int64_t> numbers, own;
    for (const int64_t leaf : leaves) {
      numbers.push_back(std::ssize(own));
      if (leaf >= 0) own.push_back(leaf);
    }
    const Expr table = node.ConstantInts(numbers, DataType::Int(32));
    return {node.Emit(relax::Take(table, places, 0)), 1, own};
  };
  return SteppedTrees{packed->steps(), leaves_of};
}

}  // namespace deuteron::onnx
