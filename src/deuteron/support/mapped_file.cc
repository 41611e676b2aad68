#include "deuteron/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

/// Closes a descriptor at the end of the scope.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// `error` is taken by value: what is done to throw sets errno anew.
[[noreturn]] void ThrowBecause(const char* action, std::string_view what, const std::string& path, int error) {
  if (error == ENOMEM) DEUTERON_THROW(MemoryError) << "out of memory: " << action << what << " '" << path << "'";
  DEUTERON_THROW(ModelError) << action << what << " '" << path << "': " << std::strerror(error);
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path, std::string_view what) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (descriptor.fd < 0) ThrowBecause("cannot open ", what, path, errno);
  struct stat status {};
  if (::fstat(descriptor.fd, &status) != 0) ThrowBecause("cannot read ", what, path, errno);
  if (S_ISDIR(status.st_mode)) {
    DEUTERON_THROW(ModelError) << "cannot read " << what << " '" << path << "': it is a directory";
  }
  if (!S_ISREG(status.st_mode)) {
    DEUTERON_THROW(ModelError) << "cannot read " << what << " '" << path << "': it is no regular file";
  }
  const auto size = static_cast<size_t>(status.st_size);
  const char* data = "";
  if (size > 0) {
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.fd, 0);
    if (mapping == MAP_FAILED) ThrowBecause("cannot map ", what, path, errno);
    data = static_cast<const char*>(mapping);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, size));
}

std::shared_ptr<const MappedFile> MappedFile::Copy(std::string_view bytes, std::string path) {
  if (bytes.empty()) return std::shared_ptr<const MappedFile>(new MappedFile(std::move(path), "", 0));
  void* mapping = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) ThrowBecause("cannot copy ", "the bytes of", path, errno);
  std::memcpy(mapping, bytes.data(), bytes.size());
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(path), static_cast<char*>(mapping), bytes.size()));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace deuteron
