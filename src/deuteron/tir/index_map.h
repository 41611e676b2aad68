/// \file
/// Maps between index spaces: how the elements of one layout lie in another.
#pragma once

#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {

/// (initial_indices) → (final_indices). `T.index_map(lambda i, j: (j, i))` in the text.
class IndexMapNode : public Object {
 public:
  Array<Var> initial_indices = kEmpty;
  /// Expressions of the initial indices.
  Array<PrimExpr> final_indices = kEmpty;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.tir.IndexMap", IndexMapNode, Object);
};

class IndexMap : public ObjectRef {
 public:
  IndexMap(Array<Var> initial_indices, Array<PrimExpr> final_indices);
  /// Where the element at `indices` lies.
  Array<PrimExpr> MapIndices(const Array<PrimExpr>& indices) const;
  DEUTERON_REF(IndexMap, ObjectRef, IndexMapNode);
};

}  // namespace deuteron::tir
