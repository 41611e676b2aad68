#include "deuteron/script/lexer.h"

#include <gtest/gtest.h>

#include "deuteron/support/error.h"

namespace deuteron::script {
namespace {

/// One letter a token: n(ame) i(nt) f(loat) s(tring) o(perator) N(ewline) > (indent) < (dedent).
std::string Kinds(std::string_view text) {
  const SourceText source(text, "t.py");
  std::string kinds;
  for (const Token& token : Tokenize(source, 0, text.size())) kinds.push_back("nifsoN><E"[static_cast<int>(token.kind)]);
  return kinds;
}

std::string ErrorOf(std::string_view text) {
  try {
    Kinds(text);
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.message());
  }
  return "";
}

TEST(Lexer, IndentationAndComments) {
  EXPECT_EQ(Kinds("a:\n    b = 1  # c\n\n# d\n    if x:\n\tpass\ne\n"), "noN>noiNnnoN>nN<<nNE");
}

TEST(Lexer, BracketsJoinLines) { EXPECT_EQ(Kinds("f(1,\n   2.5,\n)\n"), "noiofooNE"); }

TEST(Lexer, NumbersAndStrings) {
  EXPECT_EQ(Kinds("0x1F 1_000 1e-05 .5 'a\"b' \"\"\"x\ny\"\"\" a //= b"), "iiffssnonNE");
}

TEST(Lexer, ValueOfString) {
  const std::string text = R"("a\n\"\x41\u00e9\\")";
  const SourceText source(text, "t.py");
  EXPECT_EQ(StringValue(source, Tokenize(source, 0, text.size())[0]), "a\n\"A\xC3\xA9\\");
}

TEST(Lexer, Errors) {
  EXPECT_EQ(ErrorOf("a\n  b = \"x\n"), "t.py:2:7: error: this string does not end on its line\n      b = \"x\n          ^");
  EXPECT_EQ(ErrorOf("if x:\n        a\n    b\n").substr(0, 20), "t.py:3:5: error: thi");
  EXPECT_EQ(ErrorOf("a = ?").substr(0, 16), "t.py:1:5: error:");
}

}  // namespace
}  // namespace deuteron::script
