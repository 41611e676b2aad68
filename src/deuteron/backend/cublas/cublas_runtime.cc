/// \file
/// The plugin `cublas`: runs graphs of matrix products with cuBLASLt.
#include <cublasLt.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include "deuteron/backend/cublas/product.h"
#include "deuteron/backend/cuda/device.h"

namespace deuteron::backend::cublas {
namespace {

tvm::ffi::Function Create(void* host, const tvm::ffi::String& symbol, const tvm::ffi::Bytes& code,
                          const tvm::ffi::Array<tvm::ffi::String>& names, const tvm::ffi::Array<Tensor>& constants) {
  return cuda::CreateCudaFunction("cublas", host, symbol, code, names, constants, MakeProduct);
}

tvm::ffi::String Version() { return cuda::VersionHere("cuBLASLt", cublasLtGetVersion()); }

}  // namespace
}  // namespace deuteron::backend::cublas

TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_create, deuteron::backend::cublas::Create)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_version, deuteron::backend::cublas::Version)
