#include "deuteron/driver/host_context.h"

#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/aligned_memory.h"

namespace deuteron {

HostContext::HostContext(int threads) : threads_(threads) {
  context_.runtime = this;
  context_.parallel_for = [](const DeuteronContext* self, int64_t extent, int64_t grain,
                             int (*body)(void*, int64_t, int64_t), void* closure) {
    auto* host = static_cast<HostContext*>(self->runtime);
    return runtime::ParallelForOrStatus(host->threads_, extent, grain, body, closure, &host->error_);
  };
  context_.set_error = [](const DeuteronContext* self, const char* message) {
    static_cast<HostContext*>(self->runtime)->error_ = message;
  };
  context_.allocate = [](const DeuteronContext*, int64_t bytes) { return AllocAligned(bytes); };
  context_.release = [](const DeuteronContext*, void* memory) { FreeAligned(memory); };
}

bool HostContext::Run(DeuteronKernel kernel, const std::vector<Tensor>& tensors) {
  std::vector<void*> data;
  data.reserve(tensors.size());
  for (const Tensor& tensor : tensors) data.push_back(tensor.data_ptr());
  return kernel(&context_, data.data(), nullptr) == 0;
}

}  // namespace deuteron
