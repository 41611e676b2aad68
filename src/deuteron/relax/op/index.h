/// \file
/// Slices of tensors and rows of tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class TakeAttrsNode : public AttrsNode {
 public:
  /// Null: of a vector.
  Optional<int64_t> axis;
  /// Indices out of bounds: "fast" = never there; "clip" and "wrap" bring them in; "nan" yields NaN.
  String mode = "fast";
  DEUTERON_NODE("deuteron.relax.TakeAttrs", TakeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(TakeAttrs)

class StridedSliceAttrsNode : public AttrsNode {
 public:
  /// begin and end are known to lie in [0, length]: no clamping.
  bool assume_inbound = false;
  DEUTERON_NODE("deuteron.relax.StridedSliceAttrs", StridedSliceAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(StridedSliceAttrs)

/// Rows of the table.
std::vector<OpInfo> IndexOps();

/// Elements `indices` (an integer tensor of any rank, or a PrimValue, which drops the axis) of `axis`.
Expr Take(Expr x, Expr indices, std::optional<int64_t> axis = std::nullopt, std::string mode = "fast");
/// x[begin:end:stride] on each of `axes`, as in Python: negative begins and ends count from the end, and are
/// clamped. No strides means 1.
Expr StridedSlice(Expr x, const std::vector<int64_t>& axes, const Array<PrimExpr>& begin, const Array<PrimExpr>& end,
                  const Array<PrimExpr>& strides = {}, bool assume_inbound = false);
/// Where a call of relax.strided_slice begins on each axis, if all of them are numbers and no element is left out
/// between others.
std::optional<std::vector<int64_t>> KnownBegins(const Call& call);
/// The same on all axes with begins, ends and strides that are data (int64 vectors).
Expr DynamicStridedSlice(Expr x, Expr begin, Expr end, Expr strides);
/// Axis i of the result, of extent shape[i], is axis order[i] of `x`: a permutation of the axes that only the run
/// knows. `shape` must be that of `x` in this order.
Expr DynamicPermuteDims(Expr x, Array<PrimExpr> order, Array<PrimExpr> shape);

}  // namespace deuteron::relax
