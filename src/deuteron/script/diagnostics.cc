#include "deuteron/script/diagnostics.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace deuteron::script {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Length of the character at the front of `text`; 0 if it is none (overlong forms and surrogates included).
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

/// At most 160 characters of a line around `column`, fit to be shown; `column` becomes the caret's.
std::string Excerpt(std::string_view line, size_t* column) {
  std::string shown;
  const size_t from = *column > 80 && line.size() > 160 ? *column - 80 : 0;
  size_t caret = 0;
  size_t characters = 0;
  for (size_t i = from; i < line.size() && characters < 160; ++characters) {
    if (i < *column) caret = characters + 1;
    const size_t length = CharacterLength(line.substr(i));
    const unsigned char c = static_cast<unsigned char>(line[i]);
    if (length == 0 || c < 0x20 || c == 0x7F) {
      shown.push_back(c == '\t' ? ' ' : '?');
    } else {
      shown += line.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  *column = caret;
  return shown;
}

}  // namespace

void SourceText::Fail(size_t offset, const std::string& message, bool unsupported) const {
  offset = std::min(offset, text_.size());
  const auto line_number = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  const size_t before = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string_view line = text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  size_t caret = std::min(offset - begin, line.size());
  const auto column = std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(caret),
                                    [](char c) { return !IsContinuation(c); }) +
                      1;
  const std::string excerpt = Excerpt(line, &caret);
  throw TextError(unsupported ? "UnsupportedError" : "ModelError",
                  filename_ + ":" + std::to_string(line_number) + ":" + std::to_string(column) + ": error: " + message +
                      "\n    " + excerpt + "\n    " + std::string(caret, ' ') + "^",
                  offset);
}

void Diagnostics::Add(const TextError& error) {
  errors_.push_back(error);
  if (errors_.size() >= kLimit) throw TooManyErrors{};
}

void Diagnostics::Raise() {
  if (errors_.empty()) return;
  std::stable_sort(errors_.begin(), errors_.end(),
                   [](const TextError& a, const TextError& b) { return a.at() < b.at(); });
  std::string kind = "UnsupportedError";
  std::string message;
  for (const TextError& error : errors_) {
    if (error.kind() != "UnsupportedError") kind = std::string(error.kind());
    message += (message.empty() ? "" : "\n") + std::string(error.message());
  }
  if (errors_.size() >= kLimit) message += "\nThere may be more errors: " + std::to_string(kLimit) + " are shown.";
  throw TextError(kind, message, errors_[0].at());
}

size_t FindInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight = 0;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const size_t length = CharacterLength(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace deuteron::script
