/// \file
/// Reads the first lines of functions: decorators, parameters, result types.
#include <algorithm>

#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

std::vector<const Syntax*> Parser::Decorators() {
  std::vector<const Syntax*> decorators;
  while (tokens_.Accept("@")) {
    const size_t line = tokens_.line();
    decorators.push_back(tokens_.Expression());
    if (!tokens_.AtKind(TokenKind::kNewline)) tokens_.Fail("expected the end of the line");
    EndStatement();
    // What follows stands below it.
    if (tokens_.AtEnd() || tokens_.LineAt(tokens_.line()).column != tokens_.LineAt(line).column) {
      Fail(*decorators.back(), "expected a function or a class below the decorator");
    }
    tokens_.Load();
  }
  return decorators;
}

namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t()");
  const size_t end = text.find_last_not_of(" \t()");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

/// What commas separate in `text`, without spaces and parentheses around it.
std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(Trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

void Parser::FindDeclarations() {
  // `m = T.int32()` and `m, n = T.int32(), T.int64()` at the beginning of the body.
  declared_.Clear();
  for (size_t i = tokens_.line() + 1; tokens_.HasLine(i); ++i) {
    const Line& line = tokens_.LineAt(i);
    const std::string_view text = source_.text().substr(line.begin, line.end - line.begin);
    if (text.starts_with("T.func_attr(")) continue;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const std::vector<std::string_view> names = Split(text.substr(0, equals));
    const std::vector<std::string_view> values = Split(text.substr(equals + 1, text.find('#', equals) - equals - 1));
    if (names.size() != values.size()) return;
    for (size_t k = 0; k < names.size(); ++k) {
      const auto dtype = values[k].starts_with("T.") ? DtypeName(values[k].substr(2)) : std::nullopt;
      if (!dtype) return;
      declared_[names[k]] = *dtype;
    }
  }
}

void Parser::PrimParams(const std::vector<std::pair<std::string_view, const Syntax*>>& params, FunctionHeader* header) {
  const auto define = [&](std::string_view name, ObjectRef value) {
    scopes_.Define(name, value);
    header->names.emplace_back(name, std::move(value));
  };
  // Scalar parameters may be used in shapes before they come.
  std::vector<tir::Var> vars(params.size(), tir::Var());
  for (size_t i = 0; i < params.size(); ++i) {
    const Syntax& annotation = *params[i].second;
    const std::string_view type = annotation.dotted;
    if (annotation.Is(SyntaxKind::kCall) && type.ends_with("Buffer")) continue;
    const auto dtype = DtypeName(type);
    if (!dtype) Fail(annotation, "expected T.Buffer(…), T.handle or a scalar type such as T.int64");
    vars[i] = tir::Var(ToString(params[i].first), *dtype);
    define(params[i].first, vars[i]);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (!vars[i].defined()) {
      const tir::Buffer buffer = BufferOf(*params[i].second, params[i].first, 0, /*is_given=*/true);
      vars[i] = tir::Var(String("var_" + std::string(params[i].first)), DataType::Handle());
      header->buffer_map.Set(vars[i], buffer);
      define(params[i].first, buffer);
    }
    header->prim_params.push_back(vars[i]);
  }
}

FunctionHeader Parser::Header(const std::vector<const Syntax*>& decorators) {
  FunctionHeader header;
  header.at = tokens_.Peek().at;
  bool known = false;
  for (const Syntax* decorator : decorators) {
    const std::string_view name = decorator->dotted;
    if (name.ends_with("prim_func")) {
      header.is_prim = known = true;
    } else if (name.ends_with(".function") || name.ends_with(".script") || name.ends_with(".rewriter")) {
      // A rewriter's module is read as any other.
      known = true;
    } else {
      Fail(*decorator, "expected @R.function or @T.prim_func");
    }
    for (const auto& [key, value] : decorator->keywords) {
      const bool is_check = key == "check_well_formed";
      const bool known_flag = key == "private" || is_check || key == (header.is_prim ? "s_tir" : "pure");
      if (!known_flag) {
        Fail(*value,
             std::string(header.is_prim ? "T.prim_func takes private, s_tir" : "R.function takes private, pure") +
                 " and check_well_formed, not " + Quote(key));
      }
      if (!value->Is(SyntaxKind::kBool)) Fail(*value, Quote(key) + " is True or False");
      const bool flag = value->int_value != 0;
      if (key == "private") header.is_private = flag;
      if (key == "pure") header.is_pure = flag;
      if (key == "s_tir") header.s_tir = flag;
    }
  }
  tokens_.Expect("def");
  header.at = tokens_.Peek().at;
  if (!known) source_.Fail(header.at, "expected @R.function or @T.prim_func before the function");
  header.name = tokens_.ExpectName("the name of the function");
  tokens_.Expect("(");
  const Temporarily outer_header(&header_, &header);
  const Temporarily signature(&in_signature_, true);
  const Temporarily default_int(&default_int_, DataType::Int(header.is_prim ? 32 : 64));
  std::vector<std::pair<std::string_view, const Syntax*>> params;
  TextMap<bool> names;
  while (!tokens_.At(")")) {
    const size_t at = tokens_.Peek().at;
    const std::string_view name = tokens_.ExpectName("a parameter");
    if (std::exchange(names[name], true)) source_.Fail(at, "two parameters named " + Quote(name));
    const Syntax* annotation = tokens_.Accept(":") ? tokens_.Expression(/*allow_tuple=*/false) : nullptr;
    if (header.is_prim && annotation == nullptr) source_.Fail(at, "a parameter of a kernel needs a type");
    params.emplace_back(name, annotation);
    if (!tokens_.Accept(",")) break;
  }
  if (!tokens_.Accept(")")) tokens_.Fail("expected `,` or `)`");
  declared_.Clear();
  if (header.is_prim) {
    FindDeclarations();
    PrimParams(params, &header);
  } else {
    for (const auto& [name, annotation] : params) {
      const Type ty = annotation == nullptr ? Type(AnyType::Get()) : TypeOf(*annotation);
      header.params.push_back(relax::Var(ToString(name), ty));
    }
    for (size_t i = 0; i < params.size(); ++i) {
      scopes_.Define(params[i].first, header.params[i]);
      header.names.emplace_back(params[i].first, header.params[i]);
    }
  }
  if (tokens_.Accept("->")) {
    const Syntax* ret = tokens_.Expression(/*allow_tuple=*/false);
    // A kernel gives nothing; a function of scalars says what it gives.
    if (!header.is_prim || !ret->Is(SyntaxKind::kNone)) header.ret_ty = TypeOf(*ret);
  }
  header.line = tokens_.line();
  header.position = tokens_.position();
  if (!tokens_.At(":")) tokens_.Fail("expected `:`");
  if (tokens_.Peek(1).kind == TokenKind::kNewline && tokens_.Peek(1).size > 0) header.span = SpanOf(tokens_.Peek(1));
  return header;
}

}  // namespace deuteron::script
