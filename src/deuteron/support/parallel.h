/// \file
/// Work dealt out to threads that are made for it.
#pragma once

#include <cstddef>
#include <functional>

namespace deuteron {

/// Calls `body` with each of 0 to `count` - 1 in as many as `threads` threads, this one among them, which have the
/// calling thread's limits. After an exception nothing more is begun; of several, that of the least number is thrown
/// again, which is the same each time.
void ForEachInParallel(size_t count, size_t threads, const std::function<void(size_t)>& body);

}  // namespace deuteron
