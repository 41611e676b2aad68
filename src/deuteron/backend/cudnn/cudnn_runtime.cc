/// \file
/// The plugin `cudnn`: runs graphs of convolutions and attention with cuDNN.
#include <cudnn.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include "deuteron/backend/cuda/device.h"
#include "deuteron/backend/cudnn/kernels.h"

namespace deuteron::backend::cudnn {
namespace {

tvm::ffi::Function Create(void* host, const tvm::ffi::String& symbol, const tvm::ffi::Bytes& code,
                          const tvm::ffi::Array<tvm::ffi::String>& names, const tvm::ffi::Array<Tensor>& constants) {
  return cuda::CreateCudaFunction("cudnn", host, symbol, code, names, constants, MakeKernel);
}

tvm::ffi::String Version() { return cuda::VersionHere("cuDNN", cudnnGetVersion()); }

}  // namespace
}  // namespace deuteron::backend::cudnn

TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_create, deuteron::backend::cudnn::Create)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_version, deuteron::backend::cudnn::Version)
