/// \file
/// Text of models on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace deuteron {

/// `text` with every control character (of ASCII and of Latin-1) written as \xNN: a terminal would obey it. Those of
/// `kept` stay. What else there is of UTF-8 is left alone.
inline std::string Printable(std::string_view text, std::string_view kept = "") {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::string printable;
  printable.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F.
    const bool is_wide = c == 0xc2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
    if (is_wide) c = static_cast<unsigned char>(text[++i]);
    if (!is_wide && (!is_control(c) || kept.find(text[i]) != std::string_view::npos)) {
      printable += text[i];
    } else {
      printable += {'\\', 'x', kDigits[c >> 4], kDigits[c & 15]};
    }
  }
  return printable;
}

/// The same of a message, whose lines stay apart.
inline std::string PrintableLines(std::string_view text) { return Printable(text, "\n\t"); }

}  // namespace deuteron
