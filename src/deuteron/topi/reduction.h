/// \file
/// Reductions over axes, and scans along one.
#pragma once

#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// kBits: the bits that all elements have; integers only.
enum class ReduceKind : uint8_t { kSum, kProd, kMax, kMin, kBits };
/// 16-bit floats are summed and multiplied in float32.
te::Tensor Reduce(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims, ReduceKind kind);
/// Integers: the quotient is truncated.
te::Tensor Mean(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims);
/// Of the population, in two passes.
te::Tensor Variance(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims);
/// The position (in row-major order, if over several axes) of the first greatest, or least, element; of the first
/// NaN, if there are such.
te::Tensor ArgReduce(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims, bool greatest);

/// A tensor that an extern op may read: a scalar is copied to a buffer.
te::Tensor Materialized(const te::Tensor& x);

/// out[i] = x[0] ∘ … ∘ x[i] along `axis`, without x[i] if `exclusive`; computed in `dtype`.
te::Tensor Scan(const te::Tensor& x, size_t axis, DataType dtype, bool exclusive, bool product);

}  // namespace deuteron::topi
