#include "deuteron/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <vector>

#include "deuteron/support/limits.h"
#include "deuteron/support/thread_placement.h"

namespace deuteron {

void ForEachInParallel(size_t count, size_t threads, const std::function<void(size_t)>& body) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    while (!failed.load()) {
      const size_t i = next.fetch_add(1);
      if (i >= count) return;
      try {
        body(i);
      } catch (...) {
        errors[i] = std::current_exception();
        failed.store(true);
      }
    }
  };
  const LimitScope::Shared limits;
  std::vector<ThreadBeside> workers;
  // Where the system gives no more threads, those that there are do the rest.
  try {
    for (size_t i = 1; i < std::min(threads, count); ++i) {
      workers.emplace_back([&] {
        const LimitScope scope(limits);
        work();
      });
    }
  } catch (const std::system_error&) {
  }
  work();
  workers.clear();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace deuteron
