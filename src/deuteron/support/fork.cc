#include "deuteron/support/fork.h"

#include <pthread.h>

#include <vector>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

struct Held {
  std::mutex registration;
  std::vector<std::mutex*> mutexes;
};

Held& GetHeld() {
  static auto* held = new Held;
  return *held;
}

void LockAll() {
  GetHeld().registration.lock();
  for (std::mutex* mutex : GetHeld().mutexes) mutex->lock();
}

/// In the new process the thread that locked them is the one that there is.
void UnlockAll() {
  for (std::mutex* mutex : GetHeld().mutexes) mutex->unlock();
  GetHeld().registration.unlock();
}

}  // namespace

void HoldAcrossFork(std::mutex* mutex) {
  static const int status = pthread_atfork(LockAll, UnlockAll, UnlockAll);
  if (status != 0) DEUTERON_THROW(MemoryError) << "out of memory: a fork cannot be prepared";
  const std::lock_guard lock(GetHeld().registration);
  GetHeld().mutexes.push_back(mutex);
}

}  // namespace deuteron
