/// \file
/// Lines and tokens of Python.
///
/// A text is split into logical lines first, which is cheap and says where suites end; a line is cut into tokens when
/// it is read. Memory is linear in the number of lines, and an error spoils no more than its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/script/diagnostics.h"

namespace deuteron::script {

/// A logical line: brackets and backslashes join lines, comments and blank lines are none.
struct Line {
  size_t begin;
  /// Exclusive; the newline is outside.
  size_t end;
  /// Its indentation; tabs go to the next multiple of 8.
  size_t column;
};

/// The logical lines of a text. A line whose brackets are never closed ends where its statement seems to.
std::vector<Line> SplitLines(const SourceText& source);

enum class TokenKind : uint8_t { kName, kInt, kFloat, kString, kOp, kNewline, kEnd };

/// `at` is an offset into the text. A kNewline spans the `at "…"` of the comment that ends its line, if it has one.
struct Token {
  size_t at;
  uint32_t size;
  TokenKind kind;
};

/// Appends the tokens of `text[begin, end)` to `out`; the last is a kNewline, or inside of a string (`in_string`) a
/// kEnd.
void Tokenize(const SourceText& source, size_t begin, size_t end, bool in_string, std::vector<Token>* out);

/// The value of a string token, quotes included: escapes resolved.
std::string StringValue(const SourceText& source, const Token& token);
/// The characters of a string token between its quotes, as they stand.
Token StringContents(const SourceText& source, const Token& token);

}  // namespace deuteron::script
