/// \file
/// Scratch memory of kernels. A header of one cache line before each block holds its capacity.
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

struct Cache {
  std::array<void*, kKept> blocks{};
  ~Cache() {
    for (void* block : blocks) {
      if (block != nullptr) FreeAligned(HeaderOf(block));
    }
  }
};

Cache& ThreadCache() {
  thread_local Cache cache;
  return cache;
}

}  // namespace

void* AllocateScratch(const DeuteronContext* context, int64_t bytes) {
  const auto exhausted = [&]() -> void* {
    context->set_error(context, (std::string(kOutOfMemory) + std::to_string(bytes) + " bytes").c_str());
    return nullptr;
  };
  if (bytes < 0 || bytes > INT64_MAX / 2) return exhausted();
  void** best = nullptr;
  for (void*& block : ThreadCache().blocks) {
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
  void** smallest = nullptr;
  for (void*& block : ThreadCache().blocks) {
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
