#include "deuteron/backend/cuda/cuda_runtime.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include "deuteron/support/error.h"

namespace deuteron::backend::cuda {

int64_t TensorInfo::numel() const {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

std::string TensorInfo::ToString() const {
  std::string text = dtype + " (";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + ")";
}

std::string DescribeKernel(const JsonNode& node, std::span<const TensorInfo> inputs) {
  std::string text = node.name + " of ";
  for (size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? "" : ", ") + inputs[i].ToString();
  return text;
}

namespace {

class CudaRuntime : public JsonRuntime {
 public:
  CudaRuntime(std::string library, std::string symbol, JsonGraph graph, std::map<std::string, Tensor> constants,
              const DeuteronHost* host, MakeKernel make)
      : JsonRuntime(std::move(symbol), std::move(graph), std::move(constants), host),
        library_(std::move(library)),
        make_(std::move(make)) {}

 private:
  /// All kernels of the graph for one combination of shapes.
  struct GraphPlan : Plan {
    explicit GraphPlan(CudaRuntime* runtime) : runtime(runtime) {}
    void Execute(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs,
                 std::span<char>) const override {
      Call call(inputs, outputs);
      runtime->Execute(*this, &call);
      call.Finish();
    }

    CudaRuntime* runtime;
    /// Of each node's result.
    std::vector<TensorInfo> infos;
    /// Null where the node is no kernel.
    std::vector<std::unique_ptr<Kernel>> kernels;
  };

  std::shared_ptr<const Plan> Prepare(const Shapes& shapes, int threads) override {
    RequireDevice(library_);
    auto plan = std::make_shared<GraphPlan>(this);
    const auto& nodes = graph().nodes;
    plan->infos.resize(nodes.size());
    plan->kernels.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) plan->infos[i] = {nodes[i].shapes[0], nodes[i].dtypes[0]};
    for (size_t i = 0; i < shapes.size(); ++i) plan->infos[graph().inputs[i]].shape = shapes[i];
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != JsonNode::kKernel) continue;
      std::vector<TensorInfo> inputs;
      for (const JsonEntry entry : nodes[i].inputs) inputs.push_back(plan->infos[entry.node]);
      plan->kernels[i] = make_(nodes[i], inputs);
      plan->infos[i].shape = plan->kernels[i]->shape();
    }
    return plan;
  }

  void Execute(const GraphPlan& plan, Call* call) {
    const auto& nodes = graph().nodes;
    std::vector<const void*> data(nodes.size(), nullptr);
    for (size_t i = 0; i < graph().inputs.size(); ++i) data[graph().inputs[i]] = call->Input(i);
    for (const uint32_t index : graph().constants) {
      data[index] = constants_.Get(*constant(index).GetDLTensorPtr(), call->device());
    }
    // A result is computed where it is wanted; a second time it is copied.
    std::vector<void*> results(nodes.size(), nullptr);
    for (size_t i = 0; i < graph().heads.size(); ++i) {
      void*& result = results[graph().heads[i].node];
      if (result == nullptr) result = call->Output(i);
    }
    std::vector<const void*> inputs;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != JsonNode::kKernel) continue;
      inputs.clear();
      for (const JsonEntry entry : nodes[i].inputs) inputs.push_back(data[entry.node]);
      void* output = results[i];
      if (output == nullptr) output = call->Scratch(BytesOf(plan.infos[i].dtype, plan.infos[i].numel()));
      if (plan.infos[i].numel() > 0) plan.kernels[i]->Run(call, inputs, output);
      data[i] = output;
    }
    for (size_t i = 0; i < graph().heads.size(); ++i) {
      const uint32_t node = graph().heads[i].node;
      const size_t bytes = BytesOf(plan.infos[node].dtype, plan.infos[node].numel());
      void* output = call->Output(i);
      if (output == data[node] || bytes == 0) continue;
      Check(cudaMemcpyAsync(output, data[node], bytes, cudaMemcpyDeviceToDevice, call->stream()),
            "cudaMemcpyAsync on the device");
    }
  }

  std::string library_;
  MakeKernel make_;
  Constants constants_;
};

}  // namespace

tvm::ffi::Function CreateCudaFunction(const std::string& library, void* host, const tvm::ffi::String& symbol,
                                      const tvm::ffi::Bytes& code,
                                      const tvm::ffi::Array<tvm::ffi::String>& constant_names,
                                      const tvm::ffi::Array<Tensor>& constants, MakeKernel make) {
  const auto* services = static_cast<const DeuteronHost*>(host);
  if (services->version != kDeuteronHostVersion) {
    DEUTERON_THROW(UnsupportedError) << "the plugin " << library << " is of another version than the runtime";
  }
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < constant_names.size(); ++i) by_name.emplace(std::string(constant_names[i]), constants[i]);
  return AsFunction(std::make_shared<CudaRuntime>(library, std::string(symbol),
                                                  ParseJsonGraph({code.data(), code.size()}), std::move(by_name),
                                                  services, std::move(make)));
}

}  // namespace deuteron::backend::cuda
