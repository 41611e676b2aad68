/// \file
/// Where threads run.
#pragma once

#include <pthread.h>

namespace deuteron {

/// No processor in particular.
inline constexpr int kAnyProcessor = -1;

/// Has `thread`, which is to work beside the calling one, run elsewhere than on the processor that the caller is on, if
/// it may run on another one and the system lets it be moved. Returns the caller's processor. A system may put both on
/// one while others are idle: as a guest it takes idle processors for ones that its host has lent out, or it fills one
/// before it wakes the next, and the thread then waits until the caller's slice of time is over.
///
/// `kept_off` is what the last call for that thread returned: if that is where the caller is still, nothing is asked
/// again; else the thread may run there again.
int KeepOffThisProcessor(pthread_t thread, int kept_off = kAnyProcessor);

}  // namespace deuteron
