/// Any bytes are read as an array or refused by a user's error. What is read can be written, and is the same when it is
/// read again.
#include "deuteron/support/npy.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "check.h"
#include "deuteron/support/host_tensor.h"

namespace {

using deuteron::CheckedByteSize;
using tvm::ffi::Tensor;

/// Bytes as a file that lives in memory.
class MemoryFile {
 public:
  MemoryFile(const void* data, size_t size) : file_(memfd_create("npy", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

size_t BytesOf(const Tensor& tensor) {
  return static_cast<size_t>(CheckedByteSize({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  deuteron::AcceptsOrRefuses([&] {
    const Tensor read = deuteron::ReadNpy(file.path(), DLDataType{kDLUInt, 8, 1});
    if (BytesOf(read) > 8 * size) std::abort();  // elements of less than a byte lie apart in a file
    const std::string copy = "/dev/shm/deuteron_fuzz_" + std::to_string(getpid()) + ".npy";
    deuteron::WriteNpy(copy, read);
    const Tensor again = deuteron::ReadNpy(copy, read.dtype());
    unlink(copy.c_str());
    if (BytesOf(again) != BytesOf(read) || std::memcmp(again.data_ptr(), read.data_ptr(), BytesOf(read)) != 0) {
      std::abort();
    }
  });
  return 0;
}
