#include "deuteron/support/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

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

std::string UnfinishedName(const std::string& path) {
  // The system would take what stands before the zero for the name.
  if (path.find('\0') != std::string::npos) ThrowNotWritten(path, EINVAL);
  // Not the process's number: two containers that share a folder each have a process of that number.
  std::random_device random;
  char name[24];
  std::snprintf(name, sizeof(name), ".%08x%08x%s", random(), random(), kUnfinishedSuffix);
  return path + name;
}

namespace {

/// Writes all parts to the file `path`; 0, or the errno that says why not.
int WriteParts(const std::string& path, std::span<const std::string_view> parts) {
  // Not a stream of the library: its failures do not say why.
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  int error = 0;
  for (const std::string_view part : parts) {
    if (error == 0 && std::fwrite(part.data(), 1, part.size(), file) != part.size()) error = errno;
  }
  if (std::fclose(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

void WriteFile(const std::string& path, std::string_view bytes) { WriteFile(path, {bytes}); }

void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  WriteFile(path, std::span(parts.begin(), parts.size()));
}

void WriteFile(const std::string& path, std::span<const std::string_view> parts) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  // A device, a pipe: nothing that could be exchanged.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    if (const int error = WriteParts(path, parts)) ThrowNotWritten(path, error);
    return;
  }
  const std::string target = fs::is_symlink(path, ignored) ? fs::canonical(path, ignored).string() : path;
  const std::string unfinished = UnfinishedName(target);
  int error = WriteParts(unfinished, parts);
  if (error == 0 && std::rename(unfinished.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  std::remove(unfinished.c_str());
  ThrowNotWritten(path, error);
}

}  // namespace deuteron
