/// \file
/// Where threads run.
#pragma once

#include <pthread.h>

namespace deuteron {

/// No processor in particular.
inline constexpr int kAnyProcessor = -1;

/// Has `thread`, which is to work beside the calling one, run elsewhere than on the processor that the caller is on,
/// and returns that one. A system may put both on one while others are idle: as a guest it takes idle processors for
/// ones that its host has lent out, or it fills one before it wakes the next, and the thread then waits until the
/// caller's slice of time is over.
///
/// `kept_off` is what the last call for that thread returned; there it may run again. Nothing changes, and `kept_off`
/// is returned, if it is kept off this processor already, may run on no other one, or the system does not say.
int KeepOffThisProcessor(pthread_t thread, int kept_off = kAnyProcessor);

}  // namespace deuteron
