#include "deuteron/driver/files_note.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "deuteron/runtime/checksum.h"

namespace deuteron {
namespace {

/// Paths are any bytes, and texts of JSON are UTF-8: each byte as the character of that number.
std::string TextOfBytes(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::optional<std::string> BytesOfText(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
    } else if (byte > 0xc3) {
      return std::nullopt;
    } else {
      bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

std::optional<FileState> ReadState(const nlohmann::json& line) {
  const bool fits =
      line.is_array() && line.size() == 6 && line[0].is_string() &&
      std::all_of(line.begin() + 1, line.end(), [](const auto& number) { return number.is_number_integer(); });
  if (!fits) return std::nullopt;
  const auto path = BytesOfText(line[0].get<std::string>());
  if (!path) return std::nullopt;
  return FileState{*path, line[1], line[2], line[3], line[4], line[5]};
}

}  // namespace

std::string HexText(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string ChecksumText(const std::string& text) {
  runtime::Checksum checksum;
  checksum.Add(text.data(), text.size());
  return HexText(checksum.Value());
}

std::string FilesText(const FilesNote& note) {
  nlohmann::json lines = nlohmann::json::array();
  for (const FileState& file : note.files) {
    lines.push_back({TextOfBytes(file.path), file.device, file.inode, file.size, file.modified, file.changed});
  }
  const std::string line = nlohmann::json{{"key", note.key}, {"files", lines}}.dump();
  return line + "\n" + ChecksumText(line) + "\n";
}

std::optional<FilesNote> ParseFilesText(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = text.substr(0, end);
  if (text.compare(end + 1, std::string::npos, ChecksumText(line) + "\n") != 0) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto key = json.find("key"), files = json.find("files");
  if (key == json.end() || !key->is_string() || files == json.end() || !files->is_array()) return std::nullopt;
  FilesNote note{.key = *key, .files = {}};
  for (const nlohmann::json& each : *files) {
    const auto state = ReadState(each);
    if (!state) return std::nullopt;
    note.files.push_back(*state);
  }
  return note;
}

}  // namespace deuteron
