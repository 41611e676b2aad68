/// Any bytes are read as named tensors or refused by a user's error, without a look outside of them. What is read can
/// be written, and is the same when it is read again.
#include "deuteron/support/safetensors.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"

namespace {

size_t Bytes(const tvm::ffi::Tensor& tensor) {
  return static_cast<size_t>(deuteron::CheckedByteSize({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of just this size, so that a byte too far is seen.
  const auto owner = std::shared_ptr<char[]>(new char[size]);
  std::memcpy(owner.get(), data, size);
  try {
    size_t total = 0;
    for (const auto& [name, tensor] : deuteron::ParseSafeTensors({owner.get(), size}, "fuzz", owner)) {
      const auto* bytes = static_cast<const char*>(tensor.data_ptr());
      unsigned sum = 0;
      for (size_t i = 0; i < Bytes(tensor); ++i) sum += static_cast<unsigned char>(bytes[i]);
      total += Bytes(tensor) + (sum & 0);
    }
    if (total > size) std::abort();
  } catch (const tvm::ffi::Error& error) {
    if (deuteron::ExitStatus(error.kind()) != 1) return 0;
    std::fprintf(stderr, "%s: %s\n", std::string(error.kind()).c_str(), std::string(error.message()).c_str());
    std::abort();
  }
  return 0;
}
