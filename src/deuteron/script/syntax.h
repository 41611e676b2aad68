/// \file
/// Expressions of Python as trees, before they mean anything.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/script/lexer.h"

namespace deuteron::script {

enum class SyntaxKind : uint8_t {
  kName, kInt, kFloat, kString, kBool, kNone, kTuple, kList, kDict, kUnary, kBinary, kAttribute, kCall, kSubscript,
  kSlice, kLambda,
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::kNone;
  size_t at = 0;
  /// Nesting below, bounded.
  int height = 0;
  /// kName, kAttribute: the name; kUnary, kBinary: the operator ("not", "and", "+", …); kString: unused.
  std::string_view text;
  /// kString: its token.
  Token token{};
  /// kInt: two's complement of the value; kBool.
  int64_t int_value = 0;
  double float_value = 0;
  /// kAttribute, kCall, kSubscript, kUnary: what it applies to. kLambda: its body.
  const Syntax* base = nullptr;
  /// Elements; arguments; operands; kDict: key, value, key, value, …; kSlice: start, stop, step (may be null);
  /// kLambda: parameters.
  std::vector<const Syntax*> items;
  std::vector<std::pair<std::string_view, const Syntax*>> keywords;

  bool Is(SyntaxKind k) const { return kind == k; }
  bool IsLiteral() const {
    return kind == SyntaxKind::kInt || kind == SyntaxKind::kFloat ||
           (kind == SyntaxKind::kUnary && text == "-" && (base->kind == SyntaxKind::kInt || base->kind == SyntaxKind::kFloat));
  }
  const Syntax* Keyword(std::string_view name) const {
    for (const auto& [key, value] : keywords) {
      if (key == name) return value;
    }
    return nullptr;
  }
};

/// The dotted name "R.nn.conv2d" in the text, or empty if `node` is no chain of names.
std::string DottedName(const Syntax& node);

/// Where in the tokens the parser stands, and parsing of expressions.
class TokenCursor {
 public:
  TokenCursor(const SourceText& source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}

  const SourceText& source() const { return source_; }
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }
  std::string_view TextOf(const Token& token) const { return source_.text().substr(token.at, token.size); }
  bool At(std::string_view text, size_t ahead = 0) const;
  bool AtKind(TokenKind kind) const { return Peek().kind == kind; }
  bool Accept(std::string_view text);
  void Expect(std::string_view text);
  Token Next() { return tokens_[position_ + 1 < tokens_.size() ? position_++ : position_]; }
  std::string_view ExpectName(const char* what);
  size_t position() const { return position_; }
  void Seek(size_t position) { position_ = position; }
  /// To after the end of the suite whose kIndent is the next token but for `:` and newline.
  void SkipSuite();
  void SkipLine();
  [[noreturn]] void Fail(const std::string& message) const { source_.Fail(Peek().at, message + ", found " + Found()); }

  /// One expression; `a, b` is a tuple where `allow_tuple`.
  const Syntax* Expression(bool allow_tuple = true);
  /// The expression in a string: `"n * 2"`.
  const Syntax* InString(const Token& string);
  /// Forgets the trees parsed so far.
  void Clear() { arena_.clear(); }

 private:
  std::string Found() const;
  Syntax* New(SyntaxKind kind, size_t at);
  const Syntax* Done(Syntax* node) const;
  const Syntax* Test();
  const Syntax* Binary(int level);
  const Syntax* Not();
  const Syntax* Unary();
  const Syntax* Postfix();
  const Syntax* Atom();
  const Syntax* Number(const Token& token);
  const Syntax* Subscript();
  void Arguments(Syntax* call);
  const Syntax* Lambda();

  const SourceText& source_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  int depth_ = 0;
  std::deque<Syntax> arena_;
};

}  // namespace deuteron::script
