/// Memory of tensors on a system whose pages are of 64 KiB, as some ARM boards', and that does not tell how much it
/// has, as some sandboxes: this program's calls of the system are answered as such a one would.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdint>
#include <map>

#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/sanitizers.h"

namespace {

constexpr uintptr_t kLargePage = uintptr_t{64} << 10;
uintptr_t RoundUp(uintptr_t bytes) { return (bytes + kLargePage - 1) / kLargePage * kLargePage; }

/// The pages that are mapped, by their addresses.
std::map<uintptr_t, bool>& Pages() {
  static std::map<uintptr_t, bool> pages;
  return pages;
}

}  // namespace

// The sanitizer's own memory is of the system's pages.
#if !DEUTERON_ADDRESS_SANITIZER
extern "C" {

long sysconf(int name) noexcept {
  if (name == _SC_PAGESIZE) return kLargePage;
  // What was on the stack: the C library does not look whether it was told.
  return name == _SC_PHYS_PAGES ? 1 : -1;
}

int sysinfo(struct sysinfo* /*info*/) noexcept {
  errno = EPERM;
  return -1;
}

void* mmap(void* /*address*/, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  const long raw = syscall(SYS_mmap, nullptr, RoundUp(bytes) + kLargePage, protection, flags, file, offset);
  if (raw == -1) return MAP_FAILED;
  const uintptr_t begin = RoundUp(static_cast<uintptr_t>(raw));
  for (uintptr_t page = begin; page < begin + RoundUp(bytes); page += kLargePage) Pages()[page] = true;
  return reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr): a system call's result
}

int munmap(void* address, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin % kLargePage != 0) {
    errno = EINVAL;
    return -1;
  }
  for (uintptr_t page = begin; page < begin + RoundUp(bytes); page += kLargePage) Pages().erase(page);
  return static_cast<int>(syscall(SYS_munmap, address, RoundUp(bytes)));
}

}  // extern "C"
#endif

namespace deuteron {
namespace {

TEST(LargePages, NoMoreIsMappedThanABlockNeeds) {
  if (DEUTERON_ADDRESS_SANITIZER) GTEST_SKIP() << "the sanitizer maps memory of its own by calls of the system";
  for (const int64_t bytes : {(int64_t{1} << 20) + 1, (int64_t{2} << 20) + 4096, (int64_t{9} << 20) + 3 * 4096}) {
    // Other libraries of the process map some, too.
    const size_t before = Pages().size();
    void* const memory = AllocAligned(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kLargePage, 0U);
    EXPECT_EQ(Pages().size() - before, RoundUp(bytes) / kLargePage) << bytes;
    FreeAligned(memory);
    TrimAligned();
    EXPECT_EQ(Pages().size(), before);
  }
}

}  // namespace
}  // namespace deuteron
