/// Outputs are allocated anew by each Run and often freed soon after; the system would map, fault in and zero their
/// pages each time, which costs as much as a memory-bound kernel. So large blocks are recycled.
#include "deuteron/support/aligned_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "deuteron/support/cgroup.h"
#include "deuteron/support/fork.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kLarge = kHugePage / 2;
/// Of the machine. A request for more is granted by systems that promise more than they have, and ends the process when
/// it is used.
int64_t PhysicalMemory() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes;
}

/// From here on the control group is asked before. Beyond what it may have, memory is granted as well, and the process
/// ended when it uses it.
constexpr int64_t kWorthAsking = int64_t{16} << 20;

/// Most that is kept without being used.
constexpr int64_t kMostKept = int64_t{256} << 20;

class LargeBlocks {
 public:
  static LargeBlocks& Get() {
    static auto* blocks = new LargeBlocks();
    return *blocks;
  }

  void* Alloc(int64_t bytes) {
    const int64_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    std::lock_guard<std::mutex> lock(mutex_);
    // Not one that is much larger: it would be missing for a request of its size.
    const auto found = free_.lower_bound(size);
    if (found != free_.end() && found->first <= size + size / 4) {
      void* memory = found->second;
      live_[memory] = found->first;
      kept_ -= found->first;
      free_.erase(found);
      return memory;
    }
    if (size >= kWorthAsking && size > MemoryLeftInCgroup()) return nullptr;
    void* memory = std::aligned_alloc(kHugePage, size);
    if (memory == nullptr) return nullptr;
    madvise(memory, size, MADV_HUGEPAGE);
    live_[memory] = size;
    return memory;
  }

  bool Free(void* memory) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(memory);
    if (found == live_.end()) return false;
    free_.emplace(found->second, memory);
    kept_ += found->second;
    live_.erase(found);
    for (; kept_ > kMostKept; free_.erase(std::prev(free_.end()))) {
      const auto largest = std::prev(free_.end());
      kept_ -= largest->first;
      std::free(largest->second);
    }
    return true;
  }

 private:
  LargeBlocks() { HoldAcrossFork(&mutex_); }

  std::mutex mutex_;
  std::unordered_map<void*, int64_t> live_;
  std::multimap<int64_t, void*> free_;
  int64_t kept_ = 0;
};

/// Whether memory has been given away; from then on the hooks are what they are.
std::atomic<bool> allocated{false};
MemoryHooks hooks;

}  // namespace

bool SetMemoryHooks(const MemoryHooks& replacement) {
  if (allocated.load()) return false;
  hooks = replacement;
  return true;
}

void* AllocAligned(int64_t bytes) {
  if (bytes < 0 || bytes > PhysicalMemory()) return nullptr;
  if (!allocated.load(std::memory_order_relaxed)) allocated.store(true);
  // Never empty: a null pointer means "not there" in frames.
  constexpr auto kAlignment = static_cast<int64_t>(kTensorAlignment);
  const int64_t size = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (hooks.allocate != nullptr) return hooks.allocate(hooks.user, size, kAlignment);
  if (bytes >= kLarge) return LargeBlocks::Get().Alloc(bytes);
  return std::aligned_alloc(kAlignment, size);
}

void FreeAligned(void* memory) {
  if (hooks.release != nullptr) {
    if (memory != nullptr) hooks.release(hooks.user, memory);
    return;
  }
  const bool may_be_large = memory != nullptr && reinterpret_cast<uintptr_t>(memory) % kHugePage == 0;
  if (may_be_large && LargeBlocks::Get().Free(memory)) return;
  std::free(memory);
}

}  // namespace deuteron
