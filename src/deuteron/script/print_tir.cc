/// \file
/// Prints loop-level functions and statements.
#include <algorithm>
#include <initializer_list>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/script/printer_impl.h"
#include "deuteron/tir/analysis/kernel_signature.h"

namespace deuteron::script {

using tir::Buffer;
using tir::Stmt;
using tir::StmtKind;

namespace {

/// Whether the function's only statement is an iterator-less block that nothing distinguishes from the root that
/// the reader adds.
bool RootGoesWithoutSaying(const tir::PrimFunc& func) {
  const auto* realize = func->body.as<tir::SBlockRealizeNode>();
  const auto* root = realize->block.get();
  if (std::string(root->name_hint) != "root" || !root->reads.empty() || !root->writes.empty() ||
      !root->annotations.empty() || root->init.defined() || !IsOne(realize->predicate)) {
    return false;
  }
  const auto* inner = root->body.as<tir::SBlockRealizeNode>();
  return inner == nullptr || !inner->block->iter_vars.empty() || !root->alloc_buffers.empty();
}

bool ContainsBlock(const Stmt& stmt) {
  bool found = false;
  tir::PostOrderVisit(stmt, [&](const ObjectRef& node) { found |= node.as<tir::SBlockNode>() != nullptr; });
  return found;
}

}  // namespace

void Printer::PrimFunction(const tir::PrimFunc& func, const std::string& name) {
  const bool graph_level = graph_level_;
  graph_level_ = false;
  const bool has_root = tir::HasRootBlock(func);
  const bool is_private = !func->GetAttr<String>("global_symbol").has_value();
  names_.Push();
  Put("@T.prim_func");
  bool first = true;
  const auto flag = [&](const char* text) {
    if (first) Put('(');
    Comma(&first);
    Put(text);
  };
  if (is_private) flag("private=True");
  if (has_root || func->HasNonzeroAttr("s_tir")) {
    flag("s_tir=True");
  } else if (ContainsBlock(func->body)) {
    flag("s_tir=False");
  }
  if (!first) Put(')');
  Line();
  Put("def ");
  Put(name);
  Put('(');
  in_signature_ = true;
  signature_symbols_.clear();
  for (const tir::Var& param : func->params) {
    if (!func->buffer_map.count(param)) later_params_.insert(param.get());
  }
  first = true;
  for (const tir::Var& param : func->params) {
    Comma(&first);
    if (const auto buffer = func->buffer_map.Get(param)) {
      Put(DefineBuffer(*buffer));
      Put(": T.Buffer(");
      BufferArguments(*buffer, /*default_dtype=*/false);
      Put(')');
    } else {
      const std::string* known = names_.Find(param.get());
      Put(known != nullptr ? *known : names_.Define(param.get(), View(param->name_hint)));
      later_params_.erase(param.get());
      Put(": T.");
      PutDtype(param->dtype);
    }
  }
  in_signature_ = false;
  Put(")");
  if (const PrimExpr returned = tir::ReturnedValue(func); returned.defined()) {
    Put(" -> T.");
    PutDtype(returned.dtype());
  }
  Put(":");
  indent_ += 4;
  const size_t declarations = text_.size();
  Map<String, Any> attrs;
  if (func->attrs.defined()) {
    for (const auto& [key, value] : func->attrs->dict) {
      const auto symbol = key == "global_symbol" ? value.try_cast<String>() : std::nullopt;
      if (!(symbol.has_value() && View(*symbol) == name) && key != "s_tir") attrs.Set(key, value);
    }
  }
  if (!attrs.empty()) {
    Line();
    Put("T.func_attr(");
    PrintDict(attrs);
    Put(')');
  }
  CollectViews(func);
  if (has_root && RootGoesWithoutSaying(func)) {
    const auto* root = func->body.as<tir::SBlockRealizeNode>()->block.get();
    Line();
    Put("# with T.sblock(\"root\"):");
    BlockInner(root);
  } else {
    PrintStmt(func->body);
  }
  text_.insert(declarations, BodySymbols());
  body_symbols_.clear();
  indent_ -= 4;
  names_.Pop();
  graph_level_ = graph_level;
}

std::string Printer::BodySymbols() const {
  std::string symbols;
  for (const auto& [symbol, dtype] : body_symbols_) {
    symbols += "\n" + std::string(indent_, ' ') + symbol + " = T." + dtype.ToString() + "()";
  }
  return symbols;
}

void Printer::Body(const Stmt& stmt) {
  indent_ += 4;
  names_.Push();
  DeclareWaitingViews();
  PrintStmt(stmt);
  names_.Pop();
  indent_ -= 4;
}

void Printer::DeclareLets(const PrimExpr& expr) {
  deuteron::PostOrderVisit(expr, [this](const PrimExpr& part) {
    if (part->kind != ExprKind::kLet) return;
    const tir::Var& var = static_cast<const tir::LetNode*>(part.get())->var;
    if (names_.Find(var.get()) != nullptr) return;
    Line();
    Put(names_.Define(var.get(), View(var->name_hint)));
    Put(" = T.");
    PutDtype(var->dtype);
    Put("()");
  });
}

void Printer::PrintStmt(const Stmt& stmt) {
  // Names of variables that expressions bind are gone after the statement.
  const auto with_lets = [this](std::initializer_list<PrimExpr> exprs, const auto& print) {
    names_.Push();
    for (const PrimExpr& expr : exprs) DeclareLets(expr);
    print();
    names_.Pop();
  };
  switch (stmt->kind) {
    case StmtKind::kBind: {
      const auto* bind = static_cast<const tir::BindNode*>(stmt.get());
      DeclareLets(bind->value);
      Line();
      const size_t target = text_.size();
      Prim(bind->value);
      std::string value = text_.substr(target);
      text_.resize(target);
      Put(names_.Define(bind->var.get(), View(bind->var->name_hint)));
      Put(": T.let[T.");
      PutDtype(bind->var->dtype);
      Put("] = ");
      Put(value);
      return DeclareWaitingViews();
    }
    case StmtKind::kAssert: {
      const auto* op = static_cast<const tir::AssertStmtNode*>(stmt.get());
      return with_lets({op->condition}, [&] {
        Line();
        Put("assert ");
        Prim(op->condition);
        Put(", (\"RuntimeError\", [");
        Quoted(View(op->message));
        Put("])");
      });
    }
    case StmtKind::kBufferStore: {
      const auto* store = static_cast<const tir::BufferStoreNode*>(stmt.get());
      names_.Push();
      for (const PrimExpr& index : store->indices) DeclareLets(index);
      DeclareLets(store->value);
      Line();
      BufferName(store->buffer);
      PrintIndices(store->indices);
      Put(" = ");
      Prim(store->value);
      return names_.Pop();
    }
    case StmtKind::kAllocBuffer: {
      const auto* alloc = static_cast<const tir::AllocBufferNode*>(stmt.get());
      Line();
      Put(DefineBuffer(alloc->buffer));
      Put(" = T.alloc_buffer(");
      BufferArguments(alloc->buffer, /*default_dtype=*/true);
      Put(')');
      return DeclareViews(alloc->buffer->data);
    }
    case StmtKind::kSeq:
      for (const Stmt& child : static_cast<const tir::SeqStmtNode*>(stmt.get())->seq) PrintStmt(child);
      return;
    case StmtKind::kIfThenElse: {
      const auto* op = static_cast<const tir::IfThenElseNode*>(stmt.get());
      return with_lets({op->condition}, [&] {
        Line();
        Put("if ");
        Prim(op->condition);
        Put(':');
        Body(op->then_case);
        if (!op->else_case.defined()) return;
        Line();
        Put("else:");
        Body(op->else_case);
      });
    }
    case StmtKind::kEvaluate: {
      const auto* op = static_cast<const tir::EvaluateNode*>(stmt.get());
      return with_lets({op->value}, [&] {
        Line();
        if (const auto* call = op->value.as<tir::CallNode>(); call != nullptr && call->op->name == "tir.ret") {
          Put("return ");
          return Prim(call->args[0]);
        }
        const bool bare = op->value->kind == ExprKind::kCall;
        if (!bare) Put("T.evaluate(");
        Prim(op->value);
        if (!bare) Put(')');
      });
    }
    case StmtKind::kFor:
      return PrintFor(static_cast<const tir::ForNode*>(stmt.get()));
    case StmtKind::kWhile: {
      const auto* op = static_cast<const tir::WhileNode*>(stmt.get());
      Line();
      Put("while ");
      Prim(op->condition);
      Put(':');
      return Body(op->body);
    }
    case StmtKind::kAttr: {
      const auto* op = static_cast<const tir::AttrStmtNode*>(stmt.get());
      Line();
      const bool of_nothing = op->node.type_index() == ffi::TypeIndex::kTVMFFIInt && op->node.cast<int64_t>() == 0;
      Put(of_nothing ? "with T.attr({" : "with T.attr(");
      if (!of_nothing) {
        Value(op->node);
        Put(", ");
      }
      Quoted(View(op->attr_key));
      Put(of_nothing ? ": " : ", ");
      Prim(op->value);
      Put(of_nothing ? "}):" : "):");
      return Body(op->body);
    }
    case StmtKind::kSBlock: {
      const auto* block = static_cast<const tir::SBlockNode*>(stmt.get());
      const Array<PrimExpr> values = block->iter_vars.Map([](const IterVar& iter) { return PrimExpr(iter->var); });
      return PrintStmt(tir::SBlockRealize(values, True(), GetRef<tir::SBlock>(block)));
    }
    case StmtKind::kSBlockRealize:
      return PrintRealize(static_cast<const tir::SBlockRealizeNode*>(stmt.get()));
  }
  DEUTERON_UNREACHABLE();
}

void Printer::PrintFor(const tir::ForNode* loop) {
  // A nest of plain loops is one T.grid, if no extent depends on an outer loop.
  std::vector<const tir::ForNode*> nest;
  const auto is_plain = [](const tir::ForNode* op) {
    return op->loop_kind == tir::ForKind::kSerial && op->annotations.empty() && IsZero(op->min);
  };
  const auto independent = [&](const tir::ForNode* op) {
    return !UsesVar(op->extent, [&](const tir::VarNode* var) {
      return std::any_of(nest.begin(), nest.end(), [&](const auto* outer) { return outer->loop_var.get() == var; });
    });
  };
  for (const auto* op = loop; op != nullptr && is_plain(op) && independent(op); op = op->body.as<tir::ForNode>()) {
    nest.push_back(op);
  }
  Line();
  names_.Push();
  Put("for ");
  if (nest.size() > 1) {
    const size_t targets = text_.size();
    Put(" in T.grid(");
    Joined(nest, [&](const tir::ForNode* op) { Prim(op->extent); });
    std::string names;
    for (const auto* op : nest) {
      if (!names.empty()) names += ", ";
      names += names_.Define(op->loop_var.get(), View(op->loop_var->name_hint));
    }
    text_.insert(targets, names);
  } else {
    nest = {loop};
    std::string call;
    const size_t targets = text_.size();
    Put(" in ");
    switch (loop->loop_kind) {
      case tir::ForKind::kSerial:
        Put(loop->annotations.empty() ? "range(" : "T.serial(");
        break;
      case tir::ForKind::kParallel:
        Put("T.parallel(");
        break;
      case tir::ForKind::kVectorized:
        Put("T.vectorized(");
        break;
      case tir::ForKind::kUnrolled:
        Put("T.unroll(");
        break;
      case tir::ForKind::kThreadBinding:
        Put("T.thread_binding(");
        break;
    }
    if (!IsZero(loop->min)) {
      Prim(loop->min);
      Put(", ");
      Prim(loop->min + loop->extent);
    } else {
      Prim(loop->extent);
    }
    if (loop->loop_kind == tir::ForKind::kThreadBinding) {
      Put(", thread=");
      Quoted(View(loop->thread_tag));
    }
    if (!loop->annotations.empty()) {
      Put(", annotations=");
      PrintDict(loop->annotations);
    }
    text_.insert(targets, names_.Define(loop->loop_var.get(), View(loop->loop_var->name_hint)));
  }
  Put("):");
  for (const auto* op : nest) loops_[op->loop_var.get()] = op;
  Body(nest.back()->body);
  for (const auto* op : nest) loops_.erase(op->loop_var.get());
  names_.Pop();
}

void Printer::PrintRealize(const tir::SBlockRealizeNode* realize) {
  const auto* block = realize->block.get();
  Line();
  Put("with T.sblock(");
  Quoted(View(block->name_hint));
  Put("):");
  SpanComment(block->span);
  indent_ += 4;
  names_.Push();
  BlockSignature(realize);
  BlockInner(block);
  names_.Pop();
  indent_ -= 4;
}

void Printer::BlockSignature(const tir::SBlockRealizeNode* realize) {
  const auto* block = realize->block.get();
  const auto kind_letter = [](const IterVar& iter) {
    return iter->type == IterVarType::kSpatial ? 'S' : iter->type == IterVarType::kReduce ? 'R' : '\0';
  };
  const auto remappable = [&](size_t i) {
    const IterVar& iter = block->iter_vars[i];
    const auto it = loops_.find(realize->iter_values[i].get());
    return it != loops_.end() && kind_letter(iter) != '\0' && ExprEqual(iter->dom->min, it->second->min) &&
           ExprEqual(iter->dom->extent, it->second->extent) && iter->var->dtype == it->second->loop_var->dtype;
  };
  const size_t count = block->iter_vars.size();
  for (size_t i = 0; i < count;) {
    size_t end = i;
    while (end < count && remappable(end)) ++end;
    Line();
    if (end - i > 1) {
      std::string letters;
      for (size_t k = i; k < end; ++k) {
        const IterVar& iter = block->iter_vars[k];
        if (k > i) Put(", ");
        Put(names_.Define(iter->var.get(), View(iter->var->name_hint)));
        letters.push_back(kind_letter(iter));
      }
      Put(" = T.axis.remap(");
      Quoted(letters);
      Put(", [");
      for (size_t k = i; k < end; ++k) {
        if (k > i) Put(", ");
        Prim(realize->iter_values[k]);
      }
      Put("])");
      i = end;
      continue;
    }
    const IterVar& iter = block->iter_vars[i];
    const size_t target = text_.size();
    switch (iter->type) {
      case IterVarType::kSpatial:
        Put(" = T.axis.spatial(");
        break;
      case IterVarType::kReduce:
        Put(" = T.axis.reduce(");
        break;
      case IterVarType::kOpaque:
        Put(" = T.axis.opaque(");
        break;
      case IterVarType::kThread:
        Put(" = T.axis.thread(");
        break;
    }
    if (IsZero(iter->dom->min)) {
      Prim(iter->dom->extent);
    } else {
      Put('(');
      Prim(iter->dom->min);
      Put(", ");
      Prim(iter->dom->min + iter->dom->extent);
      Put(')');
    }
    Put(", ");
    Prim(realize->iter_values[i]);
    Put(')');
    text_.insert(target, names_.Define(iter->var.get(), View(iter->var->name_hint)));
    ++i;
  }
  DeclareWaitingViews();
  if (!IsOne(realize->predicate)) {
    Line();
    Put("T.where(");
    Prim(realize->predicate);
    Put(')');
  }
  Regions("T.reads(", block->reads);
  Regions("T.writes(", block->writes);
}

void Printer::BlockInner(const tir::SBlockNode* block) {
  if (!block->annotations.empty()) {
    DeclareForeignBuffers(block->annotations);
    Line();
    Put("T.sblock_attr(");
    PrintDict(block->annotations);
    Put(')');
  }
  for (const Buffer& buffer : block->alloc_buffers) {
    Line();
    Put(DefineBuffer(buffer));
    Put(" = T.sblock_alloc_buffer(");
    BufferArguments(buffer, /*default_dtype=*/true);
    Put(')');
    DeclareViews(buffer->data);
  }
  if (block->init.defined()) {
    Line();
    Put("with T.init():");
    Body(block->init);
  }
  PrintStmt(block->body);
}

}  // namespace deuteron::script
