#include "deuteron/codegen/llvm/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "deuteron/codegen/llvm/lld.h"
#include "deuteron/support/error.h"
#include "deuteron/support/memory_file.h"
#include "deuteron/support/temporary_folder.h"
#include "deuteron/support/write_file.h"

namespace deuteron::codegen {
namespace {

/// Of something that the system does not give: kernels are linked by way of files on disk then.
struct NotGiven : std::system_error {
  NotGiven() : std::system_error(errno, std::generic_category()) {}
};

/// Closed at the end; to the linker a file by its path.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) throw NotGiven();
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  std::string Path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
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
    // Who opens it by its path waits where it is full.
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw NotGiven();
    return ends;
  }
  explicit PipedOutput(Ends ends)
      : out_(ends[0]),
        in_(ends[1]),
        is_written_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        reader_([this] { ReadAll(); }) {}
  void ReadAll() {
    std::vector<char> buffer(1 << 16);
    std::array<pollfd, 2> waits{pollfd{out_.number(), POLLIN, 0}, pollfd{is_written_.number(), POLLIN, 0}};
    for (bool is_whole = false; !is_whole;) {
      // Where the system refuses to wait, it is asked again and again.
      poll(waits.data(), waits.size(), -1);
      eventfd_t count = 0;
      // Before what is there is read: what is written later than that is not there.
      is_whole = eventfd_read(is_written_.number(), &count) == 0;
      for (ssize_t now; (now = read(out_.number(), buffer.data(), buffer.size())) > 0;)
        bytes_.append(buffer.data(), static_cast<size_t>(now));
    }
  }

  Descriptor out_, in_, is_written_;
  std::string bytes_;
  std::thread reader_;
};

void Link(const std::vector<std::string>& objects, const std::string& output) {
  static std::mutex mutex;
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
                                        output};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  const std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  if (!RunElfLinker(arguments, &messages)) TVM_FFI_THROW(InternalError) << "lld: " << messages;
}

/// Nothing where there are no files in memory that have a path, no pipes, or no further thread.
std::optional<std::string> LinkInMemory(const std::vector<std::string>& objects) {
  try {
    std::vector<Descriptor> inputs;
    std::vector<std::string> paths;
    for (const std::string& object : objects) {
      inputs.emplace_back(MakeMemoryFile(object, "deuteron-kernels.o"));
      paths.push_back(inputs.back().Path());
    }
    PipedOutput output;
    if (access(output.Path().c_str(), F_OK) != 0) throw NotGiven();
    Link(paths, output.Path());
    return output.Take();
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

std::string LinkInFolder(const std::vector<std::string>& objects) {
  const ScratchFolder folder;
  std::vector<std::string> paths;
  for (const std::string& object : objects) {
    paths.push_back((folder / (std::to_string(paths.size()) + ".o")).string());
    WriteFile(paths.back(), object);
  }
  const std::filesystem::path output = folder / "kernels.so";
  Link(paths, output.string());
  std::ifstream file(output, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string LinkObjects(const std::vector<std::string>& objects) {
  if (auto bytes = LinkInMemory(objects)) return *std::move(bytes);
  return LinkInFolder(objects);
}

}  // namespace deuteron::codegen
