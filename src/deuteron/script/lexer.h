/// \file
/// Tokens of Python, with indentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron::script {

/// A text with its name, for messages.
class SourceText {
 public:
  SourceText(std::string_view text, std::string filename) : text_(text), filename_(std::move(filename)) {}
  std::string_view text() const { return text_; }
  const std::string& filename() const { return filename_; }
  /// Throws `file:line:column: error: message`, the line and a caret, as a ModelError or an UnsupportedError.
  [[noreturn]] void Fail(size_t offset, const std::string& message, bool unsupported = false) const;

 private:
  std::string_view text_;
  std::string filename_;
};

enum class TokenKind : uint8_t { kName, kInt, kFloat, kString, kOp, kNewline, kIndent, kDedent, kEnd };

/// `at` is an offset into the text. A kNewline spans the `at "…"` of the comment that ends its line, if it has one.
struct Token {
  TokenKind kind;
  uint32_t size;
  size_t at;
};

/// The tokens of `text[begin, end)`. Inside of a string (`one_line`) there is no indentation.
std::vector<Token> Tokenize(const SourceText& source, size_t begin, size_t end, bool one_line = false);

/// The value of a string token, quotes included: escapes resolved.
std::string StringValue(const SourceText& source, const Token& token);
/// The characters of a string token between its quotes, as they stand.
Token StringContents(const SourceText& source, const Token& token);

}  // namespace deuteron::script
