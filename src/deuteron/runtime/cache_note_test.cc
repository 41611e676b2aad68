#include "deuteron/runtime/cache_note.h"

#include <gtest/gtest.h>

namespace deuteron {
namespace {

/// With the checksum of what it says.
std::string Sealed(const std::string& text) { return text + ChecksumText(text) + "\n"; }

TEST(CacheNote, KeepsPathsOfAnyBytes) {
  std::string path;
  for (int byte = 1; byte < 256; ++byte) path += static_cast<char>(byte);
  const CacheNote note = {.key = "k", .files = {{path, 1, UINT64_MAX, 3, -4, INT64_MIN}, {}}};
  EXPECT_EQ(ParseNote(TextOfNote(note)), note);
}

TEST(CacheNote, RefusesOtherTexts) {
  const CacheNote note = {.key = "key", .files = {{"a", 1, 2, 3, -4, 5}}};
  const std::string line = "1 2 3 -4 5 1:a\n";
  ASSERT_EQ(TextOfNote(note), Sealed("3:key\n" + line));
  for (const std::string bad : {"", "3:key", "4:key\n", "2:key\n", "18446744073709551615:key\n", "-3:key\n", "key\n"}) {
    EXPECT_FALSE(ParseNote(Sealed(bad)).has_value()) << bad;
  }
  for (const std::string bad : {"1 2 3 -4 5 a\n", "1 2 3 -4 5 2:a\n", "1 2 3 -4 1:a\n", "-1 2 3 -4 5 1:a\n",
                                "1 2 3 -4 5 1:a", "1 2 1e3 -4 5 1:a\n", "1 2 3 -4 9223372036854775808 1:a\n", "\n"}) {
    EXPECT_FALSE(ParseNote(Sealed("3:key\n" + line + bad)).has_value()) << bad;
  }
  std::string damaged = TextOfNote(note);
  for (char& c : damaged) {
    const char before = c;
    c = static_cast<char>(c ^ 1);
    EXPECT_FALSE(ParseNote(damaged).has_value());
    c = before;
  }
}

}  // namespace
}  // namespace deuteron
