/// \file
/// Where files lie that nobody keeps.
#pragma once

#include <filesystem>
#include <string>

namespace deuteron {

/// A new folder of this process's own in that of temporary files ($TMPDIR). A UsageError that names it where none can
/// be made.
std::string MakeTemporaryFolder();

/// One that goes with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() : path_(MakeTemporaryFolder()) {}
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace deuteron
