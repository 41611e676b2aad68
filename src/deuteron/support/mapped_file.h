/// \file
/// A file mapped into memory, read only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace deuteron {

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

 private:
  static std::shared_ptr<const MappedFile> Map(int descriptor, const std::string& path, std::string_view what);
  MappedFile(std::string path, const char* data, size_t size) : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const char* data_;
  size_t size_;
};

}  // namespace deuteron
