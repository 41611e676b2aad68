/// \file
/// Whether a process may execute what it writes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

namespace deuteron {

/// Whether memory that was written may be made executable: not where a service is told so (systemd's
/// MemoryDenyWriteExecute), nor by some policies of SELinux. What was mapped from a file may be executed there.
inline bool MayExecuteWhatItWrites() {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Who has no memory is told so by what asks for more.
  if (page == MAP_FAILED) return true;
  // Some policies look at pages that were touched.
  *static_cast<volatile char*>(page) = 0;
  const bool may = mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
  munmap(page, size);
  return may;
}

}  // namespace deuteron
