/// \file
/// Attributes of the operators that rearrange tensors. Fields print in this order.
#pragma once

#include "deuteron/ir/attrs.h"
#include "deuteron/tir/index_map.h"

namespace deuteron::relax {

class PermuteDimsAttrsNode : public AttrsNode {
 public:
  /// Null: all axes in reverse.
  Optional<Array<int64_t>> axes;
  DEUTERON_NODE("deuteron.relax.PermuteDimsAttrs", PermuteDimsAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(PermuteDimsAttrs)

class ExpandDimsAttrsNode : public AttrsNode {
 public:
  /// Axes of the result.
  Array<int64_t> axis = kEmpty;
  DEUTERON_NODE("deuteron.relax.ExpandDimsAttrs", ExpandDimsAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ExpandDimsAttrs)

class SqueezeAttrsNode : public AttrsNode {
 public:
  /// Null: every axis of length 1.
  Optional<Array<int64_t>> axis;
  DEUTERON_NODE("deuteron.relax.SqueezeAttrs", SqueezeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SqueezeAttrs)

class ConcatAttrsNode : public AttrsNode {
 public:
  /// Null: the tensors are vectors.
  Optional<int64_t> axis;
  DEUTERON_NODE("deuteron.relax.ConcatAttrs", ConcatAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ConcatAttrs)

class StackAttrsNode : public AttrsNode {
 public:
  /// Axis of the result; null: 0.
  Optional<int64_t> axis;
  DEUTERON_NODE("deuteron.relax.StackAttrs", StackAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(StackAttrs)

class SplitAttrsNode : public AttrsNode {
 public:
  /// An int64: number of pieces of ceil(length / pieces), the last one shorter. An Array<int64_t>: where the
  /// second, third, … piece begins.
  Any indices_or_sections = int64_t{1};
  int64_t axis = 0;
  DEUTERON_NODE("deuteron.relax.SplitAttrs", SplitAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SplitAttrs)

class TileAttrsNode : public AttrsNode {
 public:
  Array<int64_t> repeats = kEmpty;
  DEUTERON_NODE("deuteron.relax.TileAttrs", TileAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(TileAttrs)

class RepeatAttrsNode : public AttrsNode {
 public:
  int64_t repeats = 1;
  /// Null: of the flattened tensor.
  Optional<int64_t> axis;
  DEUTERON_NODE("deuteron.relax.RepeatAttrs", RepeatAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(RepeatAttrs)

class FlipAttrsNode : public AttrsNode {
 public:
  int64_t axis = 0;
  DEUTERON_NODE("deuteron.relax.FlipAttrs", FlipAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(FlipAttrs)

class ReverseSequenceAttrsNode : public AttrsNode {
 public:
  int64_t seq_axis = 1;
  int64_t batch_axis = 0;
  DEUTERON_NODE("deuteron.relax.ReverseSequenceAttrs", ReverseSequenceAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ReverseSequenceAttrs)

class LayoutTransformAttrsNode : public AttrsNode {
 public:
  tir::IndexMap index_map;
  /// What elements that no source element maps to are; null: there are none, or any value will do.
  Optional<PrimExpr> pad_value;
  DEUTERON_NODE("deuteron.relax.LayoutTransformAttrs", LayoutTransformAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(LayoutTransformAttrs)

class MeshgridAttrsNode : public AttrsNode {
 public:
  /// "ij", or "xy": the first two axes exchanged. Null: "ij".
  Optional<String> indexing;
  DEUTERON_NODE("deuteron.relax.MeshgridAttrs", MeshgridAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(MeshgridAttrs)

}  // namespace deuteron::relax
