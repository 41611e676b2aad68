/// \file
/// The post-dominator tree of a forward graph.
#pragma once

#include <vector>

#include "deuteron/relax/transform/fusion/forward_graph.h"

namespace deuteron::relax::fusion {

/// The immediate post-dominator of a node is the first node that every path from it passes through. A node
/// that is referenced from outside, or that nothing uses, has none, and neither has one whose paths end
/// apart.
///
/// Nodes are added from the last to the first; the parent of a node is the least common ancestor of its
/// users. Ancestors are found through jump pointers (E. W. Myers, "An applicative random-access stack",
/// 1983), which double the distance at no more than one extra link a node: O((n + m) log n) in all, on long
/// skip connections too. Each link carries the greatest kind along it.
class DominatorTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit DominatorTree(const ForwardGraph& graph);

  /// The immediate post-dominator, or kNone.
  uint32_t parent(uint32_t node) const { return nodes_[node].parent == root_ ? kNone : nodes_[node].parent; }
  /// The greatest kind of the edges on all paths from `node` to its parent.
  OpPatternKind kind_to_parent(uint32_t node) const { return nodes_[node].kind; }

 private:
  struct Node {
    uint32_t parent;
    uint32_t jump;
    uint32_t depth;
    OpPatternKind kind;
    OpPatternKind kind_to_jump;
  };
  void SetParent(uint32_t node, uint32_t parent, OpPatternKind kind);
  uint32_t CommonAncestor(uint32_t a, uint32_t b, OpPatternKind* kind) const;

  /// The virtual root above all nodes, of depth 0.
  uint32_t root_;
  std::vector<Node> nodes_;
};

}  // namespace deuteron::relax::fusion
