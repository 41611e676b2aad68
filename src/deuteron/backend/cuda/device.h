/// \file
/// What the run sides of CUDA libraries share: devices, streams, and tensors of one call on the device.
///
/// Tensors may be given on a device (they are used where they lie) or on the host (they are copied). All work of a call
/// goes to the stream that tvm-ffi's environment names for the device (TVMFFIEnvGetStream), the default stream if it
/// names none; the call waits for it only if it has results to copy to the host.
#pragma once

#include <cuda_runtime_api.h>
#include <tvm/ffi/container/tensor.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace deuteron::backend::cuda {

/// An error of a CUDA function by name; nothing for success. An UnsupportedError.
void Check(cudaError_t status, const char* what);
/// An UnsupportedError that says why no device can be used, if none can. `library` is who asks.
void RequireDevice(const std::string& library);
/// A library of NVIDIA's by its name and what it says its version is, and whether there is a device for it here. For
/// people.
std::string VersionHere(const std::string& library, size_t version);

/// Bytes on the device from the stream-ordered pool, given back in the stream's order.
class Buffer {
 public:
  Buffer() = default;
  Buffer(size_t bytes, cudaStream_t stream);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// One call of an external function. While it lives, its device is the thread's current one.
class Call {
 public:
  /// The device is that of the first tensor that lies on one, else the current one. A UsageError if tensors lie on
  /// several.
  Call(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  /// Where input or output `index` is on the device; an input is copied there the first time.
  const void* Input(size_t index);
  void* Output(size_t index);
  /// Scratch memory until the end of the call.
  void* Scratch(size_t bytes);
  /// Copies results to where they are wanted, and waits for them if that is the host.
  void Finish();

 private:
  struct Place {
    const DLTensor* tensor = nullptr;
    void* data = nullptr;
  };
  std::span<const DLTensor* const> outputs_;
  std::vector<Place> inputs_places_;
  std::vector<Place> output_places_;
  std::vector<Buffer> buffers_;
  int device_ = 0;
  int previous_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// Host tensors that all calls use, copied to each device once.
class Constants {
 public:
  Constants() = default;
  ~Constants();
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  /// Where `tensor` is on the current device, `device`.
  const void* Get(const DLTensor& tensor, int device);

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, int>, void*> copies_;
};

/// The bytes of a compact tensor.
size_t BytesOf(const DLTensor& tensor);
/// The bytes of `count` elements of a dtype by name ("float16").
size_t BytesOf(const std::string& dtype, int64_t count);

}  // namespace deuteron::backend::cuda
