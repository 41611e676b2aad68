/// \file
/// Reads loop-level functions.
#include <tuple>

#include "deuteron/script/parser_impl.h"
#include "deuteron/tir/analysis/block_analysis.h"

namespace deuteron::script {

using tir::Stmt;

namespace {

bool IsAny(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* candidate : names) {
    if (name == candidate) return true;
  }
  return false;
}

/// The function's name without `T.` or `tir.`; empty if it is none of theirs.
std::string TirName(const Syntax& node) {
  if (!node.Is(SyntaxKind::kCall)) return "";
  const std::string dotted = DottedName(*node.base);
  if (dotted.rfind("T.", 0) == 0) return dotted.substr(2);
  if (dotted.rfind("tir.", 0) == 0) return dotted.substr(4);
  return "";
}

/// stop - start where text like `start:start + extent` says the extent.
PrimExpr ExtentOf(const PrimExpr& start, const PrimExpr& stop, arith::Analyzer* analyzer) {
  if (IsZero(start)) return stop;
  if (const auto* sum = stop.as<tir::AddNode>()) {
    if (ExprEqual(sum->a, start)) return sum->b;
  }
  return analyzer->Simplify(stop - start);
}

}  // namespace

tir::Buffer Parser::BufferOf(const Syntax& call, std::string_view name, size_t first) {
  const auto argument = [&](size_t index, const char* key) -> const Syntax* {
    if (const Syntax* value = call.Keyword(key)) return value;
    return first + index < call.items.size() ? call.items[first + index] : nullptr;
  };
  const Syntax* shape = argument(0, "shape");
  if (shape == nullptr) Fail(call, "a buffer needs a shape");
  const Syntax* dtype = argument(1, "dtype");
  Array<PrimExpr> strides;
  if (const Syntax* given = call.Keyword("strides"); given != nullptr && !given->Is(SyntaxKind::kNone)) {
    strides = Dimensions(*given);
  }
  const Syntax* scope = call.Keyword("scope");
  return tir::Buffer(String(name.data(), name.size()), dtype == nullptr ? DataType::Float(32) : DtypeOf(*dtype),
                     Dimensions(*shape), scope == nullptr ? "global" : StringOf(*scope, "a scope"), strides);
}

tir::Buffer Parser::FindBuffer(const Syntax& node) {
  if (node.Is(SyntaxKind::kName)) {
    const ObjectRef value = scopes_.Find(node.text);
    if (const auto* buffer = value.as<tir::BufferNode>()) return GetRef<tir::Buffer>(buffer);
    if (!value.defined()) Fail(node, "`" + std::string(node.text) + "` is not defined");
  }
  Fail(node, "expected a buffer");
}

BlockInProgress& Parser::OpenBlock(const Syntax& node) {
  if (blocks_.empty()) Fail(node, "this belongs into a block (`with T.sblock(…)`)");
  return *blocks_.back();
}

tir::PrimFunc Parser::PrimFunction(FunctionHeader* header) {
  header_ = header;
  default_int_ = DataType::Int(32);
  func_attrs_ = {};
  // Old text, and text of schedulable functions, has a root block that is not written.
  bool has_blocks = false;
  const size_t body = tokens_.position();
  tokens_.SkipSuite();
  const size_t end = tokens_.position();
  for (size_t i = body; i < end; ++i) {
    tokens_.Seek(i);
    has_blocks |= tokens_.At(".") && (tokens_.At("sblock", 1) || tokens_.At("block", 1) ||
                                      tokens_.At("sblock_alloc_buffer", 1));
  }
  tokens_.Seek(body);
  const bool wants_root = header->s_tir.value_or(has_blocks);
  alloc_is_block_ = wants_root && has_blocks;
  BlockInProgress root;
  if (wants_root) blocks_.push_back(&root);
  Stmt stmt = TirSuite();
  blocks_.clear();
  if (wants_root) {
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
    for (const auto& [key, value] : func_attrs_) renamed.Set(key == "tir.noalias" ? String("tirx.noalias") : key, value);
    attrs = DictAttrs(renamed);
  }
  if (!header->is_private && !(attrs.defined() && attrs->dict.count("global_symbol") != 0)) {
    attrs = DictAttrs::With(attrs, "global_symbol", String(header->name.data(), header->name.size()));
  }
  default_int_ = DataType::Int(64);
  header_ = nullptr;
  return tir::PrimFunc(header->prim_params, header->buffer_map, stmt, attrs, header->span);
}

Stmt Parser::TirSuite() {
  Array<Stmt> statements;
  scopes_.Push();
  Suite([&] { TirStatement(&statements); });
  scopes_.Pop();
  if (statements.empty()) return tir::Evaluate(MakeConst(DataType::Int(32), 0));
  return statements.size() == 1 ? statements[0] : tir::SeqStmt::Flatten(statements);
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
    PrimExpr condition = Prim(*tokens_.Expression());
    return out->push_back(tir::While(condition, TirSuite()));
  }
  if (tokens_.Accept("assert")) {
    PrimExpr condition = Prim(*tokens_.Expression(/*allow_tuple=*/false));
    std::string message;
    if (tokens_.Accept(",")) {
      const Syntax* text = tokens_.Expression(/*allow_tuple=*/false);
      while ((text->Is(SyntaxKind::kTuple) || text->Is(SyntaxKind::kList)) && !text->items.empty()) {
        text = text->items.back();
      }
      message = StringOf(*text, "a message");
    }
    EndStatement();
    return out->push_back(tir::AssertStmt(condition, message));
  }
  if (tokens_.At("import") || tokens_.At("from")) return tokens_.SkipLine();
  if (tokens_.Accept("pass")) {
    EndStatement();
    return;
  }
  if (tokens_.Accept("return")) {
    if (!tokens_.AtKind(TokenKind::kNewline)) tokens_.Fail("a kernel returns nothing");
    EndStatement();
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
  if (annotation != nullptr) Fail(*target, "a variable without a value");
  Located(at, [&] { TirExpression(*target, out); });
}

Stmt Parser::TirIf() {
  tokens_.Next();
  PrimExpr condition = Prim(*tokens_.Expression());
  const Stmt then_case = TirSuite();
  Stmt else_case;
  if (tokens_.At("elif")) {
    if (++depth_ > 250) tokens_.Fail("too many branches");
    else_case = TirIf();
    --depth_;
  } else if (tokens_.Accept("else")) {
    else_case = TirSuite();
  }
  return tir::IfThenElse(CastTo(DataType::Bool(), condition), then_case, else_case);
}

Stmt Parser::TirFor() {
  tokens_.Next();
  const Syntax* target = tokens_.Expression();
  tokens_.Expect("in");
  const Syntax* call = tokens_.Expression();
  std::string name = TirName(*call);
  if (call->Is(SyntaxKind::kCall) && DottedName(*call->base) == "range") name = "serial";
  std::vector<const Syntax*> targets = {target};
  if (target->Is(SyntaxKind::kTuple)) targets = target->items;
  for (const Syntax* item : targets) {
    if (!item->Is(SyntaxKind::kName)) Fail(*item, "expected a loop variable");
  }
  struct Loop {
    tir::Var var;
    PrimExpr min, extent;
  };
  std::vector<Loop> loops;
  tir::ForKind kind = tir::ForKind::kSerial;
  std::string thread_tag;
  Map<String, Any> annotations;
  const auto add = [&](const Syntax& item, PrimExpr min, PrimExpr extent) {
    const DataType dtype = extent.dtype();
    loops.push_back({tir::Var(String(item.text.data(), item.text.size()), dtype), std::move(min), std::move(extent)});
  };
  if (name == "grid") {
    if (call->items.size() != targets.size()) {
      Fail(*call, std::to_string(targets.size()) + " variables for " + std::to_string(call->items.size()) + " extents");
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      PrimExpr extent = Prim(*call->items[i]);
      add(*targets[i], MakeConst(extent.dtype(), 0), extent);
    }
  } else {
    if (IsAny(name, {"parallel"})) {
      kind = tir::ForKind::kParallel;
    } else if (IsAny(name, {"vectorized"})) {
      kind = tir::ForKind::kVectorized;
    } else if (IsAny(name, {"unroll"})) {
      kind = tir::ForKind::kUnrolled;
    } else if (IsAny(name, {"thread_binding"})) {
      kind = tir::ForKind::kThreadBinding;
      const Syntax* thread = call->Keyword("thread");
      if (thread == nullptr) Fail(*call, "expected thread=\"threadIdx.x\" or another axis");
      thread_tag = StringOf(*thread, "a thread axis");
    } else if (name != "serial") {
      Fail(*call, "expected range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or T.thread_binding");
    }
    if (targets.size() != 1) Fail(*target, "one variable for one loop");
    if (call->items.empty() || call->items.size() > 2) Fail(*call, "expected an extent, or a first value and an end");
    if (const Syntax* given = call->Keyword("annotations"); given != nullptr && !given->Is(SyntaxKind::kNone)) {
      annotations = Dict(*given);
    }
    if (call->items.size() == 1) {
      PrimExpr extent = Prim(*call->items[0]);
      add(*target, MakeConst(extent.dtype(), 0), extent);
    } else {
      auto [begin, end] = Operands(*call->items[0], *call->items[1]);
      add(*target, begin, ExtentOf(begin, end, &builder_->analyzer()));
    }
  }
  scopes_.Push();
  for (size_t i = 0; i < loops.size(); ++i) {
    scopes_.Define(targets[i]->text, loops[i].var);
    loop_domains_.emplace(loops[i].var.get(), Range::FromMinExtent(loops[i].min, loops[i].extent));
  }
  const size_t at = call->at;
  Stmt body = TirSuite();
  scopes_.Pop();
  for (const Loop& loop : loops) loop_domains_.erase(loop.var.get());
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    body = Located(at, [&]() -> Stmt {
      return tir::For(loop->var, loop->min, loop->extent, kind, body, thread_tag, annotations);
    });
  }
  return body;
}

Stmt Parser::TirWith(size_t at) {
  tokens_.Next();
  const Syntax* call = tokens_.Expression();
  const std::string name = TirName(*call);
  if (name == "sblock" || name == "block") return TirBlock(*call);
  if (name == "init") {
    BlockInProgress& block = OpenBlock(*call);
    block.init = TirSuite();
    return Stmt();
  }
  if (name == "attr") {
    std::vector<std::pair<std::string, PrimExpr>> values;
    Any node = int64_t{0};
    if (call->items.size() == 1 && call->items[0]->Is(SyntaxKind::kDict)) {
      for (size_t i = 0; i + 1 < call->items[0]->items.size(); i += 2) {
        values.emplace_back(StringOf(*call->items[0]->items[i], "a key"), Prim(*call->items[0]->items[i + 1]));
      }
    } else if (call->items.size() == 3) {
      node = Value(*call->items[0]);
      values.emplace_back(StringOf(*call->items[1], "a key"), Prim(*call->items[2]));
    } else {
      Fail(*call, "expected T.attr(node, key, value)");
    }
    Stmt body = TirSuite();
    for (auto it = values.rbegin(); it != values.rend(); ++it) body = tir::AttrStmt(node, it->first, it->second, body);
    return body;
  }
  source_.Fail(at, "expected T.sblock, T.init or T.attr after `with`");
}

Stmt Parser::TirBlock(const Syntax& call) {
  const size_t at = call.at;
  const std::string name = call.items.empty() ? "" : StringOf(*call.items[0], "the name of the block");
  BlockInProgress block;
  blocks_.push_back(&block);
  // The span stands at the end of the line of `with`.
  Span span;
  if (tokens_.At(":") && tokens_.Peek(1).kind == TokenKind::kNewline && tokens_.Peek(1).size > 0) {
    const size_t position = tokens_.position();
    tokens_.Next();
    span = EndStatement();
    tokens_.Seek(position);
  }
  const Stmt body = TirSuite();
  blocks_.pop_back();
  return Located(at, [&]() -> Stmt {
    tir::SBlock node(block.iter_vars, block.reads.value_or(Array<tir::BufferRegion>()),
                     block.writes.value_or(Array<tir::BufferRegion>()), name, body, block.init, block.alloc_buffers,
                     block.annotations, span);
    if (!block.reads.has_value() || !block.writes.has_value()) {
      const tir::BlockRegions regions = tir::DetectRegions(node);
      auto* fields = CopyOnWrite(&node);
      const bool is_root = name == "root" && block.iter_vars.empty();
      if (!block.reads.has_value() && !is_root) fields->reads = regions.reads;
      if (!block.writes.has_value() && !is_root) fields->writes = regions.writes;
    }
    return tir::SBlockRealize(block.iter_values, block.predicate.defined() ? block.predicate : True(), node, span);
  });
}

void Parser::AxisRemap(const Syntax& target, const Syntax& call) {
  BlockInProgress& block = OpenBlock(call);
  if (call.items.size() != 2) Fail(call, "expected T.axis.remap(\"SR\", [i, k])");
  const std::string kinds = StringOf(*call.items[0], "the kinds of the axes");
  const auto& values = call.items[1]->items;
  std::vector<const Syntax*> targets = {&target};
  if (target.Is(SyntaxKind::kTuple)) targets = target.items;
  if (kinds.size() != values.size() || kinds.size() != targets.size()) {
    Fail(call, std::to_string(targets.size()) + " names for " + std::to_string(kinds.size()) + " kinds of " +
                   std::to_string(values.size()) + " loops");
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    const IterVarType type = kinds[i] == 'S'   ? IterVarType::kSpatial
                             : kinds[i] == 'R' ? IterVarType::kReduce
                                               : IterVarType::kOpaque;
    if (kinds[i] != 'S' && kinds[i] != 'R') Fail(*call.items[0], "an axis is of kind S or R");
    if (!values[i]->Is(SyntaxKind::kName) || !targets[i]->Is(SyntaxKind::kName)) {
      Fail(*values[i], "T.axis.remap takes loop variables");
    }
    PrimExpr value = Prim(*values[i]);
    const ObjectRef range = scopes_.Find(values[i]->text);
    const auto domain = loop_domains_.find(range.get());
    if (domain == loop_domains_.end()) Fail(*values[i], "`" + std::string(values[i]->text) + "` is no loop variable");
    tir::Var var(String(targets[i]->text.data(), targets[i]->text.size()), value.dtype());
    block.iter_vars.push_back(IterVar(domain->second, var, type));
    block.iter_values.push_back(value);
    scopes_.Define(targets[i]->text, var);
  }
}

void Parser::AxisOne(const Syntax& target, const Syntax& call, IterVarType type) {
  BlockInProgress& block = OpenBlock(call);
  if (!target.Is(SyntaxKind::kName) || call.items.size() != 2) Fail(call, "expected v = T.axis.spatial(extent, value)");
  const Syntax& domain = *call.items[0];
  PrimExpr value;
  PrimExpr min;
  PrimExpr extent;
  if (domain.Is(SyntaxKind::kTuple) && domain.items.size() == 2) {
    auto [begin, end] = Operands(*domain.items[0], *domain.items[1]);
    min = begin;
    extent = ExtentOf(begin, end, &builder_->analyzer());
    value = PrimAs(*call.items[1], extent.dtype());
  } else {
    auto [left, right] = Operands(domain, *call.items[1]);
    extent = left;
    value = right;
    min = MakeConst(extent.dtype(), 0);
  }
  tir::Var var(String(target.text.data(), target.text.size()), value.dtype());
  block.iter_vars.push_back(IterVar(Range::FromMinExtent(min, extent), var, type));
  block.iter_values.push_back(value);
  scopes_.Define(target.text, var);
}

bool Parser::TirDeclaration(const Syntax& target, const Syntax& call, const std::string& name, Array<Stmt>* out) {
  if (name == "axis.remap") {
    AxisRemap(target, call);
    return true;
  }
  if (IsAny(name, {"axis.spatial", "axis.S"})) return AxisOne(target, call, IterVarType::kSpatial), true;
  if (IsAny(name, {"axis.reduce", "axis.R"})) return AxisOne(target, call, IterVarType::kReduce), true;
  if (IsAny(name, {"axis.opaque", "axis.scan"})) return AxisOne(target, call, IterVarType::kOpaque), true;
  if (name == "axis.thread") return AxisOne(target, call, IterVarType::kThread), true;
  if (!target.Is(SyntaxKind::kName)) return false;
  if (name == "match_buffer") {
    if (call.items.empty() || !call.items[0]->Is(SyntaxKind::kName)) Fail(call, "expected T.match_buffer(handle, shape, dtype)");
    const ObjectRef handle = scopes_.Find(call.items[0]->text);
    const auto* var = handle.as<tir::VarNode>();
    if (var == nullptr || header_ == nullptr) {
      source_.Fail(call.at, "T.match_buffer takes a parameter of type T.handle", /*unsupported=*/true);
    }
    const bool outer = std::exchange(in_signature_, true);
    const tir::Buffer buffer = BufferOf(call, target.text, 1);
    in_signature_ = outer;
    header_->buffer_map.Set(GetRef<tir::Var>(var), buffer);
    scopes_.Define(target.text, buffer);
    return true;
  }
  const bool is_block_alloc = name == "sblock_alloc_buffer" || (name == "alloc_buffer" && alloc_is_block_);
  if (is_block_alloc || name == "alloc_buffer") {
    const tir::Buffer buffer = BufferOf(call, target.text, 0);
    scopes_.Define(target.text, buffer);
    if (is_block_alloc) {
      OpenBlock(call).alloc_buffers.push_back(buffer);
    } else {
      out->push_back(tir::AllocBuffer(buffer));
    }
    return true;
  }
  const auto dtype = DtypeName(name);
  if (dtype && call.items.empty()) {
    const auto* known = scopes_.Find(target.text).as<tir::VarNode>();
    if (known == nullptr || known->dtype != *dtype) Symbol(target.text, *dtype);
    return true;
  }
  return false;
}

void Parser::TirAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Array<Stmt>* out) {
  if (TirDeclaration(target, value, TirName(value), out)) return;
  if (target.Is(SyntaxKind::kSubscript)) {
    const tir::Buffer buffer = FindBuffer(*target.base);
    const Array<PrimExpr> indices = Indices(target);
    int64_t lanes = 1;
    for (const PrimExpr& index : indices) lanes = std::max<int64_t>(lanes, index.dtype().lanes());
    const DataType dtype = buffer->dtype.with_lanes(static_cast<int>(lanes));
    PrimExpr stored = value.Is(SyntaxKind::kFloat) || value.IsLiteral() ? PrimLiteral(value, dtype) : Prim(value);
    if (stored.dtype() != dtype) {
      if (stored.dtype().lanes() != dtype.lanes() && stored.dtype().is_scalar()) {
        stored = tir::Broadcast(stored, dtype.lanes());
      }
      stored = CastTo(dtype, stored);
    }
    return out->push_back(tir::BufferStore(buffer, stored, indices));
  }
  if (!target.Is(SyntaxKind::kName)) Fail(target, "expected a variable or an element of a buffer");
  const auto dtype = annotation != nullptr ? DtypeName(DottedName(*annotation)) : std::nullopt;
  PrimExpr bound = dtype ? PrimAs(value, *dtype) : Prim(value);
  if (dtype && bound.dtype() != *dtype) bound = CastTo(*dtype, bound);
  tir::Var var(String(target.text.data(), target.text.size()), bound.dtype());
  scopes_.Define(target.text, var);
  out->push_back(tir::Bind(var, bound));
}

tir::BufferRegion Parser::Region(const Syntax& node) {
  if (node.Is(SyntaxKind::kName)) return tir::BufferRegion::Full(FindBuffer(node));
  if (!node.Is(SyntaxKind::kSubscript)) Fail(node, "expected a region of a buffer, such as A[i, 0:4]");
  const tir::Buffer buffer = FindBuffer(*node.base);
  Array<Range> region;
  const bool empty = node.items.size() == 1 && node.items[0]->Is(SyntaxKind::kTuple);
  for (const Syntax* item : node.items) {
    if (empty) break;
    const size_t axis = region.size();
    if (axis >= buffer->shape.size()) Fail(*item, "more indices than the buffer has dimensions");
    if (!item->Is(SyntaxKind::kSlice)) {
      PrimExpr index = Prim(*item);
      region.push_back(Range::FromMinExtent(index, MakeConst(index.dtype(), 1)));
      continue;
    }
    PrimExpr begin;
    PrimExpr end;
    if (item->items[0] != nullptr && item->items[1] != nullptr) {
      std::tie(begin, end) = Operands(*item->items[0], *item->items[1]);
    } else {
      const DataType dtype = buffer->shape[axis].dtype();
      begin = item->items[0] != nullptr ? PrimAs(*item->items[0], dtype) : MakeConst(dtype, 0);
      end = item->items[1] != nullptr ? PrimAs(*item->items[1], dtype) : buffer->shape[axis];
    }
    region.push_back(Range::FromMinExtent(begin, ExtentOf(begin, end, &builder_->analyzer())));
  }
  return tir::BufferRegion(buffer, region);
}

Array<tir::BufferRegion> Parser::Regions(const Syntax& call) {
  Array<tir::BufferRegion> regions;
  for (const Syntax* item : call.items) {
    if (item->Is(SyntaxKind::kList) || item->Is(SyntaxKind::kTuple)) {
      for (const Syntax* inner : item->items) regions.push_back(Region(*inner));
    } else {
      regions.push_back(Region(*item));
    }
  }
  return regions;
}

void Parser::TirExpression(const Syntax& node, Array<Stmt>* out) {
  const std::string name = TirName(node);
  if (node.Is(SyntaxKind::kString)) return;  // a docstring
  if (name == "reads") {
    OpenBlock(node).reads = Regions(node);
  } else if (name == "writes") {
    OpenBlock(node).writes = Regions(node);
  } else if (name == "where" && node.items.size() == 1) {
    OpenBlock(node).predicate = Prim(*node.items[0]);
  } else if (IsAny(name, {"sblock_attr", "block_attr"}) && node.items.size() == 1) {
    for (const auto& [key, value] : Dict(*node.items[0])) OpenBlock(node).annotations.Set(key, value);
  } else if (name == "func_attr" && node.items.size() == 1) {
    for (const auto& [key, value] : Dict(*node.items[0])) func_attrs_.Set(key, value);
  } else if (name == "evaluate" && node.items.size() == 1) {
    out->push_back(tir::Evaluate(Prim(*node.items[0])));
  } else {
    out->push_back(tir::Evaluate(Prim(node)));
  }
}

}  // namespace deuteron::script
