/// \file
/// Scratch memory of kernels. A header of one cache line before each block holds its capacity.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "deuteron/runtime/kernel_errors.h"
#include "deuteron/runtime/vm.h"

namespace deuteron::runtime {
namespace {

struct Header {
  int64_t capacity;
};
constexpr int64_t kHeaderBytes = kAlignment;
constexpr int kKept = 8;

Header* HeaderOf(void* memory) { return reinterpret_cast<Header*>(static_cast<char*>(memory) - kHeaderBytes); }

/// Blocks that a thread keeps.
using Kept = std::array<void*, kKept>;
thread_local Kept kept{};

void FreeKept(void* blocks) {
  for (void*& block : *static_cast<Kept*>(blocks)) {
    if (block != nullptr) FreeAligned(HeaderOf(std::exchange(block, nullptr)));
  }
}

/// Has a thread's blocks freed as it ends. A destructor of what is thread_local would be registered in memory of which
/// there may be none, and the C library ends the process then; a key has its place in each thread from the beginning.
class EndOfThread {
 public:
  EndOfThread() : exists_(pthread_key_create(&key_, FreeKept) == 0) {}
  ~EndOfThread() {
    if (exists_) pthread_key_delete(key_);
  }
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  /// Whether it will be done for this thread.
  bool FreesKept() const { return exists_ && pthread_setspecific(key_, &kept) == 0; }

 private:
  pthread_key_t key_{};
  const bool exists_;
};
const EndOfThread end_of_thread;

}  // namespace

void* AllocateScratch(const DeuteronContext* context, int64_t bytes) {
  const auto exhausted = [&]() -> void* {
    context->set_error(context, (std::string(kOutOfMemory) + std::to_string(bytes) + " bytes").c_str());
    return nullptr;
  };
  if (bytes < 0 || bytes > INT64_MAX / 2) return exhausted();
  void** best = nullptr;
  for (void*& block : kept) {
    // Not one that is far too large: the next request may need it.
    if (block == nullptr || HeaderOf(block)->capacity < bytes || HeaderOf(block)->capacity / 4 > bytes + 4096) continue;
    if (best == nullptr || HeaderOf(block)->capacity < HeaderOf(*best)->capacity) best = &block;
  }
  if (best != nullptr) return std::exchange(*best, nullptr);
  auto* header = static_cast<Header*>(AllocAligned(kHeaderBytes + bytes));
  if (header == nullptr) return exhausted();
  header->capacity = bytes;
  return reinterpret_cast<char*>(header) + kHeaderBytes;
}

void ReleaseScratch(const DeuteronContext*, void* memory) {
  if (memory == nullptr) return;
  if (!end_of_thread.FreesKept()) return FreeAligned(HeaderOf(memory));
  void** smallest = nullptr;
  for (void*& block : kept) {
    if (block == nullptr) {
      block = memory;
      return;
    }
    if (smallest == nullptr || HeaderOf(block)->capacity < HeaderOf(*smallest)->capacity) smallest = &block;
  }
  if (HeaderOf(*smallest)->capacity < HeaderOf(memory)->capacity) std::swap(*smallest, memory);
  FreeAligned(HeaderOf(memory));
}

}  // namespace deuteron::runtime
