#include "deuteron/backend/json/json_runtime.h"

#include <algorithm>
#include <utility>

#include "deuteron/support/error.h"

namespace deuteron::backend {
namespace {

/// Plans kept for a function whose shapes change.
constexpr size_t kMostPlans = 32;

std::string Describe(std::span<const int64_t> shape) {
  std::string text = "(";
  for (const int64_t dim : shape) text += (text.size() > 1 ? ", " : "") + (dim < 0 ? "?" : std::to_string(dim));
  return text + ")";
}

bool IsOfBytes(const DLTensor& tensor) { return tensor.ndim == 1 && tensor.dtype.bits == 8 && tensor.dtype.lanes == 1; }

std::span<char> BytesOf(const DLTensor& workspace) {
  return {static_cast<char*>(workspace.data) + workspace.byte_offset, static_cast<size_t>(workspace.shape[0])};
}

}  // namespace

JsonRuntime::JsonRuntime(std::string symbol, JsonGraph graph, std::map<std::string, Tensor> constants,
                         const DeuteronHost* host)
    : symbol_(std::move(symbol)), graph_(std::move(graph)), constants_(std::move(constants)), host_(host) {
  for (const uint32_t node : graph_.constants) {
    if (constants_.count(graph_.nodes[node].name) == 0) {
      DEUTERON_THROW(ModelError) << symbol_ << ": its constant " << graph_.nodes[node].name << " is missing";
    }
  }
}

void JsonRuntime::Run(std::span<const DLTensor* const> tensors) {
  const size_t num_inputs = graph_.inputs.size();
  const size_t num_outputs = graph_.heads.size(), num_tensors = num_inputs + num_outputs;
  const bool has_workspace = tensors.size() == num_tensors + 1 && IsOfBytes(*tensors.back());
  if (tensors.size() != num_tensors && !has_workspace) {
    DEUTERON_THROW(ModelError) << symbol_ << " takes " << num_inputs << " tensors and gives " << num_outputs
                               << "; called with " << tensors.size();
  }
  Key key{{}, host_->threads()};
  for (size_t i = 0; i < num_inputs; ++i) {
    const DLTensor& tensor = *tensors[i];
    const auto& expected = graph_.nodes[graph_.inputs[i]].shapes[0];
    key.shapes.emplace_back(tensor.shape, tensor.shape + tensor.ndim);
    const bool fits = std::equal(expected.begin(), expected.end(), key.shapes.back().begin(), key.shapes.back().end(),
                                 [](int64_t wanted, int64_t given) { return wanted < 0 || wanted == given; });
    if (!fits) {
      DEUTERON_THROW(ModelError) << symbol_ << ": input " << i << " is of shape " << Describe(key.shapes.back())
                                 << ", expected " << Describe(expected);
    }
  }
  std::span<char> workspace;
  if (has_workspace) workspace = BytesOf(*tensors.back());
  Find(std::move(key))->Execute(tensors.first(num_inputs), tensors.subspan(num_inputs, num_outputs), workspace);
}

std::shared_ptr<const JsonRuntime::Plan> JsonRuntime::PrepareStatic() {
  Key key{{}, host_->threads()};
  for (const uint32_t input : graph_.inputs) {
    const auto& shape = graph_.nodes[input].shapes[0];
    if (std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; })) return nullptr;
    key.shapes.push_back(shape);
  }
  return Find(std::move(key));
}

std::shared_ptr<const JsonRuntime::Plan> JsonRuntime::Find(Key key) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  if (found != plans_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  std::shared_ptr<const Plan> plan = Prepare(key.shapes, key.threads);
  order_.emplace_front(key, plan);
  plans_.emplace(std::move(key), order_.begin());
  if (order_.size() > kMostPlans) {
    plans_.erase(order_.back().first);
    order_.pop_back();
  }
  return plan;
}

tvm::ffi::Function AsFunction(std::shared_ptr<JsonRuntime> runtime) {
  return tvm::ffi::Function::FromPacked(
      [runtime = std::move(runtime)](const tvm::ffi::AnyView* args, int32_t count, tvm::ffi::Any* result) {
        std::vector<const DLTensor*> tensors;
        tensors.reserve(count);
        // Shapes are passed for the symbols in them, which tensors' shapes tell as well.
        for (int32_t i = 0; i < count; ++i) {
          if (const auto tensor = args[i].try_cast<DLTensor*>()) tensors.push_back(*tensor);
        }
        runtime->Run(tensors);
        *result = nullptr;
      });
}

}  // namespace deuteron::backend
