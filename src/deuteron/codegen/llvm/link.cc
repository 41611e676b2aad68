#include "deuteron/codegen/llvm/link.h"

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "deuteron/codegen/llvm/lld.h"
#include "deuteron/support/error.h"

namespace deuteron::codegen {
namespace {

/// A folder that goes with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "deuteron-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      DEUTERON_THROW(UsageError) << "cannot make a temporary folder " << name
                                 << "; set TMPDIR to a folder that can be written";
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

}  // namespace

std::string LinkSharedObject(const std::vector<std::string>& objects) {
  static std::mutex mutex;
  const TemporaryFolder folder;
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
                                        folder.File("model.so")};
  for (size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(folder.File("kernels" + std::to_string(i) + ".o"));
    std::ofstream file(arguments.back(), std::ios::binary);
    file.write(objects[i].data(), static_cast<std::streamsize>(objects[i].size()));
    file.flush();
    if (!file) DEUTERON_THROW(UsageError) << "cannot write " << arguments.back() << "; is the disk full?";
  }
  const std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  if (!RunElfLinker(arguments, &messages)) TVM_FFI_THROW(InternalError) << "lld: " << messages;
  return ReadAll(folder.File("model.so"));
}

}  // namespace deuteron::codegen
