#include "deuteron/support/processor.h"

#include <sched.h>

namespace deuteron {

int KeepOffThisProcessor(pthread_t thread, int kept_off) {
  const int here = sched_getcpu();
  if (here == kept_off || here < 0 || here >= CPU_SETSIZE) return kept_off;
  cpu_set_t allowed;
  if (pthread_getaffinity_np(thread, sizeof allowed, &allowed) != 0) return here;
  if (kept_off != kAnyProcessor) CPU_SET(kept_off, &allowed);
  CPU_CLR(here, &allowed);
  // It may fail, and then the thread stays where it is.
  if (CPU_COUNT(&allowed) != 0) pthread_setaffinity_np(thread, sizeof allowed, &allowed);
  return here;
}

}  // namespace deuteron
