/// \file
/// Reads functions and statements of the graph level.
#include <unordered_set>

#include "deuteron/relax/type_analysis.h"
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

using relax::Expr;

relax::Var Parser::NewVar(std::string_view name, Type ty) {
  if (block_->is_dataflow && block_->outputs.Find(name) == nullptr) {
    return relax::DataflowVar(ToString(name), std::move(ty));
  }
  return relax::Var(ToString(name), std::move(ty));
}

void Parser::CheckAnnotation(size_t at, const Type& ty, const Type& inferred) {
  if (ty.same_as(inferred) || !inferred.defined()) return;
  // The same two types come again and again.
  const auto known = agreeing_.find(inferred.get());
  if (known != agreeing_.end() && known->second.second.same_as(ty)) return;
  if (!relax::MayBe(ty, inferred, &builder_->analyzer())) {
    source_.Fail(at, "the annotation says " + relax::Describe(ty) + ", and the value is " + relax::Describe(inferred));
  }
  agreeing_[inferred.get()] = {inferred, ty};
}

void Parser::Bind(std::string_view name, size_t at, const Type& ty, const Expr& value, const Span& span) {
  Expr normal = value;
  if (!normal.ty().defined() || normal->kind == RelaxKind::kTuple) {
    normal = Located(at, [&] { return builder_->Normalize(value); });
  }
  if (ty.defined()) CheckAnnotation(at, ty, normal.ty());
  const relax::Var var = NewVar(name, ty.defined() ? ty : normal.ty());
  block_->bindings.push_back(relax::VarBinding(var, normal, span));
  scopes_.Define(name, var);
}

Expr Parser::BindResult(std::string_view name, size_t at, const Type& ty, const Expr& value, Branch* branch,
                        const Span& span) {
  Expr normal = Located(at, [&] { return builder_->Normalize(value); });
  if (ty.defined()) CheckAnnotation(at, ty, normal.ty());
  const std::string suffix(branch->name);
  branch->ty = ty;
  branch->name = name;
  if (relax::IsLeaf(normal)) return normal;
  relax::Var var(std::string(name) + suffix, ty.defined() ? ty : normal.ty());
  block_->bindings.push_back(relax::VarBinding(var, normal, span));
  return var;
}

void Parser::CloseBlock(std::vector<relax::BindingBlock>* blocks) {
  auto& bindings = block_->bindings;
  if (bindings.empty()) return;
  Array<relax::Binding> array(std::make_move_iterator(bindings.begin()), std::make_move_iterator(bindings.end()));
  bindings.clear();
  blocks->push_back(block_->is_dataflow ? relax::BindingBlock(relax::DataflowBlock(std::move(array)))
                                        : relax::BindingBlock(std::move(array)));
}

namespace {

/// What callers know of a result: shapes in symbols of the parameters, and no others (match_cast defines more inside).
Type OutsideOf(const FunctionHeader& header, const Type& result) {
  std::unordered_set<const Object*> known;
  for (const relax::Var& param : header.params) {
    for (const tir::Var& symbol : relax::SymbolicVars(param.ty())) known.insert(symbol.get());
  }
  return relax::EraseToWellDefined(result, [&](const tir::Var& symbol) { return known.count(symbol.get()) != 0; });
}

}  // namespace

relax::Function Parser::RelaxFunction(FunctionHeader* header) {
  const bool is_nested = header_ != nullptr;
  if (!is_nested) {
    made_names_.clear();
    inferences_.clear();
    agreeing_.clear();
  }
  const Temporarily outer_header(&header_, header);
  const Temporarily outer_attrs(&func_attrs_, Map<String, Any>());
  BindingsInProgress bindings;
  const Temporarily outer_block(&block_, &bindings);
  /// The builder knows the symbols of the parameters.
  struct BuilderScope {
    relax::BlockBuilder* builder;
    ~BuilderScope() { builder->EndScope(); }
  };
  builder_->BeginScope(header->params);
  const BuilderScope builder_scope{builder_.get()};
  const size_t failures = failures_;
  std::vector<relax::BindingBlock> blocks;
  Expr result;
  Suite([&] { RelaxStatement(&blocks, &result, nullptr); });
  CheckFailuresSince(failures);
  if (!result.defined()) source_.Fail(header->at, "function " + Quote(header->name) + " has no return");
  CloseBlock(&blocks);
  DictAttrs attrs;
  if (!func_attrs_.empty()) attrs = DictAttrs(func_attrs_);
  if (!header->is_private && !is_nested && !(attrs.defined() && attrs->dict.count("global_symbol") != 0)) {
    attrs = DictAttrs::With(attrs, "global_symbol", ToString(header->name));
  }
  const Type ret = header->ret_ty.defined() ? header->ret_ty : OutsideOf(*header, result.ty());
  return relax::Function(header->params,
                         relax::SeqExpr(Array<relax::BindingBlock>(blocks.begin(), blocks.end()), result), ret,
                         header->is_pure, attrs, header->span);
}

void Parser::RelaxStatement(std::vector<relax::BindingBlock>* blocks, Expr* result, Branch* branch) {
  const size_t at = tokens_.Peek().at;
  if (result != nullptr && result->defined()) tokens_.Fail("expected the end of the block after its result");
  if (tokens_.At("with")) {
    if (blocks == nullptr) source_.Fail(at, "a dataflow block inside a dataflow block");
    return Dataflow(blocks);
  }
  if (tokens_.At("if")) return RelaxIf(branch, result);
  if (tokens_.At("@")) return NestedFunction();
  if (tokens_.At("import") || tokens_.At("from")) return tokens_.NextLine();
  if (tokens_.Accept("pass")) {
    EndStatement();
    return;
  }
  if (tokens_.Accept("return")) {
    if (result == nullptr || branch != nullptr) source_.Fail(at, "a return inside of a block");
    const Syntax* node = tokens_.Expression();
    EndStatement();
    *result = Leaf(*node);
    return;
  }
  const Syntax* target = tokens_.Expression();
  Type ty;
  if (tokens_.Accept(":")) ty = Annotation();
  if (tokens_.Accept("=")) {
    const Syntax* value = tokens_.Expression();
    const Span span = EndStatement();
    try {
      return RelaxAssign(*target, ty, *value, branch, result, span);
    } catch (...) {
      // What follows may rely on the annotation.
      if (ty.defined() && target->Is(SyntaxKind::kName)) scopes_.Define(target->text, NewVar(target->text, ty));
      throw;
    }
  }
  const Span span = EndStatement();
  EffectOf(*target, span);
}

void Parser::EffectOf(const Syntax& node, const Span& span) {
  const std::string_view name = node.Is(SyntaxKind::kCall) ? node.dotted : "";
  if ((name == "R.func_attr" || name == "relax.func_attr") && node.items.size() == 1) {
    for (const auto& [key, value] : Dict(*node.items[0])) func_attrs_.Set(key, value);
    return;
  }
  if (name == "R.output" || name == "relax.output") {
    if (!block_->is_dataflow) Fail(node, "R.output belongs into `with R.dataflow():`");
    for (const Syntax* item : node.items) {
      if (!item->Is(SyntaxKind::kName)) Fail(*item, "expected a variable");
      if (Find(item->text) == nullptr) FailUndefined(*item);
    }
    return;
  }
  if (node.Is(SyntaxKind::kString)) return;  // a docstring
  if (!node.Is(SyntaxKind::kCall)) Fail(node, "expected a statement");
  Expr value = Located(node.at, [&] { return builder_->Normalize(Relax(node)); });
  const auto* call = value.as<relax::CallNode>();
  if (call != nullptr && call->op->kind != RelaxKind::kOp && value.ty()->kind == TypeKind::kAny) {
    // A kernel or packed function that writes to its arguments: as a statement it returns nothing.
    auto nothing = Downcast<relax::Call>(value);
    CopyOnWrite(&nothing)->ty = TupleType(Array<Type>());
    value = nothing;
  }
  block_->bindings.push_back(relax::VarBinding(relax::Var("_", value.ty(), span), value, span));
}

void Parser::UnpackTuple(const Syntax& target, const Syntax& value, const Span& span) {
  const Expr normal = Relax(value);
  const Expr tuple = Located(target.at, [&] { return LeafOf(normal, span); });
  const auto* type = tuple.ty().as<TupleTypeNode>();
  if (type != nullptr && type->fields.size() != target.items.size()) {
    Fail(target, std::to_string(target.items.size()) + " names for the " + std::to_string(type->fields.size()) +
                     " fields of a tuple: name each, or bind the tuple and take `[i]` of it");
  }
  for (size_t i = 0; i < target.items.size(); ++i) {
    if (!target.items[i]->Is(SyntaxKind::kName)) Fail(*target.items[i], "expected a variable");
    const Expr field =
        Located(target.at, [&]() -> Expr { return relax::TupleGetItem(tuple, static_cast<int64_t>(i)); });
    Bind(target.items[i]->text, target.at, Type(), field, span);
  }
}

bool Parser::RelaxDeclaration(const Syntax& target, const Syntax& value) {
  // cls = Module
  if (value.Is(SyntaxKind::kName) && (target.text == "cls" || value.text == class_name_)) {
    return scopes_.Find(value.text) == nullptr;
  }
  // k = TypeVar("k"): what signatures of functions below use.
  if (value.Is(SyntaxKind::kCall) && value.dotted == "TypeVar") {
    SymbolDeclaration(target.text, value);
    if (scopes_.Find(target.text) != nullptr) scopes_.Define(target.text, ObjectRef());
    ForgetTypes();
    return true;
  }
  // n = T.int64()
  if (!value.Is(SyntaxKind::kCall) || !value.items.empty() || !value.keywords.empty()) return false;
  if (!value.dotted.starts_with("T.") && !value.dotted.starts_with("tir.")) return false;
  const auto dtype = DtypeName(value.dotted);
  if (!dtype) return false;
  if (AsNode<tir::VarNode>(Find(target.text)) == nullptr) Symbol(target.text, *dtype);
  return true;
}

void Parser::RelaxAssign(const Syntax& target, Type ty, const Syntax& value, Branch* branch, Expr* result,
                         const Span& span) {
  const size_t at = target.at;
  if (target.Is(SyntaxKind::kTuple)) return UnpackTuple(target, value, span);
  if (!target.Is(SyntaxKind::kName)) Fail(target, "expected a variable");
  if (RelaxDeclaration(target, value)) return;
  const bool is_last = branch != nullptr && tokens_.AtSuiteEnd();
  if (value.Is(SyntaxKind::kCall) && (value.dotted == "R.match_cast" || value.dotted == "relax.match_cast")) {
    if (value.items.size() != 2) Fail(value, "expected R.match_cast(value, type)");
    const Expr source = Leaf(*value.items[0]);
    const Temporarily signature(&in_signature_, false);
    const Type cast = TypeOf(*value.items[1]);
    for (const tir::Var& symbol : relax::SymbolicVars(cast)) builder_->analyzer().MarkNonNegative(symbol);
    const std::string name = std::string(target.text) + std::string(is_last ? branch->name : "");
    const relax::Var var = NewVar(is_last ? std::string_view(name) : target.text, ty.defined() ? ty : cast);
    Located(at, [&] { block_->bindings.push_back(relax::MatchCast(var, source, cast, span)); });
    scopes_.Define(target.text, var);
    if (is_last) {
      *result = var;
      branch->name = target.text;
    }
    return;
  }
  const Expr bound = Located(value.at, [&] { return Relax(value); });
  if (span.defined() && !bound->span.defined() && bound->kind == RelaxKind::kCall) bound->span = span;
  if (!is_last) return Bind(target.text, at, ty, bound, span);
  *result = BindResult(target.text, at, ty, bound, branch, span);
}

TextMap<bool> Parser::DataflowOutputs() const {
  TextMap<bool> names;
  const size_t line = tokens_.line();
  for (size_t i = tokens_.EndOfStatement(line); i > line + 1; --i) {
    const Line& at = tokens_.LineAt(i - 1);
    const std::string_view text = source_.text().substr(at.begin, at.end - at.begin);
    if (!text.starts_with("R.output") && !text.starts_with("relax.output")) continue;
    std::vector<Token> tokens;
    Tokenize(source_, at.begin, at.end, /*in_string=*/false, &tokens);
    for (size_t k = 4; k < tokens.size(); ++k) {
      if (tokens[k].kind == TokenKind::kName) names[tokens_.TextOf(tokens[k])] = true;
    }
    break;
  }
  return names;
}

void Parser::Dataflow(std::vector<relax::BindingBlock>* blocks) {
  const size_t at = tokens_.Next().at;
  const Syntax* call = tokens_.Expression();
  if (!call->Is(SyntaxKind::kCall) || (call->dotted != "R.dataflow" && call->dotted != "relax.dataflow")) {
    source_.Fail(at, "expected R.dataflow() after `with`");
  }
  CloseBlock(blocks);
  BindingsInProgress bindings;
  bindings.is_dataflow = true;
  // Which variables leave the block is said at its end.
  bindings.outputs = DataflowOutputs();
  const Temporarily outer(&block_, &bindings);
  Suite([&] { RelaxStatement(nullptr, nullptr, nullptr); });
  CloseBlock(blocks);
}

std::optional<Parser::Branch> Parser::IfBranch(std::string_view suffix) {
  Branch branch;
  branch.name = suffix;
  const Scopes::Frame frame(&scopes_);
  BindingsInProgress bindings;
  const Temporarily outer(&block_, &bindings);
  std::vector<relax::BindingBlock> blocks;
  Expr result;
  const size_t at = tokens_.Peek().at;
  const size_t failures = failures_;
  Suite([&] { RelaxStatement(&blocks, &result, &branch); });
  // Symbols of the branch are known in it only.
  ForgetTypes();
  if (failures_ > failures) return std::nullopt;
  if (!result.defined()) source_.Fail(at, "a branch ends in an assignment of its result");
  CloseBlock(&blocks);
  branch.seq = relax::SeqExpr(Array<relax::BindingBlock>(blocks.begin(), blocks.end()), result);
  if (!branch.seq->ty.defined()) branch.seq->ty = result.ty();
  return branch;
}

void Parser::RelaxIf(Branch* outer, Expr* result) {
  const size_t at = tokens_.Next().at;
  if (block_->is_dataflow) source_.Fail(at, "no `if` inside of a dataflow block");
  const Syntax* node = tokens_.Expression();
  const Expr cond = Leaf(*node);
  const auto* tensor = cond.ty().as<TensorTypeNode>();
  const auto* prim = cond.ty().as<PrimTypeNode>();
  const bool is_bool =
      (tensor != nullptr && (tensor->dtype.is_bool() || tensor->dtype.is_void()) && tensor->ndim <= 0) ||
      (prim != nullptr && prim->dtype.is_bool()) || cond.ty().as<AnyTypeNode>() != nullptr;
  if (!is_bool) Fail(*node, "the condition of an `if` is a scalar boolean, not " + relax::Describe(cond.ty()));
  const std::optional<Branch> then_read = IfBranch("_then");
  if (!tokens_.AtClause("else")) {
    source_.Fail(tokens_.AtEnd() ? at : tokens_.LineAt(tokens_.line()).begin,
                 "expected `else`: both branches give a value");
  }
  tokens_.Clear();
  tokens_.Load();
  tokens_.Next();
  const std::optional<Branch> else_read = IfBranch("_else");
  if (!then_read || !else_read) throw AlreadyReported{};
  const Branch& then_branch = *then_read;
  const Branch& else_branch = *else_read;
  if (then_branch.name != else_branch.name) {
    source_.Fail(at, "the branches assign their results to different variables, " + Quote(then_branch.name) + " and " +
                         Quote(else_branch.name));
  }
  const relax::If value(cond, then_branch.seq, else_branch.seq);
  value->ty = relax::UnifyTypes(then_branch.seq.ty(), else_branch.seq.ty(), &builder_->analyzer());
  const bool is_last = outer != nullptr && tokens_.AtSuiteEnd();
  if (!is_last) return Bind(then_branch.name, at, then_branch.ty, value, Span());
  *result = BindResult(then_branch.name, at, then_branch.ty, value, outer, Span());
}

void Parser::NestedFunction() {
  const size_t at = tokens_.Peek().at;
  relax::Var var;
  std::string_view name;
  relax::Function func;
  {
    const Scopes::Frame frame(&scopes_);
    FunctionHeader header = Header(Decorators());
    if (header.is_prim) source_.Fail(at, "a kernel belongs into the module", /*unsupported=*/true);
    name = header.name;
    var = NewVar(name, Type());
    if (header.ret_ty.defined()) {
      // It may call itself.
      var->ty = FuncType(header.params.Map([](const relax::Var& param) { return param.ty(); }), header.ret_ty,
                         header.is_pure);
      scopes_.Define(name, var);
    }
    func = RelaxFunction(&header);
  }
  ForgetTypes();
  var->ty = func->ty;
  block_->bindings.push_back(relax::VarBinding(var, func));
  scopes_.Define(name, var);
}

}  // namespace deuteron::script
