/// \file
/// Tensors in memory: 64-byte aligned allocation, and what an executable asks of its inputs.
#pragma once

#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "deuteron/support/host_tensor.h"

namespace deuteron {
using tvm::ffi::Tensor;
}  // namespace deuteron

namespace deuteron::runtime {

/// Alignment in bytes of every buffer that a kernel sees.
inline constexpr auto kAlignment = static_cast<int64_t>(kTensorAlignment);

/// A new compact tensor on the CPU, its contents undefined. A UsageError if an extent is negative, or the size
/// overflows or cannot be had.
Tensor AllocTensor(std::span<const int64_t> shape, DLDataType dtype);
inline Tensor AllocTensor(std::initializer_list<int64_t> shape, DLDataType dtype) {
  return AllocTensor(std::span<const int64_t>(shape.begin(), shape.size()), dtype);
}

/// A compact tensor over `data`, which `owner` (may be null: the caller's care) keeps alive.
Tensor ViewTensor(void* data, std::span<const int64_t> shape, DLDataType dtype,
                  std::shared_ptr<const void> owner = nullptr);

/// Bytes of a compact tensor; a UsageError if an extent is negative or the product overflows.
int64_t TensorBytes(std::span<const int64_t> shape, DLDataType dtype);

/// On the CPU, compact and 64-byte aligned: kernels can read it where it lies.
bool IsKernelReady(const DLTensor& tensor);
/// A compact, aligned copy of any strided tensor on the CPU.
Tensor CopyCompact(const DLTensor& source);
/// Copies between tensors of equal shape and dtype, either of them strided; an InternalError otherwise.
void CopyInto(const DLTensor& source, const DLTensor& destination);

/// "float32", "bool", …; "void" for an unknown dtype.
std::string DTypeName(DLDataType dtype);
/// "float32[1, 3, 224, 224]", for messages.
std::string DescribeTensor(const DLTensor& tensor);

}  // namespace deuteron::runtime
