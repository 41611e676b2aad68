/// \file
/// Decision trees.
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class WalkTreesAttrsNode : public AttrsNode {
 public:
  /// Bits of a node's second number that are the number of a node.
  int64_t child_bits = 0;
  /// Groups of trees: where each ends, the last with the last tree, and how many levels its trees have.
  Array<int64_t> ends = kEmpty;
  Array<int64_t> levels = kEmpty;
  DEUTERON_NODE("deuteron.relax.WalkTreesAttrs", WalkTreesAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(WalkTreesAttrs)

/// Rows of the table.
std::vector<OpInfo> TreeOps();

/// The nodes (rows, trees), int32, that rows of features `x`, float32, reach from the `roots` (trees), int32, after as
/// many steps as the trees of a group have levels. Of `nodes` (count, 2), int32, the first number has the bits of a
/// split, the second that of a node in `child_bits` bits and above it that of a feature: from a node a row goes to that
/// node, or, if its feature is not greater than the split, to the one behind it.
Expr WalkTrees(Expr x, Expr nodes, Expr roots, int64_t child_bits, std::vector<int64_t> ends,
               std::vector<int64_t> levels);

}  // namespace deuteron::relax
