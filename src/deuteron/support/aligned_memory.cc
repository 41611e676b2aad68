/// Outputs are allocated anew by each Run and often freed soon after; the system would map, fault in and zero their
/// pages each time, which costs as much as a memory-bound kernel. So large blocks are recycled.
#include "deuteron/support/aligned_memory.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>

#include "deuteron/support/cgroup.h"
#include "deuteron/support/fork.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron {
namespace {

/// What the system maps at least: 4 KiB, and 16 or 64 on some ARM boards.
int64_t PageBytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kLarge = kHugePage / 2;
/// Of the machine. A request for more is granted by systems that promise more than they have, and ends the process when
/// it is used. Where the system does not tell (some sandboxes), any may be granted. It is asked itself: `sysconf`, if
/// refused, answers whatever was on its stack.
int64_t PhysicalMemory() {
  static const int64_t bytes = [] {
    struct sysinfo info = {};
    const bool told = ::sysinfo(&info) == 0 && info.totalram > 0;
    return told ? static_cast<int64_t>(info.totalram) * info.mem_unit : std::numeric_limits<int64_t>::max() / 2;
  }();
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
    const int64_t size = (bytes + PageBytes() - 1) / PageBytes() * PageBytes();
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
    void* memory = Map(size);
    if (memory != nullptr) live_[memory] = size;
    return memory;
  }

  bool Free(void* memory) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(memory);
    if (found == live_.end()) return false;
    free_.emplace(found->second, memory);
    kept_ += found->second;
    live_.erase(found);
    KeepAtMost(kMostKept);
    return true;
  }

  void Trim() {
    std::lock_guard<std::mutex> lock(mutex_);
    KeepAtMost(0);
  }

  int64_t kept() {
    std::lock_guard<std::mutex> lock(mutex_);
    return kept_;
  }

 private:
  LargeBlocks() { HoldAcrossFork(&mutex_); }

  /// From the system and back to it at once: an allocator would keep what is freed for a while, and for as long as
  /// nothing else is allocated. No more is asked for than is needed: what is left of a huge page would be resident,
  /// too.
  static void* Map(int64_t size) {
    const int64_t alignment = size < kHugePage ? PageBytes() : kHugePage;
    const int64_t mapped = size + alignment - PageBytes();
    void* begin = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) return nullptr;
    // Where a huge page begins is not for the system to choose: what is too much on both sides goes back.
    char* const from = static_cast<char*>(begin);
    char* const memory = from + (alignment - reinterpret_cast<uintptr_t>(from) % alignment) % alignment;
    char* const end = from + mapped;
    if (memory > from) munmap(from, memory - from);
    if (memory + size < end) munmap(memory + size, end - (memory + size));
    if (size >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  }

  /// The largest go first.
  void KeepAtMost(int64_t most) {
    for (; kept_ > most; free_.erase(std::prev(free_.end()))) {
      const auto largest = std::prev(free_.end());
      kept_ -= largest->first;
      munmap(largest->second, largest->first);
    }
  }

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
  const bool may_be_large = memory != nullptr && reinterpret_cast<uintptr_t>(memory) % PageBytes() == 0;
  if (may_be_large && LargeBlocks::Get().Free(memory)) return;
  std::free(memory);
}

void FaultIn(void* memory, int64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  // An embedder knows best what its memory is.
  if (memory == nullptr || hooks.allocate != nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(memory), page = static_cast<uintptr_t>(PageBytes());
  const uintptr_t from = (begin + page - 1) / page * page, to = (begin + bytes) / page * page;
  if (to > from) static_cast<void>(madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE));
#endif
}

void TrimAligned() { LargeBlocks::Get().Trim(); }
int64_t KeptAligned() { return LargeBlocks::Get().kept(); }

}  // namespace deuteron
