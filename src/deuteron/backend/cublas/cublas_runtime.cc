/// \file
/// The plugin `cublas`: runs graphs of matrix products with cuBLASLt.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include "deuteron/backend/cublas/product.h"

namespace deuteron::backend::cublas {
namespace {

tvm::ffi::Function Create(void* host, const tvm::ffi::String& symbol, const tvm::ffi::Bytes& code,
                          const tvm::ffi::Array<tvm::ffi::String>& names, const tvm::ffi::Array<Tensor>& constants) {
  return cuda::CreateCudaFunction("cublas", host, symbol, code, names, constants, MakeProduct);
}

}  // namespace
}  // namespace deuteron::backend::cublas

TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_create, deuteron::backend::cublas::Create)
