/// \file
/// exp, tanh, erf and softmax as TVM's FastMathTransform computes them, expression by expression: by the approximations
/// of Cephes (expf) and Eigen (tanh and erf of float) where it has them for the dtype, exactly else. For parity; ours
/// (fast_math.h) are cheaper, closer and keep NaN.
#pragma once

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// Approximated for float32.
te::Tensor TVMFastExp(const te::Tensor& x);
/// Approximated for float32.
te::Tensor TVMFastTanh(const te::Tensor& x);
/// Approximated for float32 and float16.
te::Tensor TVMFastErf(const te::Tensor& x);
/// Along `axis`, with TVMFastExp.
te::Tensor TVMFastSoftmax(const te::Tensor& x, size_t axis);

}  // namespace deuteron::topi
