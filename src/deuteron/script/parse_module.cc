/// \file
/// Reads modules: classes, the headers of functions, and what stands beside them.
#include "deuteron/script/base64.h"
#include "deuteron/script/parser_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {
namespace {

String ToString(std::string_view text) { return String(text.data(), text.size()); }

bool EndsWith(const std::string& text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

void Scopes::Define(std::string_view name, ObjectRef value) {
  values_[name].push_back(std::move(value));
  frames_.back().push_back(name);
}

void Scopes::Pop() {
  for (const std::string_view name : frames_.back()) values_[name].pop_back();
  frames_.pop_back();
}

ObjectRef Scopes::Find(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? ObjectRef() : it->second.back();
}

void Parser::Relocate(size_t at, const tvm::ffi::Error& error) const {
  const std::string message(error.message());
  const bool is_user_error = error.kind() == "ModelError" || error.kind() == "UnsupportedError";
  if (!is_user_error || message.rfind(source_.filename() + ":", 0) == 0) throw;
  source_.Fail(at, message, error.kind() == "UnsupportedError");
}

Span Parser::EndStatement() {
  if (tokens_.Accept(";")) return Span();
  if (tokens_.AtKind(TokenKind::kDedent) || tokens_.AtKind(TokenKind::kEnd)) return Span();
  if (!tokens_.AtKind(TokenKind::kNewline)) tokens_.Fail("expected the end of the line");
  const Token token = tokens_.Next();
  if (token.size == 0) return Span();
  // "source" or "source":line:column
  const std::string_view comment = tokens_.TextOf(token);
  size_t close = 1;
  while (close < comment.size() && comment[close] != '"') close += comment[close] == '\\' ? 2 : 1;
  if (close >= comment.size()) return Span();
  const std::string name = StringValue(source_, {TokenKind::kString, static_cast<uint32_t>(close + 1), token.at});
  int64_t line = 0;
  int64_t column = 0;
  const std::string rest(comment.substr(close + 1));
  if (std::sscanf(rest.c_str(), ":%ld:%ld", &line, &column) != 2) line = column = 0;
  return Span(name, line, column);
}

GlobalVar Parser::Global(std::string_view name, size_t at) {
  const auto it = globals_.find(name);
  if (it != globals_.end()) return it->second;
  source_.Fail(at, "the module has no function `" + std::string(name) + "`");
}

VDevice Parser::Device(const Syntax& node) {
  if (node.Is(SyntaxKind::kCall)) {
    std::string target = "llvm";
    if (!node.items.empty()) {
      if (node.items[0]->Is(SyntaxKind::kDict)) {
        const Map<String, Any> dict = Dict(*node.items[0]);
        if (const auto kind = dict.Get("kind")) target = std::string(kind->cast<String>());
      } else {
        target = StringOf(*node.items[0], "a target");
      }
    }
    return VDevice(target, node.items.size() > 1 ? IntOf(*node.items[1], "the number of the device") : 0,
                   node.items.size() > 2 ? StringOf(*node.items[2], "a memory scope") : "global");
  }
  // "target:index:scope", where "vdevice:0" counts all of them.
  const std::string text = StringOf(node, "a device");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const int64_t index = parts.size() > 1 ? std::atoll(parts[1].c_str()) : 0;
  if (parts[0] == "vdevice") {
    if (index < 0 || index >= static_cast<int64_t>(devices_.size())) Fail(node, "the module declares no such device");
    return devices_[static_cast<size_t>(index)];
  }
  for (const VDevice& device : devices_) {
    if (std::string(device->target) == parts[0] && device->device_id == index &&
        (parts.size() < 3 || std::string(device->memory_scope) == parts[2])) {
      return device;
    }
  }
  return VDevice(parts[0], index, parts.size() > 2 ? parts[2] : "global");
}

std::vector<const Syntax*> Parser::Decorators() {
  std::vector<const Syntax*> decorators;
  while (tokens_.Accept("@")) {
    decorators.push_back(tokens_.Expression());
    EndStatement();
  }
  return decorators;
}

FunctionHeader Parser::Header(const std::vector<const Syntax*>& decorators, bool nested) {
  FunctionHeader header;
  header.at = tokens_.Peek().at;
  bool known = false;
  for (const Syntax* decorator : decorators) {
    const bool is_call = decorator->Is(SyntaxKind::kCall);
    const std::string name = DottedName(is_call ? *decorator->base : *decorator);
    if (EndsWith(name, "prim_func")) {
      header.is_prim = known = true;
    } else if (EndsWith(name, ".function") || EndsWith(name, ".script")) {
      known = true;
    } else if (EndsWith(name, "rewriter")) {
      source_.Fail(decorator->at, "rewriters are not functions of a module", /*unsupported=*/true);
    } else {
      Fail(*decorator, "expected @R.function or @T.prim_func");
    }
    for (const auto& [key, value] : decorator->keywords) {
      if (key == "private") header.is_private = BoolOf(*value, "private");
      if (key == "pure") header.is_pure = BoolOf(*value, "pure");
      if (key == "s_tir") header.s_tir = BoolOf(*value, "s_tir");
    }
  }
  tokens_.Expect("def");
  header.at = tokens_.Peek().at;
  if (!known) source_.Fail(header.at, "expected @R.function or @T.prim_func before the function");
  header.name = tokens_.ExpectName("the name of the function");
  tokens_.Expect("(");
  FunctionHeader* const outer = std::exchange(header_, &header);
  const bool outer_signature = std::exchange(in_signature_, true);
  default_int_ = DataType::Int(header.is_prim ? 32 : 64);
  std::vector<std::pair<std::string_view, const Syntax*>> params;
  while (!tokens_.At(")")) {
    const size_t at = tokens_.Peek().at;
    const std::string_view name = tokens_.ExpectName("a parameter");
    for (const auto& [other, annotation] : params) {
      if (params.size() < 64 && other == name) source_.Fail(at, "two parameters named `" + std::string(name) + "`");
    }
    const Syntax* annotation = tokens_.Accept(":") ? tokens_.Expression(/*allow_tuple=*/false) : nullptr;
    if (header.is_prim && annotation == nullptr) source_.Fail(at, "a parameter of a kernel needs a type");
    params.emplace_back(name, annotation);
    if (!tokens_.Accept(",")) break;
  }
  tokens_.Expect(")");
  const auto define = [&](std::string_view name, ObjectRef value) {
    scopes_.Define(name, value);
    header.names.emplace_back(name, std::move(value));
  };
  if (header.is_prim) {
    // Scalar parameters may be used in shapes before they come.
    std::vector<tir::Var> vars(params.size(), tir::Var());
    for (size_t i = 0; i < params.size(); ++i) {
      const Syntax& annotation = *params[i].second;
      const bool is_call = annotation.Is(SyntaxKind::kCall);
      const std::string type = DottedName(is_call ? *annotation.base : annotation);
      if (is_call && EndsWith(type, "Buffer")) continue;
      const auto dtype = DtypeName(type);
      if (!dtype) Fail(annotation, "expected T.Buffer(…), T.handle or a scalar type such as T.int64");
      vars[i] = tir::Var(ToString(params[i].first), *dtype);
      define(params[i].first, vars[i]);
    }
    for (size_t i = 0; i < params.size(); ++i) {
      if (!vars[i].defined()) {
        const tir::Buffer buffer = BufferOf(*params[i].second, params[i].first, 0);
        vars[i] = tir::Var(String("var_" + std::string(params[i].first)), DataType::Handle());
        header.buffer_map.Set(vars[i], buffer);
        define(params[i].first, buffer);
      }
      header.prim_params.push_back(vars[i]);
    }
  } else {
    for (const auto& [name, annotation] : params) {
      const Type ty = annotation == nullptr ? Type(AnyType::Get()) : TypeOf(*annotation);
      header.params.push_back(relax::Var(ToString(name), ty));
    }
    for (size_t i = 0; i < params.size(); ++i) define(params[i].first, header.params[i]);
  }
  if (tokens_.Accept("->")) {
    const Syntax* ret = tokens_.Expression(/*allow_tuple=*/false);
    if (!header.is_prim) header.ret_ty = TypeOf(*ret);
  }
  in_signature_ = outer_signature;
  header_ = outer;
  default_int_ = DataType::Int(64);
  header.body = tokens_.position();
  if (tokens_.At(":") && tokens_.Peek(1).kind == TokenKind::kNewline && tokens_.Peek(1).size > 0) {
    tokens_.Next();
    header.span = EndStatement();
    tokens_.Seek(header.body);
  }
  return header;
}

void Parser::AddHeader(FunctionHeader header) {
  if (globals_.count(header.name) != 0) {
    source_.Fail(header.at, "the module has two functions named `" + std::string(header.name) + "`");
  }
  header.global_var = GlobalVar(ToString(header.name));
  if (!header.is_prim && header.ret_ty.defined()) {
    header.global_var->ty = FuncType(header.params.Map([](const relax::Var& param) { return param.ty(); }),
                                     header.ret_ty, header.is_pure);
  }
  globals_.emplace(header.name, header.global_var);
  headers_.push_back(std::move(header));
}

void Parser::SymbolDeclaration(std::string_view name, const Syntax& value) {
  const std::string callee = DottedName(*value.base);
  DataType dtype = DataType::Int(64);
  if (const auto named = DtypeName(callee)) dtype = *named;
  type_vars_.emplace(name, dtype);
}

void Parser::ModuleStatement(const Syntax& statement) {
  if (statement.Is(SyntaxKind::kString)) return;
  const std::string name = statement.Is(SyntaxKind::kCall) ? DottedName(*statement.base) : "";
  if (name == "I.module_attrs" && statement.items.size() == 1) {
    CopyOnWrite(&module_)->attrs = DictAttrs(Dict(*statement.items[0]));
  } else if (name == "I.module_global_infos" && statement.items.size() == 1) {
    const Syntax& dict = *statement.items[0];
    if (!dict.Is(SyntaxKind::kDict)) Fail(dict, "expected a dictionary");
    Map<String, Array<ObjectRef>> infos;
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      Array<ObjectRef> list;
      const std::string key = StringOf(*dict.items[i], "a kind of information");
      for (const Syntax* item : dict.items[i + 1]->items) {
        const VDevice device = Device(*item);
        devices_.push_back(device);
        list.push_back(device);
      }
      infos.Set(key, list);
    }
    CopyOnWrite(&module_)->global_infos = infos;
  } else {
    Fail(statement, "expected a function, I.module_attrs or I.module_global_infos");
  }
}

void Parser::ClassBody(std::string_view name) {
  class_name_ = name;
  Suite([&] {
    if (tokens_.Accept("pass")) {
      EndStatement();
      return;
    }
    if (tokens_.At("@") || tokens_.At("def")) {
      scopes_.Push();
      FunctionHeader header = Header(Decorators(), /*nested=*/false);
      scopes_.Pop();
      tokens_.SkipSuite();
      return AddHeader(std::move(header));
    }
    const Syntax* statement = tokens_.Expression();
    if (tokens_.Accept("=")) {
      const Syntax* value = tokens_.Expression();
      EndStatement();
      if (!statement->Is(SyntaxKind::kName) || !value->Is(SyntaxKind::kCall)) Fail(*statement, "expected a function");
      if (DottedName(*value->base) == "R.ExternFunc") {
        const GlobalVar var(ToString(statement->text));
        if (!globals_.emplace(statement->text, var).second) Fail(*statement, "two functions of this name");
        module_.Update(var, Downcast<BaseFunc>(Relax(*value)));
        return;
      }
      return SymbolDeclaration(statement->text, *value);
    }
    EndStatement();
    ModuleStatement(*statement);
  });
}

void Parser::Metadata() {
  const Syntax* value = tokens_.Expression();
  EndStatement();
  if (!value->Is(SyntaxKind::kDict)) {
    source_.Fail(value->at, "metadata of this form is not read: expected a dictionary of lists", /*unsupported=*/true);
  }
  for (size_t i = 0; i + 1 < value->items.size(); i += 2) {
    for (const Syntax* item : value->items[i + 1]->items) {
      std::vector<int64_t> shape;
      DataType dtype;
      const Syntax* data = nullptr;
      if (!item->Is(SyntaxKind::kDict)) Fail(*item, "expected {\"dtype\": …, \"shape\": […], \"data\": …}");
      for (size_t k = 0; k + 1 < item->items.size(); k += 2) {
        const std::string key = StringOf(*item->items[k], "a key");
        const Syntax& entry = *item->items[k + 1];
        if (key == "dtype") dtype = DtypeOf(entry);
        if (key == "data") data = &entry;
        if (key == "shape") {
          for (const Syntax* extent : entry.items) shape.push_back(IntOf(*extent, "an extent"));
        }
      }
      if (data == nullptr || dtype.is_void()) Fail(*item, "expected {\"dtype\": …, \"shape\": […], \"data\": …}");
      if (data->Is(SyntaxKind::kNone)) {
        constants_.emplace_back();
        continue;
      }
      if (!data->Is(SyntaxKind::kString)) Fail(*data, "expected the data in base 64");
      const Token contents = StringContents(source_, data->token);
      const int64_t bytes = CheckedByteSize(shape, dtype);
      // Before memory is taken: a text that promises more than it holds.
      if (bytes < 0 || (static_cast<size_t>(bytes) + 2) / 3 * 4 != contents.size) {
        Fail(*data, "the data of this constant does not have the size of its shape");
      }
      Tensor tensor = EmptyHostTensor(shape, dtype);
      if (!DecodeBase64(tokens_.TextOf(contents), static_cast<char*>(tensor.data_ptr()), static_cast<size_t>(bytes))) {
        Fail(*data, "this is not base 64");
      }
      constants_.emplace_back(tensor);
    }
  }
}

void Parser::Body(FunctionHeader* header) {
  tokens_.Seek(header->body);
  scopes_.Push();
  for (const auto& [name, value] : header->names) scopes_.Define(name, value);
  const BaseFunc func = header->is_prim ? BaseFunc(PrimFunction(header)) : BaseFunc(RelaxFunction(header));
  scopes_.Pop();
  Located(header->at, [&] { module_.Update(header->global_var, func); });
}

IRModule Parser::Module() {
  bool found = false;
  while (!tokens_.AtKind(TokenKind::kEnd)) {
    tokens_.Clear();
    if (tokens_.At("from") || tokens_.At("import")) {
      tokens_.SkipLine();
      continue;
    }
    if (tokens_.At("metadata") && tokens_.At("=", 1)) {
      tokens_.Next();
      tokens_.Next();
      Metadata();
      continue;
    }
    if (tokens_.At("@")) {
      // A class, or a function by itself.
      const size_t begin = tokens_.position();
      const auto decorators = Decorators();
      if (tokens_.Accept("class")) {
        if (found) tokens_.Fail("expected one module");
        found = true;
        const std::string_view name = tokens_.ExpectName("the name of the module");
        if (tokens_.Accept("(")) tokens_.Expect(")");
        ClassBody(name);
        continue;
      }
      tokens_.Seek(begin);
      scopes_.Push();
      FunctionHeader header = Header(Decorators(), /*nested=*/false);
      scopes_.Pop();
      tokens_.SkipSuite();
      AddHeader(std::move(header));
      found = true;
      continue;
    }
    const Syntax* target = tokens_.Expression();
    if (target->Is(SyntaxKind::kString)) {
      EndStatement();
      continue;
    }
    if (!tokens_.Accept("=") || !target->Is(SyntaxKind::kName)) Fail(*target, "expected @I.ir_module and a class");
    const Syntax* value = tokens_.Expression();
    EndStatement();
    if (!value->Is(SyntaxKind::kCall)) Fail(*value, "expected TypeVar(\"n\")");
    SymbolDeclaration(target->text, *value);
  }
  if (!found) tokens_.Fail("expected a module: `@I.ir_module` and a class");
  // Functions whose result type must be inferred come first: the others' are known to their callers already.
  for (const bool annotated : {false, true}) {
    for (FunctionHeader& header : headers_) {
      if ((header.is_prim || header.ret_ty.defined()) == annotated) Body(&header);
    }
  }
  return module_;
}

IRModule ParseModule(std::string_view text, const std::string& filename) {
  const SourceText source(text, filename);
  return Parser(source, Tokenize(source, 0, text.size())).Module();
}

}  // namespace deuteron::script
