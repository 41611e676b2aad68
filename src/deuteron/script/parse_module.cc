/// \file
/// Reads modules: classes, and what stands beside functions.
#include <algorithm>

#include "deuteron/script/name_table.h"
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

GlobalVar Parser::Global(std::string_view name, size_t at) {
  const GlobalVar* var = globals_.Find(name);
  if (var == nullptr) source_.Fail(at, "the module has no function " + Quote(name));
  if (!var->defined()) throw AlreadyReported{};
  return *var;
}

void Parser::AddHeader(FunctionHeader header) {
  if (const GlobalVar* known = globals_.Find(header.name)) {
    if (!known->defined()) throw AlreadyReported{};
    source_.Fail(header.at, "the module has two functions named " + Quote(header.name));
  }
  header.global_var = GlobalVar(ToString(header.name));
  if (header.is_prim && header.ret_ty.defined()) {
    header.global_var->ty = FuncType(
        header.prim_params.Map([](const tir::Var& param) -> Type { return PrimType(param->dtype); }), header.ret_ty);
  }
  if (!header.is_prim && header.ret_ty.defined()) {
    header.global_var->ty =
        FuncType(header.params.Map([](const relax::Var& param) { return param.ty(); }), header.ret_ty, header.is_pure);
  }
  globals_[header.name] = header.global_var;
  headers_.push_back(std::move(header));
}

void Parser::SymbolDeclaration(std::string_view name, const Syntax& value) {
  DataType dtype = DataType::Int(64);
  if (const auto named = DtypeName(value.dotted)) dtype = *named;
  type_vars_[name] = dtype;
}

Map<String, Array<ObjectRef>> Parser::GlobalInfos(const Syntax& dict) {
  if (!dict.Is(SyntaxKind::kDict)) Fail(dict, "expected a dictionary");
  Map<String, Array<ObjectRef>> infos;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    Array<ObjectRef> list;
    const std::string key = StringOf(*dict.items[i], "a kind of information");
    if (!dict.items[i + 1]->IsSequence()) Fail(*dict.items[i + 1], "expected a list");
    for (const Syntax* item : dict.items[i + 1]->items) {
      const bool is_device = item->Is(SyntaxKind::kCall) || item->Is(SyntaxKind::kString);
      if (!is_device || (item->Is(SyntaxKind::kCall) && item->dotted != "I.vdevice")) {
        Unsupported(*item, "expected I.vdevice(target, index, scope)");
      }
      const VDevice device = Device(*item);
      devices_.push_back(device);
      list.push_back(device);
    }
    infos.Set(key, list);
  }
  return infos;
}

namespace {

/// Whether a value, or something in it if it holds others, is metadata["…"][…].
bool UsesMetadata(const Syntax& node) {
  if (node.Is(SyntaxKind::kDict) || node.Is(SyntaxKind::kList) || node.Is(SyntaxKind::kTuple)) {
    return std::any_of(node.items.begin(), node.items.end(), [](const Syntax* item) { return UsesMetadata(*item); });
  }
  return node.Is(SyntaxKind::kSubscript) && node.base->Is(SyntaxKind::kSubscript) &&
         node.base->base->Is(SyntaxKind::kName) && node.base->base->text == "metadata";
}

}  // namespace

void Parser::ModuleStatement(const Syntax& statement, size_t line) {
  if (statement.Is(SyntaxKind::kString)) return;
  const std::string_view name = statement.Is(SyntaxKind::kCall) ? statement.dotted : "";
  if (name == "I.module_attrs" && statement.items.size() == 1) {
    // Constants stand at the end of the text.
    if (UsesMetadata(*statement.items[0])) return attrs_lines_.push_back(line);
    ModuleAttrs(*statement.items[0]);
  } else if (name == "I.module_global_infos" && statement.items.size() == 1) {
    CopyOnWrite(&module_)->global_infos = GlobalInfos(*statement.items[0]);
  } else {
    Fail(statement, "expected a function, I.module_attrs or I.module_global_infos");
  }
}

void Parser::ModuleAttrs(const Syntax& node) {
  const Map<String, Any> attrs = Dict(node);
  if (!attrs.empty()) CopyOnWrite(&module_)->attrs = DictAttrs(attrs);
}

void Parser::FunctionAhead(const std::vector<const Syntax*>& decorators) {
  const Scopes::Frame frame(&scopes_);
  FunctionHeader header = Header(decorators);
  tokens_.GoToLine(tokens_.EndOfStatement(header.line));
  AddHeader(std::move(header));
}

void Parser::ClassBody(std::string_view name) {
  class_name_ = name;
  Suite([&] {
    if (tokens_.Accept("pass")) {
      EndStatement();
      return;
    }
    if (tokens_.At("@") || tokens_.At("def")) return FunctionAhead(Decorators());
    const size_t line = tokens_.line();
    const Syntax* statement = tokens_.Expression();
    if (!tokens_.Accept("=")) {
      EndStatement();
      return ModuleStatement(*statement, line);
    }
    const Syntax* value = tokens_.Expression();
    EndStatement();
    if (!statement->Is(SyntaxKind::kName) || !value->Is(SyntaxKind::kCall)) Fail(*statement, "expected a function");
    if (value->dotted != "R.ExternFunc" && value->dotted != "relax.ExternFunc")
      return SymbolDeclaration(statement->text, *value);
    const GlobalVar var(ToString(statement->text));
    if (globals_.Find(statement->text) != nullptr)
      Fail(*statement, "the module has two functions named " + Quote(statement->text));
    globals_[statement->text] = var;
    module_.Update(var, Downcast<BaseFunc>(Relax(*value)));
  });
}

void Parser::Body(FunctionHeader* header) {
  const size_t failures = failures_;
  try {
    tokens_.GoToLine(header->line);
    tokens_.Clear();
    tokens_.Load();
    tokens_.Seek(header->position);
    ForgetTypes();
    const Scopes::Frame frame(&scopes_);
    for (const auto& [name, value] : header->names) scopes_.Define(name, value);
    const BaseFunc func = header->is_prim ? BaseFunc(PrimFunction(header)) : BaseFunc(RelaxFunction(header));
    CheckFailuresSince(failures);
    // A name that Python cannot write stands in the symbol alone.
    const auto symbol = func->GetAttr<String>("global_symbol");
    const std::string_view name = symbol ? std::string_view(symbol->data(), symbol->size()) : header->name;
    if (name != header->name && FunctionName(name) != name && !module_.FindGlobalVar(name).defined()) {
      // The variable is of this parser, and calls that have been read hold it.
      const_cast<GlobalVarNode*>(header->global_var.get())->name_hint = *symbol;
    }
    Located(header->at, [&] { module_.Update(header->global_var, func); });
    return;
  } catch (const AlreadyReported&) {
  } catch (const TextError& error) {
    diagnostics_.Add(error);
  } catch (const tvm::ffi::Error& error) {
    AddError(header->line, error);
  }
  // Its callers know its type only if it is written.
  if (!header->is_prim && !header->ret_ty.defined()) globals_[header->name] = GlobalVar();
}

void Parser::ModuleLine(bool* found) {
  if (tokens_.At("from") || tokens_.At("import")) return tokens_.NextLine();
  if (tokens_.At("metadata") && tokens_.At("=", 1)) return Metadata();
  if (tokens_.At("@") || tokens_.At("def")) {
    // A class, or a function by itself.
    const auto decorators = Decorators();
    if (!tokens_.Accept("class")) {
      *found = true;
      return FunctionAhead(decorators);
    }
    if (*found) tokens_.Fail("expected one module");
    *found = true;
    const std::string_view name = tokens_.ExpectName("the name of the module");
    if (tokens_.Accept("(")) tokens_.Expect(")");
    return ClassBody(name);
  }
  const Syntax* target = tokens_.Expression();
  if (target->Is(SyntaxKind::kString)) {
    EndStatement();
    return;
  }
  if (!tokens_.Accept("=") || !target->Is(SyntaxKind::kName)) Fail(*target, "expected @I.ir_module and a class");
  const Syntax* value = tokens_.Expression();
  EndStatement();
  if (!value->Is(SyntaxKind::kCall)) Fail(*value, "expected TypeVar(\"n\")");
  SymbolDeclaration(target->text, *value);
}

IRModule Parser::Module() {
  bool found = false;
  try {
    if (const size_t invalid = FindInvalidUtf8(source_.text()); invalid != std::string_view::npos) {
      source_.Fail(invalid, "the text is not UTF-8");
    }
    while (!tokens_.AtEnd()) Statement([&] { ModuleLine(&found); });
    if (!found && diagnostics_.size() == 0) {
      source_.Fail(source_.text().size(), "expected a module: `@I.ir_module` and a class, found the end of the text");
    }
    for (const size_t line : attrs_lines_) {
      tokens_.GoToLine(line);
      tokens_.Load();
      try {
        ModuleAttrs(*tokens_.Expression()->items[0]);
      } catch (const TextError& error) {
        diagnostics_.Add(error);
      } catch (const AlreadyReported&) {
      }
    }
    // Functions whose result type must be inferred come first: the others' are known to their callers already.
    for (const bool annotated : {false, true}) {
      for (FunctionHeader& header : headers_) {
        if ((header.is_prim || header.ret_ty.defined()) == annotated) Body(&header);
      }
    }
  } catch (const TooManyErrors&) {
  }
  diagnostics_.Raise();
  return module_;
}

IRModule ParseModule(std::string_view text, const std::string& filename, const NamedTensors* weights) {
  const SourceText source(text, filename);
  return Parser(source, weights).Module();
}

}  // namespace deuteron::script
