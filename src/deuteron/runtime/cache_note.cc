#include "deuteron/runtime/cache_note.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/runtime/checksum.h"
#include "deuteron/support/environment.h"

namespace deuteron {
namespace {

/// Takes a number, and the character that ends it, off the front of a text.
template <typename T>
bool Take(std::string_view* text, char end, T* number) {
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || rest == text->data() + text->size() || *rest != end) return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()) + 1);
  return true;
}

/// The same of a text with its length before it.
bool Take(std::string_view* text, std::string* taken) {
  size_t size = 0;
  if (!Take(text, ':', &size) || size >= text->size() || (*text)[size] != '\n') return false;
  *taken = text->substr(0, size);
  text->remove_prefix(size + 1);
  return true;
}

}  // namespace

std::string DefaultCacheFolder() {
  if (const std::string folder = EnvironmentVariable("DEUTERON_CACHE"); !folder.empty())
    return folder == "off" ? "" : folder;
  // A relative path there is to be ignored (XDG Base Directory Specification).
  const std::string cache = EnvironmentVariable("XDG_CACHE_HOME"), home = EnvironmentVariable("HOME");
  if (std::filesystem::path(cache).is_absolute()) return cache + "/deuteron";
  return home.empty() ? "" : home + "/.cache/deuteron";
}

bool CacheNote::Holds() const {
  return std::all_of(files.begin(), files.end(),
                     [](const FileState& then) { return FileState::Of(then.path) == then; });
}

std::string TextOfNote(const CacheNote& note) {
  const auto lengths_first = [](const std::string& text) { return std::to_string(text.size()) + ":" + text + "\n"; };
  std::string text = lengths_first(note.key);
  for (const FileState& file : note.files) {
    text += TextOfState(file) + " " + lengths_first(file.path);
  }
  return text + ChecksumText(text) + "\n";
}

std::optional<CacheNote> ParseNote(const std::string& text) {
  constexpr size_t kEnd = 17;
  if (text.size() < kEnd || ChecksumText({text.data(), text.size() - kEnd}) + "\n" != text.substr(text.size() - kEnd))
    return std::nullopt;
  std::string_view left(text.data(), text.size() - kEnd);
  CacheNote note;
  if (!Take(&left, &note.key)) return std::nullopt;
  while (!left.empty()) {
    FileState file;
    const bool is_one = Take(&left, ' ', &file.device) && Take(&left, ' ', &file.inode) &&
                        Take(&left, ' ', &file.size) && Take(&left, ' ', &file.modified) &&
                        Take(&left, ' ', &file.changed) && Take(&left, &file.path);
    if (!is_one) return std::nullopt;
    note.files.push_back(std::move(file));
  }
  return note;
}

std::optional<CacheNote> ReadNote(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return ParseNote(text.str());
}

std::string ChecksumText(std::string_view text) {
  runtime::Checksum checksum;
  checksum.Add(text.data(), text.size());
  return HexText(checksum.Value());
}

std::string TextOfState(const FileState& file) {
  return std::to_string(file.device) + " " + std::to_string(file.inode) + " " + std::to_string(file.size) + " " +
         std::to_string(file.modified) + " " + std::to_string(file.changed);
}

std::string HexText(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

}  // namespace deuteron
