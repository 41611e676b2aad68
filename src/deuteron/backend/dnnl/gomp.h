/// \file
/// oneDNN's parallel regions on the runtime's pool of threads.
///
/// oneDNN here is built with GNU OpenMP. A process with OpenMP's team besides the runtime's pool has twice the threads,
/// and both spin while they wait: each slows the other down. The entry points of libgomp that oneDNN calls are
/// therefore defined in this plugin (gomp.cc), where the dynamic linker finds them before libgomp's: a parallel region
/// runs on a team of the pool (runtime/thread_pool.h). Where another library has put libgomp into the global scope of
/// the process, oneDNN uses that one: right as well, but with threads of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

/// While it lives, regions that begin in this thread have `threads` threads.
class RegionThreads {
 public:
  RegionThreads(const DeuteronHost* host, int threads);
  ~RegionThreads();
  /// Throws a MemoryError if there were no threads for a region that began in this thread meanwhile. It had one then;
  /// what primitives computed that are made for more may be wrong.
  void Check() const;
  RegionThreads(const RegionThreads&) = delete;
  RegionThreads& operator=(const RegionThreads&) = delete;

 private:
  int before_;
  int64_t lonely_before_;
};

/// As memcpy, in a region that begins in this thread: each thread a part, with the faults of its pages.
void CopyInRegion(void* to, const void* from, size_t bytes);

}  // namespace deuteron::backend::dnnl
