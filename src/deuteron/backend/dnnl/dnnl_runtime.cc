/// \file
/// The plugin `dnnl`: runs graphs of kernels with oneDNN.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/string.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "deuteron/backend/dnnl/attention.h"
#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/backend/dnnl/held_layout.h"
#include "deuteron/backend/dnnl/kernels.h"
#include "deuteron/support/error.h"
#include "deuteron/support/executable_memory.h"

namespace deuteron::backend::dnnl {
namespace {

/// oneDNN has no scalars.
std::vector<int64_t> AtLeast1D(const std::vector<int64_t>& dims) {
  return dims.empty() ? std::vector<int64_t>{1} : dims;
}

/// A tensor over the memory of a packed constant, which it keeps.
struct PackedMemory {
  std::shared_ptr<void> storage;
  void AllocData(DLTensor* tensor) { tensor->data = storage.get(); }
  void FreeData(DLTensor*) {}
};

class DnnlRuntime : public JsonRuntime {
 public:
  DnnlRuntime(std::string symbol, JsonGraph graph, std::map<std::string, Tensor> constants, const DeuteronHost* host)
      : JsonRuntime(std::move(symbol), std::move(graph), std::move(constants), host), packed_(host) {
    for (const uint32_t index : this->graph().constants) {
      const nlohmann::json& attrs = this->graph().nodes[index].attrs;
      if (!attrs.contains("held")) continue;
      const auto bytes = static_cast<size_t>(constant(index).numel() * constant(index).dtype().bits / 8);
      packed_.Hold(DataOf(index), HeldLayoutFromJson(attrs.at("held"), bytes));
    }
  }

  /// The constant of a node as the plans made so far want it, and the attribute that says so; null if they want it as
  /// it is.
  std::pair<Tensor, nlohmann::json> Packed(uint32_t index) {
    const PackedConstants::Packed* packed = packed_.Sole(DataOf(index));
    nlohmann::json held = packed == nullptr || packed->storage == nullptr
                              ? nullptr
                              : HeldLayoutToJson({packed->from, packed->object.get_desc()});
    if (held.is_null()) return {constant(index), nullptr};
    const Tensor tensor = Tensor::FromNDAlloc(
        PackedMemory{packed->storage}, tvm::ffi::Shape({static_cast<int64_t>(packed->object.get_desc().get_size())}),
        DLDataType{kDLUInt, 8, 1}, DLDevice{kDLCPU, 0});
    return {tensor, std::move(held)};
  }

 private:
  const char* DataOf(uint32_t index) const {
    const Tensor& tensor = constant(index);
    return static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset();
  }

  std::shared_ptr<const Plan> Prepare(const Shapes& shapes, int threads) override {
    const RegionThreads scope(host(), threads);
    PlanBuilder plan(&packed_, host(), threads);
    std::vector<std::vector<Value>> values(graph().nodes.size());
    for (size_t i = 0; i < graph().inputs.size(); ++i) {
      const JsonNode& node = graph().nodes[graph().inputs[i]];
      values[graph().inputs[i]] = {
          plan.Input(static_cast<uint32_t>(i), PlainDesc(AtLeast1D(shapes[i]), DataTypeOf(node.dtypes[0])))};
    }
    for (const uint32_t index : graph().constants) {
      const JsonNode& node = graph().nodes[index];
      const auto desc = PlainDesc(AtLeast1D(node.shapes[0]), DataTypeOf(node.dtypes[0]));
      values[index] = {plan.Constant(DataOf(index), desc)};
    }
    std::vector<const JsonNode*> kernels;
    std::vector<uint32_t> kernel_of(graph().nodes.size());
    for (uint32_t i = 0; i < graph().nodes.size(); ++i) {
      if (graph().nodes[i].kind != JsonNode::kKernel) continue;
      kernel_of[i] = static_cast<uint32_t>(kernels.size());
      kernels.push_back(&graph().nodes[i]);
    }
    const std::map<uint32_t, AttentionNodes> attention = FindAttention(graph());
    // They wait for the rest of it.
    std::set<uint32_t> parts_of_attention;
    for (const auto& [product, nodes] : attention) parts_of_attention.insert({nodes.scores, nodes.softmax});
    const auto add = [&](uint32_t i) {
      plan.BeginKernel(kernel_of[i]);
      values[i] = {Add(&plan, graph().nodes[i], values)};
    };
    for (uint32_t i = 0; i < graph().nodes.size(); ++i) {
      if (graph().nodes[i].kind != JsonNode::kKernel || parts_of_attention.count(i) != 0) continue;
      if (const auto it = attention.find(i); it != attention.end()) {
        if (const auto whole = AddWhole(&plan, i, it->second, kernel_of, values)) {
          values[i] = {*whole};
          continue;
        }
        add(it->second.scores);
        add(it->second.softmax);
      }
      add(i);
    }
    for (uint32_t i = 0; i < graph().heads.size(); ++i) {
      const JsonEntry head = graph().heads[i];
      const Value& value = values[head.node][head.output];
      plan.Output(i, value, PlainDesc(value.desc.get_dims(), value.desc.get_data_type()));
    }
    try {
      return std::make_shared<Scoped>(plan.Finish(), host(), threads);
    } catch (const PlanBuilder::Refused& refused) {
      ThrowRefused(refused, *kernels[refused.kernel]);
    }
  }

  /// Executes a plan with the threads that it was made for.
  class Scoped : public Plan {
   public:
    Scoped(std::shared_ptr<const Plan> plan, const DeuteronHost* host, int threads)
        : plan_(std::move(plan)), host_(host), threads_(threads) {}
    void Execute(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs,
                 std::span<char> workspace) const override {
      const RegionThreads scope(host_, threads_);
      plan_->Execute(inputs, outputs, workspace);
      scope.Check();
    }
    size_t workspace_bytes() const override { return plan_->workspace_bytes(); }

   private:
    std::shared_ptr<const Plan> plan_;
    const DeuteronHost* host_;
    int threads_;
  };

  std::optional<Value> AddWhole(PlanBuilder* plan, uint32_t product, const AttentionNodes& nodes,
                                const std::vector<uint32_t>& kernel_of,
                                const std::vector<std::vector<Value>>& values) const {
    const JsonNode &scores = graph().nodes[nodes.scores], &last = graph().nodes[product];
    const auto input = [&](const JsonNode& node, size_t i) {
      return values[node.inputs.at(i).node][node.inputs[i].output];
    };
    try {
      return AddAttention(
          plan, {&scores, &graph().nodes[nodes.softmax], &last, kernel_of[nodes.scores], kernel_of[nodes.softmax],
                 kernel_of[product], input(scores, 0), input(scores, 1), input(last, 1)});
    } catch (const ::dnnl::error& error) {
      ThrowRefused(error, scores);
    }
  }

  Value Add(PlanBuilder* plan, const JsonNode& node, const std::vector<std::vector<Value>>& values) const {
    std::vector<Value> inputs;
    for (const JsonEntry entry : node.inputs) inputs.push_back(values[entry.node][entry.output]);
    try {
      return AddKernel(plan, node, inputs);
    } catch (const ::dnnl::error& error) {
      ThrowRefused(error, node);
    }
  }

  [[noreturn]] void ThrowRefused(const ::dnnl::error& error, const JsonNode& node) const {
    if (error.status == dnnl_out_of_memory) {
      DEUTERON_THROW(MemoryError) << "out of memory: oneDNN makes no " << node.name << " of " << symbol();
    }
    DEUTERON_THROW(UnsupportedError) << symbol() << ": oneDNN refuses " << node.name << ": " << error.what();
  }

  PackedConstants packed_;
};

using tvm::ffi::Any;
using tvm::ffi::Array;
using tvm::ffi::Bytes;
using tvm::ffi::String;

std::shared_ptr<DnnlRuntime> Load(void* host, const String& symbol, const Bytes& code, const Array<String>& names,
                                  const Array<Tensor>& constants) {
  const auto* services = static_cast<const DeuteronHost*>(host);
  if (services->version != kDeuteronHostVersion) {
    DEUTERON_THROW(UnsupportedError) << "the plugin dnnl is of another version than the runtime";
  }
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < names.size(); ++i) by_name.emplace(std::string(names[i]), constants[i]);
  return std::make_shared<DnnlRuntime>(std::string(symbol), ParseJsonGraph({code.data(), code.size()}),
                                       std::move(by_name), services);
}

tvm::ffi::Function Create(void* host, const String& symbol, const Bytes& code, const Array<String>& names,
                          const Array<Tensor>& constants) {
  auto runtime = Load(host, symbol, code, names, constants);
  runtime->PrepareStatic();
  return AsFunction(std::move(runtime));
}

/// Constants in the layouts that the primitives of the plan for this machine want, and the workspace of that.
Array<Any> Pack(void* host, const String& symbol, const Bytes& code, const Array<String>& names,
                const Array<Tensor>& constants) {
  const auto runtime = Load(host, symbol, code, names, constants);
  const auto plan = runtime->PrepareStatic();
  auto json = nlohmann::json::parse(std::string_view(code.data(), code.size()));
  Array<Tensor> packed = constants;
  for (size_t index = 0; index < json["nodes"].size(); ++index) {
    nlohmann::json& node = json["nodes"][index];
    if (node["op"] != "const") continue;
    auto [tensor, held] = runtime->Packed(static_cast<uint32_t>(index));
    if (held.is_null()) continue;
    node["attrs"]["held"] = std::move(held);
    const String name(node["name"].get<std::string>());
    packed.Set(std::find(names.begin(), names.end(), name) - names.begin(), tensor);
  }
  const std::string text = json.dump();
  return {Bytes(text), packed, plan == nullptr ? 0 : static_cast<int64_t>(plan->workspace_bytes())};
}

/// Its kernels are code that it writes for this CPU; what it does instead has instructions of its own.
String Problem() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.1") == 0) return "oneDNN asks for a processor with SSE4.1, which this one lacks";
#endif
  return MayExecuteWhatItWrites() ? "" : "oneDNN writes code as it runs, which this process may not execute";
}

String Version() {
  const dnnl_version_t& version = *dnnl_version();
  return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

}  // namespace
}  // namespace deuteron::backend::dnnl

TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_create, deuteron::backend::dnnl::Create)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_pack, deuteron::backend::dnnl::Pack)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_problem, deuteron::backend::dnnl::Problem)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(deuteron_version, deuteron::backend::dnnl::Version)
