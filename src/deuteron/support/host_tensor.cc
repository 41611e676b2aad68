#include "deuteron/support/host_tensor.h"

#include <new>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

struct AlignedAllocator {
  void AllocData(DLTensor* tensor) {
    int64_t bytes = (tensor->dtype.bits * tensor->dtype.lanes + 7) / 8;
    for (int axis = 0; axis < tensor->ndim; ++axis) bytes *= tensor->shape[axis];
    tensor->data = ::operator new(static_cast<size_t>(bytes > 0 ? bytes : 1), std::align_val_t(kTensorAlignment));
  }
  void FreeData(DLTensor* tensor) { ::operator delete(tensor->data, std::align_val_t(kTensorAlignment)); }
};

struct BorrowingAllocator {
  const void* data;
  std::shared_ptr<const void> owner;
  void AllocData(DLTensor* tensor) { tensor->data = const_cast<void*>(data); }
  void FreeData(DLTensor*) { owner.reset(); }
};

}  // namespace

int64_t CheckedByteSize(const std::vector<int64_t>& shape, DLDataType dtype) {
  int64_t bytes = (dtype.bits * dtype.lanes + 7) / 8;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return -1;
    // An empty tensor may not hide an overflow: strides multiply the other extents.
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return -1;
    }
  }
  return empty ? 0 : bytes;
}

tvm::ffi::Tensor EmptyHostTensor(const std::vector<int64_t>& shape, DLDataType dtype) {
  DEUTERON_CHECK(CheckedByteSize(shape, dtype) >= 0) << "the size of a tensor overflows";
  return tvm::ffi::Tensor::FromNDAlloc(AlignedAllocator(), tvm::ffi::Shape(shape.begin(), shape.end()), dtype,
                                       DLDevice{kDLCPU, 0});
}

tvm::ffi::Tensor BorrowedHostTensor(const std::vector<int64_t>& shape, DLDataType dtype, const void* data,
                                    std::shared_ptr<const void> owner) {
  return tvm::ffi::Tensor::FromNDAlloc(BorrowingAllocator{data, std::move(owner)},
                                       tvm::ffi::Shape(shape.begin(), shape.end()), dtype, DLDevice{kDLCPU, 0});
}

}  // namespace deuteron
