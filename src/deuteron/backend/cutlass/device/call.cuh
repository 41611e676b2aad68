// What every generated source begins with: the tensors of one call on the device. The interface to the runtime is that
// of runtime/kernel_function.h, repeated here so that a source needs no header of ours.
#include <cuda_runtime.h>
#include <stdint.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace deuteron {

/* DLPack's DLTensor. */
struct Tensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

}  // namespace deuteron

// Filled by the runtime: the stream that work for a device goes to.
extern "C" __attribute__((visibility("default"))) void* (*deuteron_stream_of)(int32_t type, int32_t id) = nullptr;

namespace deuteron {
namespace {

struct Failure {
  std::string why;
};

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Failure{std::string(what) + " failed: " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")"};
}

// A compact tensor on the device.
struct View {
  void* data = nullptr;
  std::vector<int64_t> shape;
  int64_t element_bytes = 0;

  int rank() const { return static_cast<int>(shape.size()); }
  // A dimension; negative ones count from the end.
  int64_t dim(int i) const { return shape[i < 0 ? i + rank() : i]; }
  int64_t product(int begin, int end) const {
    int64_t result = 1;
    for (int i = begin; i < end; ++i) result *= shape[i];
    return result;
  }
  int64_t numel() const { return product(0, rank()); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

std::string Describe(const View& view) {
  std::string text = "(";
  for (int i = 0; i < view.rank(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(view.shape[i]);
  return text + ")";
}

// Kernels count in 32 bits.
int Int(int64_t value) {
  if (value > std::numeric_limits<int>::max()) throw Failure{"an extent of " + std::to_string(value)};
  return static_cast<int>(value);
}

// One call. Tensors are on a device, where they are used as they are, or on the host: then they are copied.
class Call {
 public:
  Call(const Tensor* const* tensors, int inputs, int outputs) : tensors_(tensors), inputs_(inputs), outputs_(outputs) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      (void)cudaGetLastError();
      throw Failure{std::string("it needs a CUDA device, and there is none: ") +
                    (status == cudaSuccess ? "no device is visible" : cudaGetErrorString(status))};
    }
    Check(cudaGetDevice(&previous_), "cudaGetDevice");
    device_ = previous_;
    int found = -1;
    for (int i = 0; i < inputs + outputs; ++i) {
      if (!OnDevice(*tensors[i])) continue;
      if (found >= 0 && found != tensors[i]->device.id) throw Failure{"its tensors lie on several devices"};
      found = tensors[i]->device.id;
    }
    if (found >= 0) device_ = found;
    if (device_ != previous_) Check(cudaSetDevice(device_), "cudaSetDevice");
    KeepPool();
    if (deuteron_stream_of != nullptr) stream_ = static_cast<cudaStream_t>(deuteron_stream_of(kCUDA, device_));
    results_.resize(outputs);
  }
  ~Call() {
    for (void* buffer : buffers_) (void)cudaFreeAsync(buffer, stream_);
    if (device_ != previous_) (void)cudaSetDevice(previous_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  cudaStream_t stream() const { return stream_; }

  void* Scratch(int64_t bytes) {
    if (bytes <= 0) return nullptr;
    void* data = nullptr;
    Check(cudaMallocAsync(&data, static_cast<size_t>(bytes), stream_), "cudaMallocAsync");
    buffers_.push_back(data);
    return data;
  }

  View Input(int index) {
    const Tensor& tensor = *tensors_[index];
    View view = ViewOf(tensor);
    if (OnDevice(tensor)) return view;
    waits_ = true;
    void* copy = Scratch(Bytes(view));
    if (copy != nullptr) {
      Check(cudaMemcpyAsync(copy, view.data, Bytes(view), cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync to the device");
    }
    view.data = copy;
    return view;
  }

  // Weights, which come behind inputs and results: copied to each device once.
  View Constant(int index) {
    static std::mutex mutex;
    static auto* copies = new std::map<std::pair<const void*, int>, void*>;
    View view = ViewOf(*tensors_[inputs_ + outputs_ + index]);
    const std::lock_guard<std::mutex> lock(mutex);
    void*& copy = (*copies)[{view.data, device_}];
    if (copy == nullptr && Bytes(view) > 0) {
      void* data = nullptr;
      Check(cudaMalloc(&data, Bytes(view)), "cudaMalloc");
      Check(cudaMemcpy(data, view.data, Bytes(view), cudaMemcpyDefault), "cudaMemcpy of a constant");
      copy = data;
    }
    view.data = copy;
    return view;
  }

  // Where a value is computed: in result `index`, or for -1 in scratch memory.
  View Place(int index, std::vector<int64_t> shape, int64_t element_bytes) {
    View view{nullptr, std::move(shape), element_bytes};
    if (index >= 0 && results_[index].data == nullptr) {
      const Tensor& tensor = *tensors_[inputs_ + index];
      const View wanted = ViewOf(tensor);
      if (wanted.shape != view.shape)
        throw Failure{"its result is of shape " + Describe(view) + ", expected " + Describe(wanted)};
      view.data = OnDevice(tensor) ? wanted.data : Scratch(Bytes(view));
      results_[index] = view;
    } else {
      view.data = Scratch(Bytes(view));
    }
    return view;
  }

  // `value` is result `index`, wherever it was computed.
  void Result(int index, const View& value) {
    const Tensor& tensor = *tensors_[inputs_ + index];
    const View wanted = ViewOf(tensor);
    if (wanted.data == value.data || Bytes(value) == 0) return;
    const bool on_device = OnDevice(tensor);
    Check(cudaMemcpyAsync(wanted.data, value.data, Bytes(value),
                          on_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync of a result");
    waits_ |= !on_device;
  }

  // Kernels read in words of 16 bytes.
  View Aligned(View view) {
    if (reinterpret_cast<uintptr_t>(view.data) % 16 == 0) return view;
    void* copy = Scratch(Bytes(view));
    Check(cudaMemcpyAsync(copy, view.data, Bytes(view), cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync on the device");
    view.data = copy;
    return view;
  }

  // Where to compute `out`, aligned so.
  View AlignedPlace(const View& out) {
    return reinterpret_cast<uintptr_t>(out.data) % 16 == 0 ? out : Place(-1, out.shape, out.element_bytes);
  }
  // `from`, if it is not where `to` is.
  void Move(const View& from, const View& to) {
    if (from.data == to.data) return;
    Check(cudaMemcpyAsync(to.data, from.data, Bytes(from), cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync on the device");
  }

  void Finish() {
    Check(cudaGetLastError(), "a kernel's launch");
    if (waits_) Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  static constexpr int32_t kCUDA = 2, kCUDAManaged = 13;

  static bool OnDevice(const Tensor& tensor) { return tensor.device.type == kCUDA || tensor.device.type == kCUDAManaged; }
  static View ViewOf(const Tensor& tensor) {
    return {static_cast<char*>(tensor.data) + tensor.byte_offset, {tensor.shape, tensor.shape + tensor.ndim},
            tensor.dtype.bits * tensor.dtype.lanes / 8};
  }
  static int64_t Bytes(const View& view) { return view.numel() * view.element_bytes; }

  // Memory that calls give back stays with the device's pool.
  void KeepPool() const {
    static std::mutex mutex;
    static auto* kept = new std::map<int, bool>;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!kept->emplace(device_, true).second) return;
    cudaMemPool_t pool = nullptr;
    Check(cudaDeviceGetDefaultMemPool(&pool, device_), "cudaDeviceGetDefaultMemPool");
    uint64_t most = std::numeric_limits<uint64_t>::max();
    Check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most), "cudaMemPoolSetAttribute");
  }

  const Tensor* const* tensors_;
  int inputs_, outputs_;
  int device_ = 0, previous_ = 0;
  cudaStream_t stream_ = nullptr;
  bool waits_ = false;
  std::vector<void*> buffers_;
  std::vector<View> results_;
};

thread_local std::string last_error;

template <typename Body>
int RunCall(const Tensor* const* tensors, int32_t count, int inputs, int outputs, int constants, Body body) {
  try {
    if (count != inputs + outputs + constants) throw Failure{"it is called with another number of tensors"};
    Call call(tensors, inputs, outputs);
    body(call);
    call.Finish();
    return 0;
  } catch (const Failure& failure) {
    last_error = failure.why;
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  return 1;
}

// Adds what is computed, and of which shapes, to an error.
template <typename Body>
View Kernel(const char* name, std::initializer_list<View> operands, Body body) {
  try {
    return body();
  } catch (const Failure& failure) {
    std::string text = name;
    const char* separator = " of ";
    for (const View& operand : operands) {
      text += separator + Describe(operand);
      separator = ", ";
    }
    throw Failure{text + ": " + failure.why};
  }
}

}  // namespace
}  // namespace deuteron

extern "C" __attribute__((visibility("default"))) const char* deuteron_error() {
  return deuteron::last_error.c_str();
}
