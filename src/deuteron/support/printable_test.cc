#include "deuteron/support/printable.h"

#include <gtest/gtest.h>

namespace deuteron {
namespace {

TEST(Printable, WritesOutWhatATerminalObeys) {
  EXPECT_EQ(Printable("linear.weight"), "linear.weight");
  EXPECT_EQ(Printable("a\x1b[2J\r\nb\x7f"), "a\\x1b[2J\\x0d\\x0ab\\x7f");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J");
}

TEST(Printable, LeavesOtherCharactersAlone) {
  EXPECT_EQ(Printable("größe … 层"), "größe … 层");
  // U+00A0 is no control character; what is no UTF-8 is nobody's command.
  EXPECT_EQ(Printable("\xc2\xa0\xff\xc2"), "\xc2\xa0\xff\xc2");
}

TEST(Printable, KeepsLinesOfMessagesApart) { EXPECT_EQ(PrintableLines("first\n\tsecond\x1b"), "first\n\tsecond\\x1b"); }

}  // namespace
}  // namespace deuteron
