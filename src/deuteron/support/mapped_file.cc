#include "deuteron/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
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

/// Files that are mapped, by where they begin.
class Mappings {
 public:
  static Mappings& Get() {
    static auto* mappings = new Mappings();
    return *mappings;
  }
  void Add(const char* begin, size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sizes_[reinterpret_cast<uintptr_t>(begin)] = size;
  }
  void Remove(const char* begin) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sizes_.erase(reinterpret_cast<uintptr_t>(begin));
  }
  void LetGo(uintptr_t begin, size_t bytes) {
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto mapping = sizes_.upper_bound(begin);
    if (first >= last || mapping == sizes_.begin()) return;
    --mapping;
    if (begin + bytes <= mapping->first + mapping->second) {
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, size_t> sizes_;
};

}  // namespace

void MappedFile::LetGo(const void* data, size_t bytes) {
  Mappings::Get().LetGo(reinterpret_cast<uintptr_t>(data), bytes);
}

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
    Mappings::Get().Add(data, size);
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
  if (size_ == 0) return;
  Mappings::Get().Remove(data_);
  ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace deuteron
