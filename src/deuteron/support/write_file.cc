#include "deuteron/support/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "deuteron/support/error.h"

namespace deuteron {

void CheckFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::exists(folder, error) || error) return;
  DEUTERON_THROW(UsageError) << "cannot write " << path << ": the folder " << folder.string() << " does not exist";
}

void ThrowNotWritten(const std::string& path, int error) {
  if (error == ENOENT) CheckFolderOf(path);
  DEUTERON_THROW(UsageError) << "cannot write " << path << ": " << std::strerror(error);
}

void WriteFile(const std::string& path, std::string_view bytes) {
  // Not a stream of the library: its failures do not say why.
  std::FILE* file = std::fopen(path.c_str(), "wb");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) error = errno;
    if (std::fclose(file) != 0 && error == 0) error = errno;
  }
  if (error != 0) ThrowNotWritten(path, error);
}

}  // namespace deuteron
