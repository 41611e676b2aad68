/// \file
/// Host threads that use a compiled model at once for a while: some share it, some load one of their own, now and then
/// with an input that it does not take. Each result has to be that of the first run: bit by bit, or of float32 numbers
/// within a tolerance where a library adds up in another order by as many threads as there are at the time. `./dev
/// threads` runs it under ThreadSanitizer.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

using runtime::Executable;
using runtime::Instance;

/// Inputs of `executable`: small numbers, dimensions that are not known of 2.
std::vector<Tensor> MakeInputs(const Executable& executable) {
  std::vector<Tensor> inputs;
  for (const auto& info : executable.Inputs("main")) {
    std::vector<int64_t> shape = info.shape;
    for (int64_t& dim : shape) dim = dim < 0 ? 2 : dim;
    const Tensor tensor = runtime::AllocTensor(shape, info.dtype);
    std::memset(tensor.data_ptr(), 0, static_cast<size_t>(runtime::TensorBytes(shape, info.dtype)));
    if (info.dtype.code == kDLFloat && info.dtype.bits == 32) {
      auto* elements = static_cast<float*>(tensor.data_ptr());
      for (int64_t i = 0; i < tensor.numel(); ++i) elements[i] = static_cast<float>(i % 17) / 16.0F - 0.5F;
    }
    inputs.push_back(tensor);
  }
  return inputs;
}

std::string BytesOf(const std::vector<Tensor>& tensors) {
  std::string bytes;
  for (const Tensor& tensor : tensors) {
    const std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    bytes.append(static_cast<const char*>(tensor.data_ptr()),
                 static_cast<size_t>(runtime::TensorBytes(shape, tensor.dtype())));
  }
  return bytes;
}

/// Whether they are the same numbers, up to so much of the largest.
bool IsClose(const std::string& got, const std::string& expected, double tolerance) {
  if (got == expected) return true;
  if (tolerance == 0 || got.size() != expected.size()) return false;
  std::vector<float> a(got.size() / sizeof(float)), b(a.size());
  std::memcpy(a.data(), got.data(), a.size() * sizeof(float));
  std::memcpy(b.data(), expected.data(), b.size() * sizeof(float));
  double difference = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return false;
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
    largest = std::max<double>(largest, std::abs(b[i]));
  }
  return difference <= tolerance * largest;
}

struct Shared {
  const char* path;
  double tolerance = 0;
  std::shared_ptr<const Executable> executable;
  std::string expected;
  std::chrono::steady_clock::time_point end;
  std::atomic<int> runs = 0;
  std::atomic<int> loads = 0;
  std::atomic<int> refusals = 0;
  std::atomic<int> faults = 0;
};

void Use(Shared* shared, int host) {
  for (int round = host; std::chrono::steady_clock::now() < shared->end; ++round) {
    std::shared_ptr<const Executable> executable = shared->executable;
    if (round % 4 == 0) {
      executable = Executable::Load(shared->path, {.verify_weights = round % 8 == 0});
      ++shared->loads;
    }
    Instance instance(executable, {.threads = 1 + round % 3});
    const std::vector<Tensor> inputs = MakeInputs(*executable);
    for (int run = 0; run < 4; ++run) {
      if (!IsClose(BytesOf(instance.Run("main", inputs)), shared->expected, shared->tolerance)) ++shared->faults;
      ++shared->runs;
    }
    try {
      instance.Run("main", std::vector<Tensor>());
      ++shared->faults;
    } catch (const tvm::ffi::Error& error) {
      if (error.kind() != "UsageError") ++shared->faults;
      ++shared->refusals;
    }
  }
}

int Run(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("usage: run_at_once MODEL.so THREADS SECONDS [TOLERANCE]\n", stderr);
    return 2;
  }
  Shared shared;
  shared.path = argv[1];
  if (argc == 5) shared.tolerance = std::atof(argv[4]);
  shared.executable = Executable::Load(argv[1]);
  shared.expected = BytesOf(Instance(shared.executable, {.threads = 1}).Run("main", MakeInputs(*shared.executable)));
  shared.end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  std::vector<std::thread> hosts;
  for (int host = 0; host < std::atoi(argv[2]); ++host) hosts.emplace_back(Use, &shared, host);
  for (std::thread& host : hosts) host.join();
  std::printf("%s: %d runs, %d loads, %d inputs refused, %d faults\n", argv[1], shared.runs.load(), shared.loads.load(),
              shared.refusals.load(), shared.faults.load());
  return shared.faults == 0 ? 0 : 5;
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  try {
    return deuteron::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_at_once: %s\n", error.what());
    return 1;
  }
}
