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
void* MemoryOf(Header* header) { return reinterpret_cast<char*>(header) + kHeaderBytes; }

/// Blocks that a thread keeps, by their headers: what follows the one of no bytes lies outside of it, and LeakSanitizer
/// would not find it.
using Kept = std::array<Header*, kKept>;
thread_local Kept kept{};

void FreeKept(void* blocks) {
  for (Header*& block : *static_cast<Kept*>(blocks)) {
    if (block != nullptr) FreeAligned(std::exchange(block, nullptr));
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
  Header** best = nullptr;
  for (Header*& block : kept) {
    // Not one that is far too large: the next request may need it.
    if (block == nullptr || block->capacity < bytes || block->capacity / 4 > bytes + 4096) continue;
    if (best == nullptr || block->capacity < (*best)->capacity) best = &block;
  }
  if (best != nullptr) return MemoryOf(std::exchange(*best, nullptr));
  auto* header = static_cast<Header*>(AllocAligned(kHeaderBytes + bytes));
  if (header == nullptr) return exhausted();
  header->capacity = bytes;
  return MemoryOf(header);
}

void ReleaseScratch(const DeuteronContext*, void* memory) {
  if (memory == nullptr) return;
  Header* released = HeaderOf(memory);
  if (!end_of_thread.FreesKept()) return FreeAligned(released);
  Header** smallest = nullptr;
  for (Header*& block : kept) {
    if (block == nullptr) {
      block = released;
      return;
    }
    if (smallest == nullptr || block->capacity < (*smallest)->capacity) smallest = &block;
  }
  if ((*smallest)->capacity < released->capacity) std::swap(*smallest, released);
  FreeAligned(released);
}

}  // namespace deuteron::runtime
