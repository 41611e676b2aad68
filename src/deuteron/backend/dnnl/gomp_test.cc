#include "deuteron/backend/dnnl/gomp.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "deuteron/support/error.h"

// As oneDNN calls them.
extern "C" {
void GOMP_parallel_start(void (*body)(void*), void* data, unsigned count);
void GOMP_parallel_end();
void GOMP_barrier();
int omp_get_num_threads();
int omp_get_thread_num();
}

namespace deuteron::backend::dnnl {
namespace {

struct TestTeam {
  std::vector<std::thread> threads;
};

DeuteronHost HostWithThreads() {
  DeuteronHost host{};
  host.begin_team = [](int count, void (*body)(void*, int), void* closure) -> void* {
    auto* team = new TestTeam;
    for (int i = 1; i < count; ++i) team->threads.emplace_back(body, closure, i);
    return team;
  };
  host.end_team = [](void* opaque) {
    auto* team = static_cast<TestTeam*>(opaque);
    for (std::thread& thread : team->threads) thread.join();
    delete team;
  };
  return host;
}

DeuteronHost HostWithoutThreads() {
  DeuteronHost host{};
  host.begin_team = [](int, void (*)(void*, int), void*) -> void* { return nullptr; };
  return host;
}

/// What each thread of a region sees, after all have come.
struct Seen {
  std::vector<int> threads = std::vector<int>(8);
  static void Body(void* closure) {
    GOMP_barrier();
    static_cast<Seen*>(closure)->threads[static_cast<size_t>(omp_get_thread_num())] = omp_get_num_threads();
  }
  void Region(unsigned count) {
    GOMP_parallel_start(&Body, this, count);
    Body(this);
    GOMP_parallel_end();
  }
};

TEST(Regions, HaveTheThreadsOfTheirScope) {
  const DeuteronHost host = HostWithThreads();
  const RegionThreads scope(&host, 4);
  Seen seen;
  seen.Region(0);
  EXPECT_EQ(seen.threads, (std::vector<int>{4, 4, 4, 4, 0, 0, 0, 0}));
  scope.Check();
}

TEST(Regions, ThatGetNoThreadsAreAnError) {
  const DeuteronHost host = HostWithoutThreads();
  {
    const RegionThreads scope(&host, 4);
    Seen seen;
    seen.Region(1);
    scope.Check();
    seen.Region(0);
    EXPECT_EQ(seen.threads[0], 1);
    try {
      scope.Check();
      ADD_FAILURE();
    } catch (const tvm::ffi::Error& error) {
      EXPECT_EQ(error.kind(), "MemoryError");
    }
  }
  const RegionThreads scope(&host, 1);
  Seen().Region(0);
  scope.Check();
}

/// Each thread copies a part: all of them together each byte, and none beside.
TEST(Regions, CopyInParts) {
  const DeuteronHost with = HostWithThreads(), without = HostWithoutThreads();
  for (const DeuteronHost* host : {&with, &without}) {
    const RegionThreads scope(host, 4);
    for (const size_t bytes : {0, 1, 3, 4, 5, 1001}) {
      std::vector<char> from(bytes + 2), to(bytes + 2, '.');
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>('a' + i % 23);
      CopyInRegion(to.data() + 1, from.data() + 1, bytes);
      EXPECT_EQ(to.front(), '.');
      EXPECT_EQ(to.back(), '.');
      EXPECT_EQ(std::string(to.begin() + 1, to.end() - 1), std::string(from.begin() + 1, from.end() - 1)) << bytes;
    }
  }
}

}  // namespace
}  // namespace deuteron::backend::dnnl
