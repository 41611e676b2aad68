/// \file
/// Reads types and graph-level functions.
#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

using relax::Expr;

namespace {

/// "R.nn.relu" for `relax.nn.relu` too.
std::string Canonical(std::string dotted) {
  if (dotted.rfind("relax.", 0) == 0) return "R." + dotted.substr(6);
  return dotted;
}

String ToString(std::string_view text) { return String(text.data(), text.size()); }

}  // namespace

Type Parser::TensorTypeOf(const Syntax* call) {
  const Syntax* shape = nullptr;
  const Syntax* dtype = nullptr;
  const Syntax* vdevice = nullptr;
  int64_t ndim = kUnknownNDim;
  if (call != nullptr) {
    for (size_t i = 0; i < call->items.size(); ++i) {
      const Syntax* item = call->items[i];
      if (i == 0 && !item->Is(SyntaxKind::kString)) {
        shape = item->Is(SyntaxKind::kNone) ? nullptr : item;
      } else if (dtype == nullptr && i <= 1) {
        dtype = item;
      } else {
        vdevice = item;
      }
    }
    for (const auto& [key, value] : call->keywords) {
      if (key == "shape") {
        shape = value;
      } else if (key == "dtype") {
        dtype = value;
      } else if (key == "ndim") {
        ndim = IntOf(*value, "the number of dimensions");
      } else if (key == "vdevice") {
        vdevice = value;
      } else {
        Fail(*value, "a tensor type has shape, dtype, ndim and vdevice, not `" + std::string(key) + "`");
      }
    }
  }
  const DataType element =
      dtype == nullptr || dtype->Is(SyntaxKind::kNone) ? DataType::Void() : DtypeOf(*dtype);
  const VDevice device = vdevice == nullptr || vdevice->Is(SyntaxKind::kNone) ? VDevice() : Device(*vdevice);
  if (shape == nullptr) return TensorType::WithNDim(ndim, element, device);
  return Located(shape->at, [&]() -> Type { return TensorType(Dimensions(*shape), element, device); });
}

Type Parser::TypeOf(const Syntax& node) {
  const bool is_call = node.Is(SyntaxKind::kCall);
  std::string name = Canonical(DottedName(is_call ? *node.base : node));
  if (name.rfind("R.", 0) == 0) name = name.substr(2);
  if (name == "Tensor") return TensorTypeOf(is_call ? &node : nullptr);
  if (name == "Any" || name == "Object") return AnyType::Get();
  if (name == "I.StringType") return AnyType::Get();
  if (name == "Tuple") {
    Array<Type> fields;
    for (const Syntax* item : node.items) {
      if (item->Is(SyntaxKind::kList) || item->Is(SyntaxKind::kTuple)) {
        for (const Syntax* inner : item->items) fields.push_back(TypeOf(*inner));
      } else {
        fields.push_back(TypeOf(*item));
      }
    }
    return TupleType(fields);
  }
  if (name == "Shape") {
    const Syntax* ndim = is_call ? node.Keyword("ndim") : nullptr;
    if (is_call && !node.items.empty() && !node.items[0]->Is(SyntaxKind::kNone)) {
      return Located(node.at, [&]() -> Type { return ShapeType(Dimensions(*node.items[0])); });
    }
    return ShapeType::WithNDim(ndim == nullptr ? kUnknownNDim : IntOf(*ndim, "the number of dimensions"));
  }
  if (name == "Prim") {
    const Syntax* dtype = is_call && !node.items.empty() ? node.items[0] : is_call ? node.Keyword("dtype") : nullptr;
    if (dtype == nullptr) Fail(node, "expected R.Prim(\"int64\")");
    return PrimType(DtypeOf(*dtype));
  }
  if (name == "Callable") {
    if (!is_call || node.items.empty()) {
      const Syntax* ret = is_call ? node.Keyword("ret") : nullptr;
      const Syntax* purity = is_call ? node.Keyword("purity") : nullptr;
      return FuncType::Opaque(ret == nullptr ? Type(AnyType::Get()) : TypeOf(*ret),
                              purity != nullptr && BoolOf(*purity, "the purity"));
    }
    Array<Type> params;
    for (const Syntax* item : node.items[0]->items) params.push_back(TypeOf(*item));
    const Syntax* purity = node.items.size() > 2 ? node.items[2] : node.Keyword("purity");
    return FuncType(params, node.items.size() > 1 ? TypeOf(*node.items[1]) : Type(AnyType::Get()),
                    purity == nullptr || BoolOf(*purity, "the purity"));
  }
  if (const auto dtype = DtypeName(name)) return PrimType(*dtype);
  if (node.Is(SyntaxKind::kNone)) return TupleType(Array<Type>());
  Fail(node, "expected a type, such as R.Tensor((1, \"n\"), dtype=\"float32\")");
}

relax::Var Parser::NewVar(std::string_view name, Type ty) {
  const auto output = dataflow_outputs_.find(name);
  if (builder_->InDataflowBlock() && output == dataflow_outputs_.end()) {
    return relax::DataflowVar(ToString(name), std::move(ty));
  }
  return relax::Var(ToString(name), std::move(ty));
}

void Parser::Bind(std::string_view name, size_t at, Type ty, const Expr& value, const Span& span) {
  const relax::Var var = NewVar(name, std::move(ty));
  Located(at, [&] { builder_->EmitNormalized(relax::VarBinding(var, value, span)); });
  scopes_.Define(name, var);
}

void Parser::CloseBlock(std::vector<relax::BindingBlock>* blocks) {
  relax::BindingBlock block = builder_->EndBlock();
  if (!block->bindings.empty()) blocks->push_back(std::move(block));
}

relax::Function Parser::RelaxFunction(FunctionHeader* header) {
  FunctionHeader* const outer_header = std::exchange(header_, header);
  Map<String, Any> outer_attrs = std::exchange(func_attrs_, {});
  auto outer_outputs = std::exchange(dataflow_outputs_, {});
  builder_->BeginScope(header->params);
  builder_->BeginBindingBlock();
  std::vector<relax::BindingBlock> blocks;
  Expr result;
  Suite([&] { RelaxStatement(&blocks, &result, nullptr); });
  if (!result.defined()) source_.Fail(header->at, "function `" + std::string(header->name) + "` has no return");
  CloseBlock(&blocks);
  builder_->EndScope();
  DictAttrs attrs;
  if (!func_attrs_.empty()) attrs = DictAttrs(func_attrs_);
  const bool is_nested = outer_header != nullptr;
  if (!header->is_private && !is_nested && !(attrs.defined() && attrs->dict.count("global_symbol") != 0)) {
    attrs = DictAttrs::With(attrs, "global_symbol", ToString(header->name));
  }
  Type ret = header->ret_ty.defined() ? header->ret_ty : result.ty();
  header_ = outer_header;
  func_attrs_ = std::move(outer_attrs);
  dataflow_outputs_ = std::move(outer_outputs);
  return relax::Function(header->params, relax::SeqExpr(Array<relax::BindingBlock>(blocks.begin(), blocks.end()), result),
                         ret, header->is_pure, attrs, header->span);
}

void Parser::RelaxStatement(std::vector<relax::BindingBlock>* blocks, Expr* result, Branch* branch) {
  const size_t at = tokens_.Peek().at;
  if (result != nullptr && result->defined()) tokens_.Fail("expected the end of the block after its result");
  if (tokens_.At("with")) return Dataflow(blocks);
  if (tokens_.At("if")) return RelaxIf(branch, result);
  if (tokens_.At("@")) return NestedFunction();
  if (tokens_.At("import") || tokens_.At("from")) return tokens_.SkipLine();
  if (tokens_.Accept("pass")) {
    EndStatement();
    return;
  }
  if (tokens_.Accept("return")) {
    if (result == nullptr || branch != nullptr) source_.Fail(at, "a return inside of a block");
    const Syntax* node = tokens_.Expression();
    EndStatement();
    *result = Located(at, [&] {
      const Expr value = builder_->Normalize(Relax(*node));
      return relax::IsLeaf(value) ? value : Expr(builder_->Emit(value));
    });
    return;
  }
  const Syntax* target = tokens_.Expression();
  const Syntax* annotation = tokens_.Accept(":") ? tokens_.Expression(/*allow_tuple=*/false) : nullptr;
  if (tokens_.Accept("=")) {
    const Syntax* value = tokens_.Expression();
    const Span span = EndStatement();
    RelaxAssign(*target, annotation, *value, branch, result, span);
    return;
  }
  const Span span = EndStatement();
  const std::string name = target->Is(SyntaxKind::kCall) ? Canonical(DottedName(*target->base)) : "";
  if (name == "R.func_attr" && target->items.size() == 1) {
    for (const auto& [key, value] : Dict(*target->items[0])) func_attrs_.Set(key, value);
    return;
  }
  if (name == "R.output") {
    if (!builder_->InDataflowBlock()) source_.Fail(at, "R.output belongs into `with R.dataflow():`");
    return;
  }
  if (target->Is(SyntaxKind::kString)) return;  // a docstring
  if (!target->Is(SyntaxKind::kCall)) Fail(*target, "expected a statement");
  const Expr value = Located(at, [&] { return Relax(*target); });
  const relax::Var var("_", Type(), span);
  Located(at, [&] { builder_->EmitNormalized(relax::VarBinding(var, value, span)); });
}

void Parser::RelaxAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Branch* branch,
                         Expr* result, Span span) {
  const size_t at = target.at;
  if (target.Is(SyntaxKind::kTuple)) {
    // a, b = value
    const Expr tuple = Located(at, [&] {
      const Expr normal = builder_->Normalize(Relax(value));
      return relax::IsLeaf(normal) ? normal : Expr(builder_->Emit(normal, "", span));
    });
    for (size_t i = 0; i < target.items.size(); ++i) {
      if (!target.items[i]->Is(SyntaxKind::kName)) Fail(*target.items[i], "expected a variable");
      Bind(target.items[i]->text, at, Type(), relax::TupleGetItem(tuple, static_cast<int64_t>(i)), span);
    }
    return;
  }
  if (!target.Is(SyntaxKind::kName)) Fail(target, "expected a variable");
  if (value.Is(SyntaxKind::kName) && (target.text == "cls" || value.text == class_name_)) {
    if (!scopes_.Find(value.text).defined()) return;
  }
  const std::string callee = value.Is(SyntaxKind::kCall) ? Canonical(DottedName(*value.base)) : "";
  if (value.Is(SyntaxKind::kCall) && value.items.empty() && callee.rfind("T.", 0) == 0) {
    if (const auto dtype = DtypeName(callee)) {
      if (scopes_.Find(target.text).as<tir::VarNode>() == nullptr) Symbol(target.text, *dtype);
      return;
    }
  }
  Type ty = annotation != nullptr ? TypeOf(*annotation) : Type();
  const bool is_last = branch != nullptr && tokens_.AtKind(TokenKind::kDedent);
  if (callee == "R.match_cast") {
    if (value.items.size() != 2) Fail(value, "expected R.match_cast(value, type)");
    const Expr source = Located(at, [&] { return Relax(*value.items[0]); });
    const bool outer = std::exchange(in_signature_, false);
    const Type cast = TypeOf(*value.items[1]);
    in_signature_ = outer;
    const std::string name = std::string(target.text) + std::string(is_last ? branch->name : "");
    const relax::Var var = NewVar(is_last ? std::string_view(name) : target.text, ty.defined() ? ty : cast);
    Located(at, [&] { builder_->EmitNormalized(relax::MatchCast(var, source, cast, span)); });
    scopes_.Define(target.text, var);
    if (is_last) {
      *result = var;
      branch->name = target.text;
    }
    return;
  }
  Expr bound = Located(at, [&] { return Relax(value); });
  if (span.defined() && !bound->span.defined() && bound->kind == RelaxKind::kCall) bound->span = span;
  if (!is_last) return Bind(target.text, at, std::move(ty), bound, span);
  bound = Located(at, [&] { return builder_->Normalize(bound); });
  if (!relax::IsLeaf(bound)) {
    const relax::Var var(String(std::string(target.text) + std::string(branch->name)), ty);
    Located(at, [&] { builder_->EmitNormalized(relax::VarBinding(var, bound, span)); });
    bound = var;
  }
  *result = bound;
  branch->ty = ty;
  branch->name = target.text;
}

void Parser::Dataflow(std::vector<relax::BindingBlock>* blocks) {
  const size_t at = tokens_.Next().at;
  const Syntax* call = tokens_.Expression();
  if (!call->Is(SyntaxKind::kCall) || Canonical(DottedName(*call->base)) != "R.dataflow") {
    source_.Fail(at, "expected R.dataflow() after `with`");
  }
  // Which variables leave the block is said at its end.
  dataflow_outputs_.clear();
  const size_t begin = tokens_.position();
  tokens_.SkipSuite();
  const size_t end = tokens_.position();
  for (size_t i = end; i > begin;) {
    tokens_.Seek(--i);
    if (!(tokens_.At("output") && tokens_.At("(", 1))) continue;
    tokens_.Next();
    tokens_.Next();
    while (!tokens_.At(")") && !tokens_.AtKind(TokenKind::kNewline)) {
      const Token token = tokens_.Next();
      if (token.kind == TokenKind::kName) dataflow_outputs_.emplace(tokens_.TextOf(token), false);
    }
    break;
  }
  tokens_.Seek(begin);
  CloseBlock(blocks);
  Located(at, [&] { builder_->BeginDataflowBlock(); });
  Suite([&] { RelaxStatement(nullptr, nullptr, nullptr); });
  CloseBlock(blocks);
  dataflow_outputs_.clear();
  builder_->BeginBindingBlock();
}

Parser::Branch Parser::IfBranch() {
  Branch branch;
  branch.name = "_then";
  if (tokens_.Accept("else")) branch.name = "_else";
  scopes_.Push();
  builder_->BeginBindingBlock();
  std::vector<relax::BindingBlock> blocks;
  Expr result;
  const size_t at = tokens_.Peek().at;
  Suite([&] { RelaxStatement(&blocks, &result, &branch); });
  if (!result.defined()) source_.Fail(at, "a branch ends in an assignment of its result");
  CloseBlock(&blocks);
  scopes_.Pop();
  branch.seq = relax::SeqExpr(Array<relax::BindingBlock>(blocks.begin(), blocks.end()), result);
  if (!branch.seq->ty.defined()) branch.seq->ty = result.ty();
  return branch;
}

void Parser::RelaxIf(Branch* outer, Expr* result) {
  const size_t at = tokens_.Next().at;
  if (builder_->InDataflowBlock()) source_.Fail(at, "no `if` inside of a dataflow block");
  const Syntax* node = tokens_.Expression();
  const Expr cond = Located(at, [&] {
    const Expr value = builder_->Normalize(Relax(*node));
    return relax::IsLeaf(value) ? value : Expr(builder_->Emit(value));
  });
  const Branch then_branch = IfBranch();
  if (!tokens_.At("else")) tokens_.Fail("expected `else`: both branches give a value");
  const Branch else_branch = IfBranch();
  if (then_branch.name != else_branch.name) {
    source_.Fail(at, "the branches assign their results to different variables, `" + std::string(then_branch.name) +
                         "` and `" + std::string(else_branch.name) + "`");
  }
  relax::If value(cond, then_branch.seq, else_branch.seq);
  value->ty = relax::UnifyTypes(then_branch.seq.ty(), else_branch.seq.ty(), &builder_->analyzer());
  const bool is_last = outer != nullptr && tokens_.AtKind(TokenKind::kDedent);
  if (!is_last) return Bind(then_branch.name, at, then_branch.ty, value, Span());
  const relax::Var var(String(std::string(then_branch.name) + std::string(outer->name)), then_branch.ty);
  Located(at, [&] { builder_->EmitNormalized(relax::VarBinding(var, value, Span())); });
  *result = var;
  outer->ty = then_branch.ty;
  outer->name = then_branch.name;
}

void Parser::NestedFunction() {
  const size_t at = tokens_.Peek().at;
  scopes_.Push();
  FunctionHeader header = Header(Decorators(), /*nested=*/true);
  if (header.is_prim) source_.Fail(at, "a kernel belongs into the module", /*unsupported=*/true);
  // A function may call itself.
  relax::Var var(ToString(header.name), Type());
  if (header.ret_ty.defined()) {
    var->ty = FuncType(header.params.Map([](const relax::Var& param) { return param.ty(); }), header.ret_ty, header.is_pure);
    scopes_.Define(header.name, var);
  }
  const relax::Function func = RelaxFunction(&header);
  scopes_.Pop();
  var->ty = func->ty;
  Located(at, [&] { builder_->EmitNormalized(relax::VarBinding(var, func)); });
  scopes_.Define(header.name, var);
}

bool Parser::IsScalar(const Syntax& node) const {
  switch (node.kind) {
    case SyntaxKind::kInt:
    case SyntaxKind::kFloat:
    case SyntaxKind::kBool: return true;
    case SyntaxKind::kName:
      return scopes_.Find(node.text).as<PrimExprNode>() != nullptr ||
             (type_vars_.count(node.text) != 0 && !scopes_.Find(node.text).defined());
    case SyntaxKind::kUnary: return IsScalar(*node.base);
    case SyntaxKind::kBinary: return IsScalar(*node.items[0]) && IsScalar(*node.items[1]);
    case SyntaxKind::kCall: {
      const std::string name = DottedName(*node.base);
      return name.rfind("T.", 0) == 0 || name.rfind("tir.", 0) == 0 || name == "R.prim_value" || name == "float";
    }
    default: return false;
  }
}

Expr Parser::RelaxName(const Syntax& node) {
  const ObjectRef value = scopes_.Find(node.text);
  if (value.as<RelaxExprNode>() != nullptr) return Downcast<Expr>(value);
  if (value.as<PrimExprNode>() != nullptr || (!value.defined() && type_vars_.count(node.text) != 0)) {
    return relax::PrimValue(Prim(node));
  }
  Fail(node, "`" + std::string(node.text) + "` is not defined");
}

Expr Parser::RelaxOperator(const Syntax& node) {
  static const std::unordered_map<std::string_view, const char*> kOperators = {
      {"+", "relax.add"},          {"-", "relax.subtract"},   {"*", "relax.multiply"}, {"/", "relax.divide"},
      {"//", "relax.floor_divide"}, {"%", "relax.mod"},        {"**", "relax.power"},   {"==", "relax.equal"},
      {"!=", "relax.not_equal"},   {"<", "relax.less"},       {"<=", "relax.less_equal"}, {">", "relax.greater"},
      {">=", "relax.greater_equal"}, {"&", "relax.logical_and"}, {"|", "relax.logical_or"}, {"@", "relax.matmul"}};
  if (node.Is(SyntaxKind::kUnary)) {
    if (node.text != "-") Fail(node, "`" + std::string(node.text) + "` has no meaning on tensors");
    return relax::Call(Op::Get("relax.negative"), {Relax(*node.base)});
  }
  const auto it = kOperators.find(node.text);
  if (it == kOperators.end()) Fail(node, "`" + std::string(node.text) + "` has no meaning on tensors");
  if (node.text == "@") return Located(node.at, [&] { return OpCall(node, "matmul"); });
  return relax::Call(Op::Get(it->second), {Relax(*node.items[0]), Relax(*node.items[1])});
}

Expr Parser::ConstantAt(const Syntax& node) {
  const int64_t index = IntOf(*node.items[0], "the number of a constant");
  if (index < 0 || index >= static_cast<int64_t>(constants_.size())) {
    Fail(node, "the metadata holds " + std::to_string(constants_.size()) + " constants");
  }
  if (!constants_[static_cast<size_t>(index)].defined()) Fail(node, "the data of this constant was left out of the text");
  return constants_[static_cast<size_t>(index)];
}

Expr Parser::Relax(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kName: return RelaxName(node);
    case SyntaxKind::kInt:
    case SyntaxKind::kBool: return relax::PrimValue(Prim(node));
    case SyntaxKind::kFloat: return relax::PrimValue(PrimLiteral(node, DataType::Float(64)));
    case SyntaxKind::kString: return relax::StringImm(StringValue(source_, node.token));
    case SyntaxKind::kTuple:
    case SyntaxKind::kList: {
      Array<Expr> fields;
      for (const Syntax* item : node.items) {
        const Expr field = builder_->Normalize(Relax(*item));
        fields.push_back(relax::IsLeaf(field) ? field : Expr(builder_->Emit(field)));
      }
      return relax::Tuple(fields);
    }
    case SyntaxKind::kUnary:
    case SyntaxKind::kBinary:
      if (IsScalar(node)) {
        const bool is_float = node.IsLiteral() && node.base->Is(SyntaxKind::kFloat);
        return relax::PrimValue(is_float ? PrimLiteral(node, DataType::Float(64)) : Prim(node));
      }
      return RelaxOperator(node);
    case SyntaxKind::kSubscript: {
      if (node.items.size() != 1) Fail(node, "a tuple has one index");
      if (node.base->Is(SyntaxKind::kSubscript) && node.base->base->Is(SyntaxKind::kName) &&
          node.base->base->text == "metadata") {
        return ConstantAt(node);
      }
      const Expr tuple = builder_->Normalize(Relax(*node.base));
      return relax::TupleGetItem(relax::IsLeaf(tuple) ? tuple : Expr(builder_->Emit(tuple)),
                                 IntOf(*node.items[0], "the index of a field"));
    }
    case SyntaxKind::kAttribute:
      if (node.base->Is(SyntaxKind::kName) && (node.base->text == "cls" || node.base->text == class_name_)) {
        return Global(node.text, node.at);
      }
      Fail(node, "`" + DottedName(node) + "` is no value");
    case SyntaxKind::kCall: return RelaxCall(node);
    default: Fail(node, "expected an expression");
  }
}

}  // namespace deuteron::script
