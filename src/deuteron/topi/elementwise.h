/// \file
/// Elementwise computations, with numpy's broadcasting for those of two tensors.
#pragma once

#include <functional>
#include <string>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// How the axes of a block are named: i0, i1, … or ax0, ax1, …
enum class AxisNames : uint8_t { kI, kAx };
std::vector<std::string> NamesOfAxes(AxisNames names, size_t count);
/// A computation over axes ax0, ax1, …
te::Tensor ComputeAx(const Array<PrimExpr>& shape, const std::string& name,
                     const std::function<PrimExpr(const Array<tir::Var>&)>& body);
/// `values` with another value of `axis`.
Array<PrimExpr> WithAxis(Array<PrimExpr> values, size_t axis, PrimExpr value);
/// An index for every axis of `vars`, as expressions.
Array<PrimExpr> Indices(const Array<tir::Var>& vars);

/// out[i] = fn(x[i])
te::Tensor Map(const te::Tensor& x, const std::function<PrimExpr(PrimExpr)>& fn, const std::string& name = "compute",
               AxisNames axes = AxisNames::kI);

/// The broadcast of two shapes whose compatibility type inference has proved: the dimension that is not 1.
Array<PrimExpr> BroadcastShape(const Array<PrimExpr>& a, const Array<PrimExpr>& b);
/// The element of `x`, broadcast to `shape`, at `vars`.
PrimExpr BroadcastAt(const te::Tensor& x, const Array<PrimExpr>& shape, const Array<tir::Var>& vars);

/// out = fn(a, b), broadcast.
te::Tensor Zip(const te::Tensor& a, const te::Tensor& b, const std::function<PrimExpr(PrimExpr, PrimExpr)>& fn,
               const std::string& name);
te::Tensor Add(const te::Tensor& a, const te::Tensor& b);
te::Tensor Subtract(const te::Tensor& a, const te::Tensor& b);
te::Tensor Multiply(const te::Tensor& a, const te::Tensor& b);
te::Tensor Maximum(const te::Tensor& a, const te::Tensor& b);
te::Tensor Minimum(const te::Tensor& a, const te::Tensor& b);

/// A constant of the element type of `like`, as a tensor of rank 0.
te::Tensor ConstLike(const te::Tensor& like, double value);

/// float32 for 16-bit floats, else the type itself: in which sums and transcendental functions are computed.
DataType AccumulatorType(DataType dtype);
/// Floats of 16 bits in the accumulator's type, once each, for a product in which they are scalars: to widen one takes
/// as long as to multiply by it. Other tensors as they are.
te::Tensor Widened(const te::Tensor& x, DataType accumulator);
/// What an accumulator holds, in the dtype of the result.
te::Tensor CastBack(const te::Tensor& x, DataType dtype);

}  // namespace deuteron::topi
