/// \file
/// The plugin `dnnl`: runs graphs of kernels with oneDNN.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/backend/dnnl/kernels.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

/// oneDNN has no scalars.
std::vector<int64_t> AtLeast1D(const std::vector<int64_t>& dims) {
  return dims.empty() ? std::vector<int64_t>{1} : dims;
}

class DnnlRuntime : public JsonRuntime {
 public:
  DnnlRuntime(std::string symbol, JsonGraph graph, std::map<std::string, Tensor> constants, const DeuteronHost* host)
      : JsonRuntime(std::move(symbol), std::move(graph), std::move(constants), host), packed_(host) {}

 private:
  std::shared_ptr<const Plan> Prepare(const Shapes& shapes, int threads) override {
    const RegionThreads scope(host(), threads);
    PlanBuilder plan(&packed_, threads);
    std::vector<std::vector<Value>> values(graph().nodes.size());
    for (size_t i = 0; i < graph().inputs.size(); ++i) {
      const JsonNode& node = graph().nodes[graph().inputs[i]];
      values[graph().inputs[i]] = {
          plan.Input(static_cast<uint32_t>(i), PlainDesc(AtLeast1D(shapes[i]), DataTypeOf(node.dtypes[0])))};
    }
    for (const uint32_t index : graph().constants) {
      const Tensor& tensor = constant(index);
      const std::vector<int64_t> dims(tensor.shape().begin(), tensor.shape().end());
      const auto desc = PlainDesc(AtLeast1D(dims), DataTypeOf(graph().nodes[index].dtypes[0]));
      values[index] = {plan.Constant(static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset(), desc)};
    }
    uint32_t kernel = 0;
    for (uint32_t i = 0; i < graph().nodes.size(); ++i) {
      if (graph().nodes[i].kind != JsonNode::kKernel) continue;
      plan.BeginKernel(kernel++);
      values[i] = {Add(&plan, graph().nodes[i], values)};
    }
    for (uint32_t i = 0; i < graph().heads.size(); ++i) {
      const JsonEntry head = graph().heads[i];
      const Value& value = values[head.node][head.output];
      plan.Output(i, value, PlainDesc(value.desc.get_dims(), value.desc.get_data_type()));
    }
    return std::make_shared<Scoped>(plan.Finish(host()), host(), threads);
  }

  /// Executes a plan with the threads that it was made for.
  class Scoped : public Plan {
   public:
    Scoped(std::shared_ptr<const Plan> plan, const DeuteronHost* host, int threads)
        : plan_(std::move(plan)), host_(host), threads_(threads) {}
    void Execute(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs) const override {
      const RegionThreads scope(host_, threads_);
      plan_->Execute(inputs, outputs);
    }

   private:
    std::shared_ptr<const Plan> plan_;
    const DeuteronHost* host_;
    int threads_;
  };

  Value Add(PlanBuilder* plan, const JsonNode& node, const std::vector<std::vector<Value>>& values) const {
    std::vector<Value> inputs;
    for (const JsonEntry entry : node.inputs) inputs.push_back(values[entry.node][entry.output]);
    try {
      return AddKernel(plan, node, inputs);
    } catch (const ::dnnl::error& error) {
      if (error.status == dnnl_out_of_memory) {
        DEUTERON_THROW(MemoryError) << "out of memory: oneDNN makes no " << node.name << " of " << symbol();
      }
      DEUTERON_THROW(UnsupportedError) << symbol() << ": oneDNN refuses " << node.name << ": " << error.what();
    }
  }

  PackedConstants packed_;
};

tvm::ffi::Function Create(void* host, const tvm::ffi::String& symbol, const tvm::ffi::Bytes& code,
                          const tvm::ffi::Array<tvm::ffi::String>& names, const tvm::ffi::Array<Tensor>& constants) {
  const auto* services = static_cast<const DeuteronHost*>(host);
  if (services->version != kDeuteronHostVersion) {
    DEUTERON_THROW(UnsupportedError) << "the plugin dnnl is of another version than the runtime";
  }
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < names.size(); ++i) by_name.emplace(std::string(names[i]), constants[i]);
  const auto runtime = std::make_shared<DnnlRuntime>(std::string(symbol), ParseJsonGraph({code.data(), code.size()}),
                                                     std::move(by_name), services);
  runtime->PrepareStatic();
  return AsFunction(runtime);
}

}  // namespace
}  // namespace deuteron::backend::dnnl

TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_create, deuteron::backend::dnnl::Create)
