/// \file
/// Finds logical lines.
#include <algorithm>
#include <array>

#include "deuteron/script/lexer.h"

namespace deuteron::script {
namespace {

/// Characters at which the scan must stop and think.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  for (const char c : {'\n', '"', '\'', '#', '(', ')', '[', ']', '{', '}', '\\'})
    stops[static_cast<unsigned char>(c)] = true;
  return stops;
}();

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Line> Run() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    while (at_ < text_.size()) {
      const size_t column = Indentation();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '#') {
        SkipComment();
      } else if (text_[at_] != '\n') {
        LogicalLine(column);
      }
      if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    }
    return std::move(lines_);
  }

 private:
  size_t Indentation() {
    size_t column = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') {
        ++column;
      } else if (c == '\t') {
        column = (column / 8 + 1) * 8;
      } else if (c == '\f') {
        column = 0;
      } else if (c != '\r') {
        break;
      }
    }
    return column;
  }

  void SkipComment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  /// To behind a string; to the end of the line if it has no end there.
  void SkipString() {
    const char quote = text_[at_];
    const bool triple = at_ + 2 < text_.size() && text_[at_ + 1] == quote && text_[at_ + 2] == quote;
    at_ += triple ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == '\n' && !triple) {
        return;
      } else if (c == quote && (!triple || text_.substr(at_, 3) == std::string_view(triple_quotes(quote), 3))) {
        at_ += triple ? 3 : 1;
        return;
      }
    }
    at_ = text_.size();
  }
  static const char* triple_quotes(char quote) { return quote == '"' ? "\"\"\"" : "'''"; }

  /// Whether a line that begins so cannot continue an expression.
  bool BeginsStatement() const {
    const std::string_view rest = text_.substr(at_, 8);
    if (rest.size() > 1 && rest[0] == '@' && rest[1] >= 'A' && rest[1] <= 'z') return true;
    for (const std::string_view word : {"def ", "class ", "return ", "with ", "while ", "import ", "from "}) {
      if (rest.substr(0, word.size()) == word) return true;
    }
    return false;
  }

  void LogicalLine(size_t column) {
    const size_t begin = at_;
    int64_t nesting = 0;
    // Where the line ends if its brackets do not close: before the first continuation that is not indented further.
    size_t early_end = std::string_view::npos;
    while (true) {
      while (at_ < text_.size() && !kStops[static_cast<unsigned char>(text_[at_])]) ++at_;
      if (at_ >= text_.size()) break;
      switch (text_[at_]) {
        case '(':
        case '[':
        case '{':
          ++nesting, ++at_;
          break;
        case ')':
        case ']':
        case '}':
          nesting = std::max<int64_t>(nesting - 1, 0), ++at_;
          break;
        case '"':
        case '\'':
          SkipString();
          break;
        case '#':
          SkipComment();
          break;
        case '\\': {
          const size_t next = at_ + 1 < text_.size() && text_[at_ + 1] == '\r' ? at_ + 2 : at_ + 1;
          at_ = next < text_.size() && text_[next] == '\n' ? next + 1 : at_ + 1;
          break;
        }
        default: {
          if (nesting == 0) return Add(begin, at_, column);
          const size_t newline = at_++;
          const size_t indentation = Indentation();
          if (at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '#') break;
          const bool closes = text_[at_] == ')' || text_[at_] == ']' || text_[at_] == '}';
          if (early_end == std::string_view::npos && indentation <= column && !closes) early_end = newline;
          if (BeginsStatement()) {
            nesting = 1;
            if (early_end == std::string_view::npos) early_end = newline;
            at_ = text_.size();
          }
        }
      }
    }
    // Going back is bounded: after so many errors nobody reads on.
    if (nesting > 0 && early_end != std::string_view::npos && ++restarts_ <= Diagnostics::kLimit) at_ = early_end;
    Add(begin, at_, column);
  }

  void Add(size_t begin, size_t end, size_t column) { lines_.push_back({begin, end, column}); }

  std::string_view text_;
  size_t at_ = 0;
  size_t restarts_ = 0;
  std::vector<Line> lines_;
};

}  // namespace

std::vector<Line> SplitLines(const SourceText& source) { return Splitter(source.text()).Run(); }

}  // namespace deuteron::script
