#include "deuteron/support/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace deuteron {

int MakeMemoryFile(std::string_view bytes, const std::string& name) {
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC);
  for (size_t written = 0; file >= 0 && written < bytes.size();) {
    const ssize_t now = write(file, bytes.data() + written, bytes.size() - written);
    if (now > 0) {
      written += static_cast<size_t>(now);
    } else if (errno != EINTR) {
      const int error = errno;
      close(file);
      errno = error;
      return -1;
    }
  }
  return file;
}

}  // namespace deuteron
