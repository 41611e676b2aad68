#include "deuteron/support/thread_placement.h"

#include <sched.h>

namespace deuteron {
namespace {

thread_local int taken_from_this_thread = 0;

/// Leaves a thread the processors in `allowed` but for one, if there are others and the system lets it be moved.
bool Take(pthread_t thread, int processor, cpu_set_t allowed) {
  if (!CPU_ISSET(processor, &allowed) || CPU_COUNT(&allowed) == 1) return false;
  CPU_CLR(processor, &allowed);
  return pthread_setaffinity_np(thread, sizeof allowed, &allowed) == 0;
}

}  // namespace

int ThisProcessor() { return sched_getcpu(); }

void KeepThisThreadOff(int processor) {
  cpu_set_t allowed;
  if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (Take(pthread_self(), processor, allowed)) ++taken_from_this_thread;
}

int TakenFromThisThread() { return taken_from_this_thread; }

void ThreadPlacement::AvoidThisProcessor() {
  const int here = ThisProcessor();
  if (here == avoided_ || here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t allowed;
  const bool is_known = pthread_getaffinity_np(thread_, sizeof allowed, &allowed) == 0;
  if (is_known && is_taken_) CPU_SET(avoided_, &allowed);
  // What fails is not tried again before the caller moves.
  avoided_ = here;
  is_taken_ = is_known && Take(thread_, here, allowed);
}

}  // namespace deuteron
