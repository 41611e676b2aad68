#include "deuteron/backend/dnnl/gomp.h"

#include <sched.h>

#include <atomic>
#include <cstring>

#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

/// One parallel region.
struct Region {
  void (*body)(void*);
  void* data;
  int count;
  std::atomic<int> arrived{0};
  std::atomic<int> barriers{0};
  void* team = nullptr;
  /// What the thread that began it was in.
  Region* outer = nullptr;
  int outer_index = 0;
};

std::atomic<const DeuteronHost*> host{nullptr};
thread_local int region_threads = 1;
/// Regions that began in this thread and got no threads.
thread_local int64_t lonely_regions = 0;
thread_local Region* current = nullptr;
thread_local int thread_index = 0;
/// Of the worksharing loop that this thread is in.
thread_local struct { long begin, step, trips, chunk, next; } loop;

void RunInTeam(void* closure, int index) {
  auto* region = static_cast<Region*>(closure);
  current = region;
  thread_index = index;
  region->body(region->data);
  current = nullptr;
  thread_index = 0;
}

void Begin(void (*body)(void*), void* data, unsigned wanted) {
  int count = wanted == 0 ? region_threads : static_cast<int>(wanted);
  // Regions within regions are serial.
  if (host.load(std::memory_order_relaxed) == nullptr || (current != nullptr && current->count > 1)) count = 1;
  auto* region = new Region{body, data, count};
  region->outer = current;
  region->outer_index = thread_index;
  if (count > 1) region->team = host.load(std::memory_order_relaxed)->begin_team(count, &RunInTeam, region);
  if (region->team == nullptr) {
    lonely_regions += count > 1 ? 1 : 0;
    region->count = 1;
  }
  current = region;
  thread_index = 0;
}

void End() {
  Region* region = current;
  if (region->team != nullptr) host.load(std::memory_order_relaxed)->end_team(region->team);
  current = region->outer;
  thread_index = region->outer_index;
  delete region;
}

int Count() { return current == nullptr ? 1 : current->count; }

bool NextChunk(long* begin, long* end) {
  const long count = Count();
  long from = 0, to = 0;
  if (loop.chunk == 0) {
    if (loop.next++ > 0) return false;
    const long share = loop.trips / count, rest = loop.trips % count;
    from = share * thread_index + (thread_index < rest ? thread_index : rest);
    to = from + share + (thread_index < rest ? 1 : 0);
  } else {
    from = (loop.next++ * count + thread_index) * loop.chunk;
    to = from + loop.chunk < loop.trips ? from + loop.chunk : loop.trips;
  }
  if (from >= to) return false;
  *begin = loop.begin + from * loop.step;
  *end = loop.begin + to * loop.step;
  return true;
}

}  // namespace

RegionThreads::RegionThreads(const DeuteronHost* plugin_host, int threads)
    : before_(region_threads), lonely_before_(lonely_regions) {
  host.store(plugin_host, std::memory_order_relaxed);
  region_threads = threads;
}
RegionThreads::~RegionThreads() { region_threads = before_; }

void RegionThreads::Check() const {
  if (lonely_regions == lonely_before_) return;
  DEUTERON_THROW(MemoryError) << "the system gives no threads to oneDNN, which is to compute with " << region_threads;
}

void CopyInRegion(void* to, const void* from, size_t bytes) {
  struct Copy {
    char* to;
    const char* from;
    size_t bytes;
  } copy{static_cast<char*>(to), static_cast<const char*>(from), bytes};
  const auto body = [](void* data) {
    const auto [into, source, count] = *static_cast<const Copy*>(data);
    const auto threads = static_cast<size_t>(Count()), index = static_cast<size_t>(thread_index);
    const size_t begin = count * index / threads, end = count * (index + 1) / threads;
    std::memcpy(into + begin, source + begin, end - begin);
  };
  Begin(body, &copy, 0);
  body(&copy);
  End();
}

}  // namespace deuteron::backend::dnnl

// The names are libgomp's.
extern "C" {

using namespace deuteron::backend::dnnl;

__attribute__((visibility("default"))) void GOMP_parallel_start(void (*body)(void*), void* data, unsigned count) {
  Begin(body, data, count);
}
__attribute__((visibility("default"))) void GOMP_parallel_end() { End(); }
__attribute__((visibility("default"))) void GOMP_parallel(void (*body)(void*), void* data, unsigned count, unsigned) {
  Begin(body, data, count);
  body(data);
  End();
}
__attribute__((visibility("default"))) void GOMP_barrier() {
  if (Count() == 1) return;
  const int round = current->barriers.load(std::memory_order_acquire);
  if (current->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == current->count) {
    current->arrived.store(0, std::memory_order_relaxed);
    current->barriers.fetch_add(1, std::memory_order_release);
    return;
  }
  for (int turn = 0; current->barriers.load(std::memory_order_acquire) == round; ++turn) {
    if (turn < 2000) {
      __builtin_ia32_pause();
    } else {
      sched_yield();
    }
  }
}
__attribute__((visibility("default"))) bool GOMP_loop_static_start(long start, long end, long step, long chunk,
                                                                   long* begin, long* stop) {
  const long distance = step > 0 ? end - start + step - 1 : end - start + step + 1;
  loop.begin = start;
  loop.step = step;
  loop.trips = distance / step > 0 ? distance / step : 0;
  loop.chunk = chunk;
  loop.next = 0;
  return NextChunk(begin, stop);
}
__attribute__((visibility("default"))) bool GOMP_loop_static_next(long* begin, long* stop) {
  return NextChunk(begin, stop);
}
__attribute__((visibility("default"))) void GOMP_loop_end_nowait() {}
__attribute__((visibility("default"))) int omp_get_max_threads() { return region_threads; }
__attribute__((visibility("default"))) int omp_get_num_threads() { return Count(); }
__attribute__((visibility("default"))) int omp_get_thread_num() { return thread_index; }
__attribute__((visibility("default"))) int omp_in_parallel() { return Count() > 1 ? 1 : 0; }

}  // extern "C"
