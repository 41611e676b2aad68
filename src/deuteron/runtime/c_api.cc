#include "deuteron/c_api.h"

#include <exception>
#include <new>
#include <utility>

#include "deuteron/runtime/c_handles.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/error.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/write_file.h"

struct DeuteronInstance {
  deuteron::runtime::Instance instance;
};

namespace deuteron::runtime {
namespace {

thread_local std::string last_error;

DeuteronStatus Fail(DeuteronStatus status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

DeuteronModel::Value ShownValue(Executable::TensorInfo info) {
  DeuteronModel::Value value{std::move(info), {}};
  for (const std::string& dim : value.info.dims) value.dims.push_back(dim.c_str());
  return value;
}

std::vector<DeuteronModel::Value> ShownValues(std::vector<Executable::TensorInfo> infos) {
  std::vector<DeuteronModel::Value> values;
  // Text is short enough to lie in its string, and may not move.
  values.reserve(infos.size());
  for (auto& info : infos) values.push_back(ShownValue(std::move(info)));
  return values;
}

DeuteronStatus GetInfo(const DeuteronModel* model, std::vector<DeuteronModel::Value> DeuteronModel::*of,
                       const char* what, size_t index, DeuteronTensorInfo* info) {
  return GuardC([&] {
    CheckGiven(model, "model");
    CheckGiven(info, "DeuteronTensorInfo");
    CheckStructSize(info->struct_size);
    const std::vector<DeuteronModel::Value>& values = model->*of;
    if (index >= values.size()) {
      DEUTERON_THROW(UsageError) << "there is no " << what << " " << index << "; the model has " << values.size();
    }
    const DeuteronModel::Value& value = values[index];
    const DeuteronTensorInfo found{info->struct_size, value.info.name.c_str(), value.info.dtype,
                                   value.info.ndim,   value.info.shape.data(), value.dims.data()};
    std::memcpy(info, &found, std::min(info->struct_size, sizeof(found)));
  });
}

/// What says that it has more dimensions was not filled in: whoever looked at them all would read what is behind them.
constexpr int kMostDims = 64;

/// Tensors over what the caller's point to.
std::vector<Tensor> Views(const DLTensor* const* tensors, size_t count, const char* what) {
  std::vector<Tensor> views;
  if (tensors == nullptr && count > 0) DEUTERON_THROW(UsageError) << "the " << what << "s are a null pointer";
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i] == nullptr) DEUTERON_THROW(UsageError) << what << " " << i << " is a null pointer";
    const DLTensor& tensor = *tensors[i];
    if (tensor.device.device_type != kDLCPU) {
      DEUTERON_THROW(UsageError) << what << " " << i << " is not in the memory of the CPU (device type "
                                 << static_cast<int>(tensor.device.device_type) << ")";
    }
    if (tensor.ndim < 0 || tensor.ndim > kMostDims || (tensor.ndim > 0 && tensor.shape == nullptr)) {
      DEUTERON_THROW(UsageError) << what << " " << i << " has no shape (of rank " << tensor.ndim << ")";
    }
    if (tensor.dtype.code > kDLFloat4_e2m1fn) {
      DEUTERON_THROW(UsageError) << what << " " << i << " has no dtype (of code " << int{tensor.dtype.code} << ")";
    }
    if (tensor.dtype.bits == 0 || tensor.dtype.lanes == 0) {
      DEUTERON_THROW(UsageError) << what << " " << i << " has no dtype (of " << int{tensor.dtype.bits} << " bits and "
                                 << tensor.dtype.lanes << " lanes); numbers have 1 lane";
    }
    const std::span<const int64_t> shape(tensor.shape, tensor.ndim);
    for (const int64_t extent : shape) {
      if (extent < 0) DEUTERON_THROW(UsageError) << what << " " << i << " has a negative extent: " << extent;
    }
    if (TensorBytes(shape, tensor.dtype) > 0 && tensor.data == nullptr) {
      DEUTERON_THROW(UsageError) << what << " " << i << ", " << DescribeTensor(tensor) << ", has no data";
    }
    Tensor view = ViewTensor(static_cast<char*>(tensor.data) + tensor.byte_offset, shape, tensor.dtype);
    if (tensor.strides != nullptr) view = view.as_strided(view.shape(), {tensor.strides, shape.size()});
    views.push_back(std::move(view));
  }
  return views;
}

void CheckCount(size_t given, size_t wanted, const char* what) {
  if (given == wanted) return;
  DEUTERON_THROW(UsageError) << "the model has " << wanted << " " << what << ", given " << given;
}

std::vector<Tensor> InputViews(const DeuteronInstance* instance, const DLTensor* const* inputs, size_t num_inputs) {
  CheckGiven(instance, "instance");
  CheckCount(num_inputs, instance->instance.executable().InputNames("main").size(), "inputs");
  return Views(inputs, num_inputs, "input");
}

}  // namespace

void CheckGiven(const void* pointer, const char* what) {
  if (pointer == nullptr) DEUTERON_THROW(UsageError) << "the " << what << " is a null pointer";
}

void CheckStructSize(size_t size) {
  if (size < sizeof(size_t)) {
    DEUTERON_THROW(UsageError) << "struct_size is " << size << ": begin with the struct's initialiser, DEUTERON_…_INIT";
  }
}

DeuteronStatus GuardC(const std::function<void()>& body) noexcept {
  try {
    body();
    return DEUTERON_OK;
  } catch (const tvm::ffi::Error& error) {
    if (error.kind() == kCancelled) return Fail(DEUTERON_CANCELLED, error.message().c_str());
    return Fail(static_cast<DeuteronStatus>(ExitStatus(error.kind())), error.message().c_str());
  } catch (const std::exception& error) {
    return Fail(DEUTERON_INTERNAL_ERROR, error.what());
  } catch (...) {
    return Fail(DEUTERON_INTERNAL_ERROR, "an exception that is none of the standard's");
  }
}

}  // namespace deuteron::runtime

namespace rt = deuteron::runtime;

DeuteronModel::DeuteronModel(std::shared_ptr<const rt::Executable> runnable)
    : executable(std::move(runnable)),
      inputs(rt::ShownValues(executable->Inputs("main"))),
      outputs(rt::ShownValues(executable->Outputs("main"))) {}

extern "C" {

const char* DeuteronLastError(void) { return rt::last_error.c_str(); }
const char* DeuteronVersion(void) { return DEUTERON_VERSION; }
int32_t DeuteronCApiVersion(void) { return DEUTERON_C_API_VERSION; }

DeuteronStatus DeuteronLoad(const char* path, const DeuteronLoadOptions* options, DeuteronModel** model) {
  return rt::GuardC([&] {
    rt::CheckGiven(model, "place for the model");
    *model = nullptr;
    rt::CheckGiven(path, "path");
    const auto known = rt::KnownFields<DeuteronLoadOptions>(options, DEUTERON_LOAD_OPTIONS_INIT);
    const rt::LoadOptions load{.verify_weights = known.verify_weights != 0,
                               .weights_file = known.weights_file == nullptr ? "" : known.weights_file};
    auto made = std::make_unique<DeuteronModel>(rt::Executable::Load(path, load));
    made->file = deuteron::MappedFile::Open(path, "the compiled model");
    *model = made.release();
  });
}

void DeuteronFreeModel(DeuteronModel* model) { delete model; }

size_t DeuteronNumInputs(const DeuteronModel* model) { return model == nullptr ? 0 : model->inputs.size(); }
size_t DeuteronNumOutputs(const DeuteronModel* model) { return model == nullptr ? 0 : model->outputs.size(); }
DeuteronStatus DeuteronGetInput(const DeuteronModel* model, size_t index, DeuteronTensorInfo* info) {
  return rt::GetInfo(model, &DeuteronModel::inputs, "input", index, info);
}
DeuteronStatus DeuteronGetOutput(const DeuteronModel* model, size_t index, DeuteronTensorInfo* info) {
  return rt::GetInfo(model, &DeuteronModel::outputs, "output", index, info);
}

DeuteronStatus DeuteronCreateInstance(const DeuteronModel* model, const DeuteronInstanceOptions* options,
                                      DeuteronInstance** instance) {
  return rt::GuardC([&] {
    rt::CheckGiven(instance, "place for the instance");
    *instance = nullptr;
    rt::CheckGiven(model, "model");
    const auto known = rt::KnownFields<DeuteronInstanceOptions>(options, DEUTERON_INSTANCE_OPTIONS_INIT);
    if (known.threads < 0) DEUTERON_THROW(UsageError) << "threads: " << known.threads << "; 0 is as many as there are";
    if (known.run_bytes < 0) DEUTERON_THROW(UsageError) << "run_bytes: " << known.run_bytes;
    rt::InstanceOptions given{.threads = known.threads};
    if (known.run_bytes > 0) given.run_bytes = known.run_bytes;
    *instance = new DeuteronInstance{rt::Instance(model->executable, given)};
  });
}

void DeuteronFreeInstance(DeuteronInstance* instance) { delete instance; }

DeuteronStatus DeuteronRun(DeuteronInstance* instance, const DLTensor* const* inputs, size_t num_inputs,
                           DLTensor* const* outputs, size_t num_outputs) {
  return rt::GuardC([&] {
    const std::vector<deuteron::Tensor> given = rt::InputViews(instance, inputs, num_inputs);
    instance->instance.RunInto("main", given, rt::Views(outputs, num_outputs, "output"));
  });
}

DeuteronStatus DeuteronRunToDLPack(DeuteronInstance* instance, const DLTensor* const* inputs, size_t num_inputs,
                                   struct DLManagedTensorVersioned** outputs, size_t num_outputs) {
  return rt::GuardC([&] {
    const std::vector<deuteron::Tensor> given = rt::InputViews(instance, inputs, num_inputs);
    rt::CheckCount(num_outputs, instance->instance.executable().OutputNames("main").size(), "outputs");
    if (num_outputs > 0) rt::CheckGiven(outputs, "array for the outputs");
    const std::vector<deuteron::Tensor> results = instance->instance.Run("main", given);
    for (size_t i = 0; i < num_outputs; ++i) outputs[i] = results[i].ToDLPackVersioned();
  });
}

void DeuteronSetParallelFor(DeuteronParallelFor parallel_for, void* user) {
  rt::SetParallelBackend(parallel_for, user);
}

DeuteronStatus DeuteronSetAllocator(DeuteronAllocate allocate, DeuteronRelease release, void* user) {
  return rt::GuardC([&] {
    if ((allocate == nullptr) != (release == nullptr)) {
      DEUTERON_THROW(UsageError) << "memory is had and given back by functions of one kind: both, or none of them";
    }
    if (!deuteron::SetMemoryHooks({allocate, release, user})) {
      DEUTERON_THROW(UsageError) << "memory has been allocated already; DeuteronSetAllocator comes before everything "
                                    "that makes tensors";
    }
  });
}

}  // extern "C"
