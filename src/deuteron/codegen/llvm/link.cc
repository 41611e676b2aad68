#include "deuteron/codegen/llvm/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "deuteron/codegen/llvm/lld.h"
#include "deuteron/support/error.h"

namespace deuteron::codegen {
namespace {

/// Closed at the end; to the linker a file by its path.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) DEUTERON_THROW(UsageError) << "kernels cannot be linked: " << std::strerror(errno);
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  std::string Path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// A file without a name: nothing of it stays, however the process ends.
class MemoryFile : public Descriptor {
 public:
  explicit MemoryFile(const std::string& bytes) : Descriptor(memfd_create("deuteron-kernels.o", MFD_CLOEXEC)) {
    for (size_t written = 0; written < bytes.size();) {
      const ssize_t now = write(number(), bytes.data() + written, bytes.size() - written);
      if (now < 0) DEUTERON_THROW(UsageError) << "kernels cannot be linked: " << std::strerror(errno);
      written += static_cast<size_t>(now);
    }
  }
};

/// What is written into a pipe, which a thread empties meanwhile. (Its end is told and not waited for: a process that
/// was forked meanwhile holds the pipe open.)
class PipedOutput {
 public:
  PipedOutput() : PipedOutput(MakePipe()) {}
  ~PipedOutput() { Take(); }
  PipedOutput(const PipedOutput&) = delete;
  PipedOutput& operator=(const PipedOutput&) = delete;
  std::string Path() const { return in_.Path(); }
  /// All of it, once nobody writes any more.
  std::string Take() {
    eventfd_write(is_written_.number(), 1);
    if (reader_.joinable()) reader_.join();
    return std::move(bytes_);
  }

 private:
  using Ends = std::array<int, 2>;
  static Ends MakePipe() {
    Ends ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) == 0) fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return ends;
  }
  explicit PipedOutput(Ends ends)
      : out_(ends[0]), in_(ends[1]), is_written_(eventfd(0, EFD_CLOEXEC)), reader_([this] { ReadAll(); }) {}
  void ReadAll() {
    std::vector<char> buffer(1 << 16);
    std::array<pollfd, 2> waits{pollfd{out_.number(), POLLIN, 0}, pollfd{is_written_.number(), POLLIN, 0}};
    do {
      poll(waits.data(), waits.size(), -1);
      for (ssize_t now; (now = read(out_.number(), buffer.data(), buffer.size())) > 0;)
        bytes_.append(buffer.data(), static_cast<size_t>(now));
    } while (waits[1].revents == 0);
  }

  Descriptor out_, in_, is_written_;
  std::string bytes_;
  std::thread reader_;
};

}  // namespace

std::string LinkObjects(const std::vector<std::string>& objects) {
  static std::mutex mutex;
  PipedOutput output;
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--hash-style=gnu",
                                        "--build-id=none",
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        "max-page-size=65536",  // AArch64 has systems with such pages
                                        "--threads=1",
                                        "-o",
                                        output.Path()};
  std::vector<std::unique_ptr<MemoryFile>> inputs;
  for (const std::string& object : objects) {
    arguments.push_back(inputs.emplace_back(std::make_unique<MemoryFile>(object))->Path());
  }
  const std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  if (!RunElfLinker(arguments, &messages)) TVM_FFI_THROW(InternalError) << "lld: " << messages;
  return output.Take();
}

}  // namespace deuteron::codegen
