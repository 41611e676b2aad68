#include "deuteron/runtime/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

const char* DataOf(const DLTensor& tensor) { return static_cast<const char*>(tensor.data) + tensor.byte_offset; }

/// Stride of an axis in bytes.
int64_t ByteStride(const DLTensor& tensor, int axis, int64_t element) {
  if (tensor.strides != nullptr) return tensor.strides[axis] * element;
  int64_t stride = element;
  for (int i = tensor.ndim - 1; i > axis; --i) stride *= tensor.shape[i];
  return stride;
}

}  // namespace

int64_t TensorBytes(std::span<const int64_t> shape, DLDataType dtype) {
  int64_t elements = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) DEUTERON_THROW(UsageError) << "a tensor has a negative extent: " << extent;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(elements, extent, &elements)) {
      DEUTERON_THROW(UsageError) << "the size of a tensor overflows";
    }
  }
  if (empty) return 0;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, ElementBytes(dtype), &bytes)) {
    DEUTERON_THROW(UsageError) << "the size of a tensor overflows";
  }
  return bytes;
}

Tensor AllocTensor(std::span<const int64_t> shape, DLDataType dtype) {
  TensorBytes(shape, dtype);
  return EmptyHostTensor(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

Tensor ViewTensor(void* data, std::span<const int64_t> shape, DLDataType dtype, std::shared_ptr<const void> owner) {
  return BorrowedHostTensor(std::vector<int64_t>(shape.begin(), shape.end()), dtype, data, std::move(owner));
}

bool IsKernelReady(const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost) return false;
  if (tensor.data == nullptr) return false;
  return reinterpret_cast<uintptr_t>(DataOf(tensor)) % kAlignment == 0 && tvm::ffi::IsContiguous(tensor);
}

Tensor CopyCompact(const DLTensor& source) {
  Tensor copy = AllocTensor(std::span<const int64_t>(source.shape, source.ndim), source.dtype);
  CopyInto(source, *copy.GetDLTensorPtr());
  return copy;
}

void CopyInto(const DLTensor& source, const DLTensor& destination) {
  DEUTERON_CHECK(source.ndim == destination.ndim &&
                 std::equal(source.shape, source.shape + source.ndim, destination.shape) &&
                 source.dtype.code == destination.dtype.code && source.dtype.bits == destination.dtype.bits &&
                 source.dtype.lanes == destination.dtype.lanes)
      << "copy of " << DescribeTensor(source) << " into " << DescribeTensor(destination);
  const int64_t bytes = TensorBytes(std::span<const int64_t>(source.shape, source.ndim), source.dtype);
  if (bytes == 0) return;
  const char* from = DataOf(source);
  char* to = const_cast<char*>(DataOf(destination));
  if (tvm::ffi::IsContiguous(source) && tvm::ffi::IsContiguous(destination)) {
    std::memcpy(to, from, bytes);
    return;
  }
  const int ndim = source.ndim;
  const int64_t element = ElementBytes(source.dtype);
  if (element == 0 || ndim == 0) DEUTERON_THROW(UnsupportedError) << "a strided tensor of " << DTypeName(source.dtype);
  // The innermost axis in one piece where both sides allow it; the others by an odometer.
  std::vector<int64_t> index(ndim, 0), from_stride(ndim), to_stride(ndim);
  for (int i = 0; i < ndim; ++i) {
    from_stride[i] = ByteStride(source, i, element);
    to_stride[i] = ByteStride(destination, i, element);
  }
  const int last = ndim - 1;
  const int64_t run = source.shape[last];
  const bool dense = from_stride[last] == element && to_stride[last] == element;
  while (true) {
    if (dense) {
      std::memcpy(to, from, run * element);
    } else {
      for (int64_t i = 0; i < run; ++i) std::memcpy(to + i * to_stride[last], from + i * from_stride[last], element);
    }
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      from += from_stride[axis];
      to += to_stride[axis];
      if (++index[axis] < source.shape[axis]) break;
      from -= from_stride[axis] * index[axis];
      to -= to_stride[axis] * index[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

std::string DTypeName(DLDataType dtype) {
  if (dtype.code == kDLOpaqueHandle && dtype.bits == 0) return "void";
  if (dtype.code == kDLBool && dtype.lanes == 1) return "bool";
  return std::string(tvm::ffi::DLDataTypeToString(dtype));
}

std::string DescribeTensor(const DLTensor& tensor) {
  std::string text = DTypeName(tensor.dtype) + "[";
  for (int i = 0; i < tensor.ndim; ++i) text += (i > 0 ? ", " : "") + std::to_string(tensor.shape[i]);
  return text + "]";
}

}  // namespace deuteron::runtime
