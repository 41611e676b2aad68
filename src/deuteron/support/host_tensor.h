/// \file
/// Tensors in host memory.
#pragma once

#include <tvm/ffi/container/tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace deuteron {

/// Alignment of the data of every tensor that the library allocates.
inline constexpr size_t kTensorAlignment = 64;

/// An uninitialised, contiguous tensor on the CPU, aligned to kTensorAlignment. An InternalError if its
/// size in bytes overflows (callers check shapes that come from outside by `CheckedByteSize`), a UsageError if the
/// memory cannot be had.
tvm::ffi::Tensor EmptyHostTensor(const std::vector<int64_t>& shape, DLDataType dtype);

/// A tensor over memory that belongs to `owner`, which it keeps alive. `data` is aligned to the element at
/// least and holds all elements.
tvm::ffi::Tensor BorrowedHostTensor(const std::vector<int64_t>& shape, DLDataType dtype, const void* data,
                                    std::shared_ptr<const void> owner);

/// Bytes of a compact tensor, or -1 if a dimension is negative or the product overflows int64.
int64_t CheckedByteSize(const std::vector<int64_t>& shape, DLDataType dtype);

}  // namespace deuteron
