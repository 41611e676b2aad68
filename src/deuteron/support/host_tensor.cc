#include "deuteron/support/host_tensor.h"

#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

struct AlignedAllocator {
  void AllocData(DLTensor* tensor, int64_t bytes) {
    tensor->data = AllocAligned(bytes);
    if (tensor->data == nullptr) DEUTERON_THROW(MemoryError) << "out of memory: a tensor of " << bytes << " bytes";
  }
  void FreeData(DLTensor* tensor) { FreeAligned(tensor->data); }
};

struct BorrowingAllocator {
  const void* data;
  std::shared_ptr<const void> owner;
  void AllocData(DLTensor* tensor) { tensor->data = const_cast<void*>(data); }
  void FreeData(DLTensor*) { owner.reset(); }
};

}  // namespace

int64_t CheckedByteSize(const std::vector<int64_t>& shape, DLDataType dtype) {
  int64_t bytes = ElementBytes(dtype);
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
  const int64_t bytes = CheckedByteSize(shape, dtype);
  DEUTERON_CHECK(bytes >= 0) << "the size of a tensor overflows";
  return tvm::ffi::Tensor::FromNDAlloc(AlignedAllocator(), tvm::ffi::ShapeView(shape.data(), shape.size()), dtype,
                                       DLDevice{kDLCPU, 0}, bytes);
}

tvm::ffi::Tensor BorrowedHostTensor(const std::vector<int64_t>& shape, DLDataType dtype, const void* data,
                                    std::shared_ptr<const void> owner) {
  return tvm::ffi::Tensor::FromNDAlloc(BorrowingAllocator{data, std::move(owner)},
                                       tvm::ffi::Shape(shape.begin(), shape.end()), dtype, DLDevice{kDLCPU, 0});
}

}  // namespace deuteron
