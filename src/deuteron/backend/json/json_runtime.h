/// \file
/// Base of run sides that execute a JSON graph: inputs, results and prepared state.
///
/// What does not depend on values is prepared once for each combination of shapes (and number of threads) and kept: a
/// plan of all kernels of the graph, with primitives, layouts and memory. A graph without symbolic dimensions is
/// prepared when it is loaded.
#pragma once

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "deuteron/backend/json/json_graph.h"
#include "deuteron/runtime/plugin.h"

namespace deuteron::backend {

using tvm::ffi::Tensor;

class JsonRuntime {
 public:
  /// A plan; what it holds is the subclass's. It may be executed by several threads at once.
  class Plan {
   public:
    virtual ~Plan() = default;
    /// `inputs` in the order of the graph's, `outputs` in that of its heads; compact, of the shapes that the plan is
    /// for. `workspace`: memory that the caller lends, or none.
    virtual void Execute(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs,
                         std::span<char> workspace) const = 0;
    /// What a workspace should have; with less the plan takes memory of its own.
    virtual size_t workspace_bytes() const { return 0; }
  };

  /// `constants` by node name.
  JsonRuntime(std::string symbol, JsonGraph graph, std::map<std::string, Tensor> constants, const DeuteronHost* host);
  virtual ~JsonRuntime() = default;
  JsonRuntime(const JsonRuntime&) = delete;
  JsonRuntime& operator=(const JsonRuntime&) = delete;

  /// Inputs, then results, then a workspace if there is one. A ModelError if they are not what the graph takes.
  void Run(std::span<const DLTensor* const> tensors);
  /// The plan for the threads that calls will most likely have; null if a dimension is symbolic.
  std::shared_ptr<const Plan> PrepareStatic();

 protected:
  using Shapes = std::vector<std::vector<int64_t>>;
  /// The plan for inputs of these shapes on `threads` threads. One at a time.
  virtual std::shared_ptr<const Plan> Prepare(const Shapes& inputs, int threads) = 0;
  const JsonGraph& graph() const { return graph_; }
  const std::string& symbol() const { return symbol_; }
  const DeuteronHost* host() const { return host_; }
  /// The constant of a node.
  const Tensor& constant(uint32_t node) const { return constants_.at(graph_.nodes[node].name); }

 private:
  struct Key {
    Shapes shapes;
    int threads;
    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<const Plan> Find(Key key);

  std::string symbol_;
  JsonGraph graph_;
  std::map<std::string, Tensor> constants_;
  const DeuteronHost* host_;
  std::mutex mutex_;
  /// Those used last come first.
  std::list<std::pair<Key, std::shared_ptr<const Plan>>> order_;
  std::map<Key, std::list<std::pair<Key, std::shared_ptr<const Plan>>>::iterator> plans_;
};

/// The function of a runtime, as a plugin returns it. It owns the runtime.
tvm::ffi::Function AsFunction(std::shared_ptr<JsonRuntime> runtime);

}  // namespace deuteron::backend
