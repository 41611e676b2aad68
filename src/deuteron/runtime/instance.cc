#include "deuteron/runtime/instance.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "deuteron/runtime/float_mode.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/runtime/vm.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

/// The tensors of a result, in order, tuples flattened.
void Flatten(const Any& value, std::vector<Tensor>* tensors) {
  if (const auto tensor = value.as<Tensor>(); tensor.has_value() && tensor->defined()) {
    tensors->push_back(*tensor);
    return;
  }
  if (const auto fields = value.as<tvm::ffi::Array<Any>>()) {
    for (const Any& field : *fields) Flatten(field, tensors);
    return;
  }
  if (const auto shape = value.as<tvm::ffi::Shape>()) {
    Tensor tensor = AllocTensor({static_cast<int64_t>(shape->size())}, DLDataType{kDLInt, 64, 1});
    std::copy(shape->begin(), shape->end(), static_cast<int64_t*>(tensor.data_ptr()));
    tensors->push_back(std::move(tensor));
    return;
  }
  if (const auto number = value.as<int64_t>()) {
    Tensor tensor = AllocTensor(std::span<const int64_t>(), DLDataType{kDLInt, 64, 1});
    *static_cast<int64_t*>(tensor.data_ptr()) = *number;
    tensors->push_back(std::move(tensor));
    return;
  }
  DEUTERON_THROW(UnsupportedError) << "a result that is no tensor: " << value.GetTypeKey();
}

/// Whether the first byte of a tensor up to its last, gaps included, meet those of another.
bool Overlap(const DLTensor& a, const DLTensor& b) {
  const auto extent = [](const DLTensor& tensor) {
    int64_t low = 0, high = 0;
    for (int i = 0; i < tensor.ndim; ++i) {
      if (tensor.shape[i] == 0) return std::pair<const char*, const char*>{nullptr, nullptr};
      int64_t stride = 1;
      if (tensor.strides != nullptr) {
        stride = tensor.strides[i];
      } else {
        for (int j = i + 1; j < tensor.ndim; ++j) stride *= tensor.shape[j];
      }
      (stride < 0 ? low : high) += stride * (tensor.shape[i] - 1);
    }
    const int64_t bytes = (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
    const char* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
    return std::pair<const char*, const char*>{data + low * bytes, data + (high + 1) * bytes};
  };
  const auto [begin, end] = extent(a);
  const auto [other_begin, other_end] = extent(b);
  return begin < other_end && other_begin < end;
}

bool OverlapsAny(const Tensor& tensor, std::span<const Tensor> others) {
  return std::any_of(others.begin(), others.end(), [&tensor](const Tensor& other) {
    return Overlap(*tensor.GetDLTensorPtr(), *other.GetDLTensorPtr());
  });
}

/// Whether elements of a tensor may lie at one place: not where each stride steps over all that smaller ones reach.
bool MayOverlapItself(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return false;
  std::vector<std::pair<int64_t, int64_t>> steps;  // and how many
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return false;
    if (tensor.shape[i] > 1) steps.emplace_back(std::abs(tensor.strides[i]), tensor.shape[i] - 1);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reached = 0;
  for (const auto& [stride, count] : steps) {
    if (stride <= reached) return true;
    reached += stride * count;
  }
  return false;
}

/// A UsageError if what is written to one place would be written over at once.
void CheckOutputs(std::string_view function, std::span<const Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DLTensor& output = *outputs[i].GetDLTensorPtr();
    if (MayOverlapItself(output)) {
      DEUTERON_THROW(UsageError) << "the tensor given for output " << i << " of " << function << ", "
                                 << DescribeTensor(output) << ", has several elements at one place";
    }
    if (!outputs[i].IsContiguous()) continue;
    for (size_t j = 0; j < i; ++j) {
      if (!outputs[j].IsContiguous() || !Overlap(output, *outputs[j].GetDLTensorPtr())) continue;
      DEUTERON_THROW(UsageError) << "the tensors given for outputs " << j << " and " << i << " of " << function
                                 << " overlap";
    }
  }
}

}  // namespace

struct Instance::Impl {
  Impl(std::shared_ptr<const Executable> executable, const InstanceOptions& options)
      : machine(std::move(executable), options.threads, options.run_bytes) {}

  std::vector<Tensor> Run(size_t function, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
    ComputeScope scope;
    const FloatModeScope mode(FloatMode::OfThread().WithoutDenormals());
    arguments.assign(inputs.begin(), inputs.end());
    const Any result = machine.Call(function, arguments, outputs);
    arguments.clear();
    std::vector<Tensor> tensors;
    Flatten(result, &tensors);
    return tensors;
  }

  Machine machine;
  std::vector<Any> arguments;
};

Instance::Instance(std::shared_ptr<const Executable> executable, InstanceOptions options)
    : impl_(std::make_unique<Impl>(std::move(executable), options)) {}
Instance::~Instance() = default;
Instance::Instance(Instance&&) noexcept = default;
Instance& Instance::operator=(Instance&&) noexcept = default;

std::vector<Tensor> Instance::Run(std::string_view function, std::span<const Tensor> inputs) {
  return impl_->Run(executable().FindFunction(function), inputs, {});
}

void Instance::RunInto(std::string_view function, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  CheckOutputs(function, outputs);
  // What lies where an input does is written once all inputs are read.
  std::vector<Tensor> written(outputs.begin(), outputs.end());
  bool in_place = false;
  for (Tensor& output : written) {
    if (!OverlapsAny(output, inputs)) continue;
    output = Tensor(tvm::ffi::UnsafeInit());
    in_place = true;
  }
  std::vector<Tensor> results = impl_->Run(executable().FindFunction(function), inputs, written);
  if (results.size() != outputs.size()) {
    DEUTERON_THROW(UsageError) << function << " has " << results.size() << " outputs, given " << outputs.size();
  }
  // A result may be an input itself.
  for (size_t i = 0; in_place && i < results.size(); ++i) {
    if (results[i].same_as(outputs[i]) || !OverlapsAny(results[i], outputs)) continue;
    const Tensor copy = AllocTensor(results[i].shape(), results[i].dtype());
    CopyInto(*results[i].GetDLTensorPtr(), *copy.GetDLTensorPtr());
    results[i] = copy;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].same_as(outputs[i])) continue;
    const DLTensor& from = *results[i].GetDLTensorPtr();
    const DLTensor& to = *outputs[i].GetDLTensorPtr();
    const bool fits = std::equal(from.shape, from.shape + from.ndim, to.shape, to.shape + to.ndim) &&
                      from.dtype.code == to.dtype.code && from.dtype.bits == to.dtype.bits &&
                      from.dtype.lanes == to.dtype.lanes;
    if (!fits) {
      DEUTERON_THROW(UsageError) << "output " << i << " of " << function << " is " << DescribeTensor(from)
                                 << ", the tensor given for it is " << DescribeTensor(to);
    }
    CopyInto(from, to);
  }
}

NamedTensors Instance::Run(std::string_view function, const NamedTensors& inputs) {
  const FunctionSpec& spec = executable().program().functions[executable().FindFunction(function)];
  const std::vector<std::string>& names = spec.input_names;
  std::vector<Tensor> ordered(names.size(), Tensor(tvm::ffi::UnsafeInit()));
  for (const auto& [name, tensor] : inputs) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      std::string known;
      for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
      DEUTERON_THROW(UsageError) << "there is no input '" << name << "'; the inputs are: " << known;
    }
    Tensor& place = ordered[found - names.begin()];
    if (place.defined()) DEUTERON_THROW(UsageError) << "input '" << name << "' is given twice";
    place = tensor;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!ordered[i].defined()) DEUTERON_THROW(UsageError) << "input '" << names[i] << "' is missing";
  }
  std::vector<Tensor> results = Run(function, std::span<const Tensor>(ordered));
  NamedTensors named;
  for (size_t i = 0; i < results.size(); ++i) {
    named.emplace_back(i < spec.output_names.size() ? spec.output_names[i] : "output_" + std::to_string(i),
                       std::move(results[i]));
  }
  return named;
}

Any Instance::Invoke(std::string_view function, const std::vector<Any>& arguments) {
  ComputeScope scope;
  return impl_->machine.Call(executable().FindFunction(function), arguments, {});
}

void Instance::SetProfiler(Profiler profiler) { impl_->machine.profiler = std::move(profiler); }
MemoryStats Instance::memory() const { return {impl_->machine.arena_bytes(), executable().weights_bytes()}; }
const Executable& Instance::executable() const { return impl_->machine.executable(); }
int Instance::threads() const { return impl_->machine.threads(); }

}  // namespace deuteron::runtime
