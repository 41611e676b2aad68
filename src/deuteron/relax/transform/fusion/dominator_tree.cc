#include "deuteron/relax/transform/fusion/dominator_tree.h"

#include <algorithm>
#include <utility>

namespace deuteron::relax::fusion {

DominatorTree::DominatorTree(const ForwardGraph& graph) : root_(graph.size()), nodes_(graph.size() + 1) {
  nodes_[root_] = {root_, root_, 0, OpPatternKind::kOpaque, OpPatternKind::kOpaque};
  for (uint32_t node = graph.size(); node-- > 0;) {
    const auto outputs = graph.outputs(node);
    if (graph.extern_ref(node) || outputs.empty()) {
      SetParent(node, root_, OpPatternKind::kOpaque);
      continue;
    }
    uint32_t parent = outputs[0].to;
    OpPatternKind kind = outputs[0].kind;
    for (const auto& edge : outputs.subspan(1)) {
      kind = std::max(kind, edge.kind);
      parent = CommonAncestor(parent, edge.to, &kind);
    }
    SetParent(node, parent, kind);
  }
}

void DominatorTree::SetParent(uint32_t node, uint32_t parent, OpPatternKind kind) {
  const Node& p = nodes_[parent];
  const Node& j = nodes_[p.jump];
  Node& n = nodes_[node];
  n.parent = parent;
  n.depth = p.depth + 1;
  n.kind = kind;
  if (p.depth - j.depth == j.depth - nodes_[j.jump].depth) {
    n.jump = j.jump;
    n.kind_to_jump = std::max({kind, p.kind_to_jump, j.kind_to_jump});
  } else {
    n.jump = parent;
    n.kind_to_jump = kind;
  }
}

uint32_t DominatorTree::CommonAncestor(uint32_t a, uint32_t b, OpPatternKind* kind) const {
  const auto raise = [kind](OpPatternKind other) { *kind = std::max(*kind, other); };
  if (nodes_[a].depth < nodes_[b].depth) std::swap(a, b);
  const uint32_t depth = nodes_[b].depth;
  while (nodes_[a].depth > depth) {
    const bool jump = nodes_[nodes_[a].jump].depth >= depth;
    raise(jump ? nodes_[a].kind_to_jump : nodes_[a].kind);
    a = jump ? nodes_[a].jump : nodes_[a].parent;
  }
  while (a != b) {
    // Nodes of one depth have jumps of one length.
    const bool jump = nodes_[a].jump != nodes_[b].jump;
    raise(jump ? nodes_[a].kind_to_jump : nodes_[a].kind);
    raise(jump ? nodes_[b].kind_to_jump : nodes_[b].kind);
    a = jump ? nodes_[a].jump : nodes_[a].parent;
    b = jump ? nodes_[b].jump : nodes_[b].parent;
  }
  return a;
}

}  // namespace deuteron::relax::fusion
