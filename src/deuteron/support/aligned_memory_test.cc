#include "deuteron/support/aligned_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "deuteron/support/sanitizers.h"

namespace deuteron {
namespace {

/// Large enough to be recycled.
constexpr int64_t kBytes = int64_t{4} << 20;

constexpr int64_t kPage = 4096;

/// Of the pages of a block, how many are mapped.
int64_t MappedPages(const void* memory, int64_t bytes) {
  int64_t count = 0;
  for (int64_t at = 0; at < bytes; at += kPage) {
    unsigned char resident = 0;
    if (mincore(const_cast<char*>(static_cast<const char*>(memory)) + at, kPage, &resident) == 0) ++count;
  }
  return count;
}

TEST(AlignedMemory, IsKeptUntilItIsGivenBack) {
  TrimAligned();
  void* const memory = AllocAligned(kBytes);
  EXPECT_EQ(MappedPages(memory, kBytes), kBytes / kPage);
  EXPECT_EQ(KeptAligned(), 0);
  FreeAligned(memory);
  EXPECT_EQ(KeptAligned(), kBytes);
  EXPECT_EQ(AllocAligned(kBytes), memory);
  FreeAligned(memory);
  TrimAligned();
  EXPECT_EQ(KeptAligned(), 0);
  EXPECT_EQ(MappedPages(memory, kBytes), 0);
}

/// What is half used of a huge page would be resident as a whole.
TEST(AlignedMemory, IsNoMoreThanWasAskedFor) {
  for (const int64_t bytes : {(int64_t{1} << 20) + 1, (int64_t{2} << 20) + kPage, (int64_t{9} << 20) + 3 * kPage}) {
    TrimAligned();
    void* const memory = AllocAligned(bytes);
    FreeAligned(memory);
    EXPECT_EQ(KeptAligned(), (bytes + kPage - 1) / kPage * kPage);
    if (bytes >= int64_t{2} << 20) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (int64_t{2} << 20), 0U);
    }
  }
  TrimAligned();
}

/// Pages that are made at once are those of the block, and keep what was written to them before.
TEST(AlignedMemory, IsFaultedInAsItIs) {
  for (const int64_t bytes : {int64_t{100}, kPage + 1, (int64_t{1} << 20) + 7, (int64_t{2} << 20) + 3 * kPage}) {
    auto* const memory = static_cast<unsigned char*>(AllocAligned(bytes));
    for (int64_t at = 0; at < bytes; at += kPage + 1) memory[at] = static_cast<unsigned char>(at / kPage + 1);
    memory[bytes - 1] = 99;
    FaultIn(memory, bytes);
    EXPECT_EQ(memory[bytes - 1], 99);
    for (int64_t at = 0; at < bytes - 1; at += kPage + 1) {
      ASSERT_EQ(memory[at], static_cast<unsigned char>(at / kPage + 1)) << bytes;
    }
    FreeAligned(memory);
  }
  FaultIn(nullptr, 0);
}

TEST(AlignedMemory, IsGivenInProcessesForkedWhileAnotherThreadIsGivenSome) {
#if DEUTERON_THREAD_SANITIZER
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
