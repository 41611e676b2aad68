#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

Bind::Bind(Var var, PrimExpr value, Span span) {
  DEUTERON_CHECK(var.dtype() == value.dtype())
      << "variable " << var->name_hint << " of type " << var.dtype() << " bound to a " << value.dtype();
  auto node = MakeNode<BindNode>();
  node->var = std::move(var);
  node->value = std::move(value);
  node->span = std::move(span);
  data_ = std::move(node);
}

AssertStmt::AssertStmt(PrimExpr condition, String message, Span span) {
  auto node = MakeNode<AssertStmtNode>();
  node->condition = std::move(condition);
  node->message = std::move(message);
  node->span = std::move(span);
  data_ = std::move(node);
}

BufferStore::BufferStore(Buffer buffer, PrimExpr value, Array<PrimExpr> indices, Span span) {
  DEUTERON_CHECK(indices.size() == buffer->shape.size())
      << "buffer " << buffer->name << " of rank " << buffer->shape.size() << " written with " << indices.size()
      << " indices";
  DEUTERON_CHECK(value.dtype().element() == buffer->dtype.element())
      << "a " << value.dtype() << " stored into buffer " << buffer->name << " of " << buffer->dtype;
  auto node = MakeNode<BufferStoreNode>();
  node->buffer = std::move(buffer);
  node->value = std::move(value);
  node->indices = std::move(indices);
  node->span = std::move(span);
  data_ = std::move(node);
}

AllocBuffer::AllocBuffer(Buffer buffer, Span span) {
  auto node = MakeNode<AllocBufferNode>();
  node->buffer = std::move(buffer);
  node->span = std::move(span);
  data_ = std::move(node);
}

SeqStmt::SeqStmt(Array<Stmt> seq, Span span) {
  auto node = MakeNode<SeqStmtNode>();
  node->seq = std::move(seq);
  node->span = std::move(span);
  data_ = std::move(node);
}

Stmt SeqStmt::Flatten(const Array<Stmt>& seq) {
  Array<Stmt> flat;
  for (const Stmt& stmt : seq) {
    if (!stmt.defined()) continue;
    if (const auto* inner = stmt.as<SeqStmtNode>()) {
      for (const Stmt& child : inner->seq) flat.push_back(child);
    } else {
      flat.push_back(stmt);
    }
  }
  return flat.size() == 1 ? flat[0] : Stmt(SeqStmt(std::move(flat)));
}

IfThenElse::IfThenElse(PrimExpr condition, Stmt then_case, Stmt else_case, Span span) {
  auto node = MakeNode<IfThenElseNode>();
  node->condition = std::move(condition);
  node->then_case = std::move(then_case);
  node->else_case = std::move(else_case);
  node->span = std::move(span);
  data_ = std::move(node);
}

Evaluate::Evaluate(PrimExpr value, Span span) {
  auto node = MakeNode<EvaluateNode>();
  node->value = std::move(value);
  node->span = std::move(span);
  data_ = std::move(node);
}

For::For(Var loop_var, PrimExpr min, PrimExpr extent, ForKind kind, Stmt body, String thread_tag,
         Map<String, Any> annotations, Span span) {
  auto node = MakeNode<ForNode>();
  node->loop_var = std::move(loop_var);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->loop_kind = kind;
  node->thread_tag = std::move(thread_tag);
  node->annotations = std::move(annotations);
  node->body = std::move(body);
  node->span = std::move(span);
  data_ = std::move(node);
}

While::While(PrimExpr condition, Stmt body, Span span) {
  auto node = MakeNode<WhileNode>();
  node->condition = std::move(condition);
  node->body = std::move(body);
  node->span = std::move(span);
  data_ = std::move(node);
}

AttrStmt::AttrStmt(Any node_value, String attr_key, PrimExpr value, Stmt body, Span span) {
  auto node = MakeNode<AttrStmtNode>();
  node->node = std::move(node_value);
  node->attr_key = std::move(attr_key);
  node->value = std::move(value);
  node->body = std::move(body);
  node->span = std::move(span);
  data_ = std::move(node);
}

BufferRegion::BufferRegion(Buffer buffer, Array<Range> region) {
  DEUTERON_CHECK(buffer->shape.size() == region.size())
      << "region of rank " << region.size() << " of buffer " << buffer->name << " of rank " << buffer->shape.size();
  auto node = MakeNode<BufferRegionNode>();
  node->buffer = std::move(buffer);
  node->region = std::move(region);
  data_ = std::move(node);
}
BufferRegion BufferRegion::Full(const Buffer& buffer) {
  return BufferRegion(buffer, buffer->shape.Map([](const PrimExpr& extent) {
    return Range::FromMinExtent(MakeConst(extent.dtype(), 0), extent);
  }));
}
BufferRegion BufferRegion::Point(const Buffer& buffer, const Array<PrimExpr>& indices) {
  return BufferRegion(buffer, indices.Map([](const PrimExpr& index) {
    return Range::FromMinExtent(index, MakeConst(index.dtype(), 1));
  }));
}

SBlock::SBlock(Array<IterVar> iter_vars, Array<BufferRegion> reads, Array<BufferRegion> writes, String name_hint,
               Stmt body, Stmt init, Array<Buffer> alloc_buffers, Map<String, Any> annotations, Span span) {
  auto node = MakeNode<SBlockNode>();
  node->iter_vars = std::move(iter_vars);
  node->reads = std::move(reads);
  node->writes = std::move(writes);
  node->name_hint = std::move(name_hint);
  node->body = std::move(body);
  node->init = std::move(init);
  node->alloc_buffers = std::move(alloc_buffers);
  node->annotations = std::move(annotations);
  node->span = std::move(span);
  data_ = std::move(node);
}

SBlockRealize::SBlockRealize(Array<PrimExpr> iter_values, PrimExpr predicate, SBlock block, Span span) {
  DEUTERON_CHECK(iter_values.size() == block->iter_vars.size())
      << "block " << block->name_hint << " has " << block->iter_vars.size() << " iterators and is given "
      << iter_values.size() << " values";
  auto node = MakeNode<SBlockRealizeNode>();
  node->iter_values = std::move(iter_values);
  node->predicate = std::move(predicate);
  node->block = std::move(block);
  node->span = std::move(span);
  data_ = std::move(node);
}

}  // namespace deuteron::tir
