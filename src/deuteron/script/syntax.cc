#include "deuteron/script/syntax.h"

#include <algorithm>
#include <charconv>

namespace deuteron::script {
namespace {

constexpr int kMaxDepth = 1000;

/// Operators by level, weakest first; comparisons do not chain as in Python but to the left.
const std::vector<std::vector<std::string_view>>& Levels() {
  static const std::vector<std::vector<std::string_view>> levels = {
      {"or"}, {"and"}, {}, {"==", "!=", "<", "<=", ">", ">="}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"},
      {"*", "/", "//", "%", "@"}};
  return levels;
}
constexpr int kNotLevel = 2;

}  // namespace

std::string DottedName(const Syntax& node) {
  if (node.kind == SyntaxKind::kName) return std::string(node.text);
  if (node.kind != SyntaxKind::kAttribute) return "";
  std::string base = DottedName(*node.base);
  if (base.empty()) return "";
  base += '.';
  base += node.text;
  return base;
}

bool TokenCursor::At(std::string_view text, size_t ahead) const {
  const Token& token = Peek(ahead);
  return (token.kind == TokenKind::kOp || token.kind == TokenKind::kName) && TextOf(token) == text;
}

bool TokenCursor::Accept(std::string_view text) {
  if (!At(text)) return false;
  ++position_;
  return true;
}

void TokenCursor::Expect(std::string_view text) {
  if (!Accept(text)) Fail("expected `" + std::string(text) + "`");
}

std::string_view TokenCursor::ExpectName(const char* what) {
  if (!AtKind(TokenKind::kName)) Fail(std::string("expected ") + what);
  return TextOf(Next());
}

std::string TokenCursor::Found() const {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kNewline: return "the end of the line";
    case TokenKind::kIndent: return "an indented block";
    case TokenKind::kDedent: return "the end of the block";
    case TokenKind::kEnd: return "the end of the text";
    default: return "`" + std::string(TextOf(token).substr(0, 40)) + "`";
  }
}

void TokenCursor::SkipLine() {
  while (!AtKind(TokenKind::kNewline) && !AtKind(TokenKind::kEnd)) ++position_;
  if (AtKind(TokenKind::kNewline)) ++position_;
}

void TokenCursor::SkipSuite() {
  Expect(":");
  if (!AtKind(TokenKind::kNewline)) return SkipLine();
  Next();
  if (!AtKind(TokenKind::kIndent)) Fail("expected an indented block");
  int64_t depth = 0;
  do {
    if (AtKind(TokenKind::kIndent)) ++depth;
    if (AtKind(TokenKind::kDedent)) --depth;
    if (AtKind(TokenKind::kEnd)) return;
    ++position_;
  } while (depth > 0);
}

Syntax* TokenCursor::New(SyntaxKind kind, size_t at) {
  Syntax& node = arena_.emplace_back();
  node.kind = kind;
  node.at = at;
  return &node;
}

const Syntax* TokenCursor::Done(Syntax* node) const {
  int height = node->base != nullptr ? node->base->height : 0;
  for (const Syntax* item : node->items) height = std::max(height, item == nullptr ? 0 : item->height);
  for (const auto& [key, value] : node->keywords) height = std::max(height, value->height);
  node->height = height + 1;
  if (node->height > kMaxDepth) source_.Fail(node->at, "an expression is nested more than 1000 levels deep");
  return node;
}

const Syntax* TokenCursor::Expression(bool allow_tuple) {
  const size_t at = Peek().at;
  const Syntax* first = Test();
  if (!allow_tuple || !At(",")) return first;
  Syntax* tuple = New(SyntaxKind::kTuple, at);
  tuple->items.push_back(first);
  while (Accept(",")) {
    if (AtKind(TokenKind::kNewline) || At("=") || At(")") || At("]")) break;
    tuple->items.push_back(Test());
  }
  return Done(tuple);
}

const Syntax* TokenCursor::Test() {
  if (At("lambda")) return Lambda();
  return Binary(0);
}

const Syntax* TokenCursor::Lambda() {
  Syntax* node = New(SyntaxKind::kLambda, Next().at);
  while (!At(":")) {
    Syntax* param = New(SyntaxKind::kName, Peek().at);
    if (Accept("*")) source_.Fail(param->at, "a lambda takes named parameters only here");
    param->text = ExpectName("a parameter");
    node->items.push_back(param);
    if (!Accept(",")) break;
  }
  Expect(":");
  node->base = Test();
  return Done(node);
}

const Syntax* TokenCursor::Binary(int level) {
  if (level == kNotLevel) return Not();
  if (level == static_cast<int>(Levels().size())) return Unary();
  const Syntax* left = Binary(level + 1);
  while (AtKind(TokenKind::kOp) || AtKind(TokenKind::kName)) {
    const std::string_view text = TextOf(Peek());
    const auto& operators = Levels()[static_cast<size_t>(level)];
    if (std::find(operators.begin(), operators.end(), text) == operators.end()) break;
    Syntax* node = New(SyntaxKind::kBinary, Next().at);
    node->text = text;
    const Syntax* right = Binary(level + 1);
    node->items = {left, right};
    left = Done(node);
  }
  return left;
}

const Syntax* TokenCursor::Not() {
  if (!At("not")) return Binary(kNotLevel + 1);
  Syntax* node = New(SyntaxKind::kUnary, Peek().at);
  node->text = TextOf(Next());
  if (++depth_ > kMaxDepth) source_.Fail(node->at, "an expression is nested more than 1000 levels deep");
  node->base = Not();
  --depth_;
  return Done(node);
}

const Syntax* TokenCursor::Unary() {
  if (At("-") || At("+") || At("~")) {
    Syntax* node = New(SyntaxKind::kUnary, Peek().at);
    node->text = TextOf(Next());
    if (++depth_ > kMaxDepth) source_.Fail(node->at, "an expression is nested more than 1000 levels deep");
    node->base = Unary();
    --depth_;
    if (node->text == "+") return node->base;
    return Done(node);
  }
  const Syntax* base = Postfix();
  if (!At("**")) return base;
  Syntax* node = New(SyntaxKind::kBinary, Next().at);
  node->text = "**";
  if (++depth_ > kMaxDepth) source_.Fail(node->at, "an expression is nested more than 1000 levels deep");
  const Syntax* exponent = Unary();
  --depth_;
  node->items = {base, exponent};
  return Done(node);
}

const Syntax* TokenCursor::Postfix() {
  const Syntax* base = Atom();
  while (true) {
    if (At(".")) {
      Next();
      Syntax* node = New(SyntaxKind::kAttribute, base->at);
      node->base = base;
      node->text = ExpectName("a name after the dot");
      base = Done(node);
    } else if (At("(")) {
      Syntax* node = New(SyntaxKind::kCall, base->at);
      node->base = base;
      Arguments(node);
      base = Done(node);
    } else if (At("[")) {
      Syntax* node = New(SyntaxKind::kSubscript, base->at);
      node->base = base;
      Next();
      while (!At("]")) {
        node->items.push_back(Subscript());
        if (!Accept(",")) break;
      }
      Expect("]");
      base = Done(node);
    } else {
      return base;
    }
  }
}

const Syntax* TokenCursor::Subscript() {
  const size_t at = Peek().at;
  const Syntax* start = At(":") ? nullptr : Test();
  if (!At(":")) return start;
  Syntax* slice = New(SyntaxKind::kSlice, at);
  slice->items = {start, nullptr, nullptr};
  Next();
  if (!At(":") && !At("]") && !At(",")) slice->items[1] = Test();
  if (Accept(":") && !At("]") && !At(",")) slice->items[2] = Test();
  return Done(slice);
}

void TokenCursor::Arguments(Syntax* call) {
  Expect("(");
  if (++depth_ > kMaxDepth) source_.Fail(call->at, "an expression is nested more than 1000 levels deep");
  while (!At(")")) {
    if (AtKind(TokenKind::kName) && At("=", 1)) {
      const std::string_view key = TextOf(Next());
      Next();
      call->keywords.emplace_back(key, Test());
    } else {
      call->items.push_back(Test());
    }
    if (!Accept(",")) break;
  }
  --depth_;
  Expect(")");
}

const Syntax* TokenCursor::Number(const Token& token) {
  std::string digits;
  for (const char c : TextOf(token)) {
    if (c != '_') digits.push_back(c);
  }
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  Syntax* node = New(token.kind == TokenKind::kInt ? SyntaxKind::kInt : SyntaxKind::kFloat, token.at);
  if (token.kind == TokenKind::kFloat) {
    const auto result = std::from_chars(begin, end, node->float_value);
    if (result.ptr != end || (result.ec != std::errc() && result.ec != std::errc::result_out_of_range)) {
      source_.Fail(token.at, "not a number");
    }
    if (result.ec == std::errc::result_out_of_range) node->float_value = std::strtod(begin, nullptr);
    return node;
  }
  const bool is_hex = digits.size() > 2 && (digits[1] == 'x' || digits[1] == 'X');
  uint64_t value = 0;
  const auto result = std::from_chars(begin + (is_hex ? 2 : 0), end, value, is_hex ? 16 : 10);
  if (result.ec == std::errc::result_out_of_range) {
    // Python's integers have no bounds; one like this can only be a float's value.
    node->kind = SyntaxKind::kFloat;
    node->float_value = std::strtod(begin, nullptr);
    return node;
  }
  if (result.ptr != end || result.ec != std::errc()) source_.Fail(token.at, "not a number");
  node->int_value = static_cast<int64_t>(value);
  node->float_value = static_cast<double>(value);
  return node;
}

const Syntax* TokenCursor::Atom() {
  const Token token = Peek();
  if (++depth_ > kMaxDepth) source_.Fail(token.at, "an expression is nested more than 1000 levels deep");
  const Syntax* result = nullptr;
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat:
      Next();
      result = Number(token);
      break;
    case TokenKind::kString: {
      Syntax* node = New(SyntaxKind::kString, token.at);
      node->token = Next();
      result = node;
      break;
    }
    case TokenKind::kName: {
      const std::string_view text = TextOf(Next());
      const bool is_bool = text == "True" || text == "False";
      Syntax* node = New(is_bool ? SyntaxKind::kBool : text == "None" ? SyntaxKind::kNone : SyntaxKind::kName, token.at);
      node->text = text;
      node->int_value = text == "True" ? 1 : 0;
      result = node;
      break;
    }
    case TokenKind::kOp: {
      if (Accept("(")) {
        if (Accept(")")) {
          result = Done(New(SyntaxKind::kTuple, token.at));
          break;
        }
        const Syntax* inner = Expression();
        Expect(")");
        result = inner;
        break;
      }
      if (Accept("[")) {
        Syntax* node = New(SyntaxKind::kList, token.at);
        while (!At("]")) {
          node->items.push_back(Test());
          if (!Accept(",")) break;
        }
        Expect("]");
        result = Done(node);
        break;
      }
      if (Accept("{")) {
        Syntax* node = New(SyntaxKind::kDict, token.at);
        while (!At("}")) {
          node->items.push_back(Test());
          Expect(":");
          node->items.push_back(Test());
          if (!Accept(",")) break;
        }
        Expect("}");
        result = Done(node);
        break;
      }
      Fail("expected an expression");
    }
    default: Fail("expected an expression");
  }
  --depth_;
  return result;
}

const Syntax* TokenCursor::InString(const Token& string) {
  const Token contents = StringContents(source_, string);
  std::vector<Token> tokens = Tokenize(source_, contents.at, contents.at + contents.size, /*one_line=*/true);
  std::swap(tokens, tokens_);
  const size_t position = std::exchange(position_, 0);
  const Syntax* result = Expression();
  if (!AtKind(TokenKind::kEnd)) Fail("expected the end of the expression");
  position_ = position;
  std::swap(tokens, tokens_);
  return result;
}

}  // namespace deuteron::script
