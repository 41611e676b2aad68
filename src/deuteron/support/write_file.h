/// \file
/// Writing a file whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace deuteron {

/// Throws the UsageError that the file `path` cannot be written; `error` is the errno that says why.
[[noreturn]] void ThrowNotWritten(const std::string& path, int error);
/// That error if the folder that `path` lies in does not exist: for what takes long to make, before it is made.
void CheckFolderOf(const std::string& path);

/// What names of files end with that are being written, or that a killed process left.
inline constexpr const char* kUnfinishedSuffix = ".part";
/// A name beside `path` for what takes its place when it is whole: of no other thread's, process's or container's
/// writer.
std::string UnfinishedName(const std::string& path);

/// A file that is written piece by piece, in place of what `path` held. It has its name once it is closed: until then,
/// and where it cannot be written, what had that name stays. Where `path` is a link, that holds of what it leads to. A
/// device or a pipe is written as it is: nothing may take its place. Each call throws a UsageError that says why it
/// cannot.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  /// Of one that is not closed nothing stays.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void Write(std::string_view bytes);
  void Close();
  /// Of what was written.
  uint64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void Fail(int error);
  void Discard();

  const std::string path_;
  std::string target_;
  /// What is written; `target_` itself if nothing takes its place, or it has.
  std::string unfinished_;
  std::FILE* file_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Writes `bytes` to the file `path`, as an OutputFile.
void WriteFile(const std::string& path, std::string_view bytes);
/// The same of parts, one after another.
void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);
void WriteFile(const std::string& path, std::span<const std::string_view> parts);

}  // namespace deuteron
