#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/expr_text.h"
#include "deuteron/tir/analysis/views.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/views.h"

namespace deuteron::tir {
namespace {

/// Variables that a call of `func` gives a value: its scalars, and dimensions that are a variable alone.
std::unordered_set<const Object*> GivenVars(const PrimFunc& func) {
  std::unordered_set<const Object*> given;
  for (const Var& param : func->params) given.insert(param.get());
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const auto& dims : {buffer->shape, buffer->strides}) {
      for (const PrimExpr& dim : dims) {
        if (dim->kind == ExprKind::kVar) given.insert(dim.get());
      }
    }
  }
  return given;
}

Stmt Behind(const Array<Stmt>& first, const Stmt& stmt) {
  if (const auto* realize = stmt.as<SBlockRealizeNode>(); realize != nullptr && realize->block->iter_vars.empty()) {
    SBlock root = realize->block;
    Stmt body = Behind(first, root->body);
    CopyOnWrite(&root)->body = std::move(body);
    return SBlockRealize(realize->iter_values, realize->predicate, root, realize->span);
  }
  Array<Stmt> seq = first;
  seq.push_back(stmt);
  return SeqStmt(seq);
}

/// Gives variables values, in views too, and other buffers their uses.
class OffsetBinder : public StmtExprMutator {
 public:
  explicit OffsetBinder(const VarMap& values) : values_(values) {}
  using StmtExprMutator::MapBuffer;

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = values_.find(GetRef<Var>(op));
    return it == values_.end() ? GetRef<PrimExpr>(op) : it->second;
  }

 private:
  const VarMap& values_;
};

class ViewResolver : public StmtExprMutator {
 public:
  explicit ViewResolver(const PrimFunc& func) {
    for (const Buffer& buffer : ParamBuffers(func)) Own(buffer);
  }

 protected:
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    Own(op->buffer);
    return GetRef<Stmt>(op);
  }
  Stmt VisitFor_(const ForNode* op) override {
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    return StmtExprMutator::VisitFor_(op);
  }
  Stmt VisitSBlock_(const SBlockNode* op) override {
    for (const IterVar& iter : op->iter_vars) analyzer_.Bind(iter->var, iter->dom);
    for (const Buffer& buffer : op->alloc_buffers) Own(buffer);
    SBlock block = Downcast<SBlock>(StmtExprMutator::VisitSBlock_(op));
    const auto is_of_view = [this](const BufferRegion& region) { return OwnerOf(region->buffer).defined(); };
    const auto of_view = [&](const Array<BufferRegion>& list) {
      return std::any_of(list.begin(), list.end(), is_of_view);
    };
    return of_view(op->reads) || of_view(op->writes) ? WithDetectedRegions(block) : block;
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto [buffer, indices] = Resolve(op->buffer, VisitExprs(op->indices));
    return BufferStore(buffer, VisitExpr(op->value), indices, op->span);
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto [buffer, indices] = Resolve(op->buffer, VisitExprs(op->indices));
    return BufferLoad(buffer, indices);
  }

 private:
  void Own(const Buffer& buffer) { owners_[buffer->data.get()] = buffer; }

  /// The buffer that `view` is a view of, if its elements are some of that one's; null for what is no view.
  Buffer OwnerOf(const Buffer& view) const {
    const auto it = owners_.find(view->data.get());
    if (it == owners_.end() || it->second.same_as(view)) return Buffer(nullptr);
    const Buffer& owner = it->second;
    return owner->dtype == view->dtype && owner.IsCompact() ? owner : Buffer(nullptr);
  }

  std::pair<Buffer, Array<PrimExpr>> Resolve(const Buffer& buffer, const Array<PrimExpr>& indices) {
    const Buffer owner = OwnerOf(buffer);
    if (!owner.defined()) return {buffer, indices};
    const auto is_vector = [](const PrimExpr& index) { return index.dtype().is_vector(); };
    if (std::any_of(indices.begin(), indices.end(), is_vector)) return {buffer, indices};
    const auto same = [](const PrimExpr& a, const PrimExpr& b) { return ExprEqual(a, b); };
    if (buffer.IsCompact() &&
        std::equal(buffer->shape.begin(), buffer->shape.end(), owner->shape.begin(), owner->shape.end(), same)) {
      return {owner, indices};
    }
    return {owner, IndicesOf(owner, PositionOf(buffer, indices))};
  }

  /// Where the element lies, in elements from its data on.
  static PrimExpr PositionOf(const Buffer& view, const Array<PrimExpr>& indices) {
    PrimExpr position = view->elem_offset.defined() ? AsIndex(view->elem_offset) : I64(0);
    PrimExpr stride = I64(1);
    for (size_t i = indices.size(); i-- > 0;) {
      position = position + AsIndex(indices[i]) * (view->strides.empty() ? stride : AsIndex(view->strides[i]));
      stride = stride * AsIndex(view->shape[i]);
    }
    return position;
  }

  Array<PrimExpr> IndicesOf(const Buffer& owner, PrimExpr position) {
    std::vector<PrimExpr> indices(owner->shape.size());
    for (size_t i = indices.size(); i-- > 0;) {
      const PrimExpr extent = AsIndex(owner->shape[i]);
      indices[i] = analyzer_.Simplify(i == 0 ? position : FloorMod(position, extent));
      if (i > 0) position = analyzer_.Simplify(FloorDiv(position, extent));
    }
    return Array<PrimExpr>(indices.begin(), indices.end());
  }

  static PrimExpr AsIndex(const PrimExpr& expr) { return CastTo(DataType::Int(64), expr); }

  arith::Analyzer analyzer_;
  /// By the data that they own.
  std::unordered_map<const Object*, Buffer> owners_;
};

}  // namespace

PrimFunc BindParameterOffsets(PrimFunc func) {
  const auto begins_behind = [](const Buffer& buffer) { return buffer->elem_offset.defined(); };
  const Array<Buffer> buffers = ParamBuffers(func);
  if (std::none_of(buffers.begin(), buffers.end(), begins_behind)) return func;
  const std::unordered_set<const Object*> given = GivenVars(func);
  VarMap offsets;
  for (const Buffer& buffer : buffers) {
    const auto var = begins_behind(buffer) ? As<Var>(buffer->elem_offset) : As<Var>(PrimExpr());
    if (var.defined() && given.count(var.get()) == 0) offsets[var] = MakeConst(var.dtype(), 0);
  }
  arith::Analyzer analyzer;
  OffsetBinder binder(offsets);
  Array<Stmt> checks;
  Map<Var, Buffer> buffer_map = func->buffer_map;
  for (const auto& [param, buffer] : func->buffer_map) {
    if (!begins_behind(buffer)) continue;
    const PrimExpr offset = deuteron::Substitute(buffer->elem_offset, {offsets.begin(), offsets.end()});
    const PrimExpr holds = EQ(offset, MakeConst(offset.dtype(), 0));
    if (!analyzer.CanProve(holds)) {
      checks.push_back(AssertStmt(holds, "argument " + std::string(buffer->name) +
                                             " begins at its pointer, its elem_offset is 0 and not " +
                                             ExprText(buffer->elem_offset)));
    }
    Buffer bound(buffer->name, buffer->dtype, buffer->shape, buffer->scope, buffer->strides);
    CopyOnWrite(&bound)->data = buffer->data;
    binder.MapBuffer(buffer, bound);
    buffer_map.Set(param, bound);
  }
  Stmt body = binder.VisitStmt(func->body);
  if (!checks.empty()) body = Behind(checks, body);
  auto* fields = CopyOnWrite(&func);
  fields->buffer_map = std::move(buffer_map);
  fields->body = std::move(body);
  return func;
}

PrimFunc ResolveViews(PrimFunc func) {
  func = BindParameterOffsets(std::move(func));
  if (!HasViews(func)) return func;
  Stmt body = ViewResolver(func).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
