/// \file
/// Base of the run sides of cublas and cudnn: runs a JSON graph kernel by kernel on a device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deuteron/backend/cuda/device.h"
#include "deuteron/backend/json/json_runtime.h"

namespace deuteron::backend::cuda {

/// A tensor while shapes are known and data is not.
struct TensorInfo {
  std::vector<int64_t> shape;
  /// "float16"
  std::string dtype;

  int64_t numel() const;
  /// "float16 (2, 3)"
  std::string ToString() const;
};
/// "cublas.matmul of float16 (2, 3), float16 (3, 4)": for messages.
std::string DescribeKernel(const JsonNode& node, std::span<const TensorInfo> inputs);

/// A kernel for operands of known shapes. Several threads may run it at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// The shape of its one result.
  virtual const std::vector<int64_t>& shape() const = 0;
  /// Enqueues it; operands are on the device of the call.
  virtual void Run(Call* call, std::span<const void* const> inputs, void* output) const = 0;
};

using MakeKernel = std::function<std::unique_ptr<Kernel>(const JsonNode& node, std::span<const TensorInfo> inputs)>;

/// What a plugin's deuteron_create returns. The device is asked for at the first call, not before: a model can be
/// compiled, saved and loaded on machines without one.
tvm::ffi::Function CreateCudaFunction(const std::string& library, void* host, const tvm::ffi::String& symbol,
                                      const tvm::ffi::Bytes& code,
                                      const tvm::ffi::Array<tvm::ffi::String>& constant_names,
                                      const tvm::ffi::Array<Tensor>& constants, MakeKernel make);

}  // namespace deuteron::backend::cuda
