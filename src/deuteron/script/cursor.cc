#include "deuteron/script/cursor.h"

#include <algorithm>
#include <charconv>

#include "deuteron/support/number_text.h"

namespace deuteron::script {
namespace {

constexpr int kOrLevel = 1;
constexpr int kAndLevel = 2;
constexpr int kNotLevel = 3;
constexpr int kComparisonLevel = 4;

/// How tightly a binary operator binds; 0 for what is none. Comparisons do not chain as in Python but to the left.
int LevelOf(const Token& token, std::string_view text) {
  if (token.kind == TokenKind::kName) return text == "and" ? kAndLevel : text == "or" ? kOrLevel : 0;
  if (token.kind != TokenKind::kOp) return 0;
  const char second = text.size() > 1 ? text[1] : '\0';
  if (text.size() > 2) return 0;
  switch (text[0]) {
    case '=':
    case '!':
      return second == '=' ? kComparisonLevel : 0;
    case '<':
    case '>':
      return second == text[0] ? 8 : kComparisonLevel;
    case '|':
      return second == '\0' ? 5 : 0;
    case '^':
      return second == '\0' ? 6 : 0;
    case '&':
      return second == '\0' ? 7 : 0;
    case '+':
    case '-':
      return second == '\0' ? 9 : 0;
    case '*':
    case '%':
    case '@':
      return second == '\0' ? 10 : 0;
    case '/':
      return second == '\0' || second == '/' ? 10 : 0;
    default:
      return 0;
  }
}

}  // namespace

Syntax* SyntaxArena::New() { return new (Allocate(sizeof(Syntax))) Syntax(); }

void SyntaxArena::Clear() {
  chunk_ = 0;
  used_ = 0;
}

void* SyntaxArena::Allocate(size_t bytes) {
  constexpr size_t kChunk = size_t{64} << 10;
  bytes = (bytes + 15) / 16 * 16;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    const size_t size = std::max(kChunk, bytes);
    chunks_.push_back({std::make_unique<char[]>(size), size});
    used_ = 0;
  }
  void* memory = chunks_[chunk_].data.get() + used_;
  used_ += bytes;
  return memory;
}

void Cursor::Load() {
  tokens_.clear();
  position_ = 0;
  depth_ = 0;
  scratch_.clear();
  keywords_.clear();
  try {
    if (AtEnd()) {
      tokens_.push_back({source_.text().size(), 0, TokenKind::kEnd});
    } else {
      Tokenize(source_, lines_[line_].begin, lines_[line_].end, /*in_string=*/false, &tokens_);
    }
  } catch (...) {
    tokens_ = {{lines_[line_].begin, 0, TokenKind::kNewline}};
    throw;
  }
}

bool Cursor::AtClause(std::string_view word) const {
  if (!AtLineStart() || AtEnd() || lines_[line_].column != suite_column_) return false;
  const std::string_view rest = source_.text().substr(lines_[line_].begin, word.size() + 1);
  return rest.substr(0, word.size()) == word &&
         (rest.size() == word.size() || std::string_view(" \t:(\\").find(rest.back()) != std::string_view::npos);
}

size_t Cursor::EndOfStatement(size_t line) const {
  const size_t column = lines_[line].column;
  for (++line; line < lines_.size() && lines_[line].column > column; ++line) {
  }
  return line;
}

std::string_view Cursor::ExpectName(const char* what) {
  if (!AtKind(TokenKind::kName)) Fail(std::string("expected ") + what);
  return TextOf(Next());
}

std::string Cursor::Found() const {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kEnd:
      return AtEnd() ? "the end of the text" : "the end of the string";
    case TokenKind::kName:
    case TokenKind::kInt:
    case TokenKind::kFloat:
    case TokenKind::kString:
    case TokenKind::kOp:
      break;
  }
  const std::string_view text = TextOf(token);
  size_t length = std::min<size_t>(text.size(), 40);
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return "`" + std::string(text.substr(0, length)) + (length < text.size() ? "…`" : "`");
}

std::string_view Cursor::PeekCall(size_t* end) const {
  size_t at = position_;
  while (tokens_[at].kind == TokenKind::kName && Is(tokens_[at + 1], ".")) at += 2;
  if (tokens_[at].kind != TokenKind::kName || !Is(tokens_[at + 1], "(")) return {};
  ++at;
  int64_t depth = 0;
  for (; at < tokens_.size(); ++at) {
    if (tokens_[at].kind != TokenKind::kOp || tokens_[at].size != 1) continue;
    const char c = source_.text()[tokens_[at].at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
  }
  if (at == tokens_.size()) return {};
  *end = at + 1;
  const size_t begin = Peek().at;
  return source_.text().substr(begin, tokens_[at].at + 1 - begin);
}

size_t Cursor::LastEnd() const {
  const Token& last = tokens_[position_ - 1];
  return last.at + last.size;
}

Syntax* Cursor::New(SyntaxKind kind, size_t at) {
  Syntax* node = arena_.New();
  node->kind = kind;
  node->at = at;
  return node;
}

const Syntax* Cursor::Done(Syntax* node) const {
  int height = node->base != nullptr ? node->base->height : 0;
  for (const Syntax* item : node->items) height = std::max(height, item == nullptr ? 0 : item->height);
  for (const auto& [key, value] : node->keywords) height = std::max(height, value->height);
  node->height = height + 1;
  node->end = LastEnd();
  if (node->height > max_depth_) FailTooDeep(node->at);
  return node;
}

std::span<const Syntax* const> Cursor::Items(size_t mark) {
  const auto items = arena_.Copy(scratch_.data() + mark, scratch_.size() - mark);
  scratch_.resize(mark);
  return items;
}

void Cursor::Deeper(size_t at) {
  if (++depth_ > max_depth_) FailTooDeep(at);
}

void Cursor::FailTooDeep(size_t at) const {
  source_.Fail(at, "an expression is nested more than " + std::to_string(max_depth_) +
                       " levels deep: bind parts of it to variables");
}

std::string_view Cursor::Dotted(const Syntax& base, const Token& name) {
  if (base.dotted.empty() || (!base.Is(SyntaxKind::kName) && !base.Is(SyntaxKind::kAttribute))) return {};
  // Usually nothing stands between the names and the dots.
  const char* begin = base.dotted.data();
  const char* end = source_.text().data() + name.at + name.size;
  if (begin + base.dotted.size() + 1 + name.size == end) return {begin, static_cast<size_t>(end - begin)};
  return joined_.emplace_back(std::string(base.dotted) + "." + std::string(TextOf(name)));
}

const Syntax* Cursor::Expression(bool allow_tuple) {
  const size_t at = Peek().at;
  const Syntax* first = Test();
  if (!allow_tuple || !At(",")) return first;
  const size_t mark = scratch_.size();
  scratch_.push_back(first);
  while (Accept(",")) {
    if (AtKind(TokenKind::kNewline) || AtKind(TokenKind::kEnd) || At("=") || At(")") || At("]")) break;
    scratch_.push_back(Test());
  }
  Syntax* tuple = New(SyntaxKind::kTuple, at);
  tuple->items = Items(mark);
  return Done(tuple);
}

const Syntax* Cursor::Test() {
  if (At("lambda")) return Lambda();
  const Syntax* value = Binary(kOrLevel);
  if (!At("if")) return value;
  Syntax* node = New(SyntaxKind::kConditional, value->at);
  Next();
  Deeper(node->at);
  const Syntax* condition = Binary(kOrLevel);
  Expect("else");
  const Syntax* otherwise = Test();
  --depth_;
  const Syntax* items[] = {condition, value, otherwise};
  node->items = arena_.Copy(items, 3);
  return Done(node);
}

const Syntax* Cursor::Lambda() {
  Syntax* node = New(SyntaxKind::kLambda, Next().at);
  const size_t mark = scratch_.size();
  while (!At(":")) {
    Syntax* param = New(SyntaxKind::kName, Peek().at);
    if (At("*")) source_.Fail(param->at, "a lambda takes named parameters only here");
    param->text = ExpectName("a parameter");
    param->dotted = param->text;
    scratch_.push_back(Done(param));
    if (!Accept(",")) break;
  }
  Expect(":");
  node->items = Items(mark);
  Deeper(node->at);
  node->base = Test();
  --depth_;
  return Done(node);
}

const Syntax* Cursor::Binary(int level) {
  const Syntax* left = level <= kNotLevel && At("not") ? Not() : Unary();
  while (true) {
    const Token& token = Peek();
    const std::string_view text = TextOf(token);
    const int own = LevelOf(token, text);
    if (own == 0 || own < level) return left;
    ++position_;
    const Syntax* operands[] = {left, Binary(own + 1)};
    Syntax* node = New(SyntaxKind::kBinary, left->at);
    node->text = text;
    node->items = arena_.Copy(operands, 2);
    left = Done(node);
  }
}

const Syntax* Cursor::Not() {
  Syntax* node = New(SyntaxKind::kUnary, Peek().at);
  node->text = TextOf(Next());
  Deeper(node->at);
  node->base = Binary(kNotLevel);
  --depth_;
  return Done(node);
}

const Syntax* Cursor::Unary() {
  if (At("-") || At("+") || At("~")) {
    Syntax* node = New(SyntaxKind::kUnary, Peek().at);
    node->text = TextOf(Next());
    Deeper(node->at);
    node->base = Unary();
    --depth_;
    return node->text == "+" ? node->base : Done(node);
  }
  const Syntax* base = Postfix();
  if (!At("**")) return base;
  Syntax* node = New(SyntaxKind::kBinary, base->at);
  node->text = TextOf(Next());
  Deeper(node->at);
  const Syntax* operands[] = {base, Unary()};
  --depth_;
  node->items = arena_.Copy(operands, 2);
  return Done(node);
}

const Syntax* Cursor::Postfix() {
  const Syntax* base = Atom();
  while (true) {
    if (Accept(".")) {
      Syntax* node = New(SyntaxKind::kAttribute, base->at);
      node->base = base;
      if (!AtKind(TokenKind::kName)) Fail("expected a name after the dot");
      const Token name = Next();
      node->text = TextOf(name);
      node->dotted = Dotted(*base, name);
      base = Done(node);
    } else if (At("(")) {
      Syntax* node = New(SyntaxKind::kCall, base->at);
      node->base = base;
      if (base->Is(SyntaxKind::kName) || base->Is(SyntaxKind::kAttribute)) node->dotted = base->dotted;
      Arguments(node);
      base = Done(node);
    } else if (At("[")) {
      Syntax* node = New(SyntaxKind::kSubscript, base->at);
      node->base = base;
      const size_t mark = scratch_.size();
      Deeper(Next().at);
      while (!At("]")) {
        scratch_.push_back(Subscript());
        if (!Accept(",")) break;
      }
      --depth_;
      Expect("]");
      node->items = Items(mark);
      base = Done(node);
    } else {
      return base;
    }
  }
}

const Syntax* Cursor::Subscript() {
  const size_t at = Peek().at;
  const Syntax* start = At(":") ? nullptr : Test();
  if (!At(":")) return start;
  const Syntax* parts[] = {start, nullptr, nullptr};
  Next();
  if (!At(":") && !At("]") && !At(",")) parts[1] = Test();
  if (Accept(":") && !At("]") && !At(",")) parts[2] = Test();
  Syntax* slice = New(SyntaxKind::kSlice, at);
  slice->items = arena_.Copy(parts, 3);
  return Done(slice);
}

void Cursor::Arguments(Syntax* call) {
  const size_t mark = scratch_.size();
  const size_t keyword_mark = keywords_.size();
  Next();
  Deeper(call->at);
  while (!At(")")) {
    if (AtKind(TokenKind::kName) && At("=", 1)) {
      const std::string_view key = TextOf(Next());
      Next();
      const Syntax* value = Test();
      keywords_.push_back({key, value});
    } else {
      scratch_.push_back(Test());
    }
    if (!Accept(",")) break;
  }
  --depth_;
  if (!Accept(")")) Fail("expected `,` or `)`");
  call->items = Items(mark);
  call->keywords = arena_.Copy(keywords_.data() + keyword_mark, keywords_.size() - keyword_mark);
  keywords_.resize(keyword_mark);
}

const Syntax* Cursor::Number(const Token& token) {
  Syntax* node = New(token.kind == TokenKind::kInt ? SyntaxKind::kInt : SyntaxKind::kFloat, token.at);
  std::string_view digits = TextOf(token);
  std::string plain;
  if (digits.find('_') != std::string_view::npos) {
    std::copy_if(digits.begin(), digits.end(), std::back_inserter(plain), [](char c) { return c != '_'; });
    digits = plain;
  }
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  if (token.kind == TokenKind::kFloat) {
    const auto result = std::from_chars(begin, end, node->float_value);
    if (result.ptr != end || (result.ec != std::errc() && result.ec != std::errc::result_out_of_range)) {
      source_.Fail(token.at, "not a number");
    }
    if (result.ec == std::errc::result_out_of_range) node->float_value = NumberOf(std::string(digits));
    return Done(node);
  }
  const char letter = digits.size() > 2 ? digits[1] : '0';
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'b' || letter == 'B' ? 2
                   : letter == 'o' || letter == 'O' ? 8
                                                    : 10;
  uint64_t value = 0;
  const auto result = std::from_chars(begin + (base == 10 ? 0 : 2), end, value, base);
  if (result.ptr != end || (result.ec != std::errc() && result.ec != std::errc::result_out_of_range)) {
    source_.Fail(token.at, "not a number");
  }
  if (result.ec == std::errc::result_out_of_range) {
    // Python's integers have no bounds; one like this can only be a float's value.
    if (base != 10) source_.Fail(token.at, "an integer of more than 64 bits");
    node->kind = SyntaxKind::kFloat;
    node->float_value = NumberOf(std::string(digits));
    return Done(node);
  }
  node->int_value = static_cast<int64_t>(value);
  node->float_value = static_cast<double>(value);
  return Done(node);
}

const Syntax* Cursor::Bracketed(SyntaxKind kind) {
  Syntax* node = New(kind, Next().at);
  const bool is_dict = kind == SyntaxKind::kDict;
  const size_t mark = scratch_.size();
  while (!(is_dict ? At("}") : At("]"))) {
    scratch_.push_back(Test());
    if (is_dict) {
      Expect(":");
      scratch_.push_back(Test());
    }
    if (!Accept(",")) break;
  }
  if (is_dict) {
    Expect("}");
  } else {
    Expect("]");
  }
  node->items = Items(mark);
  return Done(node);
}

const Syntax* Cursor::Atom() {
  const Token token = Peek();
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat:
      Next();
      return Number(token);
    case TokenKind::kString: {
      Syntax* node = New(SyntaxKind::kString, token.at);
      node->token = Next();
      return Done(node);
    }
    case TokenKind::kName: {
      const std::string_view text = TextOf(Next());
      Syntax* node = New(SyntaxKind::kName, token.at);
      if (text == "True" || text == "False") {
        node->kind = SyntaxKind::kBool;
        node->int_value = text == "True" ? 1 : 0;
      } else if (text == "None") {
        node->kind = SyntaxKind::kNone;
      }
      node->text = text;
      node->dotted = text;
      return Done(node);
    }
    case TokenKind::kOp:
      break;
    case TokenKind::kNewline:
    case TokenKind::kEnd:
      Fail("expected an expression");
  }
  Deeper(token.at);
  const Syntax* result = nullptr;
  if (At("(")) {
    Next();
    if (Accept(")")) {
      result = Done(New(SyntaxKind::kTuple, token.at));
    } else {
      result = Expression();
      Expect(")");
    }
  } else if (At("[")) {
    result = Bracketed(SyntaxKind::kList);
  } else if (At("{")) {
    result = Bracketed(SyntaxKind::kDict);
  } else {
    Fail("expected an expression");
  }
  --depth_;
  return result;
}

const Syntax* Cursor::InString(const Token& string) {
  const Token contents = StringContents(source_, string);
  std::vector<Token> tokens;
  Tokenize(source_, contents.at, contents.at + contents.size, /*in_string=*/true, &tokens);
  /// The tokens of the line come back, whatever is thrown.
  struct Swap {
    Cursor* cursor;
    std::vector<Token> tokens;
    size_t position;
    ~Swap() {
      cursor->tokens_ = std::move(tokens);
      cursor->position_ = position;
    }
  };
  const Swap swap{this, std::exchange(tokens_, std::move(tokens)), std::exchange(position_, 0)};
  const Syntax* result = Expression();
  if (!AtKind(TokenKind::kEnd)) Fail("expected the end of the expression");
  return result;
}

}  // namespace deuteron::script
