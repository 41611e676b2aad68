/// \file
/// Where in a text the parser stands: lines and suites, the tokens of a line, and the expressions in it.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/script/syntax.h"
#include "deuteron/support/stack.h"

namespace deuteron::script {

/// Memory for the trees of one statement; none of it is given back before the end.
class SyntaxArena {
 public:
  Syntax* New();
  /// Copies of `values` that live as long as the nodes.
  template <typename T>
  std::span<const T> Copy(const T* values, size_t count) {
    if (count == 0) return {};
    T* copy = static_cast<T*>(Allocate(count * sizeof(T)));
    std::memcpy(static_cast<void*>(copy), values, count * sizeof(T));
    return {copy, count};
  }
  /// The nodes made so far become invalid.
  void Clear();

 private:
  void* Allocate(size_t bytes);

  struct Chunk {
    std::unique_ptr<char[]> data;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;
  size_t used_ = 0;
};

class Cursor {
 public:
  explicit Cursor(const SourceText& source) : source_(source), lines_(SplitLines(source)) {}

  // ----- Lines. The cursor stands in one, or behind the last.

  bool AtEnd() const { return line_ >= lines_.size(); }
  size_t line() const { return line_; }
  bool HasLine(size_t line) const { return line < lines_.size(); }
  const Line& LineAt(size_t line) const { return lines_[line]; }
  /// To the beginning of a line.
  void GoToLine(size_t line) {
    line_ = line;
    position_ = 0;
  }
  void NextLine() { GoToLine(line_ + 1); }
  /// Cuts the line into tokens, which are not to be asked for before.
  void Load();
  /// Trees made so far become invalid.
  void Clear() { arena_.Clear(); }
  /// Whether a statement begins here.
  bool AtLineStart() const { return position_ == 0; }
  /// Whether no line of the current suite follows. To be asked between statements.
  bool AtSuiteEnd() const { return AtLineStart() && (AtEnd() || lines_[line_].column < suite_column_); }
  /// Whether the line that begins here continues a statement of the current suite with `word`.
  bool AtClause(std::string_view word) const;
  /// The first line after `line` that is not indented further than it.
  size_t EndOfStatement(size_t line) const;
  size_t suite_column() const { return suite_column_; }
  void set_suite_column(size_t column) { suite_column_ = column; }

  // ----- Tokens of the line.

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }
  std::string_view TextOf(const Token& token) const { return {source_.text().data() + token.at, token.size}; }
  template <size_t N>
  bool Is(const Token& token, const char (&text)[N]) const {
    return token.size == N - 1 && token.kind <= TokenKind::kOp &&
           std::memcmp(source_.text().data() + token.at, text, N - 1) == 0;
  }
  template <size_t N>
  bool At(const char (&text)[N], size_t ahead = 0) const {
    return Is(Peek(ahead), text);
  }
  bool AtKind(TokenKind kind) const { return Peek().kind == kind; }
  template <size_t N>
  bool Accept(const char (&text)[N]) {
    if (!At(text)) return false;
    ++position_;
    return true;
  }
  template <size_t N>
  void Expect(const char (&text)[N]) {
    if (!Accept(text)) Fail(std::string("expected `") + text + "`");
  }
  Token Next() { return tokens_[position_ + 1 < tokens_.size() ? position_++ : position_]; }
  std::string_view ExpectName(const char* what);
  size_t position() const { return position_; }
  void Seek(size_t position) { position_ = position; }
  /// The text of the bracketed expression whose callee begins here, such as `R.Tensor((1, 2), "float32")`, with the
  /// position behind it; empty if there is none.
  std::string_view PeekCall(size_t* end) const;
  /// The comment token that ends the line.
  const Token& LineEnd() const { return tokens_.back(); }
  [[noreturn]] void Fail(const std::string& message) const { source_.Fail(Peek().at, message + ", found " + Found()); }

  // ----- Expressions.

  /// One expression; `a, b` is a tuple where `allow_tuple`.
  const Syntax* Expression(bool allow_tuple = true);
  /// How deep expressions may be nested.
  int max_depth() const { return max_depth_; }
  /// The expression in a string: `"n * 2"`.
  const Syntax* InString(const Token& string);

 private:
  std::string Found() const;
  Syntax* New(SyntaxKind kind, size_t at);
  const Syntax* Done(Syntax* node) const;
  /// Takes the nodes of `scratch_` from `mark` on.
  std::span<const Syntax* const> Items(size_t mark);
  void Deeper(size_t at);
  [[noreturn]] void FailTooDeep(size_t at) const;
  size_t LastEnd() const;
  const Syntax* Test();
  const Syntax* Binary(int level);
  const Syntax* Not();
  const Syntax* Unary();
  const Syntax* Postfix();
  const Syntax* Atom();
  const Syntax* Bracketed(SyntaxKind kind);
  const Syntax* Number(const Token& token);
  const Syntax* Subscript();
  void Arguments(Syntax* call);
  const Syntax* Lambda();
  std::string_view Dotted(const Syntax& base, const Token& name);

  const SourceText& source_;
  std::vector<Line> lines_;
  size_t line_ = 0;
  size_t suite_column_ = 0;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  int depth_ = 0;
  /// What is read here others walk by recursion, as the parser does.
  int max_depth_ = NestingLimit(StackSize());
  SyntaxArena arena_;
  std::vector<const Syntax*> scratch_;
  std::vector<Keyword> keywords_;
  /// Dotted names that do not stand in one piece in the text.
  std::deque<std::string> joined_;
};

}  // namespace deuteron::script
