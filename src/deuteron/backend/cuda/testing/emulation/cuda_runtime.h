/// \file
/// CUDA C++ on the processor, as far as the kernels of backend/cutlass/device/ go that need nothing of CUTLASS: a test
/// includes this instead of NVIDIA's header. Device memory is memory; the threads of a block are coroutines that take
/// turns, so that what one writes before a barrier is what the others read after it.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using std::max;
using std::min;
inline float rsqrtf(float value) { return 1 / std::sqrt(value); }

using cudaStream_t = void*;
using cudaMemPool_t = void*;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaMemPoolAttrReleaseThreshold, cudaFuncAttributeMaxDynamicSharedMemorySize };
inline const char* cudaGetErrorName(cudaError_t) { return "an error"; }
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaMalloc(void** data, size_t bytes) { return *data = std::malloc(bytes), cudaSuccess; }
inline cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t) { return cudaMalloc(data, bytes); }
inline cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return std::free(data), cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void*) { return cudaSuccess; }
template <typename F>
cudaError_t cudaFuncSetAttribute(F*, int, int) {
  return cudaSuccess;
}

namespace emulation {

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  dim3 index;
  bool done = false;
};

/// Threads that wait for each other.
struct Barrier {
  int size = 0, arrived = 0, generation = 0;
};

struct Block {
  std::vector<Thread> threads;
  size_t current = 0;
  dim3 index;
  Barrier all;
  std::vector<Barrier> warps;
  std::vector<float> exchanged, memory;
  std::function<void()> body;
  ucontext_t scheduler;
};
inline Block*& block() {
  static Block* running = nullptr;
  return running;
}

inline void Yield() {
  Block& b = *block();
  swapcontext(&b.threads[b.current].context, &b.scheduler);
}

inline void Wait(Barrier* barrier) {
  const int generation = barrier->generation;
  if (++barrier->arrived == barrier->size) {
    barrier->arrived = 0;
    ++barrier->generation;
  }
  while (barrier->generation == generation) Yield();
}

inline void Enter() {
  Block& b = *block();
  b.body();
  b.threads[b.current].done = true;
  Yield();
}

/// Runs the blocks of a grid one after another.
inline void Launch(dim3 grid, int threads, size_t bytes, cudaStream_t, std::function<void()> body) {
  constexpr size_t kStack = 256 << 10;
  for (unsigned at = 0; at < grid.x * grid.y * grid.z; ++at) {
    Block b;
    block() = &b;
    b.index = dim3(at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y);
    b.threads.resize(threads);
    b.all.size = threads;
    b.warps.assign(threads / 32, Barrier{32});
    b.exchanged.resize(threads);
    // What nobody has written is no number.
    b.memory.assign(bytes / sizeof(float) + 1, NAN);
    b.body = body;
    for (int i = 0; i < threads; ++i) {
      Thread& thread = b.threads[i];
      thread.index = dim3(i);
      thread.stack = std::make_unique<char[]>(kStack);
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.get();
      thread.context.uc_stack.ss_size = kStack;
      thread.context.uc_link = nullptr;
      makecontext(&thread.context, Enter, 0);
    }
    for (bool running = true; running;) {
      running = false;
      for (b.current = 0; b.current < b.threads.size(); ++b.current) {
        if (b.threads[b.current].done) continue;
        running = true;
        swapcontext(&b.scheduler, &b.threads[b.current].context);
      }
    }
  }
}

inline float Shuffle(float value, int from) {
  Block& b = *block();
  const size_t first = b.current / 32 * 32, warp = b.current / 32;
  b.exchanged[b.current] = value;
  Wait(&b.warps[warp]);
  const float result = b.exchanged[first + from];
  Wait(&b.warps[warp]);
  return result;
}

}  // namespace emulation

#define threadIdx (emulation::block()->threads[emulation::block()->current].index)
#define blockIdx (emulation::block()->index)
#define blockDim (dim3(static_cast<unsigned>(emulation::block()->threads.size())))
inline void __syncthreads() { emulation::Wait(&emulation::block()->all); }
inline float __shfl_xor_sync(unsigned, float value, int mask) {
  return emulation::Shuffle(value, static_cast<int>(emulation::block()->current % 32) ^ mask);
}
inline float __shfl_sync(unsigned, float value, int from) { return emulation::Shuffle(value, from); }
