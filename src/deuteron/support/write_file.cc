#include "deuteron/support/write_file.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

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
  char suffix[24];
  const int length = std::snprintf(suffix, sizeof(suffix), ".%08x%08x%s", random(), random(), kUnfinishedSuffix);
  // A name that is as long as names may be leaves no room for more.
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, begin) + path.substr(begin, static_cast<size_t>(NAME_MAX - length)) + suffix;
}

namespace {

namespace fs = std::filesystem;

/// What a path leads to, whether that is there or not.
std::string BehindLinks(fs::path path) {
  // As many as the system follows.
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  return path.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  std::error_code ignored;
  const bool is_replaced = !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
  target_ = is_replaced ? BehindLinks(path) : path;
  unfinished_ = is_replaced ? UnfinishedName(target_) : target_;
  // Not a stream of the library: its failures do not say why.
  file_ = std::fopen(unfinished_.c_str(), "wb");
  if (file_ == nullptr) ThrowNotWritten(path_, errno);
}

OutputFile::~OutputFile() { Discard(); }

void OutputFile::Write(std::string_view bytes) {
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) Fail(errno);
  bytes_ += bytes.size();
}

void OutputFile::Close() {
  const bool is_whole = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!is_whole || (unfinished_ != target_ && std::rename(unfinished_.c_str(), target_.c_str()) != 0)) Fail(errno);
  unfinished_ = target_;
}

void OutputFile::Fail(int error) {
  Discard();
  ThrowNotWritten(path_, error);
}

void OutputFile::Discard() {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (unfinished_ != target_) std::remove(unfinished_.c_str());
}

void WriteFile(const std::string& path, std::string_view bytes) { WriteFile(path, {bytes}); }

void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  WriteFile(path, std::span(parts.begin(), parts.size()));
}

void WriteFile(const std::string& path, std::span<const std::string_view> parts) {
  OutputFile file(path);
  for (const std::string_view part : parts) file.Write(part);
  file.Close();
}

}  // namespace deuteron
