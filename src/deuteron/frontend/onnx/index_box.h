/// \file
/// Indices that are the positions of a box, in order: what exporters write for an assignment to a slice.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The positions begin, begin + step, … of an axis: `count` of them, the step positive.
struct IndexRange {
  PrimExpr begin, step, count;
};

/// The ranges of the axes that `indices` go through, (n0, …, nr, k) for the first k axes of a tensor of shape `shape`,
/// if index (i0, …, ir) is the position i0, … of the box that they span, all of it within the tensor. Axes of which
/// the box has one position need not be among n0, ….
std::optional<std::vector<IndexRange>> BoxOf(const NodeContext& node, const relax::Expr& indices,
                                             const Array<PrimExpr>& shape);
/// The range if `indices` are the same at all positions but along `axis`, of length `extent` in what they index.
std::optional<IndexRange> RangeAlong(const NodeContext& node, const relax::Expr& indices, int64_t axis,
                                     const PrimExpr& extent);

/// `x` with the elements of a box of its first axes replaced by `updates`, in order.
relax::Expr AssignBox(const NodeContext& node, const relax::Expr& x, const std::vector<IndexRange>& box,
                      const relax::Expr& updates);

}  // namespace deuteron::onnx
