#include "deuteron/support/aligned_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace deuteron {
namespace {

/// Large enough to be recycled.
constexpr int64_t kBytes = int64_t{4} << 20;

TEST(AlignedMemory, IsGivenInProcessesForkedWhileAnotherThreadIsGivenSome) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer knows nothing of locks that are held across a fork";
#endif
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load()) FreeAligned(AllocAligned(kBytes));
  });
  int status = 0;
  for (int turn = 0; turn < 300 && status == 0; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      void* memory = AllocAligned(kBytes);
      FreeAligned(memory);
      _exit(memory == nullptr ? 1 : 0);
    }
    if (waitpid(child, &status, 0) != child) status = -1;
  }
  stop.store(true);
  other.join();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace deuteron
