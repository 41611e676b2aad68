/// \file
/// Processes that fork while their threads are at work.
#pragma once

#include <mutex>

namespace deuteron {

/// From now on a fork waits until nobody holds `mutex`, which is free in both processes then: what it guards is whole
/// in the new one, whose other threads are gone. For a mutex that lives as long as the process, and whose holder takes
/// no other that is held across a fork. Throws MemoryError.
void HoldAcrossFork(std::mutex* mutex);

}  // namespace deuteron
