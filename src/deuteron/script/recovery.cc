/// \file
/// Reads statement by statement, and goes on after errors: an error spoils the statement that it is in, with the suite
/// below it, and the names that it would have defined; uses of those are no errors of their own.
#include <cstdio>

#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

void Parser::Relocate(size_t at, const tvm::ffi::Error& error) const {
  // What the IR's constructors take for granted a text may break: that is the text's fault.
  const bool is_broken = error.kind() == "InternalError";
  if (!is_broken && error.kind() != "ModelError" && error.kind() != "UnsupportedError") throw;
  source_.Fail(at, (is_broken ? "this cannot be built: " : "") + std::string(error.message()),
               error.kind() == "UnsupportedError");
}

void Parser::AddError(size_t line, const tvm::ffi::Error& error) {
  try {
    Relocate(tokens_.LineAt(line).begin, error);
  } catch (const TextError& located) {
    diagnostics_.Add(located);
  }
}

Span Parser::SpanOf(const Token& line_end) const {
  if (line_end.size == 0) return Span();
  // "source" or "source":line:column
  const std::string_view comment = tokens_.TextOf(line_end);
  size_t close = 1;
  while (close < comment.size() && comment[close] != '"') close += comment[close] == '\\' ? 2 : 1;
  if (close >= comment.size()) return Span();
  const std::string name = StringValue(source_, {line_end.at, static_cast<uint32_t>(close + 1), TokenKind::kString});
  int64_t line = 0;
  int64_t column = 0;
  const std::string rest(comment.substr(close + 1, 64));
  if (std::sscanf(rest.c_str(), ":%9ld:%9ld", &line, &column) != 2) line = column = 0;
  return Span(name, line, column);
}

Span Parser::EndStatement() {
  if (tokens_.Accept(";") && !tokens_.AtKind(TokenKind::kNewline)) return Span();
  if (!tokens_.AtKind(TokenKind::kNewline)) tokens_.Fail("expected the end of the line");
  const Token end = tokens_.Peek();
  tokens_.NextLine();
  return end.size == 0 ? Span() : SpanOf(end);
}

void Parser::SuiteStart(size_t header_line) {
  tokens_.NextLine();
  const size_t column = tokens_.LineAt(header_line).column;
  if (tokens_.AtEnd() || tokens_.LineAt(tokens_.line()).column <= column) {
    const size_t at = tokens_.AtEnd() ? source_.text().size() : tokens_.LineAt(tokens_.line()).begin;
    source_.Fail(at, "expected an indented block");
  }
  tokens_.set_suite_column(tokens_.LineAt(tokens_.line()).column);
}

void Parser::CheckIndentation() const {
  const Line& line = tokens_.LineAt(tokens_.line());
  if (line.column <= tokens_.suite_column()) return;
  const bool goes_back = tokens_.line() > 0 && tokens_.LineAt(tokens_.line() - 1).column > line.column;
  source_.Fail(line.begin, goes_back ? "this indentation matches no outer level"
                                     : "this line is indented further than the statements around it");
}

void Parser::Recover(size_t line) {
  ++failures_;
  const std::string_view text = source_.text();
  size_t end = tokens_.EndOfStatement(line);
  // Decorators and what is below them are one statement, as are the clauses of an `if`.
  for (size_t last = line; text[tokens_.LineAt(last).begin] == '@' && tokens_.HasLine(end) &&
                           tokens_.LineAt(end).column == tokens_.LineAt(line).column;) {
    last = end;
    end = tokens_.EndOfStatement(end);
  }
  while (tokens_.HasLine(end) && tokens_.LineAt(end).column == tokens_.LineAt(line).column &&
         (text.substr(tokens_.LineAt(end).begin, 4) == "else" || text.substr(tokens_.LineAt(end).begin, 4) == "elif")) {
    end = tokens_.EndOfStatement(end);
  }
  const auto is_name_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  for (size_t i = line; i < end; ++i) {
    // `a = …`, `a: type = …`, `a, b = …`, `def a(…)`
    size_t at = tokens_.LineAt(i).begin;
    const size_t line_end = tokens_.LineAt(i).end;
    const bool is_function = text.substr(at, 4) == "def ";
    if (is_function) at += 4;
    std::vector<std::string_view> names;
    while (at < line_end) {
      const size_t begin = at;
      while (at < line_end && is_name_part(text[at])) ++at;
      if (at == begin) break;
      names.push_back(text.substr(begin, at - begin));
      while (at < line_end && text[at] == ' ') ++at;
      if (at >= line_end || text[at] != ',') break;
      ++at;
      while (at < line_end && text[at] == ' ') ++at;
    }
    const bool defines =
        at < line_end && (text[at] == ':' || (text[at] == '=' && text.substr(at, 2) != "==") || is_function);
    if (!defines) continue;
    for (const std::string_view name : names) {
      if (name == "else" || name == "try") continue;
      // The type of a variable with an annotation is known all the same.
      if (text[at] == ':' && AsNode<relax::VarNode>(scopes_.Find(name)) != nullptr) continue;
      if (scopes_.Find(name) != spoilt_.get()) scopes_.Define(name, spoilt_);
      if (is_function && header_ == nullptr && globals_.Find(name) == nullptr) globals_[name] = GlobalVar();
    }
  }
  tokens_.GoToLine(end);
}

void Parser::FailUndefined(const Syntax& node) {
  scopes_.Define(node.text, spoilt_);
  Fail(node, Quote(node.text) + " is not defined");
}

}  // namespace deuteron::script
