#include "deuteron/support/number_text.h"

#include <clocale>
#include <cstdio>
#include <cstdlib>

namespace deuteron {
namespace {

locale_t PlainLocale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return plain;
}

}  // namespace

std::string NumberText(double value, const char* format) {
  const locale_t before = uselocale(PlainLocale());
  char few[64];
  const auto length = static_cast<size_t>(std::snprintf(few, sizeof(few), format, value));
  std::string text(few, length < sizeof(few) ? length : 0);
  if (text.empty()) {
    text.resize(length + 1);
    std::snprintf(text.data(), text.size(), format, value);
    text.pop_back();
  }
  uselocale(before);
  return text;
}

double NumberOf(const std::string& text) { return strtod_l(text.c_str(), nullptr, PlainLocale()); }

}  // namespace deuteron
