/// \file
/// Operators that rearrange the elements of tensors: shapes, order, copies.
#pragma once

#include <string>
#include <vector>

#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> ManipulateOps();
std::vector<OpInfo> CopyOps();

/// The same elements in row-major order. A dimension of 0 is the one of `data` on that axis, one dimension of
/// -1 follows from the others; both are replaced here if the shape of `data` is known.
Expr Reshape(Expr data, Array<PrimExpr> shape);
/// `shape` of type R.Shape.
Expr Reshape(Expr data, Expr shape);
/// To one axis.
Expr Flatten(Expr data);
/// Whether an operator gives its first operand another shape and moves no element: reshape, flatten, expand_dims,
/// squeeze.
bool OnlyReshapes(const Expr& op);
/// Axis i of the result is axis axes[i] of `data`.
Expr PermuteDims(Expr data, std::vector<int64_t> axes);
/// All axes in reverse.
Expr PermuteDims(Expr data);
/// The axis of its operand, of `ndim` axes, that each axis of a permute_dims is.
std::vector<size_t> PermutationOf(const Call& call, int64_t ndim);
/// Exchanges the last two axes: a permute_dims. The rank must be known.
Expr MatrixTranspose(Expr data);
/// Axes of length 1 that become `axes` of the result.
Expr ExpandDims(Expr data, std::vector<int64_t> axes);
Expr Squeeze(Expr data, std::vector<int64_t> axes);
/// Every axis of length 1.
Expr Squeeze(Expr data);
Expr BroadcastTo(Expr data, Array<PrimExpr> shape);
Expr BroadcastTo(Expr data, Expr shape);
Expr Concat(Array<Expr> tensors, int64_t axis = 0);
/// `tensors` of type tuple.
Expr Concat(Expr tensors, int64_t axis);
/// Along a new axis.
Expr Stack(Array<Expr> tensors, int64_t axis = 0);
/// A tuple; see SplitAttrs.
Expr SplitSections(Expr data, int64_t sections, int64_t axis);
Expr SplitIndices(Expr data, std::vector<int64_t> indices, int64_t axis);
/// numpy's tile: repeats align with the last axes.
Expr Tile(Expr data, std::vector<int64_t> repeats);
/// numpy's repeat: each element several times in a row.
Expr Repeat(Expr data, int64_t repeats, int64_t axis);
Expr Repeat(Expr data, int64_t repeats);
Expr Flip(Expr data, int64_t axis);
/// The first seq_lengths[b] elements of `seq_axis` in reverse, for each b of `batch_axis`.
Expr ReverseSequence(Expr data, Expr seq_lengths, int64_t seq_axis = 1, int64_t batch_axis = 0);
/// The sum over the axes along which `collapse_target` would be broadcast to the shape of `data`.
Expr CollapseSumLike(Expr data, Expr collapse_target);
Expr CollapseSumTo(Expr data, Array<PrimExpr> shape);
/// Element i... moves to index_map(i...).
Expr LayoutTransform(Expr data, tir::IndexMap index_map, Optional<PrimExpr> pad_value = std::nullopt);
/// A tuple of tensors, one a vector.
Expr Meshgrid(Array<Expr> tensors, std::string indexing = "ij");

}  // namespace deuteron::relax
