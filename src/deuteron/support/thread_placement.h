/// \file
/// Where threads run.
#pragma once

#include <pthread.h>

namespace deuteron {

// A thread that works beside another is kept off the other one's processor. A system may put both on one while others
// are idle: as a guest it takes idle processors for ones that its host has lent out, or it fills one before it wakes
// the next, and the thread then waits until the other's slice of time is over.

/// The processor that the caller is on; -1 where the system does not tell.
int ThisProcessor();

/// Has the calling thread run elsewhere than on `processor`, if it may run on another one and the system lets it be
/// moved. Threads that it starts are kept off it too.
void KeepThisThreadOff(int processor);

/// How many processors KeepThisThreadOff has taken from the calling thread.
int TakenFromThisThread();

/// The same for another thread, again and again.
class ThreadPlacement {
 public:
  /// Of a thread that outlives this, and has not ended: in the place of one that has, the caller would be moved.
  explicit ThreadPlacement(pthread_t thread) : thread_(thread) {}

  /// Has the thread run elsewhere than on the processor that the caller is on, if it may run on another one and the
  /// system lets it be moved. Where it was kept off before it may run again. Costs nothing while the caller stays where
  /// it is.
  void AvoidThisProcessor();

 private:
  pthread_t thread_;
  /// The caller's at the last call; -1: there was none.
  int avoided_ = -1;
  /// Whether the thread was allowed to run there.
  bool is_taken_ = false;
};

}  // namespace deuteron
