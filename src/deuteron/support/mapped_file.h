/// \file
/// A file mapped into memory, read only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

/// A file as it was at some time: which it is, its size, when it and what the system keeps of it were last changed
/// (nanoseconds since 1970). Whoever writes to it afterwards changes that, but for one who does so within the same tick
/// of the clock.
struct FileState {
  std::string path;
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, changed = 0;

  bool operator==(const FileState&) const = default;
  /// That of `path` now; of no size and time if there is none.
  static FileState Of(const std::string& path);
};

/// Notes which files this thread maps while it lives, as they are when they are opened.
class MappedFileLog {
 public:
  MappedFileLog();
  ~MappedFileLog();
  MappedFileLog(const MappedFileLog&) = delete;
  MappedFileLog& operator=(const MappedFileLog&) = delete;

  const std::vector<FileState>& files() const { return files_; }
  /// Whether none of them had been changed in the two seconds before it was opened: what differs from then on has
  /// another state, whatever the clock of its file system counts in.
  bool settled() const { return settled_; }

 private:
  friend class MappedFile;
  MappedFileLog* const outer_;
  std::vector<FileState> files_;
  bool settled_ = true;
};

/// The bytes of a regular file while the object lives. Another process that shortens the file meanwhile
/// raises SIGBUS in readers, as for every mapping.
class MappedFile {
 public:
  /// A ModelError if `path` is missing, unreadable, or no regular file. `what` says in messages what it is
  /// ("the model", "external data").
  static std::shared_ptr<const MappedFile> Open(const std::string& path, std::string_view what);
  /// The same of the file `relative` of a folder. A ModelError, too, if the way there leads out of it (by "..", a link,
  /// an absolute path), whoever changes it meanwhile, or if it is a hard link to a file whose owner is neither this
  /// process's nor the folder's.
  static std::shared_ptr<const MappedFile> OpenBeneath(const std::string& folder, const std::string& relative,
                                                       std::string_view what);
  /// A copy of bytes in memory, as a file that `path` names in messages.
  static std::shared_ptr<const MappedFile> Copy(std::string_view bytes, std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  /// What is done with for now: if all of it lies in a file that is mapped, its whole pages leave memory, and are read
  /// anew should somebody ask. Other memory is left alone.
  static void LetGo(const void* data, size_t bytes);
  /// Whether all of it lies in a file that is mapped.
  static bool Holds(const void* data, size_t bytes);
  /// Copies memory that is done with then, a part at a time.
  static void CopyAndLetGo(const void* from, void* to, size_t bytes);

 private:
  static std::shared_ptr<const MappedFile> Map(int descriptor, const std::string& path, std::string_view what);
  MappedFile(std::string path, const char* data, size_t size) : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const char* data_;
  size_t size_;
};

/// Memory that is read once, from its beginning on: what is done with leaves memory as MappedFile::LetGo says, so that
/// of a large constant only a part is there beside what is made of it.
class ReadOnce {
 public:
  explicit ReadOnce(const char* begin) : begin_(begin) {}
  /// All before `end` is done with.
  void DoneUntil(const char* end);

 private:
  const char* begin_;
};

}  // namespace deuteron
