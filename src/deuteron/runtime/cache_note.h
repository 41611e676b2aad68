/// \file
/// The folder of what was compiled before (docs/cache.md), as far as it takes no compiler: its entries' names, and the
/// notes that lead from files to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/support/mapped_file.h"

namespace deuteron {

/// Where entries are looked for unless told otherwise: $DEUTERON_CACHE, else $XDG_CACHE_HOME/deuteron, else
/// ~/.cache/deuteron; empty if the first is "off", or there is none.
std::string DefaultCacheFolder();

/// Of artefacts, of notes of the files that they were made from, and of notes of runs.
inline constexpr const char* kEntrySuffix = ".so";
inline constexpr const char* kFilesSuffix = ".files";
inline constexpr const char* kRunSuffix = ".run";

/// Which entry was made, and of which files as they were then.
struct CacheNote {
  std::string key;
  std::vector<FileState> files;

  /// Whether all files are as they were then.
  bool Holds() const;
  bool operator==(const CacheNote&) const = default;
};

/// A line for each, and a checksum of them.
std::string TextOfNote(const CacheNote& note);
/// The inverse; nothing if the text is damaged, or of a build that writes others.
std::optional<CacheNote> ParseNote(const std::string& text);
/// The note in a file; nothing if there is none, or none that can be read.
std::optional<CacheNote> ReadNote(const std::string& path);

/// Sixteen digits.
std::string HexText(uint64_t value);
/// A checksum as such.
std::string ChecksumText(std::string_view text);
/// What the system says of a file, without its path.
std::string TextOfState(const FileState& file);

/// What the names of entries and notes are checksums of: texts, told apart by their lengths.
class KeyText {
 public:
  void Add(const std::string& part) { text_ += std::to_string(part.size()) + ":" + part; }
  void Add(int64_t number) { Add(std::to_string(number)); }
  void Add(const std::vector<std::string>& parts) {
    Add(static_cast<int64_t>(parts.size()));
    for (const std::string& part : parts) Add(part);
  }
  /// Sixteen digits.
  std::string Checksum() const { return ChecksumText(text_); }

 private:
  std::string text_;
};

}  // namespace deuteron
