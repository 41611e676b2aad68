#include "deuteron/support/mapped_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "deuteron/support/error.h"
#include "deuteron/support/fork.h"

namespace deuteron {
namespace {

/// What of a large constant is read before some of it leaves memory: each time asks the system.
constexpr size_t kBytesOfPart = size_t{4} << 20;

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

struct stat StatusOf(int descriptor, std::string_view what, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) ThrowBecause("cannot read ", what, path, errno);
  return status;
}

FileState StateOf(const struct stat& status, const std::string& path) {
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_nsec};
  };
  return {path,
          status.st_dev,
          status.st_ino,
          static_cast<uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

thread_local MappedFileLog* log_of_thread = nullptr;

/// What the kernel of the system refuses to follow out of a folder; for one that cannot say, paths are compared after
/// links and
/// ".." are resolved.
int OpenBelow(int folder, const std::string& folder_path, const std::string& relative) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto opened = static_cast<int>(::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof(how)));
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return opened;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path root = fs::canonical(folder_path, error);
  const fs::path target = error ? fs::path() : fs::weakly_canonical(root / relative, error);
  const auto [end, _] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (error || end != root.end() || fs::path(relative).is_absolute()) {
    errno = EXDEV;
    return -1;
  }
  return ::open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
    if (first < last && Have(begin, bytes)) {
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }
  }
  bool Hold(uintptr_t begin, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Have(begin, bytes);
  }

 private:
  Mappings() { HoldAcrossFork(&mutex_); }
  bool Have(uintptr_t begin, size_t bytes) const {
    auto mapping = sizes_.upper_bound(begin);
    if (mapping == sizes_.begin()) return false;
    --mapping;
    return begin + bytes <= mapping->first + mapping->second;
  }

  std::mutex mutex_;
  std::map<uintptr_t, size_t> sizes_;
};

}  // namespace

FileState FileState::Of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? StateOf(status, path) : FileState{.path = path};
}

MappedFileLog::MappedFileLog() : outer_(log_of_thread) { log_of_thread = this; }
MappedFileLog::~MappedFileLog() { log_of_thread = outer_; }

void MappedFile::LetGo(const void* data, size_t bytes) {
  Mappings::Get().LetGo(reinterpret_cast<uintptr_t>(data), bytes);
}

bool MappedFile::Holds(const void* data, size_t bytes) {
  return Mappings::Get().Hold(reinterpret_cast<uintptr_t>(data), bytes);
}

void MappedFile::CopyAndLetGo(const void* from, void* to, size_t bytes) {
  const char* begin = static_cast<const char*>(from);
  ReadOnce read(begin);
  for (size_t done = 0; done < bytes;) {
    const size_t part = std::min(bytes - done, kBytesOfPart);
    std::memcpy(static_cast<char*>(to) + done, begin + done, part);
    done += part;
    read.DoneUntil(begin + done);
  }
  LetGo(from, bytes);
}

void ReadOnce::DoneUntil(const char* end) {
  const auto bytes = static_cast<size_t>(end - begin_);
  if (bytes < kBytesOfPart) return;
  MappedFile::LetGo(begin_, bytes);
  begin_ = end;
}

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path, std::string_view what) {
  // The system would take what stands before the zero for the name.
  if (path.find('\0') != std::string::npos) ThrowBecause("cannot open ", what, path, ENOENT);
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (descriptor.fd < 0) ThrowBecause("cannot open ", what, path, errno);
  return Map(descriptor.fd, path, what);
}

std::shared_ptr<const MappedFile> MappedFile::OpenBeneath(const std::string& folder, const std::string& relative,
                                                          std::string_view what) {
  const Descriptor root{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (root.fd < 0) ThrowBecause("cannot open the folder of ", what, folder, errno);
  const bool is_plain = !relative.empty() && relative.find('\0') == std::string::npos;
  const Descriptor descriptor{is_plain ? OpenBelow(root.fd, folder, relative) : -1};
  const std::string path = folder + "/" + relative;
  if (!is_plain || (descriptor.fd < 0 && errno == EXDEV)) {
    DEUTERON_THROW(ModelError) << what << " '" << relative << "' lies outside of the folder, where nothing is read";
  }
  if (descriptor.fd < 0) ThrowBecause("cannot open ", what, path, errno);
  const struct stat status = StatusOf(descriptor.fd, what, path);
  if (status.st_nlink > 1 && status.st_uid != ::geteuid() && status.st_uid != StatusOf(root.fd, what, folder).st_uid) {
    DEUTERON_THROW(ModelError) << what << " '" << relative << "' is a hard link to a file of another owner: copy it";
  }
  return Map(descriptor.fd, path, what);
}

std::shared_ptr<const MappedFile> MappedFile::Map(int descriptor, const std::string& path, std::string_view what) {
  const struct stat status = StatusOf(descriptor, what, path);
  if (S_ISDIR(status.st_mode)) {
    DEUTERON_THROW(ModelError) << "cannot read " << what << " '" << path << "': it is a directory";
  }
  if (!S_ISREG(status.st_mode)) {
    DEUTERON_THROW(ModelError) << "cannot read " << what << " '" << path << "': it is no regular file";
  }
  for (MappedFileLog* log = log_of_thread; log != nullptr; log = log->outer_) {
    const FileState& state = log->files_.emplace_back(StateOf(status, path));
    using std::chrono::system_clock;
    const auto last = std::chrono::nanoseconds(std::max(state.modified, state.changed));
    log->settled_ &= system_clock::now().time_since_epoch() - last >= std::chrono::seconds(2);
  }
  const auto size = static_cast<size_t>(status.st_size);
  const char* data = "";
  if (size > 0) {
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
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
