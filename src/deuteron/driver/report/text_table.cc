#include "deuteron/driver/report/text_table.h"

#include <algorithm>

namespace deuteron::report {
namespace {

/// What is wider, the size of a tensor of many symbols or the name of many operators, moves what follows in its own row
/// alone.
constexpr size_t kWidestNumber = 24, kWidestName = 60;

/// Characters of UTF-8 text.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable(const std::vector<std::vector<std::string>>& rows) {
  const size_t columns = rows[0].size();
  std::vector<size_t> widths(columns, 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < columns; ++i) {
      const size_t width = Width(row[i]);
      if (width <= (i + 2 < columns ? kWidestNumber : kWidestName)) widths[i] = std::max(widths[i], width);
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < columns; ++i) {
      const size_t width = Width(row[i]);
      const std::string padding(width < widths[i] ? widths[i] - width : 0, ' ');
      if (i > 0) text += "  ";
      if (i + 2 < columns) text += padding;
      text += row[i];
      if (i + 2 == columns) text += padding;
    }
    text += "\n";
  }
  return text;
}

std::string JoinShort(const std::vector<std::string>& parts, size_t width) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && text.size() + parts[i].size() > width)
      return text + ", … " + std::to_string(parts.size() - i) + " more";
    text += (i == 0 ? "" : ", ") + parts[i];
  }
  return text;
}

}  // namespace deuteron::report
