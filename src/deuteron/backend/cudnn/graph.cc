#include "deuteron/backend/cudnn/graph.h"

#include "deuteron/support/error.h"

namespace deuteron::backend::cudnn {
namespace {

void Check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char text[256] = "";
  cudnnGetLastErrorString(text, sizeof(text));
  DEUTERON_THROW(UnsupportedError) << what << " failed: " << cudnnGetErrorString(status) << " (" << text << ")";
}

/// The library's state for a device, kept for the life of the process; it belongs to one thread at a time.
struct Handle {
  std::mutex mutex;
  cudnnHandle_t value = nullptr;
};

Handle& HandleFor(int device) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, std::unique_ptr<Handle>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Handle>& handle = (*handles)[device];
  if (handle == nullptr) {
    auto created = std::make_unique<Handle>();
    Check(cudnnCreate(&created->value), "cudnnCreate");
    handle = std::move(created);
  }
  return *handle;
}

}  // namespace

fe::DataType_t TypeOf(const std::string& dtype) {
  if (dtype == "float16") return fe::DataType_t::HALF;
  if (dtype == "float32") return fe::DataType_t::FLOAT;
  DEUTERON_THROW(UnsupportedError) << "the back end cudnn has no dtype " << dtype;
}

std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims, bool channels_last) {
  std::vector<int64_t> strides(dims.size(), 1);
  int64_t step = 1;
  if (channels_last) step = dims[1];
  for (size_t i = dims.size(); i-- > 0;) {
    if (channels_last && i == 1) continue;
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

fe::graph::Tensor_attributes TensorOf(int64_t uid, std::vector<int64_t> dims, std::vector<int64_t> strides,
                                      fe::DataType_t type) {
  return fe::graph::Tensor_attributes()
      .set_uid(uid)
      .set_name("t" + std::to_string(uid))
      .set_dim(std::move(dims))
      .set_stride(std::move(strides))
      .set_data_type(type);
}

Graph::Built Graph::Build(int device) const {
  Handle& handle = HandleFor(device);
  const std::lock_guard lock(handle.mutex);
  Built built;
  built.graph = std::make_shared<fe::graph::Graph>();
  fe::graph::Graph& graph = *built.graph;
  graph.set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  describe_(&graph);
  auto status = graph.validate();
  if (status.is_good()) status = graph.build_operation_graph(handle.value);
  if (status.is_good()) status = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
  if (status.is_good() && exact_) {
    graph.deselect_numeric_notes({fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                  fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION});
  }
  if (status.is_good()) status = graph.check_support();
  if (status.is_good()) status = graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
  if (status.is_good()) status = graph.get_workspace_size(built.workspace);
  if (status.is_bad()) built.problem = status.get_message();
  if (status.is_bad() && built.problem.empty()) built.problem = "no plan";
  return built;
}

const Graph::Built& Graph::For(int device) const {
  const std::lock_guard lock(mutex_);
  const auto it = built_.find(device);
  if (it != built_.end()) return it->second;
  return built_.emplace(device, Build(device)).first->second;
}

std::string Graph::Problem(const cuda::Call& call) const { return For(call.device()).problem; }

void Graph::Run(cuda::Call* call, const std::unordered_map<int64_t, void*>& data) const {
  const Built& built = For(call->device());
  void* workspace = built.workspace > 0 ? call->Scratch(static_cast<size_t>(built.workspace)) : nullptr;
  Handle& handle = HandleFor(call->device());
  const std::lock_guard lock(handle.mutex);
  Check(cudnnSetStream(handle.value, call->stream()), "cudnnSetStream");
  std::unordered_map<int64_t, void*> pointers = data;
  auto status = built.graph->execute(handle.value, pointers, workspace);
  if (status.is_bad()) DEUTERON_THROW(UnsupportedError) << "cuDNN failed: " << status.get_message();
}

}  // namespace deuteron::backend::cudnn
