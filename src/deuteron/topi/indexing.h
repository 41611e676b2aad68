/// \file
/// Reading and writing elements at indices that are data, searching and sorting. In gathers and scatters, negative
/// indices count from the end.
#pragma once

#include <string>
#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// The int64 position of `index` along an axis of `extent`: negative indices count from the end.
PrimExpr FromEnd(const PrimExpr& index, const PrimExpr& extent);
/// Elements `indices` of `axis`. mode: "fast", "clip", "wrap", "nan".
te::Tensor Take(const te::Tensor& x, const te::Tensor& indices, size_t axis, const std::string& mode);
te::Tensor GatherElements(const te::Tensor& x, const te::Tensor& indices, size_t axis);
te::Tensor GatherND(const te::Tensor& x, const te::Tensor& indices, size_t batch_dims);
/// x[indices[0], indices[1], …]; the index tensors broadcast to `index_shape`.
te::Tensor IndexTensor(const te::Tensor& x, const Array<te::Tensor>& indices, const Array<PrimExpr>& index_shape);
te::Tensor OneHot(const te::Tensor& indices, const PrimExpr& on_value, const PrimExpr& off_value, int64_t depth,
                  size_t axis);
te::Tensor SliceScatter(const te::Tensor& x, const te::Tensor& src, const PrimExpr& begin, const PrimExpr& end,
                        const PrimExpr& step, size_t axis);
struct TensorScatterSpec {
  /// Of the result along `axis`: as that of `x`, the same expression, or longer.
  PrimExpr length;
  size_t axis;
  bool circular, clears;
};
/// A copy of `x` in which in each row b of the first axis `updates` stand from position starts[b] of an axis on;
/// starts[0] if that is all. What `x` does not have is 0, and if that `clears`, what lies behind the updates.
te::Tensor TensorScatter(const te::Tensor& x, const te::Tensor& updates, const te::Tensor& starts,
                         const TensorScatterSpec& spec);
/// out[i] = condition ? a : b, broadcast.
te::Tensor Where(const te::Tensor& condition, const te::Tensor& a, const te::Tensor& b, const Array<PrimExpr>& shape);

/// A copy of `x` with `updates` combined into it, in row-major order. reduction: "update", "add", "mul", "min",
/// "max", "mean" (elements only).
te::Tensor ScatterElements(const te::Tensor& x, const te::Tensor& indices, const te::Tensor& updates, size_t axis,
                           const std::string& reduction);
te::Tensor ScatterND(const te::Tensor& x, const te::Tensor& indices, const te::Tensor& updates,
                     const std::string& reduction);

/// A copy of `x` with x[indices[0], indices[1], …] set to `values`, or with them added, in row-major order; indices and
/// values broadcast to `shape`.
te::Tensor IndexPut(const te::Tensor& x, const Array<te::Tensor>& indices, const te::Tensor& values,
                    const Array<PrimExpr>& shape, bool accumulate);

/// The number of `boundaries` (ascending) below each element; with `right`, of those below or equal.
te::Tensor Bucketize(const te::Tensor& x, const te::Tensor& boundaries, DataType dtype, bool right);
/// Positions (int64) of the elements along `axis` in ascending or descending order; stable; NaN is greatest.
te::Tensor Argsort(const te::Tensor& x, size_t axis, bool descending);
/// The first `count` of these.
te::Tensor ArgTop(const te::Tensor& x, size_t axis, const PrimExpr& count, bool descending);
/// Trees that are walked down together, a level at a time; levels that are unrolled.
inline constexpr int64_t kTreesAtOnce = 8, kMostLevelsOfTrees = 32;
/// As relax::WalkTreesAttrs says.
struct TreeWalk {
  int64_t child_bits;
  std::vector<int64_t> ends;
  std::vector<int64_t> levels;
};
/// The nodes that rows of `x` reach, as relax::WalkTrees says.
te::Tensor WalkTrees(const te::Tensor& x, const te::Tensor& nodes, const te::Tensor& roots, const TreeWalk& walk);
/// out[…, i, …] = x[…, order[…, i, …], …] for the first `count` of `axis`.
te::Tensor TakeAlong(const te::Tensor& x, const te::Tensor& order, size_t axis, const PrimExpr& count);

}  // namespace deuteron::topi
