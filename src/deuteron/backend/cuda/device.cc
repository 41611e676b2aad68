#include "deuteron/backend/cuda/device.h"

#include <tvm/ffi/dtype.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::cuda {
namespace {

bool IsOnDevice(const DLTensor& tensor) {
  return tensor.device.device_type == kDLCUDA || tensor.device.device_type == kDLCUDAManaged;
}

char* DataOf(const DLTensor& tensor) { return static_cast<char*>(tensor.data) + tensor.byte_offset; }

/// Memory that calls give back stays with the pool of the device for the next one.
void KeepPool(int device) {
  static std::mutex mutex;
  static auto* kept = new std::map<int, bool>;
  const std::lock_guard lock(mutex);
  if (!kept->emplace(device, true).second) return;
  cudaMemPool_t pool = nullptr;
  Check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  uint64_t most = std::numeric_limits<uint64_t>::max();
  Check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most), "cudaMemPoolSetAttribute");
}

}  // namespace

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  // Errors that are not of the context's state must not show up again in the next call.
  (void)cudaGetLastError();
  DEUTERON_THROW(UnsupportedError) << what << " failed: " << cudaGetErrorName(status) << " ("
                                   << cudaGetErrorString(status) << ")";
}

std::string DeviceProblem() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return "";
  (void)cudaGetLastError();
  return status == cudaSuccess ? "no device is visible" : cudaGetErrorString(status);
}

void RequireDevice(const std::string& library) {
  const std::string problem = DeviceProblem();
  if (problem.empty()) return;
  DEUTERON_THROW(UnsupportedError) << "the back end " << library
                                   << " needs a CUDA device, and there is none: " << problem
                                   << "; run the model on a machine with one, or compile with --backend none";
}

std::string VersionHere(const std::string& library, size_t version) {
  const std::string name = library + " " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  const std::string problem = DeviceProblem();
  return problem.empty() ? name : name + ", to compile with; no GPU to run on here: " + problem;
}

size_t BytesOf(const DLTensor& tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) count *= static_cast<size_t>(tensor.shape[i]);
  return count * static_cast<size_t>(ElementBytes(tensor.dtype));
}

size_t BytesOf(const std::string& dtype, int64_t count) {
  const DLDataType type = tvm::ffi::StringToDLDataType(dtype);
  return static_cast<size_t>(count * ElementBytes(type));
}

Buffer::Buffer(size_t bytes, cudaStream_t stream) : stream_(stream) {
  if (bytes > 0) Check(cudaMallocAsync(&data_, bytes, stream), "cudaMallocAsync");
}
Buffer::~Buffer() {
  if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
}
Buffer::Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(stream_, other.stream_);
  return *this;
}

Call::Call(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs) : outputs_(outputs) {
  Check(cudaGetDevice(&previous_), "cudaGetDevice");
  device_ = previous_;
  int found = -1;
  for (const auto& tensors : {inputs, outputs}) {
    for (const DLTensor* tensor : tensors) {
      if (!IsOnDevice(*tensor)) continue;
      if (found >= 0 && found != tensor->device.device_id)
        DEUTERON_THROW(UsageError) << "tensors of one call lie on the devices cuda:" << found
                                   << " and cuda:" << tensor->device.device_id << "; move them to one";
      found = tensor->device.device_id;
    }
  }
  if (found >= 0) device_ = found;
  for (const DLTensor* tensor : inputs)
    inputs_places_.push_back({tensor, IsOnDevice(*tensor) ? DataOf(*tensor) : nullptr});
  for (const DLTensor* tensor : outputs)
    output_places_.push_back({tensor, IsOnDevice(*tensor) ? DataOf(*tensor) : nullptr});
  if (device_ != previous_) Check(cudaSetDevice(device_), "cudaSetDevice");
  KeepPool(device_);
  stream_ = static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, device_));
}

Call::~Call() {
  buffers_.clear();
  if (device_ != previous_) (void)cudaSetDevice(previous_);
}

void* Call::Scratch(size_t bytes) {
  buffers_.emplace_back(bytes, stream_);
  return buffers_.back().data();
}

const void* Call::Input(size_t index) {
  Place& place = inputs_places_[index];
  if (place.data != nullptr) return place.data;
  const size_t bytes = BytesOf(*place.tensor);
  place.data = Scratch(bytes);
  if (bytes > 0) {
    Check(cudaMemcpyAsync(place.data, DataOf(*place.tensor), bytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync to the device");
  }
  return place.data;
}

void* Call::Output(size_t index) {
  Place& place = output_places_[index];
  if (place.data == nullptr) place.data = Scratch(BytesOf(*place.tensor));
  return place.data;
}

void Call::Finish() {
  bool waits = false;
  for (const Place& place : output_places_) {
    const size_t bytes = BytesOf(*place.tensor);
    if (IsOnDevice(*place.tensor) || bytes == 0) continue;
    Check(cudaMemcpyAsync(DataOf(*place.tensor), place.data, bytes, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync to the host");
    waits = true;
  }
  // Inputs on the host may be changed by the caller as soon as this returns.
  for (const Place& place : inputs_places_) waits |= !IsOnDevice(*place.tensor);
  if (waits) Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

Constants::~Constants() {
  // At the end of the process the driver may be gone before.
  for (const auto& [key, data] : copies_) (void)cudaFree(data);
  (void)cudaGetLastError();
}

const void* Constants::Get(const DLTensor& tensor, int device) {
  if (IsOnDevice(tensor) && tensor.device.device_id == device) return DataOf(tensor);
  const std::lock_guard lock(mutex_);
  const auto [it, added] = copies_.try_emplace({DataOf(tensor), device}, nullptr);
  if (!added) return it->second;
  const size_t bytes = BytesOf(tensor);
  void* data = nullptr;
  cudaError_t status = cudaMalloc(&data, std::max<size_t>(bytes, 1));
  if (status == cudaSuccess) status = cudaMemcpy(data, DataOf(tensor), bytes, cudaMemcpyDefault);
  if (status != cudaSuccess) {
    (void)cudaFree(data);
    copies_.erase(it);
    Check(status, "copying constants to the device");
  }
  return it->second = data;
}

}  // namespace deuteron::backend::cuda
