/// \file
/// Reads loop-level functions and their statements.
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

using tir::Stmt;

namespace {

/// The function's name without `T.` or `tir.`; empty if it is none of theirs.
std::string_view TirName(const Syntax& node) {
  if (!node.Is(SyntaxKind::kCall)) return "";
  if (node.dotted.starts_with("T.")) return node.dotted.substr(2);
  if (node.dotted.starts_with("tir.")) return node.dotted.substr(4);
  return "";
}

/// `A_1 = A.view(…)`
bool IsView(const Syntax& target, const Syntax& value) {
  return target.Is(SyntaxKind::kName) && value.Is(SyntaxKind::kCall) && value.base->Is(SyntaxKind::kAttribute) &&
         value.base->text == "view" && value.base->base->Is(SyntaxKind::kName);
}

/// The text of an assertion's message: the last string in its tuples.
const Syntax* Message(const Syntax* node) {
  while (node->IsSequence() && !node->items.empty()) node = node->items.back();
  return node;
}

}  // namespace

Parser::BlockSpelling Parser::FindBlocks(size_t line) const {
  const size_t end = tokens_.EndOfStatement(line);
  BlockSpelling found = BlockSpelling::kNone;
  for (size_t i = line + 1; i < end; ++i) {
    const Line& at = tokens_.LineAt(i);
    const std::string_view text = source_.text().substr(at.begin, at.end - at.begin);
    if (text.find(".sblock_alloc_buffer(") != std::string_view::npos) return BlockSpelling::kNew;
    if (!text.starts_with("with ")) continue;
    if (text.find(".sblock(") != std::string_view::npos) return BlockSpelling::kNew;
    if (text.find(".block(") != std::string_view::npos) found = BlockSpelling::kOld;
  }
  return found;
}

tir::PrimFunc Parser::PrimFunction(FunctionHeader* header) {
  const Temporarily outer_header(&header_, header);
  const Temporarily default_int(&default_int_, DataType::Int(32));
  const Temporarily attrs_so_far(&func_attrs_, Map<String, Any>());
  const size_t failures = failures_;
  // Old text, and text of schedulable functions, has a root block that is not written.
  const BlockSpelling blocks = FindBlocks(header->line);
  const bool wants_root = header->s_tir.value_or(blocks != BlockSpelling::kNone);
  alloc_is_block_ = wants_root && blocks == BlockSpelling::kOld;
  BlockInProgress root;
  blocks_.clear();
  loop_domains_.clear();
  matched_.clear();
  matched_buffers_.clear();
  if (wants_root) blocks_.push_back(&root);
  Stmt stmt = TirSuite();
  blocks_.clear();
  CheckFailuresSince(failures);
  const auto* evaluated = stmt.as<tir::EvaluateNode>();
  const auto* last_call = evaluated == nullptr ? nullptr : evaluated->value.as<tir::CallNode>();
  const bool returns = last_call != nullptr && last_call->op->name == "tir.ret";
  if (returns && header->s_tir.value_or(false)) func_attrs_.Set("s_tir", true);
  if (wants_root && !returns) {
    const auto* realize = stmt.as<tir::SBlockRealizeNode>();
    const bool is_root = realize != nullptr && realize->block->iter_vars.empty() && root.alloc_buffers.empty();
    if (!is_root) {
      stmt = tir::SBlockRealize({}, True(),
                                tir::SBlock({}, root.reads.value_or(Array<tir::BufferRegion>()),
                                            root.writes.value_or(Array<tir::BufferRegion>()), "root", stmt, root.init,
                                            root.alloc_buffers, root.annotations));
    }
  }
  DictAttrs attrs;
  if (!func_attrs_.empty()) {
    Map<String, Any> renamed;
    for (const auto& [key, value] : func_attrs_)
      renamed.Set(key == "tir.noalias" ? String("tirx.noalias") : key, value);
    attrs = DictAttrs(renamed);
  }
  if (!header->is_private && !(attrs.defined() && attrs->dict.count("global_symbol") != 0)) {
    attrs = DictAttrs::With(attrs, "global_symbol", ToString(header->name));
  }
  return tir::PrimFunc(header->prim_params, header->buffer_map, stmt, attrs, header->span);
}

Stmt Parser::TirSuite() {
  Array<Stmt> statements;
  // Attributes of everything that follows them in the suite, with the number of statements before them.
  std::vector<std::pair<size_t, tir::AttrStmt>> attrs;
  const Scopes::Frame frame(&scopes_);
  {
    const Temporarily outer(&suite_attrs_, &attrs);
    Suite([&] {
      suite_size_ = statements.size();
      TirStatement(&statements);
    });
  }
  const auto make = [](const Array<Stmt>& seq) -> Stmt {
    if (seq.empty()) return tir::Evaluate(MakeConst(DataType::Int(32), 0));
    return seq.size() == 1 ? seq[0] : Stmt(tir::SeqStmt::Flatten(seq));
  };
  for (; !attrs.empty(); attrs.pop_back()) {
    const auto& [before, attr] = attrs.back();
    const Array<Stmt> rest(statements.begin() + static_cast<int64_t>(before), statements.end());
    const Stmt wrapped = tir::AttrStmt(attr->node, attr->attr_key, attr->value, make(rest));
    statements = Array<Stmt>(statements.begin(), statements.begin() + static_cast<int64_t>(before));
    statements.push_back(wrapped);
  }
  return make(statements);
}

void Parser::TirStatement(Array<Stmt>* out) {
  const size_t at = tokens_.Peek().at;
  if (tokens_.At("for")) return out->push_back(TirFor());
  if (tokens_.At("with")) {
    const Stmt stmt = TirWith(at);
    if (stmt.defined()) out->push_back(stmt);
    return;
  }
  if (tokens_.At("if")) return out->push_back(TirIf());
  if (tokens_.Accept("while")) {
    const PrimExpr condition = Prim(*tokens_.Expression());
    const Stmt body = TirSuite();
    return out->push_back(Located(at, [&] { return tir::While(CastTo(DataType::Bool(), condition), body); }));
  }
  if (tokens_.At("assert")) return out->push_back(TirAssert());
  if (tokens_.At("import") || tokens_.At("from")) return tokens_.NextLine();
  if (tokens_.Accept("pass")) {
    EndStatement();
    return;
  }
  if (tokens_.Accept("return")) {
    // Functions of scalars return one; kernels nothing.
    const Syntax* value = tokens_.AtKind(TokenKind::kNewline) ? nullptr : tokens_.Expression();
    EndStatement();
    if (value != nullptr) out->push_back(Located(at, [&] { return tir::Evaluate(CallIntrin("ret", {Prim(*value)})); }));
    return;
  }
  const Syntax* target = tokens_.Expression();
  const Syntax* annotation = tokens_.Accept(":") ? tokens_.Expression(/*allow_tuple=*/false) : nullptr;
  if (tokens_.Accept("=")) {
    const Syntax* value = tokens_.Expression();
    EndStatement();
    return Located(at, [&] { TirAssign(*target, annotation, *value, out); });
  }
  EndStatement();
  if (annotation != nullptr) {
    // `x: T.let[T.int32]` is no declaration of ours; `n: T.int64` declares a symbol.
    const auto dtype = DtypeName(annotation->dotted);
    if (!dtype || !target->Is(SyntaxKind::kName)) Fail(*target, "a variable without a value");
    Symbol(target->text, *dtype);
    return;
  }
  Located(at, [&] { TirExpression(*target, out); });
}

Stmt Parser::TirAssert() {
  const size_t at = tokens_.Next().at;
  const PrimExpr condition = Prim(*tokens_.Expression(/*allow_tuple=*/false));
  std::string message;
  if (tokens_.Accept(",")) message = StringOf(*Message(tokens_.Expression(/*allow_tuple=*/false)), "a message");
  EndStatement();
  return Located(at, [&] { return tir::AssertStmt(CastTo(DataType::Bool(), condition), message); });
}

Stmt Parser::TirIf() {
  const size_t at = tokens_.Next().at;
  const PrimExpr condition = Prim(*tokens_.Expression());
  const Stmt then_case = TirSuite();
  Stmt else_case;
  if (tokens_.AtClause("elif")) {
    if (depth_ >= MaxSuites()) {
      source_.Fail(at, "an `if` has more than " + std::to_string(MaxSuites()) + " branches");
    }
    const Temporarily depth(&depth_, depth_ + 1);
    tokens_.Clear();
    tokens_.Load();
    else_case = TirIf();
  } else if (tokens_.AtClause("else")) {
    tokens_.Clear();
    tokens_.Load();
    tokens_.Next();
    else_case = TirSuite();
  }
  // Lowered kernels have conditions of one truth a lane: of vectors that are stored.
  const DataType truth = DataType::Bool(condition.dtype().lanes());
  if (truth.is_vector()) {
    bool fits = !else_case.defined();
    tir::PostOrderVisit(then_case, [&](const ObjectRef& part) {
      const auto* store = part.as<tir::BufferStoreNode>();
      const bool is_other = part.as<tir::StmtNode>() != nullptr && part.as<tir::SeqStmtNode>() == nullptr;
      fits &= store != nullptr ? store->value.dtype().lanes() == truth.lanes() : !is_other;
    });
    if (!fits) {
      source_.Fail(at, "a condition of " + std::to_string(truth.lanes()) +
                           " lanes stands over stores of vectors of as many, and without `else`");
    }
  }
  return Located(at, [&] { return tir::IfThenElse(CastTo(truth, condition), then_case, else_case); });
}

Stmt Parser::TirFor() {
  tokens_.Next();
  const Syntax* target = tokens_.Expression();
  tokens_.Expect("in");
  const Syntax* call = tokens_.Expression();
  const std::string_view name = call->Is(SyntaxKind::kCall) && call->dotted == "range" ? "serial" : TirName(*call);
  const Syntax* const one[] = {target};
  const std::span<const Syntax* const> targets =
      target->IsSequence() ? target->items : std::span<const Syntax* const>(one);
  for (const Syntax* item : targets) {
    if (!item->Is(SyntaxKind::kName)) Fail(*item, "expected a loop variable");
  }
  struct Loop {
    tir::Var var;
    Range range;
  };
  std::vector<Loop> loops;
  tir::ForKind kind = tir::ForKind::kSerial;
  std::string thread_tag;
  Map<String, Any> annotations;
  const auto add = [&](const Syntax& item, const Range& range) {
    const DataType dtype = range->extent.dtype();
    if (!dtype.is_integer() || dtype.is_vector()) Fail(*call, "a loop runs over integers");
    loops.push_back({tir::Var(ToString(item.text), dtype), range});
  };
  const auto whole = [&](const Syntax& node) {
    const PrimExpr extent = Prim(node);
    return Range::FromMinExtent(MakeConst(extent.dtype(), 0), extent);
  };
  if (name == "grid") {
    if (call->items.size() != targets.size()) {
      Fail(*call, std::to_string(targets.size()) + " variables for " + std::to_string(call->items.size()) + " extents");
    }
    for (size_t i = 0; i < targets.size(); ++i) add(*targets[i], whole(*call->items[i]));
  } else {
    if (name == "parallel") {
      kind = tir::ForKind::kParallel;
    } else if (name == "vectorized") {
      kind = tir::ForKind::kVectorized;
    } else if (name == "unroll") {
      kind = tir::ForKind::kUnrolled;
    } else if (name == "thread_binding") {
      kind = tir::ForKind::kThreadBinding;
      const Syntax* thread = call->Find("thread");
      if (thread == nullptr) Fail(*call, "expected thread=\"threadIdx.x\" or another axis");
      thread_tag = StringOf(*thread, "a thread axis");
    } else if (name != "serial") {
      Fail(*call, "expected range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or T.thread_binding");
    }
    if (targets.size() != 1) Fail(*target, "one variable for one loop");
    if (call->items.empty() || call->items.size() > 2) Fail(*call, "expected an extent, or a first value and an end");
    if (const Syntax* given = call->Find("annotations"); given != nullptr && !given->Is(SyntaxKind::kNone)) {
      annotations = Dict(*given);
    }
    add(*targets[0], call->items.size() == 1 ? whole(*call->items[0]) : RangeOf(*call->items[0], *call->items[1]));
  }
  /// The domains are known as long as the loops' bodies are read.
  struct Domains {
    Parser* parser;
    const std::vector<Loop>& loops;
    ~Domains() {
      for (const Loop& loop : loops) parser->loop_domains_.erase(loop.var.get());
    }
  };
  const Scopes::Frame frame(&scopes_);
  for (size_t i = 0; i < loops.size(); ++i) {
    scopes_.Define(targets[i]->text, loops[i].var);
    loop_domains_.emplace(loops[i].var.get(), loops[i].range);
  }
  const Domains domains{this, loops};
  const size_t at = call->at;
  Stmt body = TirSuite();
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    body = Located(at, [&]() -> Stmt {
      return tir::For(loop->var, loop->range->min, loop->range->extent, kind, body, thread_tag, annotations);
    });
  }
  return body;
}

void Parser::TirAttr(const Syntax& call, Array<Stmt>* out) {
  const Stmt nothing = tir::Evaluate(MakeConst(DataType::Int(32), 0));
  if (call.items.size() == 1 && call.items[0]->Is(SyntaxKind::kDict)) {
    const auto entries = call.items[0]->items;
    for (size_t i = 0; i + 1 < entries.size(); i += 2) {
      out->push_back(tir::AttrStmt(int64_t{0}, StringOf(*entries[i], "a key"), Prim(*entries[i + 1]), nothing));
    }
  } else if (call.items.size() == 3) {
    out->push_back(
        tir::AttrStmt(Value(*call.items[0]), StringOf(*call.items[1], "a key"), Prim(*call.items[2]), nothing));
  } else {
    Fail(call, "expected T.attr(node, key, value)");
  }
}

Stmt Parser::TirWith(size_t at) {
  tokens_.Next();
  const Syntax* call = tokens_.Expression();
  const std::string_view name = TirName(*call);
  if (name == "sblock" || name == "block") return TirBlock(*call);
  if (name == "init") {
    BlockInProgress& block = OpenBlock(*call);
    const Stmt init = TirSuite();
    if (block.init.defined()) source_.Fail(at, "a block has one T.init");
    block.init = init;
    return Stmt();
  }
  if (name != "attr") source_.Fail(at, "expected T.sblock, T.init or T.attr after `with`");
  Array<Stmt> attrs;
  TirAttr(*call, &attrs);
  Stmt body = TirSuite();
  for (int64_t i = static_cast<int64_t>(attrs.size()) - 1; i >= 0; --i) {
    const auto attr = Downcast<tir::AttrStmt>(attrs[i]);
    body = tir::AttrStmt(attr->node, attr->attr_key, attr->value, body);
  }
  return body;
}

bool Parser::TirDeclaration(const Syntax& target, const Syntax& call, std::string_view name, Array<Stmt>* out) {
  if (name.empty()) return false;
  if (name.starts_with("axis.")) {
    const std::string_view kind = name.substr(5);
    if (kind == "remap") return AxisRemap(target, call), true;
    if (kind == "spatial" || kind == "S") return AxisOne(target, call, IterVarType::kSpatial), true;
    if (kind == "reduce" || kind == "R") return AxisOne(target, call, IterVarType::kReduce), true;
    if (kind == "opaque" || kind == "scan") return AxisOne(target, call, IterVarType::kOpaque), true;
    if (kind == "thread") return AxisOne(target, call, IterVarType::kThread), true;
  }
  if (!target.Is(SyntaxKind::kName)) return false;
  if (name == "match_buffer") return MatchBuffer(target, call), true;
  const Syntax* data = call.Find("data");
  const bool has_data = data != nullptr && !data->Is(SyntaxKind::kNone);
  if (name == "Buffer" || (name == "decl_buffer" && has_data)) {
    // A view of other data; or one that nothing defines: annotations may name buffers that are no more.
    scopes_.Define(target.text, BufferOf(call, target.text, 0));
    return true;
  }
  const bool is_block_alloc = name == "sblock_alloc_buffer" || (name == "alloc_buffer" && alloc_is_block_);
  if (is_block_alloc || name == "alloc_buffer" || name == "decl_buffer" || name == "alloc_local" ||
      name == "alloc_shared") {
    tir::Buffer buffer = BufferOf(call, target.text, 0);
    if (buffer->elem_offset.defined()) Fail(call, "what is allocated begins at its pointer, leave `elem_offset` out");
    if (name == "alloc_local") CopyOnWrite(&buffer)->scope = "local";
    if (name == "alloc_shared") CopyOnWrite(&buffer)->scope = "shared";
    scopes_.Define(target.text, buffer);
    if (is_block_alloc) {
      OpenBlock(call).alloc_buffers.push_back(buffer);
    } else {
      out->push_back(tir::AllocBuffer(buffer));
    }
    return true;
  }
  const auto dtype = DtypeName(name);
  if (!dtype || !call.items.empty()) return false;
  const auto* var = AsNode<tir::VarNode>(Find(target.text));
  if (var == nullptr || var->dtype != *dtype) Symbol(target.text, *dtype);
  return true;
}

void Parser::TirStore(const Syntax& target, const Syntax& value, Array<Stmt>* out) {
  const auto [buffer, indices] = ElementOf(target);
  int64_t lanes = 1;
  for (const PrimExpr& index : indices) lanes = std::max<int64_t>(lanes, index.dtype().lanes());
  const DataType dtype = buffer->dtype.with_lanes(static_cast<int>(lanes));
  PrimExpr stored = value.IsLiteral() ? PrimLiteral(value, dtype) : Prim(value);
  if (stored.dtype() != dtype) {
    if (stored.dtype().lanes() != dtype.lanes() && stored.dtype().is_scalar()) {
      stored = tir::Broadcast(stored, dtype.lanes());
    }
    if (stored.dtype().lanes() != dtype.lanes()) {
      Fail(value, "a vector of " + std::to_string(stored.dtype().lanes()) + " lanes for " + std::to_string(lanes) +
                      " elements");
    }
    stored = CastTo(dtype, stored);
  }
  out->push_back(tir::BufferStore(buffer, stored, indices));
}

bool Parser::IsSymbols(const Syntax& values, size_t count) const {
  return values.IsSequence() && values.items.size() == count &&
         std::all_of(values.items.begin(), values.items.end(), [&](const auto& value) {
           return value->Is(SyntaxKind::kCall) && value->items.empty() && DtypeName(TirName(*value));
         });
}

void Parser::TirAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Array<Stmt>* out) {
  if (TirDeclaration(target, value, TirName(value), out)) return;
  if (IsView(target, value)) return scopes_.Define(target.text, ViewOf(value, target.text));
  if (target.Is(SyntaxKind::kSubscript)) return TirStore(target, value, out);
  if (target.IsSequence() && annotation == nullptr && IsSymbols(value, target.items.size())) {
    for (size_t i = 0; i < target.items.size(); ++i) TirAssign(*target.items[i], nullptr, *value.items[i], out);
    return;
  }
  if (!target.Is(SyntaxKind::kName)) Fail(target, "expected a variable or an element of a buffer");
  std::optional<DataType> dtype;
  if (annotation != nullptr) {
    // x: T.int32, and x: T.let[T.int32]
    const bool is_let = annotation->Is(SyntaxKind::kSubscript) && annotation->items.size() == 1;
    const Syntax& type = is_let ? *annotation->items[0] : *annotation;
    dtype = DtypeName(type.dotted);
    if (!dtype && !type.dotted.ends_with("let")) Fail(type, "expected a scalar type such as T.int32");
  }
  PrimExpr bound = dtype                                                 ? PrimAs(value, *dtype)
                   : TirName(value) == "bind" && value.items.size() == 1 ? Prim(*value.items[0])
                                                                         : Prim(value);
  if (dtype && bound.dtype() != *dtype) bound = CastTo(*dtype, bound);
  tir::Var var(ToString(target.text), bound.dtype());
  scopes_.Define(target.text, var);
  out->push_back(tir::Bind(var, bound));
}

void Parser::TirExpression(const Syntax& node, Array<Stmt>* out) {
  const std::string_view name = TirName(node);
  if (node.Is(SyntaxKind::kString)) return;  // a docstring
  if (name == "reads") {
    OpenBlock(node).reads = Regions(node);
  } else if (name == "writes") {
    OpenBlock(node).writes = Regions(node);
  } else if (name == "where" && node.items.size() == 1) {
    OpenBlock(node).predicate = CastTo(DataType::Bool(), Prim(*node.items[0]));
  } else if ((name == "sblock_attr" || name == "block_attr") && node.items.size() == 1) {
    for (const auto& [key, value] : Dict(*node.items[0])) OpenBlock(node).annotations.Set(key, value);
  } else if (name == "func_attr" && node.items.size() == 1) {
    for (const auto& [key, value] : Dict(*node.items[0])) func_attrs_.Set(key, value);
  } else if (name == "attr") {
    Array<Stmt> attrs;
    TirAttr(node, &attrs);
    for (const Stmt& attr : attrs) suite_attrs_->emplace_back(suite_size_, Downcast<tir::AttrStmt>(attr));
  } else if (name == "evaluate" && node.items.size() == 1) {
    out->push_back(tir::Evaluate(Prim(*node.items[0])));
  } else {
    out->push_back(tir::Evaluate(Prim(node)));
  }
}

}  // namespace deuteron::script
