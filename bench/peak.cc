/// \file
/// What this machine can do: float32 multiply-adds a second and bytes copied a second, on N threads. Printed
/// as one JSON object; the benchmarks state figures as shares of it.
///
///     peak [threads]
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAccumulators = 16;  // hides the latency of a multiply-add on every core there is

double Seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Runs independent chains of multiply-adds on vectors; returns their number.
#define MULTIPLY_ADDS(Vector, Fma, Splat)                                                      \
  Vector accumulators[kAccumulators];                                                          \
  const Vector a = Splat(1.0000001f);                                                          \
  const Vector b = Splat(1e-9f);                                                               \
  for (int i = 0; i < kAccumulators; ++i) accumulators[i] = Splat(static_cast<float>(i));      \
  for (int64_t n = 0; n < iterations; ++n) {                                                   \
    for (int i = 0; i < kAccumulators; ++i) accumulators[i] = Fma(accumulators[i], a, b);      \
  }                                                                                            \
  for (int i = 0; i < kAccumulators; ++i) sink[i] = accumulators[i][0];                        \
  return static_cast<double>(iterations) * kAccumulators * (sizeof(Vector) / sizeof(float))
__attribute__((target("avx512f,fma"), optimize("O3"))) double MultiplyAdds512(int64_t iterations, float* sink) {
  MULTIPLY_ADDS(__m512, _mm512_fmadd_ps, _mm512_set1_ps);
}
__attribute__((target("avx2,fma"), optimize("O3"))) double MultiplyAdds256(int64_t iterations, float* sink) {
  MULTIPLY_ADDS(__m256, _mm256_fmadd_ps, _mm256_set1_ps);
}

/// Best of several rounds of `body(thread)`, all threads at once; returns units a second, summed.
template <typename Body>
double Best(int threads, Body body) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<double> work(threads);
    std::vector<std::thread> pool;
    const auto begin = Clock::now();
    for (int t = 0; t < threads; ++t) pool.emplace_back([&, t] { work[t] = body(t); });
    for (std::thread& thread : pool) thread.join();
    double total = 0;
    for (double units : work) total += units;
    best = std::max(best, total / Seconds(begin));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : static_cast<int>(std::thread::hardware_concurrency());
  const bool wide = __builtin_cpu_supports("avx512f");
  const double multiply_adds = Best(threads, [&](int) {
    float sink[kAccumulators];
    const double done = wide ? MultiplyAdds512(10'000'000, sink) : MultiplyAdds256(20'000'000, sink);
    asm volatile("" : : "r"(sink) : "memory");
    return done;
  });
  constexpr size_t kBytes = size_t{256} << 20;  // beyond every cache
  std::vector<std::unique_ptr<char[]>> from;
  std::vector<std::unique_ptr<char[]>> to;
  for (int t = 0; t < threads; ++t) {
    from.emplace_back(new char[kBytes / threads]);
    to.emplace_back(new char[kBytes / threads]);
    std::memset(from[t].get(), 1, kBytes / threads);
    std::memset(to[t].get(), 2, kBytes / threads);
  }
  const double copied = Best(threads, [&](int t) {
    std::memcpy(to[t].get(), from[t].get(), kBytes / threads);
    return static_cast<double>(kBytes / threads);
  });
  std::printf("{\"threads\": %d, \"gflops\": %.1f, \"copy_gbps\": %.1f}\n", threads, 2 * multiply_adds / 1e9, copied / 1e9);
  return 0;
}
