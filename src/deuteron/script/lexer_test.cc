#include "deuteron/script/lexer.h"

#include <gtest/gtest.h>

namespace deuteron::script {
namespace {

/// The logical lines, each as its indentation and one letter a token: n(ame) i(nt) f(loat) s(tring) o(perator)
/// N(ewline).
std::string Kinds(std::string_view text) {
  const SourceText source(text, "t.py");
  std::string kinds;
  for (const Line& line : SplitLines(source)) {
    std::vector<Token> tokens;
    Tokenize(source, line.begin, line.end, /*in_string=*/false, &tokens);
    if (!kinds.empty()) kinds += " ";
    kinds += std::to_string(line.column);
    for (const Token& token : tokens) kinds.push_back("nifsoNE"[static_cast<int>(token.kind)]);
  }
  return kinds;
}

std::string LexicalErrorOf(std::string_view text) {
  try {
    Kinds(text);
  } catch (const TextError& error) {
    return std::string(error.message());
  }
  return "";
}

std::string Value(std::string_view literal) {
  const SourceText source(literal, "t.py");
  std::vector<Token> tokens;
  Tokenize(source, 0, literal.size(), /*in_string=*/false, &tokens);
  return StringValue(source, tokens[0]);
}

TEST(Lexer, IndentationAndComments) {
  EXPECT_EQ(Kinds("a:\n    b = 1  # c\n\n# d\n    if x:\n\tpass\ne\n"), "0noN 4noiN 4nnoN 8nN 0nN");
}

TEST(Lexer, BracketsJoinLines) {
  EXPECT_EQ(Kinds("f(1,\n# c\n   2.5,\n)\ng\n"), "0noiofooN 0nN");
  EXPECT_EQ(Kinds("a = \\\n  1\nb"), "0noiN 0nN");
}

TEST(Lexer, NumbersAndStrings) {
  EXPECT_EQ(Kinds("0x1F 1_000 1e-05 .5 'a\"b' \"\"\"x\ny\"\"\" a //= b"), "0iiffssnonN");
  EXPECT_EQ(Kinds("'(' \"\\\"(\" # (\na"), "0ssN 0nN");
}

TEST(Lexer, ABracketThatIsNeverClosedSpoilsOneStatement) {
  const SourceText source("def f():\n    a = g(1, (2)\n    b = 1\n    return b\n", "t.py");
  EXPECT_EQ(SplitLines(source).size(), 4U);
  EXPECT_EQ(LexicalErrorOf(source.text()),
            "t.py:2:10: error: this `(` is never closed\n        a = g(1, (2)\n             ^");
  // Continuations that are not indented are Python all the same.
  EXPECT_EQ(Kinds("    a = f(1,\n2,\n    3)\n    b"), "4nonoioioioN 4nN");
}

TEST(Lexer, ValueOfString) {
  EXPECT_EQ(Value(R"("a\n\"\x41\u00e9\\")"), "a\n\"A\xC3\xA9\\");
  // Bytes of UTF-8, as TVM writes them, and characters, as Python does.
  EXPECT_EQ(Value(R"("\xC3\xA9")"), "\xC3\xA9");
  EXPECT_EQ(Value(R"("\xe9\U0001F600\101\q")"),
            "\xC3\xA9\xF0\x9F\x98\x80"
            "A\\q");
  // Bytes that are none, as Python's surrogateescape writes them.
  EXPECT_EQ(Value(R"("\udcffa\x01\u00e9\udc80")"),
            "\xFF"
            "a\x01\xC3\xA9\x80");
  EXPECT_EQ(Value("'''a'b\n'''"), "a'b\n");
}

TEST(Lexer, Errors) {
  EXPECT_EQ(LexicalErrorOf("a\n  b = \"x\n"),
            "t.py:2:7: error: this string does not end on its line\n      b = \"x\n          ^");
  EXPECT_EQ(LexicalErrorOf("é = ?").substr(0, 16), "t.py:1:5: error:");
  EXPECT_EQ(LexicalErrorOf("a = \"\"\"b\nc"), "t.py:1:5: error: this string has no end\n    a = \"\"\"b\n        ^");
}

TEST(Lexer, FindsBadUtf8) {
  EXPECT_EQ(FindInvalidUtf8("a\xC3\xA9 12345678 \xF0\x9F\x98\x80"), std::string_view::npos);
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(FindInvalidUtf8(std::string("123456789") + bad), 9U) << bad;
  }
}

}  // namespace
}  // namespace deuteron::script
