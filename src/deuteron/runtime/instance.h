/// \file
/// Runs an executable: owns the memory that one call in flight needs.
#pragma once

#include <tvm/ffi/any.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/runtime/executable.h"
#include "deuteron/support/limits.h"

namespace deuteron::runtime {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct InstanceOptions {
  /// Threads of parallel loops; 0 = UsableThreads().
  int threads = 0;
  /// The most memory of a run beside the weights: an UnsupportedError where it would take more.
  int64_t run_bytes = Limits().run_bytes;
};

/// One call of a kernel, as the profiler sees it.
struct KernelEvent {
  std::string_view function;
  /// The kernel's symbol, or the name of an external function.
  std::string_view kernel;
  /// Place in the user's model ("/layer1/conv1"), may be empty.
  std::string_view source;
  /// Which instruction: stable from run to run.
  uint32_t word = 0;
  /// Of an external function that tells the time of its kernels: the number of one, or -1 for what is left of the call
  /// without them.
  int32_t part = -1;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
};
using Profiler = std::function<void(const KernelEvent&)>;

struct MemoryStats {
  /// Largest sum of arenas held.
  int64_t arena_bytes = 0;
  int64_t weights_bytes = 0;
};

/// Not thread safe: one a thread in flight. Instances of one executable share its code and weights.
class Instance {
 public:
  explicit Instance(std::shared_ptr<const Executable> executable, InstanceOptions options = {});
  ~Instance();
  Instance(Instance&&) noexcept;
  Instance& operator=(Instance&&) noexcept;

  /// Calls a function on tensors in order of its parameters; the tensors of its result, tuples flattened. Inputs are
  /// checked against the parameters' types: a UsageError names the parameter, the symbol and both values. They are
  /// copied only if strided or not 64-byte aligned, and must not change meanwhile. Outputs are fresh.
  std::vector<Tensor> Run(std::string_view function, std::span<const Tensor> inputs);
  std::vector<Tensor> Run(std::string_view function, const std::vector<Tensor>& inputs) {
    return Run(function, std::span<const Tensor>(inputs));
  }
  /// The same into tensors of the caller (compact or strided; shape and dtype must be those of the results).
  void RunInto(std::string_view function, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  /// By name, in any order; an unknown, missing or doubled name is a UsageError. Outputs are named too.
  NamedTensors Run(std::string_view function, const NamedTensors& inputs);
  NamedTensors Run(const NamedTensors& inputs) { return Run("main", inputs); }
  /// Any values: tensors, ffi::Shape, scalars, Array<Any> for tuples.
  tvm::ffi::Any Invoke(std::string_view function, const std::vector<tvm::ffi::Any>& arguments);

  /// Called after each kernel and external function; null switches it off (no cost then).
  void SetProfiler(Profiler profiler);
  MemoryStats memory() const;
  const Executable& executable() const;
  int threads() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deuteron::runtime
