/// \file
/// External functions that byte code calls by name: conversions between shapes and tensors, copies.
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

#include <algorithm>
#include <cstring>

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

Tensor ShapeToTensor(tvm::ffi::Shape shape) {
  Tensor tensor = AllocTensor({static_cast<int64_t>(shape.size())}, DLDataType{kDLInt, 64, 1});
  std::copy(shape.begin(), shape.end(), static_cast<int64_t*>(tensor.data_ptr()));
  return tensor;
}

tvm::ffi::Shape TensorToShape(const Tensor& tensor) {
  if (tensor.ndim() != 1 || tensor.dtype().code != kDLInt || (tensor.dtype().bits != 64 && tensor.dtype().bits != 32)) {
    DEUTERON_THROW(ModelError) << "a shape must be a vector of integers, not "
                               << DescribeTensor(*tensor.GetDLTensorPtr());
  }
  const Tensor compact = tensor.IsContiguous() ? tensor : CopyCompact(*tensor.GetDLTensorPtr());
  const char* data = static_cast<const char*>(compact.data_ptr()) + compact.byte_offset();
  std::vector<int64_t> dims(tensor.size(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (tensor.dtype().bits == 64) {
      std::memcpy(&dims[i], data + 8 * i, 8);
    } else {
      int32_t narrow;
      std::memcpy(&narrow, data + 4 * i, 4);
      dims[i] = narrow;
    }
  }
  return tvm::ffi::Shape(dims);
}

void Copy(const Tensor& source, const Tensor& destination) {
  CopyInto(*source.GetDLTensorPtr(), *destination.GetDLTensorPtr());
}

tvm::ffi::Shape ShapeOf(const Tensor& tensor) { return tvm::ffi::Shape(tensor.shape()); }

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("deuteron.vm.copy", Copy)
      .def("deuteron.vm.shape_to_tensor", ShapeToTensor)
      .def("deuteron.vm.tensor_to_shape", TensorToShape)
      .def("deuteron.vm.shape_of", ShapeOf);
}

}  // namespace deuteron::runtime
