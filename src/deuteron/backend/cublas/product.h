/// \file
/// A product of matrices by cublasLtMatmul.
#pragma once

#include <memory>

#include "deuteron/backend/cuda/cuda_runtime.h"

namespace deuteron::backend::cublas {

/// The kernel that `node` (cublas.h: DescribeProduct) is for these operands.
std::unique_ptr<cuda::Kernel> MakeProduct(const JsonNode& node, std::span<const cuda::TensorInfo> inputs);

}  // namespace deuteron::backend::cublas
