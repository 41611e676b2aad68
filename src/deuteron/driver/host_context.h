/// \file
/// Kernels outside of an executable: when constants are computed, and when schedules are measured.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/dtype.h"
#include "deuteron/runtime/kernel.h"

namespace deuteron {

/// What a kernel asks its runtime for. Not to be copied: kernels hold its address.
class HostContext {
 public:
  explicit HostContext(int threads);
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;

  /// Runs a kernel of static shapes on tensors that kernels can read (runtime::IsKernelReady). False if it ended with
  /// an error.
  bool Run(DeuteronKernel kernel, const std::vector<Tensor>& tensors);
  /// The last one.
  const std::string& error() const { return error_; }

 private:
  DeuteronContext context_{};
  int threads_;
  std::string error_;
};

}  // namespace deuteron
