/// \file
/// Computations that rearrange elements. Axes are counted from 0, shapes have been checked by type inference.
#pragma once

#include <string>
#include <vector>

#include "deuteron/te/tensor.h"
#include "deuteron/tir/index_map.h"

namespace deuteron::topi {

/// The same elements in row-major order. Dimensions that correspond are indexed directly, so that a symbolic
/// batch dimension costs no division; the others by the fewest divisions that do.
te::Tensor Reshape(const te::Tensor& x, const Array<PrimExpr>& shape);
/// Axis i of the result is axis axes[i] of `x`.
te::Tensor Transpose(const te::Tensor& x, const std::vector<size_t>& axes);
/// Axis i of the result, of extent shape[i], is axis order[i] of `x`: scalars that the run tells.
te::Tensor DynamicTranspose(const te::Tensor& x, const Array<PrimExpr>& order, const Array<PrimExpr>& shape);
/// New axes of length 1 at `axes` of the result.
te::Tensor ExpandDims(const te::Tensor& x, const std::vector<size_t>& axes);
te::Tensor Squeeze(const te::Tensor& x, const std::vector<size_t>& axes);
te::Tensor BroadcastTo(const te::Tensor& x, const Array<PrimExpr>& shape);
te::Tensor Concat(const Array<te::Tensor>& tensors, size_t axis);
te::Tensor Stack(const Array<te::Tensor>& tensors, size_t axis);
/// Pieces of `extents[i]` from `begins[i]` of `axis`.
Array<te::Tensor> Split(const te::Tensor& x, const std::vector<PrimExpr>& begins, const std::vector<PrimExpr>& extents,
                        size_t axis, const std::string& name);
/// `repeats` aligned with the last axes.
te::Tensor Tile(const te::Tensor& x, const std::vector<int64_t>& repeats);
te::Tensor Repeat(const te::Tensor& x, int64_t repeats, size_t axis);
te::Tensor Flip(const te::Tensor& x, size_t axis);
/// x[begin + i * stride] on every axis; begins are in bounds.
te::Tensor StridedSlice(const te::Tensor& x, const std::vector<PrimExpr>& begins, const std::vector<int64_t>& strides,
                        const Array<PrimExpr>& shape, const std::string& name = "T_strided_slice_with_axes");
/// The first `extent` elements of an axis.
te::Tensor Leading(const te::Tensor& x, size_t axis, const PrimExpr& extent);
/// The sum over the axes along which `shape` would be broadcast to the shape of `x`.
te::Tensor CollapseSum(const te::Tensor& x, const Array<PrimExpr>& shape);
/// out[map(i...)] = x[i...], `pad` (null: 0) elsewhere. The final indices of `map` are plain indices, or quotients
/// and remainders of one by constants.
te::Tensor LayoutTransform(const te::Tensor& x, const tir::IndexMap& map, const Array<PrimExpr>& shape,
                           const PrimExpr& pad);
Array<te::Tensor> Meshgrid(const Array<te::Tensor>& vectors, bool exchange_first_two);

/// `value` everywhere.
te::Tensor Full(const Array<PrimExpr>& shape, const PrimExpr& value);
/// `x` on and below (above, if `upper`) the k-th diagonal of the last two axes, 0 elsewhere.
te::Tensor Trilu(const te::Tensor& x, const PrimExpr& k, bool upper);

}  // namespace deuteron::topi
