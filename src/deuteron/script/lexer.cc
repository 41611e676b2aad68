#include "deuteron/script/lexer.h"

#include <algorithm>
#include <array>
#include <limits>

namespace deuteron::script {
namespace {

enum Class : uint8_t { kOther, kBlank, kNameStart, kDigit, kQuote, kOperator };

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80) classes[c] = kNameStart;
    if (c >= '0' && c <= '9') classes[c] = kDigit;
  }
  for (const char c : {' ', '\t', '\r', '\f', '\n'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (const char c : {'"', '\''}) classes[static_cast<unsigned char>(c)] = kQuote;
  for (const char c : std::string_view("()[]{},:.;@=+-*/%<>&|^~!")) classes[static_cast<unsigned char>(c)] = kOperator;
  return classes;
}();

Class ClassOf(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool IsDigit(char c) { return ClassOf(c) == kDigit; }
bool IsNamePart(char c) { return ClassOf(c) == kNameStart || IsDigit(c); }

class Lexer {
 public:
  Lexer(const SourceText& source, size_t begin, size_t end, bool in_string, std::vector<Token>* out)
      : source_(source), text_(source.text().substr(0, end)), at_(begin), in_string_(in_string), out_(out) {}

  void Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      switch (ClassOf(c)) {
        case kBlank:
          ++at_;
          break;
        case kNameStart:
          Name();
          break;
        case kDigit:
          Number();
          break;
        case kQuote:
          String(c);
          break;
        case kOperator:
          Operator(c);
          break;
        case kOther:
          Rare(c);
      }
    }
    if (!open_.empty()) source_.Fail(open_.back(), std::string("this `") + text_[open_.back()] + "` is never closed");
    if (in_string_) return Add(TokenKind::kEnd, text_.size(), 0);
    Add(TokenKind::kNewline, comment_size_ > 0 ? comment_ : text_.size(), comment_size_);
  }

 private:
  char Peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void Add(TokenKind kind, size_t at, size_t size) {
    if (size > std::numeric_limits<uint32_t>::max()) source_.Fail(at, "a token of more than 4 GiB");
    out_->push_back({at, static_cast<uint32_t>(size), kind});
  }

  void Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    if (at_ < text_.size() && ClassOf(text_[at_]) == kQuote && at_ - begin <= 2) {
      source_.Fail(begin, "strings with a prefix are not part of the textual IR");
    }
    Add(TokenKind::kName, begin, at_ - begin);
  }

  void Number() {
    const size_t begin = at_;
    bool is_float = false;
    const char second = Peek(1);
    if (text_[at_] == '0' &&
        (second == 'x' || second == 'X' || second == 'b' || second == 'B' || second == 'o' || second == 'O')) {
      at_ += 2;
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    } else {
      for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (IsDigit(c) || c == '_') continue;
        const bool is_exponent = c == 'e' || c == 'E';
        const bool is_sign = (c == '+' || c == '-') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
        if (c != '.' && !is_exponent && !is_sign) break;
        is_float = true;
      }
      if (at_ < text_.size() && ClassOf(text_[at_]) == kNameStart) source_.Fail(begin, "not a number");
    }
    Add(is_float ? TokenKind::kFloat : TokenKind::kInt, begin, at_ - begin);
  }

  void String(char quote) {
    const size_t begin = at_;
    const bool triple = Peek(1) == quote && Peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (true) {
      if (at_ >= text_.size()) {
        source_.Fail(begin, triple || in_string_ ? "this string has no end" : "this string does not end on its line");
      }
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
      } else if (c == '\n' && !triple) {
        source_.Fail(begin, "this string does not end on its line");
      } else if (c == quote && (!triple || (Peek(1) == quote && Peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        break;
      } else {
        ++at_;
      }
    }
    Add(TokenKind::kString, begin, at_ - begin);
  }

  void Operator(char c) {
    static constexpr std::string_view kLong[] = {"**=", "//=", ">>=", "<<=", "...", "->", "**", "//",
                                                 "<<",  ">>",  "<=",  ">=",  "==",  "!=", "+=", "-=",
                                                 "*=",  "/=",  ":=",  "%=",  "&=",  "|=", "^="};
    const size_t begin = at_;
    switch (c) {
      case '(':
      case '[':
      case '{':
        open_.push_back(at_);
        break;
      case ')':
      case ']':
      case '}':
        if (!open_.empty()) open_.pop_back();
        break;
      case ',':
        break;
      case '.':
        if (IsDigit(Peek(1))) return Number();
        [[fallthrough]];
      default: {
        const char next = Peek(1);
        if (next != '=' && next != c && next != '>') break;
        for (const std::string_view op : kLong) {
          if (text_.compare(at_, op.size(), op) != 0) continue;
          at_ += op.size();
          return Add(TokenKind::kOp, begin, op.size());
        }
        if (c == '!') source_.Fail(at_, "this character has no meaning here");
      }
    }
    if (c == '!') source_.Fail(at_, "this character has no meaning here");
    ++at_;
    Add(TokenKind::kOp, begin, 1);
  }

  void Rare(char c) {
    if (c == '#') {
      const size_t begin = at_;
      at_ = std::min(text_.find('\n', at_), text_.size());
      if (text_.substr(begin, 6) == "# at \"") {
        comment_ = begin + 5;
        comment_size_ = at_ - comment_;
      }
    } else if (c == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'))) {
      at_ += Peek(1) == '\r' ? 3 : 2;
    } else {
      source_.Fail(at_, "this character has no meaning here");
    }
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_;
  bool in_string_;
  std::vector<Token>* out_;
  /// Where brackets were opened that are not closed.
  std::vector<size_t> open_;
  size_t comment_ = 0;
  size_t comment_size_ = 0;
};

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    out->push_back(static_cast<char>(0x80 | (code >> 12 & 63)));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  }
}

/// As Python's surrogateescape: a byte from 0x80 on that is none of UTF-8.
constexpr uint32_t kFirstByte = 0xDC80;

/// Resolves the escapes of one string.
class Unescape {
 public:
  Unescape(const SourceText& source, const Token& contents, bool bytes)
      : source_(source), begin_(contents.at), raw_(source.text().substr(contents.at, contents.size)), bytes_(bytes) {}

  std::string Run() {
    std::string value;
    value.reserve(raw_.size());
    for (size_t i = 0; i < raw_.size(); ++i) {
      if (raw_[i] != '\\' || i + 1 >= raw_.size()) {
        value.push_back(raw_[i]);
        continue;
      }
      const char c = raw_[++i];
      switch (c) {
        case 'n':
          value.push_back('\n');
          break;
        case 't':
          value.push_back('\t');
          break;
        case 'r':
          value.push_back('\r');
          break;
        case 'a':
          value.push_back('\a');
          break;
        case 'b':
          value.push_back('\b');
          break;
        case 'f':
          value.push_back('\f');
          break;
        case 'v':
          value.push_back('\v');
          break;
        case '\n':
          break;
        case 'x': {
          const uint32_t code = Hex(i + 1, 2);
          i += 2;
          if (bytes_) {
            value.push_back(static_cast<char>(code));
          } else {
            AppendUtf8(code, &value);
          }
          break;
        }
        case 'u':
        case 'U': {
          const size_t digits = c == 'u' ? 4 : 8;
          const uint32_t code = Hex(i + 1, digits);
          if (code >= kFirstByte && code < kFirstByte + 0x80) {
            i += digits;
            value.push_back(static_cast<char>(code & 0xFF));
            break;
          }
          if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
            source_.Fail(begin_ + i - 1, "there is no such character");
          i += digits;
          AppendUtf8(code, &value);
          break;
        }
        case '\\':
        case '\'':
        case '"':
          value.push_back(c);
          break;
        default:
          if (c >= '0' && c <= '7') {
            uint32_t code = 0;
            size_t end = i;
            for (; end < raw_.size() && end < i + 3 && raw_[end] >= '0' && raw_[end] <= '7'; ++end) {
              code = code * 8 + static_cast<uint32_t>(raw_[end] - '0');
            }
            i = end - 1;
            AppendUtf8(code, &value);
          } else {
            // As in Python: no escape.
            value.push_back('\\');
            value.push_back(c);
          }
      }
    }
    return value;
  }

 private:
  uint32_t Hex(size_t from, size_t count) const {
    uint32_t code = 0;
    for (size_t i = from; i < from + count; ++i) {
      const char c = i < raw_.size() ? raw_[i] : '?';
      const int digit = IsDigit(c)             ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) source_.Fail(begin_ + from, "expected " + std::to_string(count) + " hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return code;
  }

  const SourceText& source_;
  size_t begin_;
  std::string_view raw_;
  bool bytes_;
};

}  // namespace

void Tokenize(const SourceText& source, size_t begin, size_t end, bool in_string, std::vector<Token>* out) {
  Lexer(source, begin, end, in_string, out).Run();
}

Token StringContents(const SourceText& source, const Token& token) {
  const std::string_view text = source.text().substr(token.at, token.size);
  const uint32_t quotes = text.size() >= 6 && text[0] == text[1] && text[1] == text[2] ? 3 : 1;
  return {token.at + quotes, token.size - 2 * quotes, token.kind};
}

std::string StringValue(const SourceText& source, const Token& token) {
  const Token contents = StringContents(source, token);
  const std::string_view raw = source.text().substr(contents.at, contents.size);
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  // TVM writes the bytes of UTF-8 as \xNN, Python's own strings have characters so.
  std::string value = Unescape(source, contents, /*bytes=*/true).Run();
  if (FindInvalidUtf8(value) != std::string_view::npos) value = Unescape(source, contents, /*bytes=*/false).Run();
  return value;
}

}  // namespace deuteron::script
