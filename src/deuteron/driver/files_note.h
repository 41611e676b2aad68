/// \file
/// Notes of the cache: which files a model was read from, as they were then. Internal: see compile_cache.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/support/mapped_file.h"

namespace deuteron {

struct FilesNote {
  /// Of the entry that was made of them.
  std::string key;
  std::vector<FileState> files;
};

/// A line, and a checksum of it.
std::string FilesText(const FilesNote& note);
/// The inverse; nothing if the text is damaged, or of a build that writes others.
std::optional<FilesNote> ParseFilesText(const std::string& text);
/// Sixteen digits.
std::string HexText(uint64_t value);
/// A checksum as such.
std::string ChecksumText(const std::string& text);

}  // namespace deuteron
