#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Calls `VisitX_` for the class of `stmt`: the one switch that both functors share.
#define DEUTERON_DISPATCH(stmt)                                                        \
  switch ((stmt)->kind) {                                                              \
    case StmtKind::kBind:                                                              \
      return VisitBind_(static_cast<const BindNode*>((stmt).get()));                   \
    case StmtKind::kAssert:                                                            \
      return VisitAssert_(static_cast<const AssertStmtNode*>((stmt).get()));           \
    case StmtKind::kBufferStore:                                                       \
      return VisitBufferStore_(static_cast<const BufferStoreNode*>((stmt).get()));     \
    case StmtKind::kAllocBuffer:                                                       \
      return VisitAllocBuffer_(static_cast<const AllocBufferNode*>((stmt).get()));     \
    case StmtKind::kSeq:                                                               \
      return VisitSeq_(static_cast<const SeqStmtNode*>((stmt).get()));                 \
    case StmtKind::kIfThenElse:                                                        \
      return VisitIfThenElse_(static_cast<const IfThenElseNode*>((stmt).get()));       \
    case StmtKind::kEvaluate:                                                          \
      return VisitEvaluate_(static_cast<const EvaluateNode*>((stmt).get()));           \
    case StmtKind::kFor:                                                               \
      return VisitFor_(static_cast<const ForNode*>((stmt).get()));                     \
    case StmtKind::kWhile:                                                             \
      return VisitWhile_(static_cast<const WhileNode*>((stmt).get()));                 \
    case StmtKind::kAttr:                                                              \
      return VisitAttr_(static_cast<const AttrStmtNode*>((stmt).get()));               \
    case StmtKind::kSBlock:                                                            \
      return VisitSBlock_(static_cast<const SBlockNode*>((stmt).get()));               \
    case StmtKind::kSBlockRealize:                                                     \
      return VisitSBlockRealize_(static_cast<const SBlockRealizeNode*>((stmt).get())); \
  }                                                                                    \
  DEUTERON_UNREACHABLE()

}  // namespace

void StmtExprVisitor::VisitStmt(const Stmt& stmt) { DEUTERON_DISPATCH(stmt); }
void StmtExprVisitor::VisitBind_(const BindNode* op) { VisitExpr(op->value); }
void StmtExprVisitor::VisitAssert_(const AssertStmtNode* op) { VisitExpr(op->condition); }
void StmtExprVisitor::VisitBufferStore_(const BufferStoreNode* op) {
  VisitExpr(op->value);
  for (const PrimExpr& index : op->indices) VisitExpr(index);
}
void StmtExprVisitor::VisitAllocBuffer_(const AllocBufferNode* op) {
  for (const PrimExpr& extent : op->buffer->shape) VisitExpr(extent);
}
void StmtExprVisitor::VisitSeq_(const SeqStmtNode* op) {
  for (const Stmt& stmt : op->seq) VisitStmt(stmt);
}
void StmtExprVisitor::VisitIfThenElse_(const IfThenElseNode* op) {
  VisitExpr(op->condition);
  VisitStmt(op->then_case);
  if (op->else_case.defined()) VisitStmt(op->else_case);
}
void StmtExprVisitor::VisitEvaluate_(const EvaluateNode* op) { VisitExpr(op->value); }
void StmtExprVisitor::VisitFor_(const ForNode* op) {
  VisitExpr(op->min);
  VisitExpr(op->extent);
  VisitStmt(op->body);
}
void StmtExprVisitor::VisitWhile_(const WhileNode* op) {
  VisitExpr(op->condition);
  VisitStmt(op->body);
}
void StmtExprVisitor::VisitAttr_(const AttrStmtNode* op) {
  VisitExpr(op->value);
  VisitStmt(op->body);
}
void StmtExprVisitor::VisitRegion(const BufferRegion& region) {
  for (const Range& range : region->region) {
    VisitExpr(range->min);
    VisitExpr(range->extent);
  }
}
void StmtExprVisitor::VisitSBlock_(const SBlockNode* op) {
  for (const IterVar& iter : op->iter_vars) {
    VisitExpr(iter->dom->min);
    VisitExpr(iter->dom->extent);
  }
  for (const BufferRegion& region : op->reads) VisitRegion(region);
  for (const BufferRegion& region : op->writes) VisitRegion(region);
  if (op->init.defined()) VisitStmt(op->init);
  VisitStmt(op->body);
}
void StmtExprVisitor::VisitSBlockRealize_(const SBlockRealizeNode* op) {
  for (const PrimExpr& value : op->iter_values) VisitExpr(value);
  VisitExpr(op->predicate);
  VisitStmt(op->block);
}

namespace {

/// A block's annotations, the buffers in their lists replaced ("layout_free_placeholders").
template <typename Replace>
Map<String, Any> ReplaceBuffers(const Map<String, Any>& annotations, const Replace& replace) {
  Map<String, Any> replaced = annotations;
  for (const auto& [key, value] : annotations) {
    const auto list = value.template try_cast<Array<ObjectRef>>();
    if (!list.has_value()) continue;
    const Array<ObjectRef> items = list->Map([&](const ObjectRef& item) -> ObjectRef {
      const auto buffer = As<Buffer>(item);
      return buffer.defined() ? replace(buffer) : item;
    });
    if (!items.same_as(*list)) replaced.Set(key, items);
  }
  return replaced;
}

}  // namespace

Stmt StmtExprMutator::VisitStmt(const Stmt& stmt) { DEUTERON_DISPATCH(stmt); }
Stmt StmtExprMutator::VisitBind_(const BindNode* op) {
  PrimExpr value = VisitExpr(op->value);
  if (value.same_as(op->value)) return GetRef<Stmt>(op);
  return Bind(op->var, std::move(value), op->span);
}
Stmt StmtExprMutator::VisitAssert_(const AssertStmtNode* op) {
  PrimExpr condition = VisitExpr(op->condition);
  if (condition.same_as(op->condition)) return GetRef<Stmt>(op);
  return AssertStmt(std::move(condition), op->message, op->span);
}
Stmt StmtExprMutator::VisitBufferStore_(const BufferStoreNode* op) {
  PrimExpr value = VisitExpr(op->value);
  Array<PrimExpr> indices = VisitExprs(op->indices);
  Buffer buffer = VisitBufferUse(op->buffer);
  if (value.same_as(op->value) && indices.same_as(op->indices) && buffer.same_as(op->buffer)) {
    return GetRef<Stmt>(op);
  }
  return BufferStore(std::move(buffer), std::move(value), std::move(indices), op->span);
}
Stmt StmtExprMutator::VisitAllocBuffer_(const AllocBufferNode* op) {
  Buffer buffer = VisitBufferDef(op->buffer);
  if (buffer.same_as(op->buffer)) return GetRef<Stmt>(op);
  return AllocBuffer(std::move(buffer), op->span);
}
Stmt StmtExprMutator::VisitSeq_(const SeqStmtNode* op) {
  Array<Stmt> seq = op->seq.Map([this](const Stmt& stmt) { return VisitStmt(stmt); });
  if (seq.same_as(op->seq)) return GetRef<Stmt>(op);
  return SeqStmt::Flatten(seq);
}
Stmt StmtExprMutator::VisitIfThenElse_(const IfThenElseNode* op) {
  PrimExpr condition = VisitExpr(op->condition);
  Stmt then_case = VisitStmt(op->then_case);
  Stmt else_case = op->else_case.defined() ? VisitStmt(op->else_case) : Stmt();
  if (condition.same_as(op->condition) && then_case.same_as(op->then_case) && else_case.same_as(op->else_case)) {
    return GetRef<Stmt>(op);
  }
  return IfThenElse(std::move(condition), std::move(then_case), std::move(else_case), op->span);
}
Stmt StmtExprMutator::VisitEvaluate_(const EvaluateNode* op) {
  PrimExpr value = VisitExpr(op->value);
  if (value.same_as(op->value)) return GetRef<Stmt>(op);
  return Evaluate(std::move(value), op->span);
}
Stmt StmtExprMutator::VisitFor_(const ForNode* op) {
  PrimExpr min = VisitExpr(op->min);
  PrimExpr extent = VisitExpr(op->extent);
  Stmt body = VisitStmt(op->body);
  if (min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body)) return GetRef<Stmt>(op);
  return For(op->loop_var, std::move(min), std::move(extent), op->loop_kind, std::move(body), op->thread_tag,
             op->annotations, op->span);
}
Stmt StmtExprMutator::VisitWhile_(const WhileNode* op) {
  PrimExpr condition = VisitExpr(op->condition);
  Stmt body = VisitStmt(op->body);
  if (condition.same_as(op->condition) && body.same_as(op->body)) return GetRef<Stmt>(op);
  return While(std::move(condition), std::move(body), op->span);
}
Stmt StmtExprMutator::VisitAttr_(const AttrStmtNode* op) {
  PrimExpr value = VisitExpr(op->value);
  Stmt body = VisitStmt(op->body);
  if (value.same_as(op->value) && body.same_as(op->body)) return GetRef<Stmt>(op);
  return AttrStmt(op->node, op->attr_key, std::move(value), std::move(body), op->span);
}
BufferRegion StmtExprMutator::VisitRegion(const BufferRegion& region) {
  Buffer buffer = VisitBufferUse(region->buffer);
  Array<Range> ranges = region->region.Map([this](const Range& range) {
    PrimExpr min = VisitExpr(range->min);
    PrimExpr extent = VisitExpr(range->extent);
    if (min.same_as(range->min) && extent.same_as(range->extent)) return range;
    return Range::FromMinExtent(std::move(min), std::move(extent));
  });
  if (buffer.same_as(region->buffer) && ranges.same_as(region->region)) return region;
  return BufferRegion(std::move(buffer), std::move(ranges));
}
Stmt StmtExprMutator::VisitSBlock_(const SBlockNode* op) {
  Array<IterVar> iter_vars = op->iter_vars.Map([this](const IterVar& iter) {
    PrimExpr min = VisitExpr(iter->dom->min);
    PrimExpr extent = VisitExpr(iter->dom->extent);
    if (min.same_as(iter->dom->min) && extent.same_as(iter->dom->extent)) return iter;
    return IterVar(Range::FromMinExtent(std::move(min), std::move(extent)), iter->var, iter->type);
  });
  Array<Buffer> alloc_buffers = op->alloc_buffers.Map([this](const Buffer& buffer) { return VisitBufferDef(buffer); });
  Array<BufferRegion> reads = op->reads.Map([this](const BufferRegion& r) { return VisitRegion(r); });
  Array<BufferRegion> writes = op->writes.Map([this](const BufferRegion& r) { return VisitRegion(r); });
  Map<String, Any> annotations =
      ReplaceBuffers(op->annotations, [this](const Buffer& buffer) { return VisitBufferUse(buffer); });
  Stmt init = op->init.defined() ? VisitStmt(op->init) : Stmt();
  Stmt body = VisitStmt(op->body);
  if (iter_vars.same_as(op->iter_vars) && alloc_buffers.same_as(op->alloc_buffers) && reads.same_as(op->reads) &&
      writes.same_as(op->writes) && annotations.same_as(op->annotations) && init.same_as(op->init) &&
      body.same_as(op->body)) {
    return GetRef<Stmt>(op);
  }
  return SBlock(std::move(iter_vars), std::move(reads), std::move(writes), op->name_hint, std::move(body),
                std::move(init), std::move(alloc_buffers), std::move(annotations), op->span);
}
Stmt StmtExprMutator::VisitSBlockRealize_(const SBlockRealizeNode* op) {
  Array<PrimExpr> iter_values = VisitExprs(op->iter_values);
  PrimExpr predicate = VisitExpr(op->predicate);
  Stmt block = VisitStmt(op->block);
  if (iter_values.same_as(op->iter_values) && predicate.same_as(op->predicate) && block.same_as(op->block)) {
    return GetRef<Stmt>(op);
  }
  return SBlockRealize(std::move(iter_values), std::move(predicate), Downcast<SBlock>(block), op->span);
}
Buffer StmtExprMutator::VisitBufferDef(const Buffer& buffer) {
  Array<PrimExpr> shape = VisitExprs(buffer->shape);
  Array<PrimExpr> strides = VisitExprs(buffer->strides);
  PrimExpr offset = buffer->elem_offset.defined() ? VisitExpr(buffer->elem_offset) : PrimExpr();
  if (shape.same_as(buffer->shape) && strides.same_as(buffer->strides) && offset.same_as(buffer->elem_offset)) {
    return buffer;
  }
  Buffer renewed(buffer->name, buffer->dtype, std::move(shape), buffer->scope, std::move(strides), std::move(offset),
                 buffer->offset_factor);
  MapBuffer(buffer, renewed);
  return renewed;
}
void StmtExprMutator::MapBuffer(const Buffer& from, const Buffer& to) {
  buffer_remap_[from] = to;
  if (!from->data.same_as(to->data)) data_remap_[from->data.get()] = to->data;
}
Buffer StmtExprMutator::VisitBufferUse(const Buffer& buffer) {
  if (const auto it = buffer_remap_.find(buffer); it != buffer_remap_.end()) return it->second;
  const auto mapped = data_remap_.find(buffer->data.get());
  if (mapped == data_remap_.end() && !buffer->elem_offset.defined()) return buffer;
  const Var data = mapped == data_remap_.end() ? buffer->data : mapped->second;
  const PrimExpr offset = buffer->elem_offset.defined() ? VisitExpr(buffer->elem_offset) : PrimExpr();
  if (data.same_as(buffer->data) && offset.same_as(buffer->elem_offset)) return buffer;
  std::vector<Buffer>& known = views_[buffer.get()];
  for (const Buffer& view : known) {
    if (view->data.same_as(data) && (!offset.defined() || ExprEqual(view->elem_offset, offset))) return view;
  }
  Buffer view(buffer->name, buffer->dtype, VisitExprs(buffer->shape), buffer->scope, VisitExprs(buffer->strides),
              offset, buffer->offset_factor);
  CopyOnWrite(&view)->data = data;
  known.push_back(view);
  return view;
}
PrimExpr StmtExprMutator::VisitBufferLoad_(const BufferLoadNode* op) {
  Array<PrimExpr> indices = VisitExprs(op->indices);
  Buffer buffer = VisitBufferUse(op->buffer);
  if (indices.same_as(op->indices) && buffer.same_as(op->buffer)) return GetRef<PrimExpr>(op);
  return BufferLoad(std::move(buffer), std::move(indices));
}

namespace {

class StmtSubstituter : public StmtExprMutator {
 public:
  explicit StmtSubstituter(const VarMap& values) : values_(values) {}
  using StmtExprMutator::VisitRegion;

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    Var var = GetRef<Var>(op);
    auto it = values_.find(var);
    return it == values_.end() ? PrimExpr(var) : it->second;
  }

 private:
  const VarMap& values_;
};

class StmtPostOrder : public StmtExprVisitor {
 public:
  explicit StmtPostOrder(const std::function<void(const ObjectRef&)>& visit) : visit_(visit) {}
  void VisitExpr(const PrimExpr& expr) override {
    ExprVisitor::VisitExpr(expr);
    visit_(expr);
  }
  void VisitStmt(const Stmt& stmt) override {
    StmtExprVisitor::VisitStmt(stmt);
    visit_(stmt);
  }

 private:
  const std::function<void(const ObjectRef&)>& visit_;
};

}  // namespace

Stmt Substitute(const Stmt& stmt, const VarMap& values) {
  return values.empty() ? stmt : StmtSubstituter(values).VisitStmt(stmt);
}
BufferRegion Substitute(const BufferRegion& region, const VarMap& values) {
  return StmtSubstituter(values).VisitRegion(region);
}
Range Substitute(const Range& range, const VarMap& values) {
  return Range::FromMinExtent(deuteron::Substitute(range->min, values), deuteron::Substitute(range->extent, values));
}
void PostOrderVisit(const Stmt& stmt, const std::function<void(const ObjectRef&)>& visit) {
  StmtPostOrder(visit).VisitStmt(stmt);
}
}  // namespace deuteron::tir
