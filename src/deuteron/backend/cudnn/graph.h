/// \file
/// Graphs of cuDNN's operations, built once for each device.
#pragma once

#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "deuteron/backend/cuda/device.h"

namespace deuteron::backend::cudnn {

namespace fe = cudnn_frontend;
using Operand = std::shared_ptr<fe::graph::Tensor_attributes>;

/// A description of tensor `uid`, which Run takes by that number.
fe::graph::Tensor_attributes TensorOf(int64_t uid, std::vector<int64_t> dims, std::vector<int64_t> strides,
                                      fe::DataType_t type);
/// cuDNN's name of a dtype; an UnsupportedError if it has none.
fe::DataType_t TypeOf(const std::string& dtype);
/// The strides of dimensions (n, c, spatial…) that lie in memory as they are, or with the channels last.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims, bool channels_last);

/// A graph of operations for one combination of shapes. Several threads may run it at once.
class Graph {
 public:
  /// Adds the operations to an empty graph. `exact`: tensor cores, which round single precision, are not to be used.
  using Describe = std::function<void(fe::graph::Graph*)>;
  Graph(Describe describe, bool exact) : describe_(std::move(describe)), exact_(exact) {}

  /// Why cuDNN has no plan for it on the call's device; empty if it has. Builds the plan the first time.
  std::string Problem(const cuda::Call& call) const;
  /// Enqueues it; only where there is no problem. `data` by the tensors' numbers.
  void Run(cuda::Call* call, const std::unordered_map<int64_t, void*>& data) const;

 private:
  struct Built {
    std::shared_ptr<fe::graph::Graph> graph;
    std::string problem;
    int64_t workspace = 0;
  };
  const Built& For(int device) const;
  Built Build(int device) const;

  Describe describe_;
  bool exact_;
  mutable std::mutex mutex_;
  mutable std::map<int, Built> built_;
};

}  // namespace deuteron::backend::cudnn
