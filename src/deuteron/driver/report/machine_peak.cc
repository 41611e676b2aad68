#include "deuteron/driver/report/machine_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "deuteron/runtime/cpu_features.h"
#include "deuteron/runtime/thread_pool.h"

namespace deuteron::report {
namespace {

using Clock = std::chrono::steady_clock;

/// Independent, so that the latency of a multiply-add hides; with their factors they are in sixteen registers.
constexpr int kChains = 12;
constexpr int64_t kIterations = 1'000'000;

typedef float Vector128 __attribute__((vector_size(16)));
typedef float Vector256 __attribute__((vector_size(32)));
typedef float Vector512 __attribute__((vector_size(64)));

/// Chains of multiply-adds on vectors; the compiler keeps them in registers of the function's target.
template <typename Vector>
inline __attribute__((always_inline)) void MultiplyAdds(float* sink) {
  Vector chains[kChains];
  const Vector a = Vector{} + 1.0000001F;
  const Vector b = Vector{} + 1e-9F;
  for (int i = 0; i < kChains; ++i) chains[i] = Vector{} + static_cast<float>(i);
  for (int64_t n = 0; n < kIterations; ++n) {
    for (auto& chain : chains) chain = chain * a + b;
  }
  for (int i = 0; i < kChains; ++i) sink[i] = chains[i][0];
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma,prefer-vector-width=512"), optimize("O3", "fp-contract=fast"))) void MultiplyAdds512(
    float* sink) {
  MultiplyAdds<Vector512>(sink);
}
__attribute__((target("avx2,fma"), optimize("O3", "fp-contract=fast"))) void MultiplyAdds256(float* sink) {
  MultiplyAdds<Vector256>(sink);
}
#endif
__attribute__((optimize("O3", "fp-contract=fast"))) void MultiplyAdds128(float* sink) { MultiplyAdds<Vector128>(sink); }

struct PeakKernel {
  void (*run)(float* sink) = MultiplyAdds128;
  int lanes = 4;
};

PeakKernel WidestKernel() {
#if defined(__x86_64__)
  if (runtime::MissingCpuFeatures({"avx512f"}).empty()) return {MultiplyAdds512, 16};
  if (runtime::MissingCpuFeatures({"avx2", "fma"}).empty()) return {MultiplyAdds256, 8};
#endif
  return {};
}

/// The shortest of some rounds of `body(piece)` on all threads at once.
template <typename Body>
double ShortestSeconds(int threads, Body body) {
  double shortest = 1e30;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    runtime::ParallelFor(
        threads, threads, 1,
        [](void* closure, int64_t first, int64_t last) {
          for (int64_t piece = first; piece < last; ++piece) (*static_cast<Body*>(closure))(piece);
          return 0;
        },
        &body);
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return shortest;
}

}  // namespace

MachinePeak MeasurePeak(int threads) {
  MachinePeak peak;
  const PeakKernel kernel = WidestKernel();
  const double seconds = ShortestSeconds(threads, [&](int64_t) {
    float sink[kChains];
    kernel.run(sink);
    asm volatile("" : : "r"(sink) : "memory");
  });
  peak.flops = 2.0 * kChains * kernel.lanes * static_cast<double>(kIterations) * threads / seconds;

  constexpr size_t kBytes = size_t{96} << 20;
  const std::unique_ptr<char[]> from(new char[kBytes]);
  const std::unique_ptr<char[]> to(new char[kBytes]);
  std::memset(from.get(), 1, kBytes);
  std::memset(to.get(), 2, kBytes);
  const size_t piece_bytes = kBytes / static_cast<size_t>(threads);
  const double copy_seconds = ShortestSeconds(threads, [&](int64_t piece) {
    const size_t offset = static_cast<size_t>(piece) * piece_bytes;
    std::memcpy(to.get() + offset, from.get() + offset, piece_bytes);
    asm volatile("" : : "r"(to.get()) : "memory");
  });
  peak.bandwidth = 2.0 * static_cast<double>(piece_bytes) * threads / copy_seconds;
  return peak;
}

}  // namespace deuteron::report
