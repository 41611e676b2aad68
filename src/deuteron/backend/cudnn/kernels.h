/// \file
/// Convolutions and attention by cuDNN.
#pragma once

#include <memory>

#include "deuteron/backend/cuda/cuda_runtime.h"

namespace deuteron::backend::cudnn {

/// The kernel that `node` (cudnn.h: DescribeKernel) is for these operands.
std::unique_ptr<cuda::Kernel> MakeKernel(const JsonNode& node, std::span<const cuda::TensorInfo> inputs);

}  // namespace deuteron::backend::cudnn
