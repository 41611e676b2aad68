#include "deuteron/script/lexer.h"

#include <algorithm>
#include <limits>

#include "deuteron/support/error.h"

namespace deuteron::script {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

class Lexer {
 public:
  Lexer(const SourceText& source, size_t begin, size_t end, bool one_line)
      : source_(source), text_(source.text().substr(0, end)), at_(begin), one_line_(one_line) {}

  std::vector<Token> Run() {
    if (!one_line_ && text_.substr(at_, 3) == "\xEF\xBB\xBF") at_ += 3;
    tokens_.reserve((text_.size() - at_) / 4);
    bool line_start = !one_line_;
    while (true) {
      if (line_start && !StartLine()) break;
      line_start = false;
      SkipBlanks();
      if (at_ >= text_.size()) break;
      const char c = text_[at_];
      if (c == '#') {
        Comment();
      } else if (c == '\n') {
        if (nesting_ == 0 && !one_line_) {
          Newline();
          line_start = true;
        }
        ++at_;
      } else if (c == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r')) {
        at_ += text_[at_ + 1] == '\r' ? 3 : 2;
      } else {
        Ordinary(c);
      }
    }
    if (!one_line_) {
      if (!tokens_.empty() && tokens_.back().kind != TokenKind::kNewline) Newline();
      for (; indents_.size() > 1; indents_.pop_back()) Add(TokenKind::kDedent, text_.size(), 0);
    }
    Add(TokenKind::kEnd, text_.size(), 0);
    return std::move(tokens_);
  }

 private:
  void Add(TokenKind kind, size_t at, size_t size) {
    if (size > std::numeric_limits<uint32_t>::max()) source_.Fail(at, "a token of more than 4 GiB");
    tokens_.push_back({kind, static_cast<uint32_t>(size), at});
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\f')) {
      ++at_;
    }
  }

  /// Skips empty lines, then compares the indentation; false at the end.
  bool StartLine() {
    while (true) {
      const size_t begin = at_;
      size_t column = 0;
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
        column = text_[at_] == '\t' ? (column / 8 + 1) * 8 : column + 1;
        ++at_;
      }
      if (at_ < text_.size() && text_[at_] == '\r') ++at_;
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '\n') {
        ++at_;
        continue;
      }
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (column > indents_.back()) {
        if (indents_.size() > 1000) source_.Fail(at_, "blocks are nested more than 1000 levels deep");
        indents_.push_back(column);
        Add(TokenKind::kIndent, begin, 0);
      }
      while (column < indents_.back()) {
        indents_.pop_back();
        Add(TokenKind::kDedent, at_, 0);
      }
      if (column != indents_.back()) source_.Fail(at_, "this indentation matches no outer level");
      return true;
    }
  }

  void Comment() {
    const size_t begin = at_;
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (text_.substr(begin, 6) == "# at \"") {
      comment_ = begin + 5;
      comment_size_ = at_ - comment_;
    }
  }

  void Newline() {
    if (comment_size_ > 0) {
      Add(TokenKind::kNewline, comment_, comment_size_);
    } else {
      Add(TokenKind::kNewline, at_, 0);
    }
    comment_size_ = 0;
  }

  void Ordinary(char c) {
    const size_t begin = at_;
    if (IsNameStart(c)) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && at_ - begin <= 2) {
        source_.Fail(begin, "strings with a prefix are not part of the textual IR");
      }
      Add(TokenKind::kName, begin, at_ - begin);
    } else if (IsDigit(c) || (c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]))) {
      Number();
    } else if (c == '"' || c == '\'') {
      String(c);
    } else {
      Operator(c);
    }
  }

  void Number() {
    const size_t begin = at_;
    bool is_float = false;
    if (text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] == 'x' || text_[at_ + 1] == 'X')) {
      at_ += 2;
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    } else {
      while (at_ < text_.size() && (IsDigit(text_[at_]) || text_[at_] == '_' || text_[at_] == '.' || text_[at_] == 'e' ||
                                    text_[at_] == 'E' ||
                                    ((text_[at_] == '+' || text_[at_] == '-') &&
                                     (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))) {
        is_float |= text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E';
        ++at_;
      }
      if (at_ < text_.size() && IsNameStart(text_[at_])) source_.Fail(begin, "not a number");
    }
    Add(is_float ? TokenKind::kFloat : TokenKind::kInt, begin, at_ - begin);
  }

  void String(char quote) {
    const size_t begin = at_;
    const bool triple = text_.substr(at_, 3) == std::string(3, quote);
    at_ += triple ? 3 : 1;
    while (true) {
      if (at_ >= text_.size()) source_.Fail(begin, "this string has no end");
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
      } else if (c == quote && (!triple || text_.substr(at_, 3) == std::string(3, quote))) {
        at_ += triple ? 3 : 1;
        break;
      } else if (c == '\n' && !triple) {
        source_.Fail(begin, "this string does not end on its line");
      } else {
        ++at_;
      }
    }
    Add(TokenKind::kString, begin, at_ - begin);
  }

  void Operator(char c) {
    static constexpr std::string_view kLong[] = {"**=", "//=", ">>=", "<<=", "...", "->", "**", "//", "<<", ">>", "<=",
                                                 ">=",  "==",  "!=",  "+=",  "-=",  "*=", "/=", ":="};
    if (c == '(' || c == '[' || c == '{') ++nesting_;
    if ((c == ')' || c == ']' || c == '}') && nesting_ > 0) --nesting_;
    for (const std::string_view op : kLong) {
      if (text_.substr(at_, op.size()) == op) {
        Add(TokenKind::kOp, at_, op.size());
        at_ += op.size();
        return;
      }
    }
    if (std::string_view("()[]{},:.;@=+-*/%<>&|^~").find(c) == std::string_view::npos) {
      source_.Fail(at_, "this character has no meaning here");
    }
    Add(TokenKind::kOp, at_++, 1);
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_;
  bool one_line_;
  int64_t nesting_ = 0;
  size_t comment_ = 0;
  size_t comment_size_ = 0;
  std::vector<size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

void SourceText::Fail(size_t offset, const std::string& message, bool unsupported) const {
  offset = std::min(offset, text_.size());
  const auto line_number = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  const size_t before = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string line(text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin));
  const size_t column = offset - begin;
  // A window of a very long line.
  size_t caret = column;
  if (line.size() > 160) {
    const size_t from = column > 80 ? column - 80 : 0;
    line = line.substr(from, 160);
    caret = column - from;
  }
  std::string text = filename_ + ":" + std::to_string(line_number) + ":" + std::to_string(column + 1) +
                     ": error: " + message + "\n    " + line + "\n    " + std::string(std::min(caret, line.size()), ' ') + "^";
  if (unsupported) DEUTERON_THROW(UnsupportedError) << text;
  DEUTERON_THROW(ModelError) << text;
}

std::vector<Token> Tokenize(const SourceText& source, size_t begin, size_t end, bool one_line) {
  return Lexer(source, begin, end, one_line).Run();
}

Token StringContents(const SourceText& source, const Token& token) {
  const std::string_view text = source.text().substr(token.at, token.size);
  const uint32_t quotes = text.size() >= 6 && text[0] == text[1] && text[1] == text[2] ? 3 : 1;
  return {token.kind, token.size - 2 * quotes, token.at + quotes};
}

std::string StringValue(const SourceText& source, const Token& token) {
  const Token contents = StringContents(source, token);
  const std::string_view raw = source.text().substr(contents.at, contents.size);
  std::string value;
  value.reserve(raw.size());
  const auto hex = [&](size_t from, size_t count) {
    uint32_t code = 0;
    for (size_t i = from; i < from + count; ++i) {
      const char c = i < raw.size() ? raw[i] : '?';
      const int digit = IsDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) source.Fail(contents.at + from, "expected " + std::to_string(count) + " hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return code;
  };
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      value.push_back(raw[i]);
      continue;
    }
    switch (raw[++i]) {
      case 'n': value.push_back('\n'); break;
      case 't': value.push_back('\t'); break;
      case 'r': value.push_back('\r'); break;
      case '0': value.push_back('\0'); break;
      case '\n': break;
      case 'x':
        value.push_back(static_cast<char>(hex(i + 1, 2)));
        i += 2;
        break;
      case 'u': {
        const uint32_t code = hex(i + 1, 4);
        i += 4;
        if (code < 0x80) {
          value.push_back(static_cast<char>(code));
        } else if (code < 0x800) {
          value.push_back(static_cast<char>(0xC0 | code >> 6));
          value.push_back(static_cast<char>(0x80 | (code & 63)));
        } else {
          value.push_back(static_cast<char>(0xE0 | code >> 12));
          value.push_back(static_cast<char>(0x80 | (code >> 6 & 63)));
          value.push_back(static_cast<char>(0x80 | (code & 63)));
        }
        break;
      }
      default: value.push_back(raw[i]);  // \\ \" \'
    }
  }
  return value;
}

}  // namespace deuteron::script
