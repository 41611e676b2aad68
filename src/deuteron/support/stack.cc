#include "deuteron/support/stack.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

#include "deuteron/support/sanitizers.h"

namespace deuteron {
namespace {

constexpr size_t kBytesPerLevel = DEUTERON_ADDRESS_SANITIZER ? size_t{8} << 10 : size_t{4} << 10;
/// Deeper trees than this are nobody's.
constexpr size_t kMaxLevels = 20000;

size_t MeasureStack() {
  // What POSIX systems begin with, where the answer is refused.
  constexpr size_t kUsual = size_t{8} << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return kUsual;
  void* address = nullptr;
  size_t size = 0;
  const int result = pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  return result == 0 && size > 0 ? size : kUsual;
}

}  // namespace

size_t StackSize() {
  static thread_local const size_t size = MeasureStack();
  return size;
}

void RaiseMainStackLimit(size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  const rlim_t wanted = limit.rlim_max == RLIM_INFINITY ? bytes : std::min<rlim_t>(bytes, limit.rlim_max);
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_STACK, &limit);
}

int NestingLimit(size_t stack_bytes) { return static_cast<int>(std::min(stack_bytes / kBytesPerLevel, kMaxLevels)); }

}  // namespace deuteron
