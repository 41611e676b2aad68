/// \file
/// Where threads run.
#pragma once

#include <pthread.h>

#include <functional>
#include <optional>
#include <utility>

namespace deuteron {

// A thread that works beside another is kept off the other one's processor. A system may put both on one while others
// are idle: as a guest it takes idle processors for ones that its host has lent out, or it fills one before it wakes
// the next, and the thread then waits until the other's slice of time is over.

/// The processor that the caller is on; -1 where the system does not tell.
int ThisProcessor();

/// How many processors the calling thread was kept off so, it and those that made it.
int TakenFromThisThread();

/// Keeps a thread off a processor, again and again.
class ThreadPlacement {
 public:
  /// Of a thread that outlives this, and has not ended: in the place of one that has, the caller would be moved.
  explicit ThreadPlacement(pthread_t thread) : thread_(thread) {}

  /// Has the thread run elsewhere than on the processor that the caller is on, if it may run on another one and the
  /// system lets it be moved. Where it was kept off before it may run again. Costs nothing while the caller stays where
  /// it is.
  void AvoidThisProcessor();

 private:
  friend class ThreadBeside;

  pthread_t thread_;
  /// The caller's at the last call; -1: there was none.
  int avoided_ = -1;
  /// Whether the thread was allowed to run there.
  bool is_taken_ = false;
};

/// A thread that is kept off the processor of the one that makes it, if it may run on another one. It is so from its
/// beginning: one that began there would wait for that processor before it could leave it.
class ThreadBeside {
 public:
  /// No thread.
  ThreadBeside() = default;
  /// Throws std::system_error where the system gives no thread. `body` throws nothing.
  explicit ThreadBeside(std::function<void()> body);
  ThreadBeside(ThreadBeside&& other) noexcept : placement_(std::exchange(other.placement_, std::nullopt)) {}
  ThreadBeside& operator=(ThreadBeside&& other) noexcept {
    std::swap(placement_, other.placement_);
    return *this;
  }
  /// Waits for its end, unless it was detached.
  ~ThreadBeside();
  /// Lets it go on alone. What is given may be used as long as it has not ended.
  ThreadPlacement Detach();

 private:
  std::optional<ThreadPlacement> placement_;
};

}  // namespace deuteron
